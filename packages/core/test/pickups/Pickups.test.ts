import { assert, describe, it } from "@effect/vitest"
import { HostTransaction, type Principal } from "@waybill/core"
import { type PickupAnswer, PickupDesk, type PickupDeskCall, shownRequest } from "@waybill/core/pickups"
import { pickupRequest, requestedShipment, TestWaybill, type TestClient } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Arbitrary from "effect/Arbitrary"
import { int, json, listOf, oneOf } from "../arbitraries.ts"
import { isTestNumber } from "../../src/pickups/model/PickupLookup.ts"
import { type Desk, inService, inServiceWith, makeDesk, pointers, setup, withDesk } from "./Desk.ts"
import { untyped } from "../untyped.ts"

/** Identifiers that would change as JSON numbers, and some that would not. */
const identifier: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.all({ zeros: int(0, 3), digits: int(0, 999_999_999), tail: oneOf(["", "X", "-9", "A1A1A1", " 7b", "99999999999999999999"]) }),
  ({ digits, tail, zeros }) => {
    const text = `${"0".repeat(zeros)}${digits}${tail}`
    // numbers of tests are reserved
    return isTestNumber(text) ? `1${text}` : text
  }
)

describe("Pickups.create", () => {
  it.effect("answers an accepted request with a number, the shipper's references and the carrier's details", withDesk(function*(desk) {
    const { order } = yield* setup
    const expected: PickupAnswer = {
      shipperRef: ["LOAD-7", "041-8367745"],
      carrierPickupNumber: "0012-A",
      pickupStatus: "Accept",
      trailerNumber: "T1",
      carrierName: "Way Freight",
      routing: "BOS-TOR",
      scac: "WAYB",
      pickupMessage: ["Dock 3."]
    }
    assert.deepStrictEqual(yield* order(), expected)
    assert.deepStrictEqual(desk.asked.map((each) => [each.kind, each.tenantId, each.before, each.request.pickupAddress[0]?.orgZip]), [["new", "acme", undefined, "02134"]])
  }, () => ({ decision: "accept", carrierPickupNumber: "0012-A", carrierName: "Way Freight", scac: "WAYB", routing: "BOS-TOR", trailerNumber: "T1", messages: ["Dock 3."] })))

  it.effect("issues numbers of nine digits if the desk issues none", Effect.fnUntraced(function*() {
    const { order } = yield* setup
    assert.deepStrictEqual([(yield* order()).carrierPickupNumber, (yield* order()).carrierPickupNumber], ["100000001", "100000002"])
  }, inService))

  it.effect("skips numbers that a desk has already issued", withDesk(function*(desk) {
    const { order } = yield* setup
    yield* order()
    desk.decide = () => ({ decision: "accept" })
    assert.strictEqual((yield* order()).carrierPickupNumber, "100000002")
  }, () => ({ decision: "accept", carrierPickupNumber: "100000001" })))

  it.effect("gives rejected and undecided requests no number, and does not show them (SPEC-GAP-C1)", withDesk(function*(desk) {
    const { look, order } = yield* setup
    for (const [decision, pickupStatus] of [["reject", "Reject"], ["callUs", "Call us"]] as const) {
      desk.decide = () => ({ decision, carrierPickupNumber: "77" })
      const answer = yield* order()
      assert.deepStrictEqual([answer.pickupStatus, answer.carrierPickupNumber], [pickupStatus, null])
      assert.lengthOf(answer.pickupMessage, 1)
      assert.strictEqual((yield* Effect.flip(look("77")))._tag, "PickupNotFound")
      assert.strictEqual((yield* Effect.flip(look("041-8367745", { lookupType: "PRO" })))._tag, "PickupNotFound")
    }
  }))

  it.effect("gives the desk the open transaction, or the host's transaction that the call joins", () => {
    const handles: Array<unknown> = []
    const send = (handle: unknown) => Effect.promise(() => (handle as TestClient).query("INSERT").then(() => "sent", (error: Error) => error.message))
    const note = (_: unknown, { transaction }: PickupDeskCall) =>
      Effect.gen(function*() {
        handles.push(transaction)
        if (handles.length <= 2) assert.strictEqual(yield* send(transaction), "sent")
      })
    const desk = Layer.succeed(PickupDesk, {
      decide: (order, call) => Effect.as(note(order, call), { decision: "accept" as const }),
      cancelled: note
    })
    return Effect.gen(function*() {
      const { order, pickups, shipper } = yield* setup
      const { carrierPickupNumber } = yield* order()
      yield* pickups.cancel(shipper, carrierPickupNumber!)
      assert.strictEqual(handles.length, 2)
      for (const handle of handles) assert.match(yield* send(handle), /^The transaction is over/)
      const host = { own: true }
      yield* Effect.provideService(order(), HostTransaction, host)
      assert.strictEqual(handles[2], host)
    }).pipe(Effect.provide(TestWaybill.layer().pipe(Layer.provide(desk))))
  })

  it.effect("stores nothing if the desk fails or returns an invalid decision", withDesk(function*(desk) {
    const { look, order } = yield* setup
    const decisions: ReadonlyArray<Desk["decide"]> = [
      () => {
        throw new Error("dispatch is down")
      },
      () => ({ decision: "perhaps" }) as never,
      () => undefined as never,
      () => ({ decision: "accept", carrierPickupNumber: "999900000001" }),
      () => ({ decision: "accept", carrierPickupNumber: "a\nb" }),
      () => ({ decision: "accept", carrierPickupNumber: 12 as never })
    ]
    for (const decide of decisions) {
      desk.decide = decide
      assert.strictEqual((yield* Effect.flip(order()))._tag, "PickupDeskFailed")
    }
    assert.strictEqual((yield* Effect.flip(look("041-8367745", { lookupType: "PRO" })))._tag, "PickupNotFound")
  }))

  it.effect("refuses a number that the desk issues twice", withDesk(function*() {
    const { look, order } = yield* setup
    yield* order({ pro: "P1" })
    assert.strictEqual((yield* Effect.flip(order({ pro: "P2" })))._tag, "PickupDeskFailed")
    assert.strictEqual((yield* look("1")).shipmentArray[0]?.proNumber, "P1")
  }, () => ({ decision: "accept", carrierPickupNumber: "1" })))

  it.effect("refuses a window that is over, and an unknown time zone", Effect.fnUntraced(function*() {
    const { order } = yield* setup
    yield* TestClock.setTime(Date.parse("2026-11-20T21:59:00Z"))
    yield* order()
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(pointers(yield* Effect.flip(order())), ["/closeTime"])
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(pointers(yield* Effect.flip(order({ more: { closeTime: null } }))), ["/readyDate"])
    yield* TestClock.setTime(Date.parse("2026-11-20T22:00:00Z"))
    assert.deepStrictEqual(pointers(yield* Effect.flip(order({ zone: "UTC+99" }))), ["/pickupLocationTimeZone"])
    yield* order({ zone: "America/Chicago" })
  }, inService))

  it.effect("lets customers name only their own accounts, and carriers any account (SPEC-GAP-C20)", Effect.fnUntraced(function*() {
    const { carrier, order } = yield* setup
    yield* order({ orgAccountNumber: "A", btAccountNumber: "A" })
    const refused = yield* Effect.flip(order({ orgAccountNumber: "A", btAccountNumber: "B" }))
    assert.deepStrictEqual(pointers(refused), ["/billToAddress/0/btAccountNumber"])
    assert.deepStrictEqual(pointers(yield* Effect.flip(order({ orgAccountNumber: "B" }))), ["/pickupAddress/0/orgAccountNumber"])
    yield* order({ orgAccountNumber: "B", btAccountNumber: "C" }, undefined, carrier)
    assert.deepStrictEqual(pointers(yield* Effect.flip(order({ orgAccountNumber: "x".repeat(101) }, undefined, carrier))), ["/pickupAddress/0/orgAccountNumber"])
  }, inService))

  it.effect("is refused to operators, and accepts new pickups only", Effect.fnUntraced(function*() {
    const { order, pickups, shipper } = yield* setup
    const operator: Principal = { ...shipper, roles: ["operator"] }
    assert.strictEqual((yield* Effect.flip(order({}, undefined, operator)))._tag, "NotPermitted")
    const { carrierPickupNumber } = yield* order()
    for (const call of [
      pickups.visibility(operator, untyped({})),
      pickups.update(operator, carrierPickupNumber!, pickupRequest({ number: carrierPickupNumber! })),
      pickups.cancel(operator, carrierPickupNumber!)
    ]) assert.strictEqual((yield* Effect.flip(Effect.asVoid(call)))._tag, "NotPermitted")
    assert.deepStrictEqual(pointers(yield* Effect.flip(order({ number: "1" }))), ["/requestFunction"])
  }, inService))

  it.effect.prop("handles arbitrary input, and a refused request stores nothing", [json, oneOf(Object.keys(pickupRequest()))], ([garbage, member]) => {
    const desk = makeDesk()
    return inServiceWith(desk)(Effect.gen(function*() {
      const { carrier, pickups, shipper } = yield* setup
      for (const body of [garbage, [garbage], pickupRequest({ more: { [member]: { garbage } } })]) {
        assert.strictEqual((yield* Effect.flip(pickups.create(shipper, untyped(body))))._tag, "InvalidInput")
        assert.strictEqual((yield* Effect.flip(pickups.update(shipper, "1", untyped(body))))._tag, "InvalidInput")
      }
      yield* Effect.exit(pickups.visibility(shipper, untyped(garbage)))
      yield* Effect.flip(pickups.report(carrier, "1", untyped(garbage)))
      assert.lengthOf(desk.asked, 0)
    }))
  })
})

