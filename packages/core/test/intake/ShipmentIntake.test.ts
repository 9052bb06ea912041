import { assert, describe, it } from "@effect/vitest"
import { TransitEvents } from "@waybill/core/transit-events"
import { ltlJourney, postedShipment, verifiedShipment } from "@waybill/testkit"
import { Effect } from "effect"
import { inService } from "../inService.ts"
import { faultsOf, makeCarrier, pro, shownTo, start, tagOf, wordOf } from "../shipment-status/Carrier.ts"
import { untyped } from "../untyped.ts"

describe("ShipmentIntake", () => {
  it.effect("returns a result for each, and recognises duplicates", Effect.fnUntraced(function*() {
    const { shipments, tenant } = yield* makeCarrier
    const body = { shipments: [postedShipment("a"), postedShipment("b"), postedShipment("a"), postedShipment("a", { PayType: "Collect" })] }
    assert.deepStrictEqual((yield* shipments.report(tenant.carrier, body)).results, [
      { index: 0, result: "accepted", shipmentId: "a" },
      { index: 1, result: "accepted", shipmentId: "b" },
      { index: 2, result: "duplicate", shipmentId: "a" },
      { index: 3, result: "accepted", shipmentId: "a" }
    ])
    const again = yield* shipments.report(tenant.carrier, [postedShipment("b"), postedShipment("a", { PayType: "Collect" })])
    assert.deepStrictEqual(again.results.map((each) => each.result), ["duplicate", "duplicate"])
    const timed = postedShipment("c", { UpdatedETA: "2026-11-24T17:00:00Z" })
    const rewritten = yield* shipments.report(tenant.carrier, [timed, { ...timed, UpdatedETA: "2026-11-24T17:00:00.000+00:00" }])
    assert.deepStrictEqual(rewritten.results.map((each) => each.result), ["accepted", "duplicate"])
  }, inService))

  it.effect("lists every fault, and refuses the whole call", Effect.fnUntraced(function*() {
    const { shipments, statuses, tenant } = yield* makeCarrier
    const { ProNumber: _pro, ...nameless } = postedShipment("b")
    const wrong = {
      ...nameless,
      ShipmentMilestoneStatus: "Lost",
      GrossWeight: "heavy",
      PickupAddress: { ...nameless.PickupAddress, country: "DEU" },
      DESLimitedAccess: "Office",
      UpdatedETA: "2026-11-24T17:00:00"
    }
    assert.deepStrictEqual((yield* faultsOf(shipments.report(tenant.carrier, [postedShipment("a"), untyped(wrong)]))).toSorted(), [
      "/shipments/1/DESLimitedAccess invalid",
      "/shipments/1/GrossWeight invalid",
      "/shipments/1/PickupAddress/country invalid",
      "/shipments/1/ProNumber required",
      "/shipments/1/ShipmentMilestoneStatus invalid",
      "/shipments/1/UpdatedETA invalid"
    ])
    assert.strictEqual(yield* tagOf(statuses.record(tenant.carrier, "a")), "ShipmentNotFound")
  }, inService))

  it.effect("refuses a shipment without fields that others make required", Effect.fnUntraced(function*() {
    const { shipments, tenant } = yield* makeCarrier
    const refused = (overrides: Parameters<typeof postedShipment>[1]) => faultsOf(shipments.report(tenant.carrier, postedShipment("a", overrides)))
    assert.deepStrictEqual(yield* refused({ Late: true, CrossBorder: true, ShipmentMilestoneStatus: "Interline" }), [
      "/shipments/0/DelayReasonCode required",
      "/shipments/0/PartnerCarrierName required",
      "/shipments/0/PartnerCarrierSCAC required",
      "/shipments/0/CrossBorderStatus required"
    ])
  }, inService))

  it.effect("refuses weights, sizes and pieces below 0, and accepts 0 (SPEC-GAP-X9)", Effect.fnUntraced(function*() {
    const { post, shipments, tenant } = yield* makeCarrier
    const measured = (n: number) => ({ GrossWeight: n, Commodities: [{ weight: n, pieces: n }], HandlingUnits: { count: n, tareWeight: n, length: n } })
    assert.deepStrictEqual(yield* faultsOf(shipments.report(tenant.carrier, postedShipment("a", { GrossWeight: -5 }))), ["/shipments/0/GrossWeight out_of_bounds"])
    for (const member of ["Commodities", "HandlingUnits"] as const) {
      assert.isNotEmpty(yield* faultsOf(shipments.report(tenant.carrier, postedShipment("a", { [member]: measured(-1)[member] }))), member)
    }
    yield* post("a", measured(0))
  }, inService))

  it.effect("accepts the valid shipments of a partial call", Effect.fnUntraced(function*() {
    const { post, shipments, statuses, tenant, view } = yield* makeCarrier
    yield* post("a", { ShipmentMilestoneStatus: "Delivered", accounts: ["A"] })
    const back = postedShipment("a", { ShipmentMilestoneStatus: "In Transit", accounts: ["B"] })
    const { results } = yield* shipments.report(tenant.carrier, untyped([back, "nothing", postedShipment("b")]), { partial: true })
    assert.deepStrictEqual(results.map((each) => each.result), ["refused", "refused", "accepted"])
    assert(results[0]!.result === "refused")
    assert.deepInclude(results[0]!.faults[0], { pointer: "/shipments/0/ShipmentMilestoneStatus", code: "conflict" })
    assert.strictEqual((yield* view("a")).ShipmentMilestoneStatus, "Delivered")
    // a refused shipment does not change its accounts either
    assert.deepStrictEqual((yield* statuses.record(tenant.carrier, "a")).accounts, ["A"])
    assert.deepStrictEqual(yield* faultsOf(shipments.report(tenant.carrier, [postedShipment("c"), back])), ["/shipments/1/ShipmentMilestoneStatus conflict"])
    assert.strictEqual(yield* tagOf(view("c")), "ShipmentNotFound")
  }, inService))

  it.effect("applies the event log's earlier events, without notifying them again", Effect.fnUntraced(function*() {
    const { events, follow, post, statuses, tenant, notified, view } = yield* makeCarrier
    const journey = ltlJourney("S1", { accounts: ["A"], start }).slice(0, 5)
    yield* events.report(tenant.carrier, journey)
    yield* follow("S1")
    yield* post("S1")
    const { ShipmentMilestoneStatus, ShipmentTerminalInfo } = yield* view("S1")
    assert.deepStrictEqual([ShipmentMilestoneStatus, ShipmentTerminalInfo.TerminalStatus], ["In Transit", "Departed"])
    assert.deepStrictEqual((yield* notified).map(wordOf), ["In Transit"])
    assert.lengthOf((yield* statuses.record(tenant.carrier, "S1")).history, journey.length + 1)
  }, inService))

  it.effect("applies the event log's history in the order of occurrence, not of arrival", Effect.fnUntraced(function*() {
    const { happen, post, statuses, tenant, view } = yield* makeCarrier
    yield* happen("S1", { type: "DELIVERED", occurredAt: "2026-11-20T12:00:00Z" })
    yield* happen("S1", { type: "PICKED_UP", occurredAt: "2026-11-19T12:00:00Z" })
    yield* post("S1")
    assert.strictEqual((yield* view("S1")).ShipmentMilestoneStatus, "Delivered")
    const range = { accountNumber: "A", startDate: "2026-11-19", endDate: "2026-11-19" }
    assert.lengthOf(yield* statuses.pickedUp(tenant.carrier, range), 1)
  }, inService))

  it.effect("gives the same status for events before and after the shipment's post", Effect.fnUntraced(function*() {
    const { events, post, tenant, view } = yield* makeCarrier
    yield* events.report(tenant.carrier, ltlJourney("before", { start }))
    yield* post("before", { ProNumber: "1", ReferenceNumbers: verifiedShipment("1").ReferenceNumbers })
    yield* post("after", { ProNumber: "1", ReferenceNumbers: verifiedShipment("1").ReferenceNumbers })
    yield* events.report(tenant.carrier, ltlJourney("after", { start }))
    assert.deepStrictEqual(yield* view("before"), yield* view("after"))
    assert.strictEqual((yield* view("after")).ShipmentMilestoneStatus, "Delivered")
  }, inService))

  it.effect("keeps accounts that later events set, when the same shipment is posted again", Effect.fnUntraced(function*() {
    const { customer, happen, post, statuses } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    yield* happen("S1", { accounts: ["B"] })
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    assert.strictEqual((yield* statuses.verified(customer, pro("S1")))._tag, "Public")
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up", PayType: "Collect" })
    assert.strictEqual(shownTo(yield* statuses.verified(customer, pro("S1"))).PayType, "Collect")
  }, inService))

  it.effect("changes nothing in the event log", Effect.fnUntraced(function*() {
    const { post, tenant } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    assert.deepStrictEqual((yield* (yield* TransitEvents).list(tenant.carrier, {})).data, [])
  }, inService))
})
