import { assert, describe, it } from "@effect/vitest"
import { pickupRequest, type PickupOverrides, requestedShipment } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inService, pointers, setup, withDesk } from "./Desk.ts"
import { untyped } from "../untyped.ts"

/** One accepted pickup, and operations on it. */
const ordered = Effect.gen(function*() {
  const service = yield* setup
  const number = (yield* service.order({ orgAccountNumber: "A" })).carrierPickupNumber!
  const change = (overrides: PickupOverrides = {}, principal = service.shipper) =>
    Effect.map(service.pickups.update(principal, number, pickupRequest({ orgAccountNumber: "A", number, ...overrides })), ([answer]) => answer!)
  const status = (...statuses: ReadonlyArray<string>) =>
    Effect.forEach(statuses, (each) =>
      service.pickups.report(service.carrier, number, { status: each, informationCode: { code: 310, subCode: 2 } }))
  return { ...service, number, change, status, cancel: service.pickups.cancel(service.shipper, number), seen: service.look(number) }
})

describe("Pickups.update", () => {
  it.effect("replaces the whole request, after the desk's decision", withDesk(function*(desk) {
    const { change, look, number, seen } = yield* ordered
    const answer = yield* change({ pro: "NEW-1", more: { trailerNumber: "T9", handlingUnitCount: 3 } })
    assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber, answer.trailerNumber, answer.shipperRef], ["Accept", number, "T9", ["LOAD-7", "NEW-1"]])
    const after = yield* seen
    assert.deepStrictEqual([after.status, after.shipmentArray[0]?.proNumber], ["Accepted", "NEW-1"])
    assert.deepStrictEqual(yield* look("new1", { lookupType: "PRO" }), after)
    assert.strictEqual((yield* Effect.flip(look("041-8367745", { lookupType: "PRO" })))._tag, "PickupNotFound")
    const asked = desk.asked[1]
    assert.deepStrictEqual([asked?.kind, asked?.pickupId, asked?.before?.carrierPickupNumber, asked?.before?.request.trailerNumber], ["modify", desk.asked[0]?.pickupId, number, null])
  }))

  it.effect("changes nothing if the request is repeated", withDesk(function*(desk) {
    const { carrier, change, number, pickups } = yield* ordered
    const first = yield* change({ pro: "P" })
    assert.deepStrictEqual(yield* change({ pro: "P" }), { ...first, pickupMessage: [] })
    assert.lengthOf(desk.asked, 2)
    assert.lengthOf((yield* pickups.record(carrier, number)).history, 2)
  }))

  it.effect("keeps the requestId if the desk could not decide", withDesk(function*(desk) {
    const { change } = yield* ordered
    desk.decide = () => {
      throw new Error("down")
    }
    yield* Effect.flip(change({ pro: "P" }))
    desk.decide = () => ({ decision: "accept" })
    yield* change({ pro: "P" })
    yield* change({ pro: "Q" })
    yield* change({ pro: "P" })
    const ids = desk.asked.slice(1).map((each) => each.requestId)
    assert.strictEqual(ids[0], ids[1])
    assert.lengthOf(new Set(ids), 3)
  }))

  it.effect("keeps the pickup unchanged if the carrier does not accept the change (SPEC-GAP-C1)", withDesk(function*(desk) {
    const { carrier, change, number, pickups, seen } = yield* ordered
    const before = yield* seen
    desk.decide = () => ({ decision: "reject", messages: ["The truck is full."] })
    const answer = yield* change({ pro: "P", day: "2026-11-23" })
    assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber, answer.pickupMessage], ["Reject", null, ["The truck is full."]])
    desk.decide = () => ({ decision: "callUs" })
    assert.strictEqual((yield* change({ pro: "P" })).pickupStatus, "Call us")
    assert.deepStrictEqual(yield* seen, before)
    const { history } = yield* pickups.record(carrier, number)
    assert.deepStrictEqual(history.map((each) => each.what), ["ordered", "change not accepted", "change not accepted"])
  }))

  it.effect("uses a new number from the desk", withDesk(function*(desk) {
    const { change, look, number, seen } = yield* ordered
    desk.decide = () => ({ decision: "accept", carrierPickupNumber: "N-2" })
    assert.strictEqual((yield* change({ pro: "P" })).carrierPickupNumber, "N-2")
    assert.strictEqual((yield* look("N-2")).status, "Accepted")
    assert.strictEqual((yield* Effect.flip(seen))._tag, "PickupNotFound")
    assert.strictEqual(number, "100000001")
  }))

  it.effect("requires ModifyExisting and the number of the path (SPEC-GAP-C19)", Effect.fnUntraced(function*() {
    const { number, pickups, shipper } = yield* ordered
    const refused = (body: unknown) => Effect.map(Effect.flip(pickups.update(shipper, number, untyped(body))), pointers)
    assert.deepStrictEqual(yield* refused(pickupRequest()), ["/requestFunction", "/carrierPickupNumber"])
    assert.deepStrictEqual(yield* refused(pickupRequest({ number: `0${number}` })), ["/carrierPickupNumber"])
    for (const [carrierPickupNumber, code] of [[null, "required"], ["2", "conflict"]] as const) {
      const fault = yield* Effect.flip(pickups.update(shipper, number, pickupRequest({ more: { requestFunction: "ModifyExisting", carrierPickupNumber } })))
      assert(fault._tag === "InvalidInput")
      assert.deepStrictEqual(fault.faults.map((each) => each.code), [code])
    }
    yield* pickups.update(shipper, number, pickupRequest({ more: { requestFunction: "ModifyExisting", carrierPickupNumber: Number(number) } }))
    // the update body may leave out the type of units
    const { handlingUnitType: _type, ...shipment } = requestedShipment()
    yield* pickups.update(shipper, number, pickupRequest({ number, more: { shipmentDetails: [shipment] } }))
  }, inService))

  it.effect("refuses an unknown number", Effect.fnUntraced(function*() {
    const { pickups, shipper } = yield* ordered
    for (const number of ["1", "0100000001", "x".repeat(90)]) {
      assert.strictEqual((yield* Effect.flip(pickups.update(shipper, number, pickupRequest({ number }))))._tag, "PickupNotFound", number)
      assert.strictEqual((yield* Effect.flip(pickups.cancel(shipper, number)))._tag, "PickupNotFound", number)
    }
    for (const number of ["", " ", "a\u0000b", "\ud800", "x".repeat(101)]) {
      assert.strictEqual((yield* Effect.flip(pickups.cancel(shipper, number)))._tag, "PickupNotFound", number)
    }
  }, inService))

  it.effect("makes the pickup rescheduled by the shipper if the day changes (SPEC-GAP-C17)", Effect.fnUntraced(function*() {
    const { change, number, pickups, carrier, seen } = yield* ordered
    yield* change({ ready: "09:00:00" })
    assert.strictEqual((yield* seen).status, "Accepted")
    yield* pickups.report(carrier, number, { status: "En Route", stopEta: "2026-11-20T09:40:00", equipmentInformation: { driverName: "Ida" } })
    yield* change({ day: "2026-11-23" })
    const { equipmentInformation, informationCode, status, stopEta } = yield* seen
    assert.deepStrictEqual([status, stopEta, equipmentInformation], ["Rescheduled", "2026-11-23T08:00:00.000", null])
    assert.deepStrictEqual([informationCode.code, informationCode.subCode], ["300", "3"])
  }, inService))

  it.effect("refuses another day after the driver has arrived, but permits other changes", Effect.fnUntraced(function*() {
    const { change, status, seen } = yield* ordered
    yield* status("En Route", "Arrived")
    assert.deepStrictEqual(pointers(yield* Effect.flip(change({ day: "2026-11-23" }))), ["/readyDate"])
    yield* change({ pro: "P" })
    assert.strictEqual((yield* seen).status, "Arrived")
  }, inService))

  it.effect("is permitted during the window if the window does not change", Effect.fnUntraced(function*() {
    const { change } = yield* ordered
    yield* TestClock.setTime(Date.parse("2026-11-20T22:30:00Z"))
    yield* change({ pro: "P" })
    assert.deepStrictEqual(pointers(yield* Effect.flip(change({ ready: "10:00:00" }))), ["/closeTime"])
    yield* change({ close: "18:00:00" })
  }, inService))

  it.effect("lets every client with access keep the pickup's accounts (SPEC-GAP-C20)", Effect.fnUntraced(function*() {
    const { carrier, order, pickups, tenant } = yield* setup
    const { carrierPickupNumber } = yield* order({ orgAccountNumber: "A", btAccountNumber: "PAYER" }, undefined, carrier)
    const number = carrierPickupNumber!
    const partner = tenant.customer("partner", ["A"])
    const change = (overrides: PickupOverrides) => pickups.update(partner, number, pickupRequest({ number, ...overrides }))
    yield* change({ orgAccountNumber: "A", btAccountNumber: "PAYER", pro: "P" })
    assert.deepStrictEqual(pointers(yield* Effect.flip(change({ orgAccountNumber: "A", btAccountNumber: "OTHER" }))), ["/billToAddress/0/btAccountNumber"])
  }, inService))

  it.effect("refuses changes after a final status", Effect.fnUntraced(function*() {
    const { change, status } = yield* ordered
    yield* status("En Route", "Arrived", "Departed")
    const refused = yield* Effect.flip(change({ pro: "P" }))
    assert(refused._tag === "PickupFinal")
    assert.strictEqual(refused.status, "Departed")
  }, inService))
})

