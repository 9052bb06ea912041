import { assert, describe, it } from "@effect/vitest"
import { canMovePickup, decidedStatus, isFinalPickup, type PickupStatus, pickupStatusWords, readPickupStatus } from "@waybill/core/pickups"
import { Effect } from "effect"
import { listOf, oneOf } from "../arbitraries.ts"
import { inService, inServiceWith, makeDesk, pointers, setup, withDesk } from "./Desk.ts"
import { untyped } from "../untyped.ts"

const ordered = Effect.gen(function*() {
  const service = yield* setup
  const number = (yield* service.order()).carrierPickupNumber!
  const report = (body: unknown) => service.pickups.report(service.carrier, number, untyped(body))
  return { ...service, number, report, seen: service.look(number), history: Effect.map(service.pickups.record(service.carrier, number), (record) => record.history) }
})

const why = { code: 310, subCode: 8 }

describe("Pickups.report", () => {
  it.effect.prop("permits only the moves in the table, and none after a final status", [oneOf(Object.values(decidedStatus)), listOf(oneOf([...pickupStatusWords, "cancel"]), 1, 12)], ([first, steps]) => {
    const decision = ({ "Accepted": "accept", "Rejected": "reject", "Call us": "callUs" } as const)[first]
    const desk = makeDesk(() => ({ decision }))
    return inServiceWith(desk)(Effect.gen(function*() {
      const { carrier, order, pickups, shipper } = yield* setup
      yield* order()
      const { pickupId } = desk.asked[0]!
      let known: PickupStatus = first
      for (const step of steps) {
        const before = known
        if (step === "cancel") {
          const cancelled = yield* Effect.result(pickups.cancel(shipper, "C-1"))
          if (cancelled._tag === "Success") known = "Cancelled"
        } else {
          const to = readPickupStatus(step)!.status
          const reported = yield* Effect.result(pickups.report(carrier, pickupId, {
            status: step,
            informationCode: why,
            stopEta: "2026-11-20T09:00:00",
            ...(first === "Call us" ? { carrierPickupNumber: "C-1" } : {})
          }))
          const again = reported._tag === "Success" && reported.success.result === "duplicate"
          assert.strictEqual(reported._tag === "Success", again || canMovePickup(before, to) || (before === to && !isFinalPickup(before)), `${before} ${step}`)
          if (reported._tag === "Success") known = readPickupStatus(reported.success.status)!.status
        }
        if (isFinalPickup(before)) assert.strictEqual(known, before)
        else assert.isTrue(known === before || canMovePickup(before, known), `${before} ${known}`)
        const { history, visibility } = yield* pickups.record(carrier, pickupId)
        assert.strictEqual(readPickupStatus(visibility.status)?.status, known)
        assert.deepStrictEqual(history.map((each) => each.position), history.map((_, at) => at + 1))
      }
    }))
  })

  it.effect("shows the reported values", Effect.fnUntraced(function*() {
    const { look, report, seen } = yield* ordered
    const { pickupId: _own, ...result } = yield* report({
      status: "en route",
      informationCode: { code: "200", subCode: "3" },
      stopEta: "2026-11-20T09:40:00",
      equipmentInformation: { driverName: "Ida", trailerNumber: "0053", gpsCoordinates: { latitude: 42.36, longitude: -71.06 }, stopsAway: 2 },
      shipmentArray: [
        { proNumber: 123, destinationPostalCode: "02134", destinationCountry: "USA", handlingUnitQuantity: 1, weight: 10, referenceNumbers: [{ referenceType: "PO", referenceValue: "7" }] },
        { proNumber: "828-561881-X" }
      ]
    })
    assert.deepStrictEqual(result, { result: "accepted", carrierPickupNumber: "100000001", status: "En Route" })
    const shown = yield* seen
    assert.deepStrictEqual([shown.status, shown.stopEta, shown.stopEtaTimeZone], ["En Route", "2026-11-20T09:40:00", "UTC-5"])
    assert.deepStrictEqual(shown.informationCode, {
      code: "200",
      codeDescription: "Pick up made undefined match",
      subCode: "3",
      subCodeDescription: "Less freight than scheduled was pick-up"
    })
    assert.deepStrictEqual(shown.equipmentInformation, { driverName: "Ida", trailerNumber: "0053", gpsCoordinates: { latitude: 42.36, longitude: -71.06 }, stopsAway: 2 })
    assert.deepStrictEqual(shown.shipmentArray.map((each) => [each.proNumber, each.destinationPostalCode, each.weight]), [["123", "02134", 10], ["828-561881-X", null, null]])
    // the carrier's PRO finds the pickup, like the PROs of the request
    for (const pro of ["828561881x", "123", "041-8367745"]) yield* look(pro, { lookupType: "PRO" })
  }, inService))

  it.effect("keeps values that a report leaves out, until the pickup is rescheduled", Effect.fnUntraced(function*() {
    const { report, seen } = yield* ordered
    const facts = Effect.map(seen, (shown) => [shown.status, shown.stopEta, shown.equipmentInformation?.stopsAway, shown.informationCode.code])
    yield* report({ status: "En Route", stopEta: "2026-11-20T09:40:00", equipmentInformation: { stopsAway: 3 }, informationCode: why })
    yield* report({ stopEta: "2026-11-20T09:50:00" })
    assert.deepStrictEqual(yield* facts, ["En Route", "2026-11-20T09:50:00", 3, "310"])
    yield* report({ status: "En Route", equipmentInformation: { stopsAway: 1 } })
    assert.deepStrictEqual(yield* facts, ["En Route", "2026-11-20T09:50:00", 1, "310"])
    yield* report({ status: "Re-Attempt", informationCode: { code: 330 } })
    assert.deepStrictEqual(yield* facts, ["Re-Attempt", "2026-11-20T08:00:00.000", undefined, "330"])
    yield* report({ status: "En Route", equipmentInformation: { stopsAway: 7 } })
    assert.deepStrictEqual(yield* facts, ["En Route", "2026-11-20T08:00:00.000", null, null])
    yield* report({ equipmentInformation: null })
    assert.isNull((yield* seen).equipmentInformation)
  }, inService))

  it.effect("forgets the truck of every reschedule, and of no other move", Effect.fnUntraced(function*() {
    const { report, seen } = yield* ordered
    const truck = { stopEta: "2026-11-20T09:40:00", equipmentInformation: { stopsAway: 3 } }
    const known = Effect.map(seen, (shown) => [shown.stopEta, shown.equipmentInformation?.stopsAway])
    yield* report({ status: "En Route", ...truck })
    yield* report({ status: "Arrived" })
    assert.deepStrictEqual(yield* known, ["2026-11-20T09:40:00", 3])
    yield* report({ status: "Re-Attempt", informationCode: why })
    yield* report({ status: "Rescheduled", informationCode: why, ...truck })
    assert.deepStrictEqual(yield* known, ["2026-11-20T09:40:00", 3])
    yield* report({ status: "Rescheduled", informationCode: { code: 330 } })
    assert.deepStrictEqual(yield* known, ["2026-11-20T08:00:00.000", undefined])
    yield* report({ status: "En Route", ...truck })
    yield* report({ status: "Rescheduled", informationCode: why })
    assert.deepStrictEqual(yield* known, ["2026-11-20T08:00:00.000", undefined])
  }, inService))

  it.effect("shows local times of the place, and adds no unknown zone (SPEC-GAP-C15)", Effect.fnUntraced(function*() {
    const { carrier, look, order, pickups } = yield* setup
    const eta = Effect.fnUntraced(function*(zone: string | null, report: object) {
      const number = (yield* order({ zone })).carrierPickupNumber!
      yield* pickups.report(carrier, number, report)
      const { stopEta, stopEtaTimeZone } = yield* look(number)
      return [stopEta, stopEtaTimeZone]
    })
    assert.deepStrictEqual(yield* eta("UTC+5:30", { stopEta: "2026-11-20T09:40:00" }), ["2026-11-20T09:40:00", "UTC+5:30"])
    assert.deepStrictEqual(yield* eta("America/New_York", { stopEta: "2026-11-20T14:40:00Z" }), ["2026-11-20T09:40:00.000", "UTC-5"])
    assert.deepStrictEqual(yield* eta("America/New_York", { stopEta: "2027-07-01T14:40:00Z" }), ["2027-07-01T10:40:00.000", "UTC-4"])
    assert.deepStrictEqual(yield* eta("America/New_York", { stopEta: "2027-07-01T10:40:00" }), ["2027-07-01T10:40:00", "UTC-4"])
    // clocks go back from 02:00 to 01:00, and the earlier 01:30 counts; clocks go forward from 02:00 to 03:00
    for (const [stopEta, zone] of [
      ["2026-11-01T00:30:00", "UTC-4"], ["2026-11-01T01:30:00", "UTC-4"], ["2026-11-01T02:30:00", "UTC-5"],
      ["2027-03-14T01:30:00", "UTC-5"], ["2027-03-14T02:30:00", "UTC-4"], ["2027-03-14T03:30:00", "UTC-4"]
    ] as const) assert.deepStrictEqual(yield* eta("America/New_York", { stopEta }), [stopEta, zone])
    assert.deepStrictEqual(yield* eta("UTC-5", { stopEta: "2026-11-20T09:40:00", stopEtaTimeZone: "UTC-6" }), ["2026-11-20T09:40:00", "UTC-6"])
    assert.deepStrictEqual(yield* eta(null, { stopEta: "2026-11-20T09:40:00" }), ["2026-11-20T09:40:00", null])
    for (const written of ["2026-11-20 09:40", "2026-11-20t09:40:00.0"]) assert.deepStrictEqual(yield* eta("UTC-5", { stopEta: written }), ["2026-11-20T09:40:00.000", "UTC-5"])
    assert.deepStrictEqual(yield* eta(null, { stopEta: "2026-11-20T09:40:00-03:30" }), ["2026-11-20T09:40:00.000", "UTC-3:30"])
    assert.deepStrictEqual(yield* eta(null, { status: "En Route" }), ["2026-11-20T08:00:00.000", null])
  }, inService))

  it.effect("treats a repeated report as a duplicate", Effect.fnUntraced(function*() {
    const { history, number, report } = yield* ordered
    const body = { status: "En Route", stopEta: "2026-11-20T09:40:00" }
    const results = [yield* report(body), yield* report({ stopEta: body.stopEta, status: body.status, unknown: 1 }), yield* report({ ...body, stopEta: "2026-11-20T09:41:00" }), yield* report(body)]
    assert.deepStrictEqual(results.map((each) => each.result), ["accepted", "duplicate", "accepted", "accepted"])
    assert.deepStrictEqual((yield* history).map((each) => [each.what, each.by, each.status]), [
      ["ordered", "shipper", "Accepted"],
      ["reported", "carrier", "En Route"],
      ["reported", "carrier", "En Route"],
      ["reported", "carrier", "En Route"]
    ])
    assert.strictEqual(number, "100000001")
    // another serializer of the same report
    assert.strictEqual((yield* report({ ...body, stopEta: "2026-11-20T09:40:00.000" })).result, "duplicate")
    // also if the report ended the pickup
    yield* report({ status: "Cancelled", informationCode: why })
    assert.strictEqual((yield* report({ status: "Cancelled", informationCode: why })).result, "duplicate")
  }, inService))

  it.effect("takes a visibility response, whose pickupConfirmationId is no member of a report (SPEC-GAP-C4)", Effect.fnUntraced(function*() {
    const { report, seen } = yield* ordered
    const shown = yield* seen
    assert.strictEqual((yield* report({ ...shown, status: "En Route", informationCode: why })).result, "accepted")
    assert.deepStrictEqual(yield* seen, { ...shown, status: "En Route", informationCode: (yield* seen).informationCode })
    // without a code, its description repeats the status
    assert.isNull(shown.informationCode.code)
    assert.strictEqual((yield* report({ ...shown, status: "Arrived" })).result, "accepted")
    assert.deepStrictEqual(yield* seen, { ...shown, status: "Arrived", informationCode: { ...shown.informationCode, codeDescription: "Arrived" } })
    assert.deepStrictEqual(pointers(yield* Effect.flip(report({ ...shown, status: "Re-Attempt" }))), ["/informationCode"])
  }, inService))

  it.effect("accepts one of several equal concurrent reports", Effect.fnUntraced(function*() {
    const { history, report } = yield* ordered
    const results = yield* Effect.all(Array.from({ length: 5 }, () => report({ status: "En Route" })), { concurrency: "unbounded" })
    assert.lengthOf(results.filter((each) => each.result === "accepted"), 1)
    assert.lengthOf(yield* history, 2)
  }, inService))

  it.effect("refuses a move with a reason, and changes nothing", Effect.fnUntraced(function*() {
    const { history, report, seen } = yield* ordered
    const refused = yield* Effect.flip(report({ status: "Departed", stopEta: "2026-11-20T10:00:00" }))
    assert.deepStrictEqual(pointers(refused), ["/status"])
    assert.include(refused.message, "A pickup cannot go from Accepted to Departed. It can go to Rescheduled, En Route, Cancelled.")
    assert.strictEqual((yield* seen).stopEta, "2026-11-20T08:00:00.000")
    yield* report({ status: "Pickup Cancelled", informationCode: why })
    assert.include((yield* Effect.flip(report({ status: "En Route" }))).message, "is final")
    assert.lengthOf(yield* history, 2)
  }, inService))

  it.effect("requires an information code for exceptions, and a description for unpublished codes (SPEC-GAP-C11)", Effect.fnUntraced(function*() {
    const { report, seen } = yield* ordered
    for (const status of ["Rescheduled", "Pickup Rescheduled", "Cancelled"]) {
      assert.deepStrictEqual(pointers(yield* Effect.flip(report({ status }))), ["/informationCode"])
      assert.deepStrictEqual(pointers(yield* Effect.flip(report({ status, informationCode: { code: 999 } }))), ["/informationCode"])
    }
    yield* report({ status: "Rescheduled", informationCode: { code: "0310", codeDescription: "Our own", subCode: 99, subCodeDescription: "Ferry" } })
    assert.deepStrictEqual((yield* seen).informationCode, { code: "0310", codeDescription: "Our own", subCode: "99", subCodeDescription: "Ferry" })
    yield* report({ status: "Rescheduled", informationCode: { code: 310, subCode: 42 } })
    assert.deepStrictEqual((yield* seen).informationCode, { code: "310", codeDescription: "Carrier not able to service - Rescheduled", subCode: "42", subCodeDescription: null })
  }, inService))

  it.effect("refuses invalid and empty reports", Effect.fnUntraced(function*() {
    const { carrier, number, pickups, report, shipper } = yield* ordered
    for (
      const [body, pointer] of [
        [{}, ""],
        [{ status: "Delivered" }, "/status"],
        [{ stopEta: "soon" }, "/stopEta"],
        [{ stopEta: "2026-11-20" }, "/stopEta"],
        [{ stopEta: "2026-11-20T09:00:00", stopEtaTimeZone: "nowhere" }, "/stopEtaTimeZone"],
        [{ equipmentInformation: { stopsAway: -1 } }, "/equipmentInformation/stopsAway"],
        [{ equipmentInformation: { gpsCoordinates: { latitude: 91 } } }, "/equipmentInformation/gpsCoordinates/latitude"],
        [{ informationCode: {} }, "/informationCode/code"],
        [{ shipmentArray: [{ proNumber: "a\u0000b" }] }, "/shipmentArray/0/proNumber"],
        [{ carrierPickupNumber: "other" }, "/carrierPickupNumber"]
      ] as const
    ) assert.deepStrictEqual(pointers(yield* Effect.flip(report(body))), [pointer])
    assert.strictEqual((yield* Effect.flip(pickups.report(carrier, "1", { status: "En Route" })))._tag, "PickupNotFound")
    assert.strictEqual((yield* Effect.flip(pickups.report(shipper, number, { status: "En Route" })))._tag, "NotPermitted")
  }, inService))

  it.effect("gives a number to a pickup that is accepted after Call us (SPEC-GAP-C1)", withDesk(function*(desk) {
    const { carrier, look, order, pickups } = yield* setup
    yield* order()
    const { pickupId } = desk.asked[0]!
    desk.decide = () => ({ decision: "accept", carrierPickupNumber: "TAKEN" })
    yield* order({ pro: "P" })
    const report = (body: unknown) => pickups.report(carrier, pickupId, untyped(body))
    for (const carrierPickupNumber of [undefined, "TAKEN", "999900000007", " "]) {
      const body = carrierPickupNumber === undefined ? { status: "Accepted" } : { status: "Accepted", carrierPickupNumber }
      assert.deepStrictEqual(pointers(yield* Effect.flip(report(body))), ["/carrierPickupNumber"], carrierPickupNumber)
    }
    const accepted = yield* report({ status: "Accepted", carrierPickupNumber: "0099" })
    assert.deepStrictEqual([accepted.carrierPickupNumber, accepted.pickupId], ["0099", pickupId])
    assert.strictEqual((yield* look("0099")).status, "Accepted")
    assert.strictEqual((yield* pickups.report(carrier, "0099", { status: "En Route" })).pickupId, pickupId)
    // its own number may be repeated, and no other may be given
    assert.strictEqual((yield* report({ status: "Arrived", carrierPickupNumber: "0099" })).status, "Arrived")
    assert.deepStrictEqual(pointers(yield* Effect.flip(report({ status: "Departed", carrierPickupNumber: "0100" }))), ["/carrierPickupNumber"])
  }, () => ({ decision: "callUs" })))

  it.effect("cancels or rejects a pickup that has no number", withDesk(function*(desk) {
    const { carrier, order, pickups } = yield* setup
    for (const [n, status] of ["Cancelled", "Rejected"].entries()) {
      yield* order()
      const ended = yield* pickups.report(carrier, desk.asked[n]!.pickupId, { status, informationCode: why })
      assert.deepStrictEqual([ended.status, ended.carrierPickupNumber], [status, null])
    }
  }, () => ({ decision: "callUs" })))
})

describe("Pickups.record", () => {
  it.effect("gives carriers the full history", Effect.fnUntraced(function*() {
    const { carrier, number, pickups, report } = yield* ordered
    yield* report({ status: "En Route" })
    const record = yield* pickups.record(carrier, number)
    assert.deepStrictEqual([record.carrierPickupNumber, record.client, record.isTest, record.visibility.status], [number, "shipper", false, "En Route"])
    assert.strictEqual(record.history[0]?.request?.pickupAddress[0]?.orgZip, "02134")
    assert.deepStrictEqual(yield* pickups.record(carrier, record.pickupId), record)
  }, inService))
})
