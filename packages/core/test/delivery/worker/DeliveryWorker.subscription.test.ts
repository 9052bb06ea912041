import { assert, describe, it } from "@effect/vitest"
import { SigningSecrets } from "@waybill/core/delivery"
import { EventBatch } from "@waybill/core/transit-events"
import { batchOf, ltlJourney, Receiver, TestWaybill, verifySignature } from "@waybill/testkit"
import { Effect, Redacted, Schema, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { eventsOf, hook, inEngine, inEngineWith, makeEngine, startEngine } from "../Engine.ts"

describe("a delivery", () => {
  it.effect("is a batch in the published format, with the events as reported", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(1_763_626_500_000)
    const engine = yield* startEngine()
    const journey = ltlJourney("S", { accounts: ["A"] })
    yield* engine.events.append(engine.tenant.carrier, journey)
    yield* TestWaybill.pass(100)
    const [request] = yield* engine.receivers.requests(hook)
    const batch = batchOf(request!)
    yield* Schema.decodeUnknownEffect(EventBatch)(batch)
    assert.strictEqual(batch.deliveryId, request!.headers["webhook-id"])
    assert.strictEqual(batch.sentAt, "2025-11-20T08:15:00.000Z")
    assert.deepStrictEqual(
      batch.events.map(({ eventId: _id, sequence: _sequence, ...rest }) => rest),
      journey.map(({ parties: _parties, ...rest }) => rest)
    )
    assert.notInclude(new TextDecoder().decode(request!.body), "parties")
  }, inEngine))

  it.effect("is signed with the subscription's secret", Effect.fnUntraced(function*() {
    const engine = yield* startEngine()
    yield* engine.publish("A")
    yield* TestWaybill.pass(100)
    const [request] = yield* engine.receivers.requests(hook)
    assert.isTrue(verifySignature(engine.tenant.secret, request!))
    assert.notProperty(request!.headers, "x-signature")
  }, inEngine))

  it.effect("is signed with both secrets while one is being rotated, and with the new one afterwards", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const secrets = yield* SigningSecrets
    yield* TestWaybill.run
    yield* TestWaybill.pass(1000)
    const { secret } = yield* secrets.put("acme", "main", { overlapSeconds: 3600 })
    const after = Effect.fnUntraced(function*(wait: number) {
      yield* TestWaybill.pass(wait)
      yield* engine.publish("A")
      yield* TestWaybill.pass(100)
      const request = (yield* engine.receivers.requests(hook)).at(-1)!
      return [verifySignature(Redacted.value(secret), request), verifySignature(engine.tenant.secret, request)]
    })
    assert.deepStrictEqual(yield* after(0), [true, true])
    assert.deepStrictEqual(yield* after(3_500_000), [true, true])
    assert.deepStrictEqual(yield* after(100_000), [true, false])
  }, inEngine))

  it.effect("is the same on every retry, except for time and signature, which uses the current secrets (SPEC-GAP-D12)", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const secrets = yield* SigningSecrets
    let failures = 0
    yield* engine.receivers.script(hook, (request) =>
      eventsOf(request).includes("A/1") && failures++ < 2 ? Receiver.fail(500)(request) : Receiver.accept()(request))
    yield* TestWaybill.run
    yield* engine.publish("A", "B")
    yield* TestWaybill.pass(1000)
    yield* engine.publish("A", "C")
    const { secret } = yield* secrets.put("acme", "main", { overlapSeconds: 0 })
    yield* TestWaybill.pass("1 minute")
    const same = (yield* engine.receivers.requests(hook)).filter((request) => eventsOf(request).includes("A/1"))
    assert.lengthOf(same, 3)
    for (const request of same) assert.deepStrictEqual(request.body, same[0]!.body)
    assert.lengthOf(new Set(same.map((request) => request.headers["webhook-id"])), 1)
    assert.lengthOf(new Set(same.map((request) => request.headers["webhook-timestamp"])), 3)
    assert.isTrue(verifySignature(engine.tenant.secret, same[0]!))
    assert.isTrue(verifySignature(Redacted.value(secret), same[2]!) && !verifySignature(engine.tenant.secret, same[2]!))
    for (const request of same) assert.strictEqual(Number(request.headers["webhook-timestamp"]), Math.floor(request.at / 1000))
  }, inEngine))

  it.effect("has the older signature too if its secret is registered for it", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* (yield* SigningSecrets).put("acme", "main", { bodySignature: true })
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass(100)
    assert.match((yield* engine.receivers.requests(hook))[0]!.headers["x-signature"]!, /^[A-Za-z0-9+/]{43}=$/)
  }, inEngine))

  it.effect("has at most the number of events that the subscription sets", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { batchMaxSize: 7 } })
    yield* engine.publish(...Array.from({ length: 50 }, (_, n) => `S${n % 10}`))
    yield* TestWaybill.pass("1 minute")
    const sizes = (yield* engine.receivers.requests(hook)).map((request) => batchOf(request).events.length)
    assert.isAtMost(Math.max(...sizes), 7)
    assert.strictEqual(sizes.reduce((sum, size) => sum + size, 0), 50)
  }, inEngine))

  it.effect("has at most the bytes that the operator allows, unless one event is larger", Effect.fnUntraced(function*() {
    const engine = yield* startEngine()
    for (let n = 0; n < 10; n++) yield* engine.publishEvent(`S${n}`, { more: { notes: "x".repeat(n === 5 ? 9000 : 2000) } })
    yield* TestWaybill.pass("1 minute")
    const requests = yield* engine.receivers.requests(hook)
    for (const request of requests) assert.isTrue(request.body.length <= 6000 || batchOf(request).events.length === 1)
    assert.lengthOf(yield* engine.delivered(), 10)
  }, inEngineWith({ maxBatchBytes: 5500 })))
})