describe("Pickups.cancel", () => {
  it.effect("cancels once, notifies the desk once, and succeeds when repeated", withDesk(function*(desk) {
    const { cancel, carrier, change, number, pickups, seen } = yield* ordered
    yield* Effect.all([cancel, cancel, cancel], { concurrency: "unbounded" })
    const { informationCode, status } = yield* seen
    assert.deepStrictEqual([status, informationCode.code, informationCode.subCode], ["Cancelled", "400", "2"])
    assert.deepStrictEqual(desk.calledBack.map((each) => each.carrierPickupNumber), [number])
    assert.strictEqual((yield* Effect.flip(change({ pro: "P" })))._tag, "PickupFinal")
    assert.deepStrictEqual((yield* pickups.record(carrier, number)).history.map((each) => each.what), ["ordered", "cancelled"])
  }))

  it.effect("is possible until the driver has arrived (SPEC-GAP-C12)", Effect.fnUntraced(function*() {
    for (const [way, possible] of [
      [["Rescheduled"], true],
      [["En Route"], true],
      [["En Route", "Re-Attempt"], true],
      [["En Route", "Arrived"], false],
      [["En Route", "Arrived", "Departed"], false]
    ] as const) {
      const { cancel, status } = yield* ordered
      yield* status(...way)
      const result = yield* Effect.result(cancel)
      assert.strictEqual(result._tag, possible ? "Success" : "Failure", way.join())
      if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "PickupFinal")
    }
  }, inService))
})
