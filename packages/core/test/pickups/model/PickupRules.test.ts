import { assert, describe, it } from "@effect/vitest"
import { PickupRequest, pickupRequestFaults } from "@waybill/core/pickups"
import { type PickupJson, pickupRequest, requestedShipment } from "@waybill/testkit"
import { Effect, Schema } from "effect"
import { int, oneOf } from "../../arbitraries.ts"

const decode = Schema.decodeUnknownSync(PickupRequest)

const faultsOf = (more: PickupJson) => pickupRequestFaults(decode(pickupRequest({ more }))).map((each) => each.pointer)

const faultsWith = (...shipments: ReadonlyArray<PickupJson>) => faultsOf({ shipmentDetails: shipments.map((each) => requestedShipment(each)) })

const unmeasured = { handlingUnitDetails: null }
const unweighed = { weight: null, grossShipmentWeight: null, ...unmeasured }

describe("pickupRequestFaults", () => {
  it("finds no fault in a complete request, nor in a minimal one", () => {
    assert.deepStrictEqual(faultsOf({}), [])
    assert.deepStrictEqual(faultsOf({ shipmentDetails: null, destinationAddress: null, billToAddress: null }), [])
    assert.deepStrictEqual(faultsOf({ shipmentDetails: [], linearFeet: 4, cubicFeet: null }), [])
  })

  it("requires weight, units and space, in total or per shipment (SPEC-GAP-C10)", () => {
    assert.deepStrictEqual(faultsOf({ grossPickupWeight: 0, handlingUnitCount: 0, cubicFeet: null, linearFeet: null }), [])
    assert.deepStrictEqual(
      faultsOf({ grossPickupWeight: 0, handlingUnitCount: 0, cubicFeet: 0, linearFeet: null, shipmentDetails: null }),
      ["/grossPickupWeight", "/handlingUnitCount", "/cubicFeet"]
    )
    assert.deepStrictEqual(
      faultsOf({ grossPickupWeight: 0, shipmentDetails: [requestedShipment(), requestedShipment(unweighed)] }),
      ["/shipmentDetails/1/weight"]
    )
    assert.deepStrictEqual(
      faultsOf({ cubicFeet: null, shipmentDetails: [requestedShipment(unmeasured), requestedShipment()] }),
      ["/shipmentDetails/0/handlingUnitDetails"]
    )
    assert.deepStrictEqual(faultsOf({ cubicFeet: null, shipmentDetails: [requestedShipment(unmeasured)] }), ["/cubicFeet"])
    assert.deepStrictEqual(faultsOf({ handlingUnitCount: 0, shipmentDetails: [requestedShipment({ handlingUnitCount: null })] }), [])
  })

  it("finds the weight, units and space of a shipment in its totals, or in every described unit (SPEC-GAP-C10)", () => {
    const bare = { weight: null, grossShipmentWeight: null, handlingUnitCount: null, handlingUnitDetails: null }
    const faultsWithout = (total: PickupJson, shipment: PickupJson) => faultsOf({ ...total, shipmentDetails: [requestedShipment({ ...bare, ...shipment })] })
    const units = (...details: ReadonlyArray<PickupJson>) => ({ handlingUnitDetails: details.map((each) => ({ unitCount: 1, ...each })) })
    for (const enough of [{ weight: 1 }, { grossShipmentWeight: 1 }, units({ weight: 1 }, { totalWeight: 1 })]) {
      assert.deepStrictEqual(faultsWithout({ grossPickupWeight: 0 }, enough), [])
    }
    for (const short of [{}, { weight: 0 }, units(), units({ weight: 1 }, {}), units({ weight: 0, totalWeight: 0 })]) {
      assert.deepStrictEqual(faultsWithout({ grossPickupWeight: 0 }, short), ["/grossPickupWeight"])
    }
    for (const enough of [{ handlingUnitCount: 1 }, units({}, { unitCount: 0, totalUnitCount: 1 })]) {
      assert.deepStrictEqual(faultsWithout({ handlingUnitCount: 0 }, enough), [])
    }
    for (const short of [{}, units()]) assert.deepStrictEqual(faultsWithout({ handlingUnitCount: 0 }, short), ["/handlingUnitCount"])
    const space = { length: 1, width: 1, height: 1 }
    for (const enough of [units({ totalLinearFeetofShipment: 1 }, {}), units(space, space)]) {
      assert.deepStrictEqual(faultsWithout({ cubicFeet: null, linearFeet: null }, enough), [])
    }
    for (const short of [{}, units(), units(space, {}), ...Object.keys(space).map((member) => units({ ...space, [member]: 0 }))]) {
      assert.deepStrictEqual(faultsWithout({ cubicFeet: null, linearFeet: null }, short), ["/cubicFeet"])
    }
  })

  it("requires the number of units for described units", () => {
    const unit = { height: 48, length: 48, width: 40, weight: 10 }
    assert.deepStrictEqual(faultsWith({ handlingUnitDetails: [unit, { ...unit, unitCount: 1 }] }), ["/shipmentDetails/0/handlingUnitDetails/0/unitCount"])
  })

  it("requires a contact for hazardous freight (SPEC-GAP-C38)", () => {
    assert.deepStrictEqual(faultsWith({}, { hazmatCheck: true, hazmatContactName: " " }), [
      "/shipmentDetails/1/hazmatContactName",
      "/shipmentDetails/1/hazmatContactPhoneNumber"
    ])
    assert.deepStrictEqual(faultsWith({ hazmatCheck: true, hazmatContactName: "CHEMTREC", hazmatContactPhoneNumber: "8005550100" }), [])
  })

  it("requires begin and end of a Delivery Window, and refuses an end without one (SPEC-GAP-C38)", () => {
    const window = (deliveryDateType: string | null, deliveryBeginDate: string | null, deliveryEndDate: string | null) =>
      faultsWith({ deliveryDateType, deliveryBeginDate, deliveryEndDate }).map((pointer) => pointer.slice("/shipmentDetails/0/".length))
    assert.deepStrictEqual(window("Delivery Window", "2026-11-25", "2026-11-27T12:00:00"), [])
    assert.deepStrictEqual(window("delivery window", "2026-11-25", "2026-11-25"), [])
    assert.deepStrictEqual(window("Delivery Window", null, null), ["deliveryBeginDate", "deliveryEndDate"])
    assert.deepStrictEqual(window("Delivery Window", "2026-11-25", null), ["deliveryEndDate"])
    assert.deepStrictEqual(window("Delivery Window", null, "2026-11-25"), ["deliveryBeginDate"])
    assert.deepStrictEqual(window("Delivery Window", "2026-11-25", "2026-11-24"), ["deliveryEndDate"])
    assert.deepStrictEqual(window("Delivery Window", "2026-11-25T12:00", "2026-11-25T11:59"), ["deliveryEndDate"])
    // equal, later, or not comparable
    for (const [begin, end] of [
      ["2026-11-25T12:00", "2026-11-25T12:00"],
      ["2026-11-25T12:00", "2026-11-25T12:30"],
      ["2026-11-25T12:00:00+01:00", "2026-11-25T11:30:00Z"],
      ["2026-11-25T12:00", "2026-11-25"],
      ["2026-11-25T23:00:00Z", "2026-11-25T01:00"],
      ["2026-11-25T23:00", "2026-11-25T01:00:00Z"],
      ["12:00", "2026-11-25"],
      ["2026-11-25", "12:00"]
    ] as const) assert.deepStrictEqual(window("Delivery Window", begin, end), [], `${begin} ${end}`)
    assert.deepStrictEqual(window("Delivery Window", "2026-11-25T12:00:00Z", "2026-11-25T12:30:00+01:00"), ["deliveryEndDate"])
    assert.deepStrictEqual(window("Deliver By Date", "2026-11-25", "2026-11-26"), ["deliveryEndDate"])
    assert.deepStrictEqual(window(null, null, "2026-11-26"), ["deliveryEndDate"])
    assert.deepStrictEqual(window("Required Delivery Date", "2026-11-25", null), [])
  })

  it("requires the postal code of a destination", () => {
    assert.deepStrictEqual(faultsOf({ destinationAddress: [{ cneeCity: "Toronto" }, { cneeZip: "02134" }] }), ["/destinationAddress/0/cneeZip"])
  })

  it("requires a carrierPickupNumber with ModifyExisting, and refuses it otherwise", () => {
    assert.deepStrictEqual(faultsOf({ carrierPickupNumber: "1" }), ["/carrierPickupNumber"])
    assert.deepStrictEqual(faultsOf({ requestFunction: "ModifyExisting" }), ["/carrierPickupNumber"])
    assert.deepStrictEqual(faultsOf({ requestFunction: "ModifyExisting", carrierPickupNumber: "0012" }), [])
  })

  it("lists every fault at once", () => {
    assert.lengthOf(
      faultsOf({
        cubicFeet: null,
        pickupLocationTimeZone: "nowhere",
        destinationAddress: [{}],
        shipmentDetails: [requestedShipment({ hazmatCheck: true, deliveryEndDate: "2026-11-20", ...unmeasured })]
      }),
      6
    )
  })
})

