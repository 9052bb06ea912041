import { assert, describe, it } from "@effect/vitest"
import { ApiKeys } from "@waybill/core"
import { Deliveries } from "@waybill/core/delivery"
import { ChargeSubscriptions } from "@waybill/core/freight-charges"
import { Invoices } from "@waybill/core/invoices"
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Layer, Redacted } from "effect"
import { journeyFrom } from "../../src/demo/DemoJourney.ts"
import { demoTenant, finishedJourney, followCharges, followStatuses, seedDemo } from "../../src/demo/DemoSeed.ts"
import type { DemoState, SavedState } from "../../src/demo/DemoState.ts"

/** A state in memory. */
const stateOf = (endpointUrl: string, first: Partial<SavedState> = {}): DemoState => {
  let saved: SavedState = { secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", ...first }
  return {
    endpointUrl,
    saved: () => saved,
    save: (more) => Effect.sync(() => void (saved = { ...saved, ...more }))
  }
}

const startedAt = Date.UTC(2026, 10, 20, 7, 15)

const start = Effect.fnUntraced(function*(state: DemoState, journey = startedAt) {
  const customer = yield* seedDemo(state)
  yield* followStatuses(state, customer, journey)
  yield* followCharges(state, customer)
  return customer
})

const idsOf = (state: DemoState) => {
  const { chargeSubscriptionId, statuses, subscriptionId } = state.saved()
  return { chargeSubscriptionId, statuses, subscriptionId }
}

const exists = (subscriptionId: string | undefined) =>
  Effect.flatMap(Deliveries, (deliveries) => Effect.match(deliveries.destinationStatus(demoTenant, subscriptionId ?? ""), { onSuccess: () => true, onFailure: () => false }))

describe("the demo's seed data", () => {
  it.effect("is created once, and reused at the next start", Effect.fnUntraced(function*() {
    const state = stateOf("https://demo.example/receiver")
    yield* start(state)
    const before = state.saved()
    yield* start(state)
    assert.deepStrictEqual(state.saved(), before)
  }, Effect.provide(TestWaybill.layer())))

  it.effect("is created again on another database", Effect.fnUntraced(function*() {
    const elsewhere = stateOf("https://demo.example/receiver")
    yield* Effect.provide(start(elsewhere), Layer.fresh(TestWaybill.layer()))
    const state = stateOf("https://demo.example/receiver", elsewhere.saved())
    yield* start(state)
    const { chargeSubscriptionId, customerKey, statuses, subscriptionId } = state.saved()
    assert.notStrictEqual(customerKey, elsewhere.saved().customerKey)
    for (const id of [subscriptionId, statuses?.transactionId, chargeSubscriptionId]) assert.isTrue(yield* exists(id))
  }, Effect.provide(TestWaybill.layer())))

  it.effect("moves to the receiver's new address, and leaves nothing at the old one", Effect.fnUntraced(function*() {
    const before = stateOf("https://demo.example/old")
    const customer = yield* start(before)
    const state = stateOf("https://demo.example/new", before.saved())
    yield* start(state)
    const { chargeSubscriptionId, statuses, subscriptionId } = idsOf(state)
    assert.strictEqual((yield* (yield* TransitSubscriptions).get(customer, subscriptionId!)).endpointUrl, "https://demo.example/new")
    assert.strictEqual((yield* (yield* ChargeSubscriptions).get(customer, chargeSubscriptionId!)).webhookUrl, "https://demo.example/new")
    assert.strictEqual(statuses?.webhookUrl, "https://demo.example/new")
    assert.isFalse(yield* exists(before.saved().statuses?.transactionId))
    assert.isFalse(yield* exists(before.saved().chargeSubscriptionId))
  }, Effect.provide(TestWaybill.layer())))

  it.effect("subscribes to the next journey, and unsubscribes from the one before", Effect.fnUntraced(function*() {
    const state = stateOf("https://demo.example/receiver")
    const customer = yield* start(state)
    const first = idsOf(state)
    yield* followStatuses(state, customer, startedAt + 60_000)
    const second = idsOf(state)
    assert.strictEqual(second.statuses?.startedAt, startedAt + 60_000)
    assert.isTrue(yield* exists(second.statuses?.transactionId))
    assert.isFalse(yield* exists(first.statuses?.transactionId))
    assert.strictEqual(second.chargeSubscriptionId, first.chargeSubscriptionId)
  }, Effect.provide(TestWaybill.layer())))

  it.effect("remembers the finished journey, unless it is another database", Effect.fnUntraced(function*() {
    const state = stateOf("https://demo.example/receiver")
    const customer = yield* start(state)
    assert.strictEqual(yield* finishedJourney(state, customer), undefined)
    yield* state.save({ finishedAt: startedAt })
    assert.strictEqual(yield* finishedJourney(state, customer), undefined)
    const carrier = yield* (yield* ApiKeys).principalOf(Redacted.make(state.saved().carrierKey!))
    const invoices = yield* Invoices
    for (const { invoice } of journeyFrom(startedAt).flatMap((writes) => writes.invoices)) yield* invoices.create(carrier, invoice)
    assert.strictEqual(yield* finishedJourney(state, customer), startedAt)
  }, Effect.provide(TestWaybill.layer())))
})
