import { assert, describe, it } from "@effect/vitest"
import { hasRevenueImpact } from "@waybill/core/freight-charges"
import { charge } from "../Charges.ts"

const before = charge()
const impactOf = (more: Readonly<Record<string, unknown>>) => hasRevenueImpact(before, { ...before, ...more })
const unit = before.commodities.handlingUnits[0]!
const withLine = (line: Readonly<Record<string, unknown>>) => ({ ...before, commodities: { handlingUnits: [{ ...unit, lineItems: [line] }] } })

describe("hasRevenueImpact", () => {
  it("is true for changed charges, services, terms, parties, weights, sizes or classes (SPEC-GAP-E10)", () => {
    assert.isTrue(impactOf({ charges: { ...before.charges, preliminaryTotalCharges: 1 } }))
    assert.isTrue(impactOf({ charges: { ...before.charges, class: [{ freightClass: "55", cwt: 125 }] } }))
    assert.isTrue(impactOf({ accessorials: { codes: ["RES"] } }))
    assert.isTrue(impactOf({ payment: { terms: "Collect" } }))
    for (const side of ["origin", "destination", "billTo"] as const) {
      for (const member of ["account", "name", "address1", "address2", "city", "stateProvince", "postalCode", "country"]) {
        assert.isTrue(impactOf({ [side]: { ...before[side], [member]: "other" } }))
      }
    }
    for (const member of ["grossWeight", "netWeight", "weightUnit", "handlingUnits", "linearLength", "dimensionsUnit", "cube", "cubeDimensionsUnit", "declaredValue", "currency"]) {
      assert.isTrue(impactOf({ shipmentTotals: { ...before.shipmentTotals, [member]: "other" } }), member)
    }
    for (const member of ["count", "type", "tareWeight", "weight", "weightUnit", "length", "width", "height", "dimensionUnit", "stackable"]) {
      assert.isTrue(impactOf({ commodities: { handlingUnits: [{ ...unit, [member]: "other" }] } }), member)
    }
    for (const member of ["weight", "weightUnit", "pieces", "classification", "nmfc", "nmfcSub"]) {
      assert.isTrue(hasRevenueImpact(withLine({}), withLine({ [member]: "other" })), member)
    }
  })

  it("is false for changed references, locations and dates (SPEC-GAP-E10)", () => {
    assert.isFalse(impactOf({}))
    assert.isFalse(impactOf({ origin: { ...before.origin, locationId: "dock 3" } }))
    assert.isFalse(hasRevenueImpact(withLine({}), withLine({ description: "Chairs", packagingType: "BOX" })))
    assert.isFalse(impactOf({ referenceNumbers: { pro: "1", bol: ["B"] } }))
    assert.isFalse(impactOf({ pfc: { ...before.pfc, date: "2024-11-21" }, shipmentTotals: { ...before.shipmentTotals, pickupDate: "2024-11-21" } }))
    assert.isFalse(hasRevenueImpact({ ...before, accessorials: { codes: ["LFTD", "RES"] } }, { ...before, accessorials: { codes: ["RES", "LFTD"] } }))
  })
})
