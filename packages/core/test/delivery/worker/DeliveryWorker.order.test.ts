import { assert, describe, it } from "@effect/vitest"
import { AttemptOutcome, DeliveryWorker } from "@waybill/core/delivery"
import { batchOf, type Behaviour, Receiver, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { eventsOf, hook, inEngine, inEngineWith, makeEngine, outOfOrder, startEngine } from "../Engine.ts"

/** Fails every batch with an event of these shipments. */
const failing = (...shipmentIds: ReadonlyArray<string>): Behaviour => (request) =>
  batchOf(request).events.some((event) => shipmentIds.includes(event.shipment.shipmentId))
    ? Receiver.fail(500)(request)
    : Receiver.accept()(request)

describe("order", () => {

  describe("order", () => {
    it.effect("is kept within a batch: by shipment, sequence and id", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      yield* engine.publish("B", "A", "B", "A", "C", "A")
      yield* (yield* DeliveryWorker).drain
      const [request, ...others] = yield* engine.receivers.requests(hook)
      assert.deepStrictEqual([eventsOf(request!), others], [["A/1", "A/2", "A/3", "B/1", "B/2", "C/1"], []])
    }, inEngine))

    it.effect("is kept per shipment while some deliveries fail", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 2, maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 3 } })
      let n = 0
      yield* engine.receivers.script(hook, (request) => (n++ * 7) % 3 === 0 ? Receiver.fail(500)(request) : Receiver.delay(n % 5 * 300)(request))
      yield* TestWaybill.run
      for (let round = 0; round < 10; round++) {
        yield* engine.publish("A", "B", "C", "A", "D")
        yield* TestWaybill.pass(round * 100)
      }
      yield* TestWaybill.pass("1 hour")
      const delivered = yield* engine.delivered()
      assert.strictEqual(new Set(delivered).size, 50)
      assert.deepStrictEqual(outOfOrder(delivered), [])
    }, inEngine))

    it.effect("makes a shipment's next event wait until the previous one is accepted", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1 }, answers: Receiver.delay(5000) })
      yield* engine.publish("A")
      yield* TestWaybill.pass(1000)
      yield* engine.publish("A")
      yield* TestWaybill.pass(3900)
      assert.lengthOf(yield* engine.receivers.requests(hook), 1)
      yield* TestWaybill.pass(200)
      assert.deepStrictEqual((yield* engine.receivers.requests(hook)).map(eventsOf), [["A/1"], ["A/2"]])
    }, inEngine))

    it.effect("is kept when all dead letters of a shipment are sent again, which takes no longer than its receiver needs", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1, maxAttempts: 1, rateLimitPerMinute: 6000 }, answers: Receiver.fail(400) })
      for (let each = 0; each < 20; each++) {
        yield* engine.publish("A")
        yield* TestWaybill.pass("2 minutes")
      }
      assert.deepStrictEqual(yield* engine.delivered(), [])
      yield* engine.receivers.script(hook, Receiver.delay(20))
      yield* engine.deliveries.recover("acme", engine.subscription.id, { since: "1970-01-01T00:00:00Z" })
      yield* TestWaybill.pass(2_500)
      assert.deepStrictEqual(yield* engine.delivered(), Array.from({ length: 20 }, (_, n) => `A/${n + 1}`))
    }, inEngine))

    it.effect("continues for a shipment when its delivery is a dead letter", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1, maxAttempts: 2, initialBackoffSeconds: 1 }, answers: [Receiver.fail(500), Receiver.fail(500), Receiver.accept()] })
      yield* engine.publish("A", "A")
      yield* TestWaybill.pass("1 minute")
      assert.deepStrictEqual((yield* engine.list()).map((each) => each.state), ["dead", "delivered"])
      assert.deepStrictEqual(yield* engine.delivered(), ["A/2"])
    }, inEngine))

    it.effect("puts a late event with a lower sequence after the events already sent, and loses none", Effect.fnUntraced(function*() {
      const engine = yield* startEngine()
      yield* engine.publishEvent("A", { sequence: 10, eventId: "ten" })
      yield* TestWaybill.pass(100)
      yield* engine.publishEvent("A", { sequence: 3, eventId: "three" })
      yield* TestWaybill.pass(100)
      assert.deepStrictEqual(yield* engine.delivered(), ["A/10", "A/3"])
    }, inEngine))
  })

  describe("a delivery that fails or hangs", () => {
    it.effect("blocks its own shipments only", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1, maxAttempts: 1000, initialBackoffSeconds: 600, maxBackoffSeconds: 600 }, answers: failing("bad") })
      yield* engine.publish("bad", "good", "bad")
      yield* TestWaybill.pass(1000)
      for (let n = 0; n < 5; n++) {
        yield* engine.publish("good", "bad")
        yield* TestWaybill.pass(1000)
      }
      assert.deepStrictEqual(yield* engine.delivered(), ["good/1", "good/2", "good/3", "good/4", "good/5", "good/6"])
      assert.deepStrictEqual((yield* engine.list({ state: "waiting" })).map((each) => each.events), [1])
      yield* engine.receivers.script(hook, Receiver.accept())
      yield* TestWaybill.pass("1 hour")
      assert.deepStrictEqual((yield* engine.delivered()).slice(6), ["bad/1", "bad/2", "bad/3", "bad/4", "bad/5", "bad/6", "bad/7"])
    }, inEngine))

    it.effect("hides no retry of another shipment, however many of its own shipment wait behind it", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1, maxAttempts: 1, initialBackoffSeconds: 1, rateLimitPerMinute: 6000 }, answers: Receiver.fail(400) })
      yield* engine.publish(...Array.from({ length: 250 }, () => "bad"))
      yield* TestWaybill.pass("10 minutes")
      yield* engine.publish("good")
      yield* TestWaybill.pass("1 minute")
      yield* engine.patch({ delivery: { maxAttempts: 1000, initialBackoffSeconds: 60, maxBackoffSeconds: 60 } })
      yield* engine.receivers.script(hook, failing("bad"))
      yield* engine.deliveries.recover("acme", engine.subscription.id, { since: "1970-01-01T00:00:00Z" })
      yield* TestWaybill.pass("10 minutes")
      assert.deepStrictEqual(yield* engine.delivered(), ["good/1"])
      yield* engine.receivers.script(hook, Receiver.accept())
      for (let second = 0; second < 70; second++) yield* TestWaybill.pass("1 second")
      assert.deepStrictEqual(yield* engine.delivered(), ["good/1", ...Array.from({ length: 250 }, (_, n) => `bad/${n + 1}`)])
    }, inEngine), 60_000)

    it.effect("uses slots of its own destination only while it hangs", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine()
      const other = "https://other.example/hook"
      yield* TestWaybill.subscribe(engine.tenant, engine.tenant.customer("other", ["A"]), { endpointUrl: other })
      yield* engine.receivers.script(hook, Receiver.hang)
      yield* TestWaybill.run
      for (let n = 0; n < 20; n++) {
        yield* engine.publish("A", "B")
        yield* TestWaybill.pass(500)
      }
      assert.lengthOf(yield* engine.delivered(other), 40)
      assert.deepStrictEqual(yield* engine.delivered(), [])
      yield* engine.receivers.script(hook, Receiver.accept())
      yield* TestWaybill.pass("10 minutes")
      const delivered = yield* engine.delivered()
      assert.deepStrictEqual([new Set(delivered).size, outOfOrder(delivered)], [40, []])
    }, inEngine))

    it.effect("does not delay other shipments of the destination while one hangs", Effect.fnUntraced(function*() {
      const engine = yield* startEngine({ policy: { batchMaxSize: 1 }, answers: (request) => eventsOf(request)[0]!.startsWith("slow") ? Receiver.hang(request) : Receiver.accept()(request) })
      yield* engine.publish("slow")
      yield* TestWaybill.pass(50)
      // published while the destination is owned, just after a take
      yield* engine.publish("fast")
      yield* TestWaybill.pass(2000)
      assert.deepStrictEqual(yield* engine.delivered(), ["fast/1"])
    }, inEngine))

    it.effect("never exceeds the destination's share of attempts in flight", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      let inFlight = 0
      let most = 0
      yield* engine.receivers.script(hook, () =>
        Effect.sync(() => {
          inFlight += 1
          most = Math.max(most, inFlight)
        }).pipe(
          Effect.andThen(Effect.sleep(1000)),
          Effect.map(() => {
            inFlight -= 1
            return AttemptOutcome.Accepted({ status: 200, excerpt: "" })
          })
        ))
      yield* TestWaybill.run
      yield* engine.publish(...Array.from({ length: 100 }, (_, n) => `S${n}`))
      yield* TestWaybill.pass("10 minutes")
      assert.lengthOf(yield* engine.delivered(), 100)
      assert.isAtMost(most, 7)
      assert.isAtLeast(most, 5)
    }, inEngineWith({ destinationConcurrency: 7 })))
  })

  describe("fairness", () => {
    it.effect("serves a hundred healthy destinations beside one with two thousand waiting entries", Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1, rateLimitPerMinute: 6_000_000 } })
      const others = Array.from({ length: 100 }, (_, n) => `https://healthy-${n}.example/`)
      for (const [n, url] of others.entries()) {
        yield* TestWaybill.subscribe(engine.tenant, engine.tenant.customer(`healthy ${n}`, [`H${n}`]), { endpointUrl: url })
      }
      for (let n = 0; n < 2; n++) yield* engine.publish(...Array.from({ length: 1000 }, (_, m) => `noisy ${n * 1000 + m}`))
      for (const n of others.keys()) yield* engine.publishEvent(`healthy ${n}`, { accounts: [`H${n}`] })
      yield* engine.receivers.scriptOthers(Receiver.delay(10))
      yield* engine.receivers.script(hook, Receiver.delay(10))
      yield* TestWaybill.run
      yield* TestWaybill.pass(1000)
      const requests = yield* engine.receivers.requests()
      const lastHealthy = requests.findLastIndex((request) => request.url !== hook)
      const noisyBefore = requests.slice(0, lastHealthy).filter((request) => request.url === hook).length
      assert.lengthOf(requests.filter((request) => request.url !== hook), 100)
      assert.isBelow(noisyBefore, 500)
      assert.isBelow(requests[lastHealthy]!.at, 500)
      yield* TestWaybill.pass("1 hour")
      assert.lengthOf(yield* engine.delivered(), 2_000)
    }, inEngineWith({ concurrency: 32, destinationConcurrency: 8 })), 60_000)
  })
})
