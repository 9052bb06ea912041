/** Destinations that a dead letter pauses: later entries wait for a resume, and nothing is lost. */
import { assert, describe, it } from "@effect/vitest"
import { DeliveryQueue, defaultPolicy, type DestinationSettings, Wakeups } from "@waybill/core/delivery"
import { allTypes, eventBatchEnvelope, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect, Option } from "effect"
import { eventsOf, inEngine, makeEngine, outOfOrder } from "../Engine.ts"

const url = "https://fragile.example/hook"
const destinationId = "0199c5a1-0000-7000-8000-00000000abcd"

const settings: DestinationSettings = {
  destinationId,
  client: "fragile",
  source: "transit-events",
  endpointUrl: url,
  hmacSecretId: "nobody-registered-this",
  policy: { ...defaultPolicy, maxAttempts: 2, batchMaxSize: 1 },
  envelope: eventBatchEnvelope,
  signing: "whenRegistered",
  whenDead: "pause",
  state: "active"
}

/** The engine with another destination, which a dead letter pauses. */
const makeFragile = Effect.fnUntraced(function*() {
  const engine = yield* makeEngine()
  const queue = yield* DeliveryQueue
  const wakeups = yield* Wakeups
  const subscriptions = yield* TransitSubscriptionStore
  const { tenantId } = engine.tenant
  yield* queue.openDestination(tenantId, { ...settings, client: engine.customer.client })
  yield* subscriptions.insert(tenantId, {
    id: destinationId,
    client: engine.customer.client,
    doc: "{}",
    createdAt: 0,
    updatedAt: 0,
    typeMask: allTypes,
    shipmentIds: undefined,
    matched: true
  })
  const status = Effect.map(queue.destinationStatus(tenantId, destinationId), Option.getOrThrow)
  const dead = Effect.map(engine.list({ subscriptionId: destinationId }), (all) => all.filter((each) => each.state === "dead"))
  /** Calls that the owner of a subscription makes through its area. */
  const resume = Effect.gen(function*() {
    const { since } = yield* status
    yield* queue.changeDestination(tenantId, settings)
    const recovered = yield* queue.recover(tenantId, destinationId, since)
    yield* wakeups.wake(tenantId)
    return recovered
  })
  return { ...engine, status, dead, resume }
})

describe("a destination that a dead letter pauses", () => {
  it.effect("is paused after the first dead letter, with the reason", Effect.fnUntraced(function*() {
    const engine = yield* makeFragile()
    yield* engine.receivers.script(url, Receiver.fail(500))
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("1 hour")
    const { reason, state } = yield* engine.status
    assert.deepStrictEqual({ reason, state }, { state: "paused", reason: "A delivery was not accepted in 2 attempts." })
    const tried = (yield* engine.receivers.requests(url)).length
    yield* engine.publish("A", "B")
    yield* TestWaybill.pass("1 hour")
    assert.lengthOf(yield* engine.receivers.requests(url), tried)
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2", "B/1"])
  }, inEngine))

  it.effect("sends everything in order once it is resumed, dead letters first and with their ids", Effect.fnUntraced(function*() {
    const engine = yield* makeFragile()
    yield* engine.receivers.script(url, Receiver.fail(500))
    yield* TestWaybill.run
    yield* engine.publish("A", "B", "C")
    yield* TestWaybill.pass("1 hour")
    yield* engine.publish("A", "A", "B")
    yield* TestWaybill.pass("1 hour")
    const failed = new Set((yield* engine.receivers.requests(url)).map((request) => request.headers["webhook-id"]))
    const dead = yield* engine.dead
    assert.isAbove(dead.length, 0)
    yield* engine.receivers.script(url, Receiver.accept())
    assert.strictEqual(yield* engine.resume, dead.length)
    yield* TestWaybill.pass("1 hour")
    const taken = yield* engine.delivered(url)
    assert.deepStrictEqual([...taken].sort(), ["A/1", "A/2", "A/3", "B/1", "B/2", "C/1"])
    assert.deepStrictEqual(outOfOrder(taken), [])
    const ids = (yield* engine.receivers.requests(url)).map((request) => ({ id: request.headers["webhook-id"]!, events: eventsOf(request) }))
    for (const id of failed) assert.lengthOf(new Set(ids.filter((each) => each.id === id).map((each) => each.events.join())), 1)
    assert.lengthOf(yield* engine.dead, 0)
    assert.strictEqual((yield* engine.status).state, "active")
  }, inEngine))
})
