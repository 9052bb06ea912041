import { assert, describe, it } from "@effect/vitest"
import { hasRevenueImpact } from "@waybill/core/freight-charges"
import { charge } from "../Charges.ts"

const before = charge()
const impactOf = (more: Readonly<Record<string, unknown>>) => hasRevenueImpact(before, { ...before, ...more })

describe("hasRevenueImpact", () => {
  it("is true for changed charges, services, terms, parties, weights, sizes or classes (SPEC-GAP-E10)", () => {
    const unit = before.commodities.handlingUnits[0]!
    assert.isTrue(impactOf({ charges: { ...before.charges, preliminaryTotalCharges: 1 } }))
    assert.isTrue(impactOf({ charges: { ...before.charges, class: [{ freightClass: "55", cwt: 125 }] } }))
    assert.isTrue(impactOf({ accessorials: { codes: ["LFTD"] } }))
    assert.isTrue(impactOf({ payment: { terms: "Collect" } }))
    for (const side of ["origin", "destination", "billTo"] as const) {
      for (const member of ["account", "name", "address1", "address2", "city", "stateProvince", "postalCode", "country"]) {
        assert.isTrue(impactOf({ [side]: { ...before[side], [member]: "other" } }))
      }
    }
    assert.isTrue(impactOf({ shipmentTotals: { ...before.shipmentTotals, grossWeight: 2001 } }))
    assert.isTrue(impactOf({ commodities: { handlingUnits: [{ ...unit, height: 50 }] } }))
    assert.isTrue(impactOf({ commodities: { handlingUnits: [{ ...unit, lineItems: [{ classification: "77.5" }] }] } }))
  })

  it("is false for changed references, locations and dates (SPEC-GAP-E10)", () => {
    assert.isFalse(impactOf({}))
    assert.isFalse(impactOf({ origin: { ...before.origin, locationId: "dock 3" } }))
    assert.isFalse(impactOf({ referenceNumbers: { pro: "1", bol: ["B"] } }))
    assert.isFalse(impactOf({ pfc: { ...before.pfc, date: "2024-11-21" }, shipmentTotals: { ...before.shipmentTotals, pickupDate: "2024-11-21" } }))
    assert.isFalse(hasRevenueImpact({ ...before, accessorials: { codes: ["LFTD", "RES"] } }, { ...before, accessorials: { codes: ["RES", "LFTD"] } }))
  })
})
