import { assert, describe, it } from "@effect/vitest"
import { PublicBody, publicOf, PublicShipment, VerifiedBody, VerifiedShipment } from "@waybill/core/shipment-status"
import { arbitraryVerifiedShipment, verifiedShipment } from "@waybill/testkit"
import { Schema } from "effect"

const publicFields = ["EstimatedStandardDay", "ProNumber", "ShipmentMilestoneStatus", "UpdatedETA"]

/** Every text and number inside a value. */
const valuesIn = (value: unknown): ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(valuesIn) : [value]

describe("the public answer", () => {
  it.prop("has exactly the four public fields, and no other value of the verified answer", [arbitraryVerifiedShipment], ([verified]) => {
    const shown = publicOf(verified)
    assert.deepStrictEqual(Object.keys(shown).toSorted(), publicFields)
    assert.isTrue(Schema.is(PublicShipment)(shown))
    const allowed = publicFields.map((field) => verified[field as keyof VerifiedShipment])
    assert.deepStrictEqual(valuesIn(shown).filter((value) => !allowed.includes(value as never)), [])
    // also by content: no value of the other fields is anywhere in its bytes
    const secret = { ...verified, PayType: "secret-1", BillToAccountNumber: "secret-2", ReferenceNumbers: { ...verified.ReferenceNumbers, poNumber: "secret-3" } }
    assert.notInclude(JSON.stringify(publicOf(secret)), "secret")
  })

  it("does not include a field that is added later", () => {
    const more = { ...verifiedShipment("1"), Margin: 12 }
    assert.deepStrictEqual(Object.keys(publicOf(more)).toSorted(), publicFields)
  })

  it("has a type that is not compatible with the verified answer", () => {
    const verified = new VerifiedBody(new Uint8Array([1]))
    // @ts-expect-error a verified body is not a public body
    const shown: PublicBody = verified
    assert.notInstanceOf(shown, PublicBody)
  })
})

describe("the verified answer", () => {
  it.prop("is valid for every arbitrary shipment", [arbitraryVerifiedShipment], ([verified]) => assert.isTrue(Schema.is(VerifiedShipment)(verified)))

  it("has every field that the interface requires, in the published spelling", () => {
    const required = [
      "ProNumber", "ReferenceNumbers", "UniqueID", "UpdatedPro", "PayType", "ShipType", "PickupAddress", "BillToAddress",
      "BillToAccountNumber", "ConsigneeAddress", "DESaccessorial", "DESLimitedAccess", "TimeCriticalType", "TimeCriticalInfo",
      "GrossWeight", "ShipmentMilestoneStatus", "ShipmentMilestoneStatusLong", "ShipmentTerminalInfo", "TimeZoneOfShipment",
      "UpdatedETA", "EstimatedStandardDay", "EstimatedDeliveryDate", "Reconsignment", "ShipmentShortage", "ShipmentDamage",
      "AllShortOrLostShipment", "Late", "AppointmentRequired", "CrossBorder"
    ]
    const optional = [
      "Commodities", "HandlingUnits", "ShipmentLocation", "OFDStopsAway", "DelayReasonCode", "AppointmentStatus", "AppointmentDate",
      "PartnerCarrierName", "PartnerCarrierSCAC", "CrossBorderStatus", "CrossBorderEntryNumber", "PODAvailable"
    ]
    assert.deepStrictEqual(Object.keys(VerifiedShipment.fields).toSorted(), [...required, ...optional].toSorted())
    for (const field of required) {
      const { [field as "Late"]: _left, ...without } = verifiedShipment("1")
      assert.isFalse(Schema.is(VerifiedShipment)(without), field)
    }
  })
})
