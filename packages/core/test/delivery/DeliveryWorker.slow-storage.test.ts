import { assert, describe, it } from "@effect/vitest"
import { DeliveryQueue, DeliveryWorker, TransitEvents } from "@waybill/core"
import { Receiver, reportedEvent, ScriptedReceivers, type SeededTenant, TestWaybill } from "@waybill/testkit"
import { Context, Effect, Layer } from "effect"

const endpointUrl = "https://customer.example/hook"

/** A worker whose queue answers some calls in a way of its own. */
const workerOver = (own: (queue: DeliveryQueue["Service"]) => Partial<DeliveryQueue["Service"]>) =>
  Effect.gen(function*() {
    const changed = Layer.effect(DeliveryQueue, Effect.map(DeliveryQueue, (queue) => ({ ...queue, ...own(queue) })))
    const worker = Context.get(yield* Layer.build(Layer.fresh(DeliveryWorker.layer).pipe(Layer.provide(Layer.fresh(changed)))), DeliveryWorker)
    yield* Effect.forkScoped(worker.run)
  })

/** One whose every claim, once it has looked, takes this long to come back. */
const slowWorker = (millis: () => number) =>
  workerOver((queue) => ({ claim: (request) => Effect.tap(queue.claim(request), () => Effect.sleep(millis())) }))

const publish = (tenant: SeededTenant, shipmentId: string, number: number) =>
  Effect.flatMap(TransitEvents, (events) =>
    Effect.orDie(events.append(tenant.carrier, [reportedEvent(shipmentId, { eventId: `${shipmentId}/${number}`, accounts: ["A"] })])))

const healthy = "https://healthy.example/hook"

const delivered = Effect.flatMap(ScriptedReceivers, (receivers) =>
  Effect.map(receivers.deliveredEvents(endpointUrl), (events) => events.map(({ eventId }) => eventId)))

/** Something for another customer does, while the claim for the first event takes five seconds. */
const goesPast = (tenant: SeededTenant) =>
  Effect.gen(function*() {
    const events = yield* TransitEvents
    const receivers = yield* ScriptedReceivers
    yield* Effect.orDie(events.append(tenant.carrier, [reportedEvent("T", { accounts: ["B"] })]))
    yield* TestWaybill.pass(100)
    assert.lengthOf(yield* receivers.delivered(healthy), 1)
    assert.deepStrictEqual(yield* delivered, [])
    yield* TestWaybill.pass(5_000)
    assert.deepStrictEqual(yield* delivered, ["S/1"])
  })

