import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@waybill/core"
import { Deliveries, DeliveryWorker, pausedDestinationsTotal, SecretStore } from "@waybill/core/delivery"
import { TransitEvents } from "@waybill/core/transit-events"
import { Receiver, type ReceivedRequest, reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Logger, Metric, Option, References } from "effect"
import * as Clock from "effect/Clock"
import { account, eventsOf, hook, inEngine, inEngineWith, makeEngine, startEngine, workerOver } from "../Engine.ts"

const hour = 3_600_000

/** No other worker competes for its partitions, so a test over days needs few renewals. */
const forDays = { leaseMillis: hour }

const pauses = (requests: ReadonlyArray<ReceivedRequest>): ReadonlyArray<number> =>
  requests.slice(1).map((request, n) => request.at - requests[n]!.at)

describe("failures", () => {

  describe("retries", () => {
    it.effect("continue for three days with the same bytes and id, and end in a dead letter", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { maxAttempts: 80 }, answers: Receiver.fail(503) })
      yield* engine.publish("A", "B")
      yield* TestWaybill.pass("4 days")
      const requests = yield* engine.receivers.requests(hook)
      assert.lengthOf(requests, 80)
      assert.isAbove(requests.at(-1)!.at, 60 * hour)
      assert.lengthOf(new Set(requests.map((request) => new TextDecoder().decode(request.body))), 1)
      assert.lengthOf(new Set(requests.map((request) => request.headers["webhook-id"])), 1)
      const [dead] = yield* engine.list({ state: "dead" })
      assert.deepStrictEqual([dead!.attempts.length, dead!.events, dead!.nextAttemptAt], [80, 2, null])
    }, inEngineWith(forDays)))

    it.effect("end in a few log lines a minute for each subscription, then in a count", () =>
      inEngineWith(forDays)(Effect.gen(function*() {
        const lines: Array<string> = []
        const logger = Logger.make(({ message }) => void lines.push(String(message)))
        const engine = yield* makeEngine({ policy: { maxAttempts: 1, batchMaxSize: 1 } })
        yield* engine.receivers.script(hook, Receiver.fail(500))
        yield* TestWaybill.run.pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Warn"))
        yield* engine.publish(...Array.from({ length: 14 }, (_, n) => `S${n}`))
        yield* TestWaybill.pass("1 minute")
        assert.lengthOf(yield* engine.list({ state: "dead" }), 14)
        assert.lengthOf(lines.filter((line) => line.startsWith("Dead letter: ")), 10)
        yield* TestWaybill.pass("1 minute")
        yield* engine.publish("later")
        yield* TestWaybill.pass("1 minute")
        assert.deepStrictEqual(lines.slice(-2).map((line) => line.split(":")[0]), ["Log line repeated 4 more times in one minute.", "Dead letter"])
      })))

    it.effect("double from the initial to the maximum backoff, with 20 % jitter", () =>
      inEngineWith(forDays)(Effect.gen(function*() {
        const engine = yield* startEngine({ answers: Receiver.fail(500) })
        yield* engine.publish("A")
        yield* TestWaybill.pass("1 day")
        const doubled = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600]
        const found = pauses(yield* engine.receivers.requests(hook))
        assert.lengthOf(found, 11)
        for (const [n, pause] of found.entries()) {
          // a worker may be up to a second late
          assert.isAtLeast(pause, doubled[n]! * 800 - 1)
          assert.isAtMost(pause, Math.min(doubled[n]! * 1200, 3_600_000) + 1000)
        }
      })))

    it.effect("differ by their jitter, so that deliveries are not retried at the same time", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1, initialBackoffSeconds: 1000, maxAttempts: 2 }, answers: Receiver.fail(500) })
      yield* engine.publish("A", "B", "C", "D")
      yield* TestWaybill.pass("1 hour")
      assert.isAtLeast(new Set((yield* engine.receivers.requests(hook)).slice(4).map((request) => request.at)).size, 3)
    }, inEngine))

    it.effect("wait for Retry-After, up to the maximum backoff (SPEC-GAP-D24)", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      yield* engine.receivers.script(hook, [
        Receiver.fail(429, { retryAfterSeconds: 600 }),
        Receiver.fail(503, { retryAfterSeconds: 1e9 }),
        Receiver.fail(503, { retryAfterSeconds: 0 }),
        Receiver.accept()
      ])
      yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 day")
      const [asked, bounded, own] = pauses(yield* engine.receivers.requests(hook))
      assert.isTrue(asked! >= 600_000 && asked! <= 601_000)
      assert.isTrue(bounded! >= hour && bounded! <= hour + 1000)
      assert.isTrue(own! >= 16_000 && own! <= 25_000)
    }, inEngineWith(forDays)))

    it.effect("treat refused connections and timeouts as failures, and end a hanging attempt at its deadline", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ answers: [Receiver.refuse, Receiver.hang, Receiver.accept(204)] })
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 hour")
      const [delivery] = yield* engine.list()
      assert.deepStrictEqual(delivery!.attempts.map((each) => [each.outcome, each.status]), [["connect_refused", null], ["timeout", null], ["accepted", 204]])
      assert.strictEqual(delivery!.attempts[1]!.durationMillis, 15_000)
    }, inEngine))

    it.effect("are sent only to the current address of the subscription", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      const moved = "https://moved.example/hook"
      yield* engine.receivers.script(hook, Receiver.fail(500))
      yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass(1000)
      yield* engine.patch({ endpointUrl: moved })
      yield* TestWaybill.pass("1 minute")
      const [first, second] = yield* engine.receivers.requests()
      assert.deepStrictEqual([first!.url, second!.url], [hook, moved])
      assert.deepStrictEqual(second!.body, first!.body)
    }, inEngine))
  })

  describe("the breaker", () => {
    const policy = { batchMaxSize: 1, maxAttempts: 1000, initialBackoffSeconds: 100, maxBackoffSeconds: 100 }

    it.effect("opens after five consecutive failures: nothing is sent until the next retry", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy, answers: Receiver.fail(500) })
      for (let n = 0; n < 5; n++) {
        yield* engine.publish(`S${n}`)
        yield* TestWaybill.pass(1000)
      }
      assert.lengthOf(yield* engine.receivers.requests(hook), 5)
      for (let n = 5; n < 15; n++) yield* engine.publish(`S${n}`)
      yield* TestWaybill.pass(60_000)
      assert.lengthOf(yield* engine.receivers.requests(hook), 5)
      yield* TestWaybill.pass(66_000)
      const probes = (yield* engine.receivers.requests(hook)).slice(5).map((request) => eventsOf(request)[0]!)
      assert.lengthOf(probes, 1)
      assert.include(["S0/1", "S1/1", "S2/1", "S3/1", "S4/1"], probes[0])
    }, inEngineWith({ destinationConcurrency: 1 })))

    it.effect("sends exactly one delivery as the probe, and the others when it is accepted", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy, answers: Receiver.fail(500) })
      yield* engine.publish(...Array.from({ length: 16 }, (_, n) => `S${n}`))
      yield* TestWaybill.pass(1000)
      // two at first, one at a time since the first failure
      assert.lengthOf(yield* engine.receivers.requests(hook), 5)
      yield* engine.publish("late")
      yield* engine.receivers.script(hook, [Receiver.delay(5000), Receiver.accept()])
      yield* TestWaybill.pass("10 minutes")
      const after = (yield* engine.receivers.requests(hook)).slice(5)
      assert.lengthOf(after.filter((request) => request.at < after[0]!.at + 5000), 1)
      assert.lengthOf(after, 17)
    }, inEngine))

    it.effect("counts no attempt to an address that the subscription has left", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy })
      const moved = "https://moved.example/hook"
      yield* TestWaybill.run
      yield* engine.publish(...Array.from({ length: 16 }, (_, n) => `warm ${n}`))
      yield* TestWaybill.pass(1000)
      yield* engine.receivers.script(hook, Receiver.delay(5000, Receiver.fail(500)))
      yield* engine.publish(...Array.from({ length: 8 }, (_, n) => `S${n}`))
      yield* TestWaybill.pass(1000)
      yield* engine.patch({ endpointUrl: moved })
      yield* TestWaybill.pass(10_000)
      assert.lengthOf(yield* engine.receivers.requests(hook), 24)
      yield* engine.publish("late")
      yield* TestWaybill.pass(1000)
      assert.deepStrictEqual(yield* engine.delivered(moved), ["late/1"])
    }, inEngine))

    it.effect("counts no attempt of deliveries that wait for it", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { ...policy, maxAttempts: 3 }, answers: (request) => request.at < 2 * hour ? Receiver.fail(500)(request) : Receiver.accept()(request) })
      yield* engine.publish(...Array.from({ length: 40 }, (_, n) => `S${n}`))
      yield* TestWaybill.pass("3 hours")
      for (const delivery of yield* engine.list()) assert.isAtMost(delivery.attempts.length, 3)
    }, inEngine))

    it.effect("writes the outcomes of all tenants after the write of one has failed", Effect.fnUntraced(function*() {
      const [events, receivers, deliveries] = [yield* TransitEvents, yield* ScriptedReceivers, yield* Deliveries]
      const tenantIds = Array.from({ length: 12 }, (_, n) => `tenant-${n}`)
      const tenants = yield* Effect.forEach(tenantIds, Effect.fnUntraced(function*(tenantId) {
        const tenant = yield* TestWaybill.tenant(tenantId)
        yield* TestWaybill.subscribe(tenant, tenant.customer("client", [account]), { endpointUrl: `https://${tenantId}.example/` })
        return tenant
      }))
      let writes = 0
      // while the first write takes a second, the other tenants' attempts end; the next write fails
      yield* workerOver((store) => ({
        settle: (request) => Effect.suspend(() => {
          writes += 1
          if (writes === 1) return Effect.andThen(Effect.sleep(1000), store.settle(request))
          return writes === 2 ? Effect.fail(new StorageError({ operation: "DeliveryStore.settle", cause: "connection lost" })) : store.settle(request)
        })
      }))
      yield* receivers.scriptOthers(Receiver.delay(500))
      yield* receivers.script("https://tenant-0.example/", Receiver.accept())
      yield* TestWaybill.pass(100)
      yield* Effect.forEach(tenants, ({ carrier }) => events.append(carrier, [reportedEvent("S", { accounts: [account] })]))
      yield* TestWaybill.pass(10_000)
      const states = yield* Effect.forEach(tenantIds, (tenantId) => Effect.map(Effect.orDie(deliveries.list(tenantId, {})), ({ data }) => data.map(({ state }) => state).join()))
      assert.deepStrictEqual(states, tenantIds.map(() => "delivered"))
    }, inEngine))

    for (const call of ["settle", "take"] as const) {
      it.effect(`delays no other tenant while the ${call} of many fails every time`, Effect.fnUntraced(function*() {
        const [events, receivers] = [yield* TransitEvents, yield* ScriptedReceivers]
        const broken = Array.from({ length: 12 }, (_, n) => `broken-${n}`)
        const tenants = yield* Effect.forEach([...broken, "healthy"], Effect.fnUntraced(function*(tenantId) {
          const tenant = yield* TestWaybill.tenant(tenantId)
          yield* TestWaybill.subscribe(tenant, tenant.customer("client", [account]), { endpointUrl: `https://${tenantId}.example/` })
          return tenant
        }))
        let isBroken = false
        const failing = (tenantId: string) => isBroken && tenantId !== "healthy"
        const failure = Effect.fail(new StorageError({ operation: `DeliveryStore.${call}`, cause: "connection lost" }))
        yield* workerOver((store) => ({
          take: (request) => call === "take" && failing(request.tenantId) ? failure : store.take(request),
          settle: (request) => call === "settle" && failing(request.tenantId) ? failure : store.settle(request)
        }))
        yield* receivers.scriptOthers(Receiver.accept())
        yield* TestWaybill.pass(5000)
        isBroken = true
        yield* Effect.forEach(tenants, ({ carrier }) => events.append(carrier, [reportedEvent("S", { accounts: [account] })]))
        yield* TestWaybill.pass(20_000)
        // the next event of a shipment waits until the outcome of the one before is written
        const waits: Array<number> = []
        for (let n = 0; n < 10; n++) {
          const at = yield* Clock.currentTimeMillis
          yield* events.append(tenants.at(-1)!.carrier, [reportedEvent("S", { accounts: [account] })])
          yield* TestWaybill.pass(3000)
          waits.push((yield* receivers.requests("https://healthy.example/")).at(-1)!.at - at)
        }
        assert.lengthOf(yield* receivers.requests("https://healthy.example/"), 11)
        assert.isAtMost(Math.max(...waits), 1100, waits.join())
        isBroken = false
        yield* TestWaybill.pass(20_000)
        for (const tenantId of broken) assert.isAtLeast((yield* receivers.requests(`https://${tenantId}.example/`)).length, 1)
      }, inEngine))
    }

    it.effect("counts an outcome once that is written twice", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy })
      const { faults, run } = yield* TestWaybill.worker()
      yield* engine.receivers.script(hook, Receiver.fail(500))
      yield* run
      for (let n = 0; n < 4; n++) {
        yield* faults.break("settle", n % 2 === 0 ? "before" : "after", 3)
        yield* engine.publish(`S${n}`)
        yield* TestWaybill.pass(10_000)
      }
      // four failures: the breaker is still closed
      yield* engine.receivers.script(hook, Receiver.accept())
      yield* engine.publish("S4")
      yield* TestWaybill.pass(5000)
      assert.deepStrictEqual(yield* engine.delivered(), ["S4/1"])
    }, inEngine))
  })

  describe("the rate", () => {
    it.effect("is never exceeded in any sixty seconds, retries included (SPEC-GAP-D21)", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1, rateLimitPerMinute: 30, maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 2 } })
      let n = 0
      yield* engine.receivers.script(hook, (request) => n++ % 4 === 0 ? Receiver.fail(500)(request) : Receiver.delay(n % 3 * 700)(request))
      yield* TestWaybill.run
      for (let round = 0; round < 10; round++) {
        yield* engine.publish(...Array.from({ length: 20 }, (_, m) => `S${round}-${m}`))
        yield* TestWaybill.pass(round * 7000)
      }
      yield* TestWaybill.pass("1 hour")
      const instants = (yield* engine.receivers.requests(hook)).map((request) => request.at)
      assert.lengthOf(yield* engine.delivered(), 200)
      for (const [first, from] of instants.entries()) assert.isAtMost(instants.slice(first).filter((at) => at < from + 60_000).length, 30)
    }, inEngine))

    it.effect("counts no attempt", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1, rateLimitPerMinute: 1, maxAttempts: 1 } })
      yield* engine.publish("A", "B", "C")
      yield* TestWaybill.pass("10 minutes")
      assert.lengthOf(yield* engine.delivered(), 3)
      assert.isTrue((yield* engine.list()).every((each) => each.attempts.length === 1))
    }, inEngine))
  })

  describe("410 Gone (SPEC-GAP-D25)", () => {
    it.effect("pauses the subscription with the reason, and keeps the delivery until it is resumed", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ answers: [Receiver.gone, Receiver.accept()] })
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 day")
      const status = yield* engine.deliveries.destinationStatus(engine.tenant.tenantId, engine.subscription.id)
      assert.deepStrictEqual([status.state, status.reason], ["paused", "The receiver answered 410 Gone."])
      assert.strictEqual((yield* engine.subscriptions.get(engine.customer, engine.subscription.id)).status, "paused")
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 day")
      assert.lengthOf(yield* engine.receivers.requests(hook), 1)
      yield* engine.patch({ status: "active" })
      yield* TestWaybill.pass("1 minute")
      const [first, again] = yield* engine.receivers.requests(hook)
      assert.deepStrictEqual(again!.body, first!.body)
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2"])
    }, inEngineWith(forDays)))

    it.effect("pauses once: attempts that end later do not undo a resume", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1 }, answers: [Receiver.delay(10_000, Receiver.accept()), Receiver.gone, Receiver.accept()] })
      yield* engine.publish("A", "B")
      yield* TestWaybill.pass(1000)
      yield* engine.patch({ status: "active" })
      yield* TestWaybill.pass("1 minute")
      assert.deepStrictEqual((yield* engine.delivered()).toSorted(), ["A/1", "B/1"])
      assert.strictEqual((yield* engine.subscriptions.get(engine.customer, engine.subscription.id)).status, "active")
    }, inEngine))

    for (const [event, change, states] of [
      ["replaces the endpoint", { endpointUrl: `${hook}/new` }, ["active", "active"]],
      ["resumes the subscription", { status: "active" }, ["paused", "active"]]
    ] as const) {
      it.effect(`pauses nothing when its outcome is written after the customer ${event}`, () =>
        inEngine(Effect.scoped(Effect.gen(function*() {
          const engine = yield* makeEngine()
          const status = Effect.map(engine.subscriptions.get(engine.customer, engine.subscription.id), (each) => each.status)
          const failure = Effect.fail(new StorageError({ operation: "DeliveryStore.settle", cause: "connection lost" }))
          let isLost = true
          // a replaced endpoint meets an outcome that did not reach the store, a resume one whose answer was lost
          yield* workerOver((store) => ({
            settle: (request) => Effect.suspend(() => !isLost ? store.settle(request) : states[0] === "active" ? failure : Effect.andThen(store.settle(request), failure))
          }))
          yield* engine.receivers.script(hook, [Receiver.gone, Receiver.accept()])
          yield* engine.publish("A")
          yield* TestWaybill.pass(100)
          assert.strictEqual(yield* status, states[0])
          yield* engine.patch(change)
          yield* TestWaybill.pass(100)
          isLost = false
          yield* TestWaybill.pass("1 minute")
          assert.strictEqual(yield* status, states[1])
          assert.lengthOf(yield* engine.list({ state: "delivered" }), 1)
        }))))
    }

    it.effect("counts no pause for an endpoint that was replaced", Effect.fnUntraced(function*() {
      const counted = Effect.map(Metric.value(pausedDestinationsTotal), ({ count }) => count)
      const before = yield* counted
      const engine = yield* startEngine({ answers: Receiver.delay(2_000, Receiver.gone) })
      yield* engine.publish("A")
      yield* TestWaybill.pass(1_000)
      yield* engine.patch({ endpointUrl: `${hook}/new` })
      yield* TestWaybill.pass("1 minute")
      assert.lengthOf(yield* engine.receivers.requests(`${hook}/new`), 1)
      assert.strictEqual(yield* counted, before)
    }, inEngine))
  })

  describe("a secret that cannot be read", () => {
    /** A secret that another deployment sealed, with a key that no process has here. */
    const foreign = new Uint8Array(60)

    it.effect("delays its deliveries without an attempt, and they are sent once it can be read", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { maxAttempts: 2, initialBackoffSeconds: 1 } })
      const secrets = yield* SecretStore
      const own = Option.getOrThrow(yield* secrets.find(engine.tenant.tenantId, "main"))
      yield* secrets.put(engine.tenant.tenantId, "main", fixtures.storedSecret([{ sealed: foreign, signsUntil: undefined }]))
      yield* engine.publish("A", "B")
      yield* TestWaybill.run
      yield* TestWaybill.pass("10 minutes")
      yield* engine.publish("A")
      yield* TestWaybill.pass("10 minutes")
      assert.deepStrictEqual(yield* engine.receivers.requests(), [])
      assert.deepStrictEqual(yield* engine.list({ state: "dead" }), [])
      assert.deepStrictEqual((yield* engine.list()).flatMap((each) => each.attempts), [])
      yield* secrets.put(engine.tenant.tenantId, "main", own)
      yield* TestWaybill.pass("1 minute")
      assert.deepStrictEqual((yield* engine.delivered()).toSorted(), ["A/1", "A/2", "B/1"])
      assert.isTrue((yield* engine.list()).every((each) => each.attempts.length === 1))
    }, inEngine))

    it.effect("delays deliveries that a crashed process took, without a change of their attempts", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { maxAttempts: 2, initialBackoffSeconds: 1 } })
      yield* engine.receivers.script(hook, [Receiver.fail(500), Receiver.accept()])
      yield* engine.publish("A")
      const worker = yield* DeliveryWorker
      yield* worker.drain
      const secrets = yield* SecretStore
      const own = Option.getOrThrow(yield* secrets.find(engine.tenant.tenantId, "main"))
      yield* secrets.put(engine.tenant.tenantId, "main", fixtures.storedSecret([{ sealed: foreign, signsUntil: undefined }]))
      yield* TestWaybill.run
      yield* TestWaybill.pass("1 hour")
      assert.deepStrictEqual((yield* engine.list()).map((each) => [each.state, each.attempts.length]), [["waiting", 1]])
      yield* secrets.put(engine.tenant.tenantId, "main", own)
      yield* TestWaybill.pass("1 minute")
      assert.deepStrictEqual((yield* engine.list()).map((each) => [each.state, each.attempts.length]), [["delivered", 2]])
    }, inEngine))

    it.effect("delays nothing from the moment when its unreadable version has expired", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { maxAttempts: 2, initialBackoffSeconds: 1 } })
      const secrets = yield* SecretStore
      const own = Option.getOrThrow(yield* secrets.find(engine.tenant.tenantId, "main"))
      const signsUntil = (yield* Clock.currentTimeMillis) + 600_000
      yield* secrets.put(engine.tenant.tenantId, "main", { ...own, versions: [...own.versions, { sealed: foreign, signsUntil }] })
      yield* engine.publish("A")
      yield* TestWaybill.run
      yield* TestWaybill.pass("9 minutes")
      assert.deepStrictEqual(yield* engine.receivers.requests(), [])
      yield* TestWaybill.pass("3 minutes")
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
    }, inEngine))
  })
})