describe("a subscription", () => {
  it.effect("that is paused queues new events, and sends all in order when it is resumed (SPEC-GAP-D9)", Effect.fnUntraced(function*() {
    const engine = yield* startEngine()
    yield* engine.patch({ status: "paused" })
    for (let n = 0; n < 5; n++) {
      yield* engine.publish("A", "B")
      yield* TestWaybill.pass("1 hour")
    }
    assert.deepStrictEqual(yield* engine.receivers.requests(), [])
    yield* engine.patch({ status: "active" })
    yield* TestWaybill.pass(1000)
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2", "A/3", "A/4", "A/5", "B/1", "B/2", "B/3", "B/4", "B/5"])
  }, inEngine))

  it.effect("that is inactive queues no new events, and sends the waiting ones when it is active again (SPEC-GAP-D9)", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.publish("A")
    yield* engine.patch({ status: "inactive" })
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("1 hour")
    yield* engine.patch({ status: "active" })
    yield* engine.publish("A")
    yield* TestWaybill.pass(1000)
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/3"])
  }, inEngine))

  it.effect("that is paused lets an attempt in flight end, and starts no other", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { batchMaxSize: 1 }, answers: [Receiver.delay(5000, Receiver.fail(500)), Receiver.accept()] })
    yield* engine.publish("A", "A")
    yield* TestWaybill.pass(1000)
    yield* engine.patch({ status: "paused" })
    yield* TestWaybill.pass("1 hour")
    assert.lengthOf(yield* engine.receivers.requests(hook), 1)
    assert.deepStrictEqual((yield* engine.list()).map((each) => [each.state, each.attempts.length]), [["waiting", 1]])
    yield* engine.patch({ status: "active" })
    yield* TestWaybill.pass("1 minute")
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2"])
  }, inEngine))

  it.effect("that is removed receives nothing, and its deliveries end as cancelled", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { batchMaxSize: 1 }, answers: [Receiver.accept(), Receiver.fail(500), Receiver.accept()] })
    yield* engine.publish("A", "B", "A", "B", "C")
    yield* TestWaybill.pass(100)
    const sent = (yield* engine.receivers.requests(hook)).length
    yield* engine.subscriptions.remove(engine.customer, engine.subscription.id)
    yield* engine.publish("A", "B")
    yield* TestWaybill.pass("1 day")
    assert.lengthOf(yield* engine.receivers.requests(hook), sent)
    assert.isTrue((yield* engine.list()).every((each) => each.state === "cancelled" || each.state === "delivered"))
  }, inEngine))

  it.effect("that is removed while a delivery is in flight keeps its outcome", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ answers: Receiver.delay(5000) })
    yield* engine.publish("A")
    yield* TestWaybill.pass(1000)
    yield* engine.subscriptions.remove(engine.customer, engine.subscription.id)
    yield* TestWaybill.pass("1 minute")
    assert.deepStrictEqual((yield* engine.list()).map((each) => [each.state, each.attempts.map((one) => one.outcome)]), [["delivered", ["accepted"]]])
  }, inEngine))

  it.effect("to named shipments gets their whole history first (SPEC-GAP-D13)", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.publish("A", "A", "B")
    const late = "https://late.example/"
    yield* TestWaybill.subscribe(engine.tenant, engine.customer, { endpointUrl: late, filters: { shipmentIds: ["A"] } })
    yield* engine.publish("A", "B")
    yield* TestWaybill.run
    yield* TestWaybill.pass(1000)
    assert.deepStrictEqual(yield* engine.delivered(late), ["A/1", "A/2", "A/3"])
  }, inEngine))

  it.effect("of one customer never gets an event of another's shipment (SPEC-GAP-D14)", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const other = "https://other.example/"
    yield* TestWaybill.subscribe(engine.tenant, engine.tenant.customer("other", ["B"]), { endpointUrl: other, filters: { shipmentIds: ["ours"] } })
    yield* TestWaybill.subscribe(engine.tenant, engine.tenant.customer("other", ["B"]), { endpointUrl: other })
    yield* TestWaybill.run
    yield* engine.publish("ours")
    yield* engine.publishEvent("theirs", { accounts: ["B"] })
    yield* TestWaybill.pass(1000)
    assert.deepStrictEqual(yield* engine.delivered(), ["ours/1"])
    assert.deepStrictEqual(yield* engine.delivered(other), ["theirs/1"])
  }, inEngine))
})

describe("tracing", () => {
  it.effect("makes every attempt part of the trace that published the event", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* startEngine()
      yield* engine.publish("A")
      yield* TestWaybill.pass(100)
      assert.lengthOf(yield* engine.delivered(), 1)
      const published = spans.find((span) => span.name === "TransitEvents.append")!
      const attempt = spans.find((span) => span.attributes.has("waybill.attempt"))!
      assert.strictEqual(attempt.traceId, published.traceId)
      assert.strictEqual(attempt.attributes.get("waybill.outcome"), "accepted")
    })).pipe(Effect.provideService(Tracer.Tracer, recording)))

  const spans: Array<Tracer.NativeSpan> = []
  const recording = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
})