describe("Pickups.visibility", () => {
  it.effect.prop("finds a pickup by its number and its PRO, exactly as written (SPEC-GAP-C6)", [identifier, identifier], ([number, pro]) =>
    inServiceWith(makeDesk(() => ({ decision: "accept", carrierPickupNumber: number })))(Effect.gen(function*() {
      const { look, order } = yield* setup
      assert.strictEqual((yield* order({ pro })).carrierPickupNumber, number)
      const seen = yield* look(number)
      assert.strictEqual(String(seen.pickupConfirmationId), number)
      assert.strictEqual(String(seen.shipmentArray[0]?.proNumber), pro)
      // a PRO is found in any spelling
      for (const written of [pro, pro.toLowerCase(), pro.replaceAll(/[ -]/g, ""), [...pro].join(" ")]) {
        assert.deepStrictEqual(yield* look(written, { lookupType: "PRO" }), seen)
      }
      assert.strictEqual((yield* Effect.flip(look(`0${number}`)))._tag, "PickupNotFound")
      assert.strictEqual((yield* Effect.flip(look(`0${pro}`, { lookupType: "PRO" })))._tag, "PickupNotFound")
    })))

  it.effect("shows the requested values until the carrier reports (SPEC-GAP-C15, SPEC-GAP-C16, SPEC-GAP-C37)", Effect.fnUntraced(function*() {
    const { look, order } = yield* setup
    yield* order({ zone: "America/New_York" })
    assert.deepStrictEqual(yield* look("100000001"), {
      pickupConfirmationId: "100000001",
      status: "Accepted",
      informationCode: { code: null, codeDescription: "Accepted", subCode: null, subCodeDescription: null },
      stopEta: "2026-11-20T08:00:00.000",
      stopEtaTimeZone: "UTC-5",
      equipmentInformation: null,
      shipmentArray: [{
        proNumber: "041-8367745",
        destinationPostalCode: "M5V 2T6",
        destinationCountry: "CAN",
        handlingUnitQuantity: 2,
        weight: 1250,
        referenceNumbers: [{ referenceType: "PO", referenceValue: "0045001" }]
      }]
    })
    yield* order({ more: { shipmentDetails: null, destinationAddress: [{ cneeZip: "44107", cneeCountry: "USA" }], readyDate: null, readyTime: null, closeTime: null } })
    const bare = yield* look("100000002")
    assert.deepStrictEqual([bare.stopEta, bare.stopEtaTimeZone], [null, null])
    assert.deepStrictEqual(bare.shipmentArray, [
      { proNumber: null, destinationPostalCode: "44107", destinationCountry: "USA", handlingUnitQuantity: 2, weight: 1250, referenceNumbers: null }
    ])
  }, inService))

  it.effect("shows what was measured where a member is 0, which is what nobody measured (SPEC-GAP-C10)", Effect.fnUntraced(function*() {
    const { look, order } = yield* setup
    const shown = Effect.fnUntraced(function*(shipment: object) {
      const { carrierPickupNumber } = yield* order({ shipment: { ...shipment } })
      const [first] = (yield* look(carrierPickupNumber!)).shipmentArray
      return [first?.handlingUnitQuantity, first?.weight]
    })
    const units = [{ unitCount: 0, totalUnitCount: 3, weight: 40, totalWeight: 0 }, { unitCount: 2, totalUnitCount: 0, weight: 0, totalWeight: 100 }]
    assert.deepStrictEqual(yield* shown({ handlingUnitCount: 0, grossShipmentWeight: 0, weight: 1200, handlingUnitDetails: units }), [5, 1200])
    assert.deepStrictEqual(yield* shown({ handlingUnitCount: null, grossShipmentWeight: 0, weight: 0, handlingUnitDetails: units }), [5, 220])
    assert.deepStrictEqual(yield* shown({ handlingUnitCount: 0, grossShipmentWeight: 0, weight: 0, handlingUnitDetails: null }), [null, null])
  }, inService))

  it.effect("assigns destinations only if the assignment is unambiguous", Effect.fnUntraced(function*() {
    const { look, order } = yield* setup
    const zips = (...cneeZips: ReadonlyArray<string>) => cneeZips.map((cneeZip) => ({ cneeZip }))
    const shown = Effect.fnUntraced(function*(destinationAddress: ReadonlyArray<object>, shipments: number) {
      const { carrierPickupNumber } = yield* order({ more: { destinationAddress, shipmentDetails: Array.from({ length: shipments }, () => requestedShipment()) } })
      return (yield* look(carrierPickupNumber!)).shipmentArray.map((each) => each.destinationPostalCode)
    })
    assert.deepStrictEqual(yield* shown(zips("02134"), 2), ["02134", "02134"])
    assert.deepStrictEqual(yield* shown(zips("02134", "60608"), 2), ["02134", "60608"])
    assert.deepStrictEqual(yield* shown(zips("02134", "60608"), 3), [null, null, null])
  }, inService))

  it.effect.prop("ignores unknown fields (SPEC-GAP-C4)", [listOf(oneOf(["extra", "__proto__", "constructor", "orgzip", "pickupId", "status"]), 1, 4), json], ([names, value]) => {
    const desk = makeDesk()
    return inServiceWith(desk)(Effect.gen(function*() {
      const { carrier, look, order, pickups } = yield* setup
      const extra = Object.fromEntries(names.map((name) => [name, value]))
      const plain = yield* order()
      const { carrierPickupNumber, ...same } = yield* order({ shipment: extra, more: extra }, "key")
      assert.deepStrictEqual({ ...same, carrierPickupNumber: plain.carrierPickupNumber }, plain)
      assert.deepStrictEqual(desk.asked[1]?.request, desk.asked[0]?.request)
      const [one, other] = [yield* look(plain.carrierPickupNumber!), yield* look(carrierPickupNumber!)]
      assert.deepStrictEqual({ ...other, pickupConfirmationId: one.pickupConfirmationId }, one)
      assert.deepStrictEqual((yield* pickups.record(carrier, carrierPickupNumber!)).request, shownRequest(desk.asked[0]!.request))
      assert.strictEqual((yield* order({}, "key")).carrierPickupNumber, carrierPickupNumber)
    }))
  })

  it.effect("says that no e-mail is sent to confirmationEmail (SPEC-GAP-C33)", Effect.fnUntraced(function*() {
    const { order } = yield* setup
    const quiet = yield* order()
    const asked = yield* order({ pro: "2", more: { confirmationEmail: "dock@closets.example" } })
    assert.deepStrictEqual(asked.pickupMessage, [...quiet.pickupMessage, "No e-mail is sent to confirmationEmail. This answer is the confirmation."])
  }, inService))

  it.effect("answers every requestType, and none has an effect (SPEC-GAP-C13)", Effect.fnUntraced(function*() {
    const { order, pickups, shipper } = yield* setup
    const { carrierPickupNumber: lookupValue } = yield* order()
    const query = { lookupValue, lookupType: "PickupConfirmationID", requestType: "PickupStatus", isTest: "false" }
    const seen = yield* pickups.visibility(shipper, untyped(query))
    for (const requestType of ["Status", "Cancel", "cancel", "PICKUPSTATUS", "Tracking"]) {
      assert.deepStrictEqual(yield* pickups.visibility(shipper, untyped({ ...query, requestType, isTest: "False", lookupType: "pickupconfirmationid" })), seen)
    }
    for (const member of Object.keys(query)) {
      const { [member]: _left, ...rest } = query as Record<string, unknown>
      assert.deepStrictEqual(pointers(yield* Effect.flip(pickups.visibility(shipper, untyped(rest)))), [`/${member}`])
      assert.deepStrictEqual(pointers(yield* Effect.flip(pickups.visibility(shipper, untyped({ ...query, [member]: "" })))), [`/${member}`])
    }
  }, inService))

  it.effect("does not show, change or cancel pickups of other accounts, clients and tenants", Effect.fnUntraced(function*() {
    const { carrier, look, order, pickups, shipper, tenant } = yield* setup
    const { carrierPickupNumber } = yield* order({ orgAccountNumber: "A" })
    const number = carrierPickupNumber!
    yield* order({ pro: "OWN" })
    const partner = tenant.customer("partner", ["A", "Z"])
    yield* look(number, {}, partner)
    yield* look("041-8367745", { lookupType: "PRO" }, partner)
    yield* look(number, {}, carrier)
    const strangers = [tenant.customer("stranger", ["B"]), { ...shipper, tenantId: "other" }, { ...carrier, tenantId: "other" }]
    const change = pickupRequest({ number })
    for (const stranger of strangers) {
      for (
        const refused of [
          look(number, {}, stranger),
          look("041-8367745", { lookupType: "PRO" }, stranger),
          pickups.update(stranger, number, change),
          pickups.cancel(stranger, number)
        ]
      ) assert.strictEqual((yield* Effect.flip(Effect.asVoid(refused)))._tag, "PickupNotFound")
    }
    // without an account, only its client has access
    assert.strictEqual((yield* Effect.flip(look("OWN", { lookupType: "PRO" }, partner)))._tag, "PickupNotFound")
    assert.strictEqual((yield* Effect.flip(pickups.record(partner, number)))._tag, "NotPermitted")
    assert.strictEqual((yield* Effect.flip(pickups.report(partner, number, { status: "Cancelled" })))._tag, "NotPermitted")
    assert.strictEqual((yield* Effect.flip(pickups.record({ ...carrier, tenantId: "other" }, number)))._tag, "PickupNotFound")
    assert.strictEqual((yield* look(number)).status, "Accepted")
  }, inService))
})