const refusedAt = (json: PickupJson) =>
  Effect.map(Effect.flip(Schema.decodeUnknownEffect(PickupRequest, { errors: "all" })(json)), (error) => String(error))

describe("PickupRequest", () => {
  const nullable = Object.entries(pickupRequest()).filter(([member]) => !["warehouseName", "openDate", "openTime"].includes(member)).map(([member]) => member)

  it.effect.prop("requires every member that the interface requires, null or not", [oneOf(nullable)], ([member]) => {
    const { [member]: _left, ...rest } = pickupRequest()
    return Effect.map(refusedAt(rest), (error) => assert.include(error, member))
  })

  it("accepts a request without optional members (SPEC-GAP-C3)", () => {
    const { openDate: _date, openTime: _time, warehouseName: _name, ...rest } = pickupRequest()
    decode(rest)
    decode(pickupRequest({ more: { shipmentDetails: [{ hazmatCheck: false }] } }))
  })

  it.effect("refuses values that are out of bounds", Effect.fnUntraced(function*() {
    const many = Array.from({ length: 501 }, () => requestedShipment())
    for (
      const more of [
        { grossPickupWeight: 1_000_000 },
        { grossPickupWeight: -1 },
        { grossPickupWeight: 1.5 },
        { grossPickupWeight: "1250" },
        { handlingUnitCount: 501 },
        { shipmentDetails: many },
        { pickupAddress: [] },
        { pickupAddress: null },
        { weightUofM: "stone" },
        { loadedBy: "nobody" },
        { isTest: "yes" },
        { readyDate: "tomorrow" },
        { readyTime: "2026-02-30T08:00:00" },
        { closeTime: "2026-11-20T25:00:00" },
        { requestFunction: "newpickup" },
        { shipmentDetails: [requestedShipment({ deliveryDateType: "Whenever" })] },
        { shipmentDetails: [requestedShipment({ proNumber: 1.5 })] },
        { shipmentDetails: [requestedShipment({ proNumber: 2 ** 53 })] },
        { destinationAddress: [{ cneeZip: "12345678901" }] }
      ]
    ) yield* refusedAt(pickupRequest({ more }))
  }))

  it.prop("accepts the test flag in any case (SPEC-GAP-C2)", [oneOf([["True", true], ["TRUE", true], ["true", true], [true, true], ["False", false], ["fAlSe", false], [false, false]] as const)], ([[isTest, read]]) => {
    assert.strictEqual(decode(pickupRequest({ isTest })).isTest, read)
  })

  it.prop("keeps weightUofM and loadedBy as written (SPEC-GAP-C7)", [oneOf(["LB", "lbs", "Pounds", "POUNDS", "KG", "kilograms"]), oneOf(["Shipper", "driver", null])], ([weightUofM, loadedBy]) => {
    const request = decode(pickupRequest({ more: { weightUofM, loadedBy } }))
    assert.deepStrictEqual([request.weightUofM, request.loadedBy], [weightUofM, loadedBy])
  })

  it.prop("converts identifiers that are JSON integers to text (SPEC-GAP-C5)", [int(0, Number.MAX_SAFE_INTEGER)], ([pro]) => {
    assert.strictEqual(decode(pickupRequest({ pro })).shipmentDetails?.[0]?.proNumber, String(pro))
  })
})
