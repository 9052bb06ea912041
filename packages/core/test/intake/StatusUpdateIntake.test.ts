import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@waybill/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inService } from "../inService.ts"
import { faultsOf, makeCarrier, start, wordOf } from "../shipment-status/Carrier.ts"
import { untyped } from "../untyped.ts"

/** A carrier whose shipment S1 (PRO S1) was picked up, and a customer that subscribed to it. */
const pickedUp = Effect.gen(function*() {
  const carrier = yield* makeCarrier
  yield* carrier.follow("S1")
  yield* carrier.post("S1", { ShipmentMilestoneStatus: "Picked-up" })
  return carrier
})

const arrived = {
  proNumber: "s-1",
  occurredAt: "2026-11-20T16:00:00-06:00",
  shipmentMilestoneStatus: "In Transit",
  terminalStatus: "Arrived",
  terminaltype: "origin",
  terminalAddress: { TerminalID: "CHI", City: "Cicero", State: "IL", Country: "USA" },
  UpdatedETA: "2026-11-24",
  TimeZoneOfShipment: "-6",
  trailerNumber: "T-53"
}

describe("StatusUpdateIntake", () => {
  it.effect("moves the shipment, notifies its subscribers and adds an event to the log", Effect.fnUntraced(function*() {
    const { logged, notified, update, view } = yield* pickedUp
    const { results } = yield* update(arrived)
    assert.deepInclude(results[0], { index: 0, result: "accepted", shipmentId: "S1", outcome: "applied" })
    assert.deepInclude(yield* view("S1"), { ShipmentMilestoneStatus: "In Transit", TimeZoneOfShipment: "-6" })
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up", "Arrived"])
    assert.deepInclude((yield* notified)[1], {
      proNumber: "S1",
      shipmentMilestoneStatus: "In Transit",
      terminaltype: "origin",
      terminalAddress: arrived.terminalAddress,
      trailerNumber: "T-53",
      notificationMessage: "Shipment S1 arrived at the origin terminal in Cicero, IL."
    })
    const [event, ...others] = yield* logged
    assert.deepStrictEqual(others, [])
    assert.deepInclude(event, { type: "ARRIVED_AT_TERMINAL", occurredAt: arrived.occurredAt, sequence: 1 })
    assert.strictEqual(event!["shipment"]["shipmentId"], "S1")
    assert.strictEqual(event!["shipment"]["destination"]["postalCode"], "02108")
    assert.strictEqual(event!["location"]["locationId"], "CHI")
  }, inService))

  it.effect("notifies information of every kind", Effect.fnUntraced(function*() {
    const { logged, notified, update, view } = yield* pickedUp
    const inform = (message: string, more: Readonly<Record<string, unknown>> = {}) => ({ shipmentId: "S1", deliveryInformation_messages: message, ...more })
    yield* update(
      inform("Accessorial added"),
      inform("Noted reweigh"),
      inform("Appointment Update", { appointmentStatus: "appointment scheduled", appointmentDate: "2026-11-24T09:00:00-05:00" }),
      inform("Customs information", { customsStatus: "Hold", customsAgent: { type: "Import", name: "Border Brokers", contact: { phone: "5552226666" } } }),
      inform("Noted late", { UpdatedETA: "2026-11-26", delayReasonCode: "390-1" }),
      inform("POD available")
    )
    assert.deepStrictEqual((yield* notified).map(wordOf).slice(1), ["Accessorial added", "Noted reweigh", "Appointment Update", "Customs information", "Noted late", "POD available"])
    assert.deepStrictEqual((yield* notified)[4]!["customsAgent"], { type: "Import", name: "Border Brokers", contact: { phone: "5552226666" } })
    assert.deepInclude((yield* notified)[5], { delayReasonCode: "390-1", generalDescription: "Weather", responsibleParty: "No Fault" })
    assert.deepInclude(yield* view("S1"), { Late: true, DelayReasonCode: "390-1", PODAvailable: true, CrossBorderStatus: "Hold", AppointmentStatus: "Secured" })
    assert.deepStrictEqual((yield* logged).map((event) => event["type"]), ["OTHER", "OTHER", "OTHER", "CUSTOMS_HOLD", "DELAY", "PROOF_OF_DELIVERY"])
  }, inService))

  it.effect("says what subscribers are sent, or why nothing (SPEC-GAP-A24)", Effect.fnUntraced(function*() {
    const { notified, post, update } = yield* pickedUp
    yield* post("S2")
    const moved = { shipmentId: "S1", shipmentMilestoneStatus: "In Transit" }
    const { results } = yield* update(
      { proNumber: arrived.proNumber, ...moved, occurredAt: "2026-11-20T16:00:00-06:00", terminalStatus: "Arrived" },
      { shipmentId: "S1", deliveryInformation_messages: "Noted late", delayReasonCode: "390-1" },
      { ...moved, UpdatedETA: "2026-11-24", trailerNumber: "T-9", notificationMessage: "Still here." },
      { ...moved, occurredAt: "2026-11-20T16:30:00-06:00" },
      { ...moved, occurredAt: "2026-11-20T01:00:00-06:00" },
      { shipmentId: "S2", deliveryInformation_messages: "Noted reweigh" }
    )
    assert.deepStrictEqual(results.map((each) => each.result === "refused" ? "refused" : [each.outcome, each.notified, each.notNotified?.split(/[ .,]/u).slice(0, 3).join(" ")]), [
      ["applied", ["In Transit, Arrived"], undefined],
      ["applied", ["Noted late"], undefined],
      ["applied", [], "Lookups show the"],
      ["unchanged", [], "It repeats what"],
      ["late", [], "It happened before"],
      ["applied", [], "The shipment has"]
    ])
    assert.deepStrictEqual((yield* notified).map(wordOf).slice(1), ["Arrived", "Noted late"])
  }, inService))

  it.effect("refuses a move that is not permitted, with a reason, and stores nothing", Effect.fnUntraced(function*() {
    const { logged, statuses, tenant, update, updates } = yield* pickedUp
    yield* update({ shipmentId: "S1", shipmentMilestoneStatus: "Out for Delivery" })
    const back = { shipmentId: "S1", shipmentMilestoneStatus: "In Transit" }
    assert.deepStrictEqual(yield* faultsOf(update({ shipmentId: "S1", deliveryInformation_messages: "POD available" }, back)), ["/updates/1/shipmentMilestoneStatus conflict"])
    assert.lengthOf(yield* logged, 1)
    const { results } = yield* updates.report(tenant.carrier, untyped([back, { shipmentId: "S1", deliveryInformation_messages: "POD available" }]), { partial: true })
    assert.deepStrictEqual(results.map((each) => each.result), ["refused", "accepted"])
    assert.lengthOf(yield* logged, 2)
    assert.lengthOf((yield* statuses.record(tenant.carrier, "S1")).history, 3)
  }, inService))

  it.effect("permits going back after a missed delivery in the same call", Effect.fnUntraced(function*() {
    const { notified, update, view } = yield* pickedUp
    yield* update(
      { shipmentId: "S1", shipmentMilestoneStatus: "Out for Delivery", countsToDelivery: 2 },
      { shipmentId: "S1", deliveryInformation_messages: "Missed delivery", delayReasonCode: "330-1" },
      { shipmentId: "S1", shipmentMilestoneStatus: "In Transit" }
    )
    assert.strictEqual((yield* view("S1")).ShipmentMilestoneStatus, "In Transit")
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up", "Out for Delivery", "Missed delivery", "In Transit"])
    assert.strictEqual((yield* notified)[1]!["countsToDelivery"], 2)
  }, inService))

  it.effect("recognises a repeated update by its id, or by its content (SPEC-GAP-A18)", Effect.fnUntraced(function*() {
    const { logged, notified, update } = yield* pickedUp
    const named = { shipmentId: "S1", updateId: "u1", deliveryInformation_messages: "Noted reweigh" }
    const first = yield* update(named, arrived)
    yield* TestClock.adjust("1 hour")
    const again = yield* update(named, arrived, { ...arrived, proNumber: undefined, shipmentId: "S1" })
    assert.deepStrictEqual(again.results.map((each) => each.result), ["duplicate", "duplicate", "duplicate"])
    assert.strictEqual((again.results[0] as { eventId: string }).eventId, (first.results[0] as { eventId: string }).eventId)
    assert.deepStrictEqual(yield* faultsOf(update({ ...named, deliveryInformation_messages: "Accessorial added" })), ["/updates/0/updateId conflict"])
    const twice = yield* update({ ...named, updateId: "u2" }, { ...named, updateId: "u2" })
    assert.deepStrictEqual(twice.results.map((each) => each.result), ["accepted", "duplicate"])
    // an update with another time is a different update
    yield* update({ ...arrived, occurredAt: "2026-11-20T17:00:00-06:00" })
    assert.lengthOf(yield* logged, 4)
    assert.lengthOf(yield* notified, 4)
  }, inService))

  it.effect("recognises a repeated update whose times another serializer wrote (SPEC-GAP-A18)", Effect.fnUntraced(function*() {
    const { update } = yield* pickedUp
    const moved = { shipmentId: "S1", shipmentMilestoneStatus: "In Transit" as const, occurredAt: "2026-11-20T16:00:00Z", UpdatedETA: "2026-11-24T17:00:00-06:00" }
    const rewritten = { ...moved, occurredAt: "2026-11-20T16:00:00.000+00:00", UpdatedETA: "2026-11-24T17:00:00.000-06:00" }
    yield* update(moved, { ...moved, updateId: "u1" })
    assert.deepStrictEqual((yield* update(rewritten, { ...rewritten, updateId: "u1" })).results.map((each) => each.result), ["duplicate", "duplicate"])
  }, inService))

  it.effect("recognises a repeated update after the shipment was corrected", Effect.fnUntraced(function*() {
    const { post, update } = yield* pickedUp
    yield* update(arrived)
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up", ReferenceNumbers: { bolNumber: "other" } })
    assert.strictEqual((yield* update(arrived)).results[0]!.result, "duplicate")
  }, inService))

  it.effect("uses the current time for an update without a time", Effect.fnUntraced(function*() {
    const { logged, update } = yield* pickedUp
    yield* update({ shipmentId: "S1", shipmentMilestoneStatus: "In Transit" })
    assert.strictEqual((yield* logged)[0]!["occurredAt"], formatInstant(start))
  }, inService))

  it.effect("turns a movement with damage into one notification and two events", Effect.fnUntraced(function*() {
    const { logged, notified, update } = yield* pickedUp
    const damaged = { shipmentId: "S1", occurredAt: "2026-11-21T12:00:00Z", shipmentMilestoneStatus: "Delivered", terminalStatus: "Damaged" }
    yield* update(damaged)
    assert.deepStrictEqual((yield* logged).map(({ attributes, type }) => [type, attributes.exception]), [["DELIVERED", undefined], ["EXCEPTION", "damaged"]])
    assert.deepStrictEqual((yield* notified).slice(1).map((each) => [each["shipmentMilestoneStatus"], each["terminalStatus"]]), [["Delivered", "Damaged"]])
    // the shipment is already there, so nothing moves
    assert.deepStrictEqual((yield* update(damaged)).results.map((each) => each.result), ["duplicate"])
    yield* update({ ...damaged, occurredAt: "2026-11-21T13:00:00Z", terminalStatus: "Short" })
    assert.deepStrictEqual((yield* logged).map(({ type }) => type), ["DELIVERED", "EXCEPTION", "EXCEPTION"])
  }, inService))

  it.effect("keeps late updates in the history only", Effect.fnUntraced(function*() {
    const { notified, update, view } = yield* pickedUp
    const at = (occurredAt: string, shipmentMilestoneStatus: string) => update({ shipmentId: "S1", shipmentMilestoneStatus, occurredAt })
    yield* at("2026-11-21T12:00:00Z", "Out for Delivery")
    const { results } = yield* at("2026-11-21T08:00:00Z", "In Transit")
    assert.deepInclude(results[0], { result: "accepted", outcome: "late" })
    assert.strictEqual((yield* view("S1")).ShipmentMilestoneStatus, "Out for Delivery")
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up", "Out for Delivery"])
  }, inService))

  it.effect("refuses an update whose PRO is another shipment's, and takes one whose shipmentId tells shipments with one PRO apart (SPEC-GAP-A35)", Effect.fnUntraced(function*() {
    const { post, update, view } = yield* pickedUp
    yield* post("S2", { ShipmentMilestoneStatus: "Picked-up", UpdatedPro: "PARTNER-2" })
    yield* post("S3", { ProNumber: "S1", ShipmentMilestoneStatus: "Picked-up" })
    const moved = { shipmentMilestoneStatus: "In Transit" }
    assert.deepStrictEqual(yield* faultsOf(update({ shipmentId: "S1", proNumber: "partner2", ...moved })), ["/updates/0/proNumber conflict"])
    yield* update({ shipmentId: "S1", proNumber: "s-1", ...moved }, { shipmentId: "S2", proNumber: "PARTNER 2", ...moved }, { shipmentId: "S3", proNumber: "NEW", ...moved })
    for (const shipmentId of ["S2", "S3"]) assert.strictEqual((yield* view(shipmentId)).ShipmentMilestoneStatus, "In Transit")
  }, inService))

  it.effect("refuses an update without a known shipment, or in neither of the two shapes", Effect.fnUntraced(function*() {
    const { update } = yield* pickedUp
    assert.deepStrictEqual(yield* faultsOf(update({ shipmentId: "S2", shipmentMilestoneStatus: "In Transit" }, { proNumber: "404", shipmentMilestoneStatus: "In Transit" })), [
      "/updates/0/shipmentId unknown_reference",
      "/updates/1/proNumber unknown_reference"
    ])
    assert.deepStrictEqual(yield* faultsOf(update({ shipmentId: "S1" })), ["/updates/0/shipmentMilestoneStatus required"])
    assert.deepStrictEqual(yield* faultsOf(update({ shipmentMilestoneStatus: "In Transit" })), ["/updates/0/proNumber required"])
    assert.deepStrictEqual(yield* faultsOf(update({ ...arrived, deliveryInformation_messages: "Noted late" })), ["/updates/0/deliveryInformation_messages conflict"])
    assert.deepStrictEqual(yield* faultsOf(update({ ...arrived, countsToDelivery: 2 })), ["/updates/0/countsToDelivery not_allowed"])
    assert.deepStrictEqual(yield* faultsOf(update({ shipmentId: "S1", shipmentMilestoneStatus: "Interline" })), ["/updates/0/shipmentMilestoneStatus conflict"])
    assert.deepStrictEqual(yield* faultsOf(update({ ...arrived, terminalStatus: "Parked", delayReasonCode: "999-1" })), ["/updates/0/delayReasonCode invalid", "/updates/0/terminalStatus invalid"])
  }, inService))
})
