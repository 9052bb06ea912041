import { assert, describe, it } from "@effect/vitest"
import { deadLettersTotal, DeliveryStore, partitionsPerTenant } from "@waybill/core/delivery"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Logger, Metric, References } from "effect"
import { eventsOf, hook, inEngine, inEngineWith, makeEngine, outOfOrder, startEngine, storeCalls, workerOver } from "../Engine.ts"

const shipments = (count: number): ReadonlyArray<string> => Array.from({ length: count }, (_, n) => `S${n}`)

/** Interrupts a worker, and advances the clock until it has stopped. */
const stop = (fiber: Fiber.Fiber<void>, within: number) =>
  Effect.gen(function*() {
    const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
    yield* TestWaybill.pass(within)
    assert.isDefined(fiber.pollUnsafe(), "the worker stopped in time")
    yield* Fiber.join(stopping)
  })

describe("crashes", () => {

  describe("a worker that is stopped", () => {
    it.effect("waits for attempts in flight and writes their outcomes", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      yield* engine.receivers.script(hook, Receiver.delay(5000))
      const fiber = yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass(100)
      yield* stop(fiber, 6000)
      assert.deepStrictEqual((yield* engine.list()).map((each) => [each.state, each.attempts.length]), [["delivered", 1]])
    }, inEngine))

    it.effect("takes nothing new while it stops", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      yield* engine.receivers.script(hook, Receiver.delay(5000))
      const fiber = yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass(100)
      const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestWaybill.pass(100)
      yield* engine.publish("B")
      yield* TestWaybill.pass("1 minute")
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
    }, inEngine))

    it.effect("interrupts attempts at the end of its grace period without counting them, and releases its partitions", () =>
      inEngineWith({ drainMillis: 4000 })(Effect.gen(function*() {
        const engine = yield* makeEngine()
        yield* engine.receivers.script(hook, [Receiver.hang, Receiver.accept()])
        const fiber = yield* TestWaybill.run
        yield* engine.publish("A")
        yield* TestWaybill.pass(1000)
        yield* stop(fiber, 4100)
        const [delivery] = yield* engine.list()
        assert.deepStrictEqual([delivery!.state, delivery!.attempts.map((each) => each.outcome)], ["waiting", ["interrupted"]])
        const store = yield* DeliveryStore
        const everything = Array.from({ length: partitionsPerTenant }, (_, partition) => partition)
        const { partitions } = yield* store.acquire({ workerId: "another", leaseMillis: 1000 }, "acme", everything)
        assert.isTrue(partitions.every(({ othersUntil }) => othersUntil === undefined))
        const [loaded] = yield* store.load("acme", partitions.flatMap((each) => each.destinations))
        const { deliveries } = yield* store.take({
          tenantId: "acme",
          owned: partitions,
          flight: "0199c5a1-0000-7000-8000-000000000000",
          sentAt: 0,
          from: [{ destinationId: loaded!.destinationId, after: undefined, batches: 0, bytes: 0, inFlight: [], again: loaded!.waiting.map(({ deliveryId }) => deliveryId) }],
          sources: ["transit-events"],
          signals: 0,
          skip: [],
          unrequested: 0,
          unrequestedBytes: 0,
          maxBatchBytes: 1000,
          lookAt: 10
        })
        assert.deepStrictEqual(deliveries.map(({ attempt, tries }) => [attempt, tries]), [[2, 1]])
      })))

    it.effect("leaves the remaining work to another worker without a delay", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      yield* engine.receivers.script(hook, Receiver.delay(1000))
      const first = yield* TestWaybill.run
      yield* engine.publish(...shipments(20))
      yield* TestWaybill.pass(500)
      yield* stop(first, 600)
      const before = yield* engine.receivers.requests(hook)
      yield* TestWaybill.run
      yield* TestWaybill.pass(30_000)
      assert.isBelow(before.length, 20)
      assert.deepStrictEqual((yield* engine.receivers.requests(hook)).map((request) => eventsOf(request).join()).toSorted(), shipments(20).map((id) => `${id}/1`).toSorted())
    }, inEngineWith({ destinationConcurrency: 4 })))
  })

  describe("a worker that is killed", () => {
    it.effect("loses nothing: another worker takes over when the lease expires", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      const victim = yield* TestWaybill.worker()
      yield* engine.receivers.script(hook, Receiver.delay(2000))
      yield* victim.run
      yield* engine.publish("A", "A", "B", "C", "C")
      yield* TestWaybill.pass(500)
      for (const call of storeCalls) yield* victim.faults.break(call, "before", Infinity)
      const sentBefore = (yield* engine.receivers.requests(hook)).length
      yield* TestWaybill.run
      yield* TestWaybill.pass(15_000)
      assert.lengthOf(yield* engine.receivers.requests(hook), sentBefore, "the lease still holds")
      yield* TestWaybill.pass(60_000)
      const delivered = yield* engine.delivered()
      assert.deepStrictEqual([...new Set(delivered)].toSorted(), ["A/1", "A/2", "B/1", "C/1", "C/2"])
      assert.deepStrictEqual(outOfOrder(delivered), [])
      assert.isTrue((yield* engine.list()).every((each) => each.state === "delivered"))
    }, inEngine))

    it.effect("has its unconfirmed deliveries sent again, with the same id and bytes", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      const victim = yield* TestWaybill.worker()
      yield* victim.faults.break("settle", "before", Infinity)
      yield* victim.run
      yield* engine.publish("A", "B")
      yield* TestWaybill.pass(1000)
      for (const call of storeCalls) yield* victim.faults.break(call, "before", Infinity)
      yield* TestWaybill.run
      yield* TestWaybill.pass("1 minute")
      const [first, second] = yield* engine.receivers.requests(hook)
      assert.strictEqual(second!.headers["webhook-id"], first!.headers["webhook-id"])
      assert.deepStrictEqual(second!.body, first!.body)
      assert.notStrictEqual(second!.headers["webhook-timestamp"], first!.headers["webhook-timestamp"])
      const [delivery] = yield* engine.list()
      assert.strictEqual(delivery!.state, "delivered")
    }, inEngine))

    it.effect("counts every attempt at its start: a delivery that crashes every sender becomes a dead letter", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { maxAttempts: 2, initialBackoffSeconds: 1 } })
      yield* engine.publish("poison")
      for (let n = 0; n < 12; n++) {
        yield* Effect.scoped(Effect.gen(function*() {
          const victim = yield* TestWaybill.worker()
          yield* victim.faults.break("settle", "before", Infinity)
          yield* victim.run
          yield* TestWaybill.pass(1000)
        }))
        yield* TestWaybill.pass("1 minute")
      }
      const lines: Array<string> = []
      const before = (yield* Metric.value(deadLettersTotal)).count
      yield* TestWaybill.run.pipe(
        Effect.provide(Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])),
        Effect.provideService(References.MinimumLogLevel, "Warn")
      )
      yield* TestWaybill.pass("1 hour")
      assert.deepStrictEqual((yield* engine.list()).map((each) => each.state), ["dead"])
      assert.lengthOf(lines.filter((line) => line.startsWith("Dead letter: ")), 1)
      assert.strictEqual((yield* Metric.value(deadLettersTotal)).count, before + 1)
      assert.isAtMost((yield* engine.receivers.requests(hook)).length, 5)
    }, inEngine))

    it.effect("resumes without its lease, and its writes change nothing", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      const sleeper = yield* TestWaybill.worker()
      yield* engine.receivers.script(hook, Receiver.delay(1000))
      yield* sleeper.run
      yield* engine.publish("A", "A", "B")
      yield* TestWaybill.pass(500)
      for (const call of storeCalls) yield* sleeper.faults.break(call, "before", Infinity)
      yield* TestWaybill.run
      yield* TestWaybill.pass(22_000)
      yield* sleeper.faults.heal
      yield* engine.publish("A", "B", "C")
      yield* TestWaybill.pass("2 minutes")
      const delivered = yield* engine.delivered()
      assert.deepStrictEqual([...new Set(delivered)].toSorted(), ["A/1", "A/2", "A/3", "B/1", "B/2", "C/1"])
      assert.deepStrictEqual(outOfOrder(delivered), [])
      assert.isTrue((yield* engine.list()).every((each) => each.state === "delivered"))
    }, inEngine))
  })

  describe("a store that fails", () => {
    for (const fault of ["before", "after"] as const) {
      for (const call of ["renew", "look", "acquire", "load", "take", "settle"] as const) {
        it.effect(`delivers everything although ${call} sometimes fails ${fault} the write`, Effect.fnUntraced(function*() {
          const engine = yield* makeEngine({ policy: { batchMaxSize: 2, maxAttempts: 1000 } })
          const { faults, run } = yield* TestWaybill.worker()
          yield* engine.receivers.script(hook, Receiver.delay(700))
          yield* run
          for (let round = 0; round < 8; round++) {
            yield* faults.break(call, fault, 1 + round % 2)
            yield* engine.publish("A", "B", "C", "A", "B")
            yield* TestWaybill.pass(900)
          }
          yield* TestWaybill.pass("10 minutes")
          const delivered = yield* engine.delivered()
          assert.strictEqual(new Set(delivered).size, 40)
          assert.deepStrictEqual(outOfOrder(delivered), [])
          assert.isTrue((yield* engine.list()).every((each) => each.state === "delivered"))
          // at least once, and not repeatedly
          assert.isAtMost(delivered.length, 80)
        }, inEngine))
      }
    }

    it.effect("for an hour delays deliveries, and all are sent afterwards", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      const { faults, run } = yield* TestWaybill.worker()
      yield* run
      for (const call of storeCalls) yield* faults.break(call, "before", Infinity)
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 hour")
      assert.deepStrictEqual(yield* engine.receivers.requests(), [])
      yield* faults.heal
      yield* TestWaybill.pass(5000)
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
    }, inEngine))

    it.effect("is called again only after a pause", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      const { faults, run } = yield* TestWaybill.worker()
      yield* run
      yield* faults.break("take", "before", 30)
      yield* engine.publish("A")
      yield* TestWaybill.pass(20_000)
      assert.deepStrictEqual(yield* engine.delivered(), [])
      yield* TestWaybill.pass(20_000)
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
    }, inEngine))
  })

  describe("two workers on one store", () => {
    it.effect("share the work and send nothing twice", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      const urls = Array.from({ length: 10 }, (_, n) => `https://receiver-${n}.example/`)
      for (const [n, endpointUrl] of urls.entries()) {
        yield* TestWaybill.subscribe(engine.tenant, engine.tenant.customer(`c${n}`, ["A"]), { endpointUrl, delivery: { batchMaxSize: 1 } })
      }
      yield* engine.receivers.scriptOthers(Receiver.delay(300))
      yield* TestWaybill.run
      yield* (yield* TestWaybill.worker()).run
      for (let round = 0; round < 5; round++) {
        yield* engine.publish("A", "B", "C", "A")
        yield* TestWaybill.pass(500)
      }
      yield* TestWaybill.pass("1 minute")
      for (const url of urls) {
        const delivered = yield* engine.delivered(url)
        assert.strictEqual(delivered.length, 20)
        assert.strictEqual(new Set(delivered).size, 20)
        assert.deepStrictEqual(outOfOrder(delivered), [])
      }
    }, inEngine))

    it.effect("keep a destination during long attempts by renewing their leases", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1 }, answers: Receiver.delay(50_000) })
      yield* engine.publish("A")
      yield* TestWaybill.pass(1000)
      yield* (yield* TestWaybill.worker()).run
      yield* TestWaybill.pass("5 minutes")
      assert.lengthOf(yield* engine.receivers.requests(hook), 1)
    }, inEngineWith({ attemptTimeoutMillis: 60_000, leaseMillis: 61_000 })))
  })

  describe("a worker with few slots", () => {
    it.effect("does not poll the store repeatedly while its attempts hang", () =>
      inEngineWith({ concurrency: 32, destinationConcurrency: 32, drainMillis: 0 })(Effect.scoped(Effect.gen(function*() {
        const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
        let takes = 0
        yield* workerOver((store) => ({
          take: (request) => {
            takes += 1
            return store.take(request)
          }
        }))
        // the window grows with every accepted delivery
        yield* engine.publish(...shipments(15))
        yield* TestWaybill.pass(1000)
        assert.lengthOf(yield* engine.delivered(), 15)
        yield* engine.receivers.script(hook, Receiver.hang)
        takes = 0
        yield* engine.publish(...shipments(20))
        yield* TestWaybill.pass(14_000)
        assert.isAtLeast((yield* engine.receivers.requests()).length, 15 + 15)
        assert.isAtMost(takes, 10)
      }))))
  })
})
