import { assert, describe, it } from "@effect/vitest"
import { milestoneMoves } from "@waybill/core/shipment-status"
import { arbitraryReportedEvent, ltlJourney, reportedEvent } from "@waybill/testkit"
import { Effect } from "effect"
import { listOf } from "../arbitraries.ts"
import { makeCarrier, start, tagOf, wordOf } from "../shipment-status/Carrier.ts"
import { untyped } from "../untyped.ts"
import { inService } from "../inService.ts"

describe("TransitEventIntake", () => {
  it.effect("returns a result for each item, in order", Effect.fnUntraced(function*() {
    const { events, tenant } = yield* makeCarrier
    const event = reportedEvent("S", { eventId: "e" })
    const { results } = yield* events.report(tenant.carrier, untyped({ events: [event, "no event", event] }), { partial: true })
    assert.deepStrictEqual(results.map((each) => [each.index, each.result]), [[0, "accepted"], [1, "refused"], [2, "duplicate"]])
  }, inService))
})

describe("the effect of an event on the shipment's status", () => {
  it.effect("is stored and notified in one transaction with the events", Effect.fnUntraced(function*() {
    const { events, follow, post, tenant, notified, view } = yield* makeCarrier
    yield* follow("S1")
    yield* post("S1")
    yield* events.report(tenant.carrier, ltlJourney("S1", { accounts: ["A"], start }))
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up", "Arrived", "Departed", "Arrived", "Out for Delivery", "Delivered", "POD available"])
    assert.deepInclude(yield* view("S1"), { ShipmentMilestoneStatus: "Delivered", PODAvailable: true })
  }, inService))

  it.effect("applies once, even if the event is repeated", Effect.fnUntraced(function*() {
    const { happen, post, statuses, tenant } = yield* makeCarrier
    yield* post("S1")
    for (let n = 0; n < 3; n++) yield* happen("S1", { eventId: "e1", type: "PICKED_UP" })
    assert.lengthOf((yield* statuses.record(tenant.carrier, "S1")).history, 2)
  }, inService))

  it.effect("does not concern shipments that were never posted", Effect.fnUntraced(function*() {
    const { happen, logged, statuses, tenant } = yield* makeCarrier
    yield* happen("S1", { type: "PICKED_UP" })
    assert.lengthOf(yield* logged, 1)
    assert.strictEqual(yield* tagOf(statuses.record(tenant.carrier, "S1")), "ShipmentNotFound")
  }, inService))

  it.effect("never refuses an event: a milestone that is not permitted is ignored", Effect.fnUntraced(function*() {
    const { happen, logged, post, view } = yield* makeCarrier
    yield* post("S1")
    yield* happen("S1", { type: "DELIVERED", occurredAt: "2026-11-20T15:00:00Z" })
    yield* happen("S1", { type: "OUT_FOR_DELIVERY", occurredAt: "2026-11-20T16:00:00Z" })
    assert.lengthOf(yield* logged, 2)
    assert.strictEqual((yield* view("S1")).ShipmentMilestoneStatus, "Delivered")
  }, inService))

  it.effect("with a time far ahead does not make later events late (SPEC-GAP-A19)", Effect.fnUntraced(function*() {
    for (const before of [true, false]) {
      const { happen, post, view } = yield* makeCarrier
      const id = before ? "S1" : "S2"
      if (before) yield* post(id)
      yield* happen(id, { type: "PICKED_UP", occurredAt: "2062-11-20T08:00:00Z" })
      if (!before) yield* post(id)
      yield* happen(id, { type: "OUT_FOR_DELIVERY", occurredAt: "2026-11-21T08:00:00Z" })
      assert.strictEqual((yield* view(id)).ShipmentMilestoneStatus, "Out for Delivery")
    }
  }, inService))

  it.effect("is not applied if the call is refused", Effect.fnUntraced(function*() {
    const { events, post, tenant, view } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    yield* Effect.flip(events.report(tenant.carrier, untyped([reportedEvent("S1", { type: "DELIVERED" }), "no event"])))
    assert.strictEqual((yield* view("S1")).ShipmentMilestoneStatus, "Picked-up")
  }, inService))

  it.effect.prop("keeps the order of milestones, and Delivered final, for any events in any order", [listOf(arbitraryReportedEvent, 1, 12)], Effect.fnUntraced(function*([reported]) {
    const { events, post, tenant, view } = yield* makeCarrier
    yield* post("S1")
    let before = (yield* view("S1")).ShipmentMilestoneStatus
    for (const event of reported) {
      yield* events.report(tenant.carrier, { ...event, shipment: { ...event.shipment, shipmentId: "S1" } })
      const after = (yield* view("S1")).ShipmentMilestoneStatus
      assert.isTrue(before === undefined || before === after || milestoneMoves.some((move) => move.from === before && move.to === after))
      before = after
    }
  }, inService))
})