describe("a worker whose storage is slow", () => {
  it.effect("sends what an outcome made sendable while a claim was looking elsewhere", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      const receivers = yield* ScriptedReceivers
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
      yield* receivers.script(endpointUrl, Receiver.delay(200))
      yield* slowWorker(() => 100)
      yield* publish(tenant, "S", 1)
      yield* TestWaybill.pass(150)
      // from now on S is held by the attempt under way, and the next claim finds nothing to send
      yield* publish(tenant, "S", 2)
      for (let millis = 0; millis < 10_000; millis += 10) yield* TestWaybill.pass(10)
      assert.deepStrictEqual(yield* delivered, ["S/1", "S/2"])
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("sends what a rate held back when the claim that learned of it took longer than the wait", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { rateLimitPerMinute: 1 } })
      let slowness = 0
      yield* slowWorker(() => slowness)
      yield* publish(tenant, "S", 1)
      yield* TestWaybill.pass(1_000)
      slowness = 61_000
      yield* publish(tenant, "T", 1)
      yield* TestWaybill.pass(62_000)
      slowness = 0
      yield* TestWaybill.pass("5 minutes")
      assert.deepStrictEqual(yield* delivered, ["S/1", "T/1"])
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { leaseMillis: 600_000 } }))))

  it.effect("sends what was published while a claim for what is due is under way", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      const receivers = yield* ScriptedReceivers
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { initialBackoffSeconds: 1 } })
      yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy })
      yield* receivers.script(endpointUrl, [Receiver.fail(503), Receiver.accept()])
      const asked: Array<string | undefined> = []
      yield* workerOver((queue) => ({
        claim: (request) =>
          Effect.tap(queue.claim(request), ({ destinations }) => {
            if (destinations.length > 0) asked.push(request.only)
            return destinations.length > 0 && request.only === "due" ? Effect.sleep(5_000) : Effect.void
          })
      }))
      yield* publish(tenant, "S", 1)
      yield* TestWaybill.pass(2_000)
      assert.deepStrictEqual(asked, ["arrived", "due"], "the retry is claimed, and its claim does not answer")
      yield* goesPast(tenant)
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("sends what was published while a claim for something large is under way", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
      yield* TestWaybill.subscribe(tenant, tenant.customer("other", ["B"]), { endpointUrl: healthy })
      // the first claim that finds something
      let slowness = 0
      yield* slowWorker(() => {
        const millis = slowness
        slowness = 0
        return millis
      })
      yield* TestWaybill.pass(100)
      slowness = 5_000
      yield* publish(tenant, "S", 1)
      yield* TestWaybill.pass(100)
      yield* goesPast(tenant)
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("gives up on answers that do not come, and goes on", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
      const silent = new Set<"claim" | "freeze" | "settle" | "heartbeat" | "tenantsDue">()
      const hearing = <A, E>(call: "claim" | "freeze" | "settle" | "heartbeat" | "tenantsDue", answer: Effect.Effect<A, E>) =>
        Effect.suspend(() => silent.delete(call) ? Effect.never : answer)
      yield* workerOver((queue) => ({
        tenantsDue: (limit) => hearing("tenantsDue", queue.tenantsDue(limit)),
        claim: (request) => hearing("claim", queue.claim(request)),
        freeze: (tenantId, destinations) => hearing("freeze", queue.freeze(tenantId, destinations)),
        settle: (tenantId, outcomes) => hearing("settle", queue.settle(tenantId, outcomes)),
        heartbeat: (tenantId, leases, millis) => hearing("heartbeat", queue.heartbeat(tenantId, leases, millis))
      }))
      const expected: Array<string> = []
      for (const [number, call] of (["tenantsDue", "claim", "freeze", "settle", "heartbeat"] as const).entries()) {
        silent.add(call)
        yield* publish(tenant, `S${number}`, 1)
        expected.push(`S${number}/1`)
        // half a lease, what is left of the lease, and the pauses in between
        yield* TestWaybill.pass("1 minute")
        assert.deepStrictEqual(yield* delivered, expected, call)
      }
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("begins no more while storage is slow to write what became of the last", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { batchMaxSize: 1 } })
      let written = 0
      const expected = Array.from({ length: 100 }, (_, number) => `S${number}/1`)
      for (const eventId of expected) yield* publish(tenant, eventId.slice(0, -2), 1)
      yield* workerOver((queue) => ({
        settle: (tenantId, outcomes) =>
          Effect.andThen(Effect.sleep(3_000), queue.settle(tenantId, outcomes)).pipe(
            Effect.tap(() => Effect.sync(() => {
              written += outcomes.deliveries.length
            }))
          )
      }))
      for (let second = 0; second < 120; second++) {
        yield* TestWaybill.pass("1 second")
        assert.isAtMost((yield* delivered).length - written, 20)
      }
      assert.sameMembers([...yield* delivered], expected)
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { concurrency: 10, destinationConcurrency: 10 } }))))

  it.effect("comes back to a destination of its own that a claim had to pass over because somebody else was writing to it", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { batchMaxSize: 1 } })
      let passedOver = 0
      const expected = Array.from({ length: 40 }, (_, number) => `S${number}/1`)
      for (const eventId of expected) yield* publish(tenant, eventId.slice(0, -2), 1)
      yield* workerOver((queue) => ({
        claim: (request) => request.refill.length > 0 && passedOver++ === 0 ? queue.claim({ ...request, refill: [] }) : queue.claim(request)
      }))
      yield* TestWaybill.pass("1 minute")
      assert.isAbove(passedOver, 0)
      assert.sameMembers([...yield* delivered], expected)
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer())))

  for (const millis of [-330_000, 330_000]) {
    it.effect(`dates what it sends by the store's clock, ${millis / 1000} seconds from its own`, () =>
      Effect.gen(function*() {
        const tenant = yield* TestWaybill.tenant()
        const receivers = yield* ScriptedReceivers
        yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
        yield* receivers.script(endpointUrl, [Receiver.fail(503), Receiver.accept()])
        yield* workerOver((queue) => ({
          claim: (request) => Effect.map(queue.claim(request), (claim) => ({ ...claim, now: claim.now + millis }))
        }))
        yield* publish(tenant, "S", 1)
        yield* TestWaybill.pass("1 minute")
        const requests = yield* receivers.requests(endpointUrl)
        assert.deepStrictEqual(
          requests.map(({ headers }) => Number(headers["webhook-timestamp"])),
          requests.map(({ at }) => Math.floor((at + millis) / 1000))
        )
        assert.lengthOf(requests, 2)
      }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer())))
  }
})
