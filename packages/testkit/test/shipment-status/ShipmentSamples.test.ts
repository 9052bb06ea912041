import { assert, describe, it } from "@effect/vitest"
import { contradictionsIn, PostedShipment, VerifiedShipment } from "@waybill/core/shipment-status"
import { Schema } from "effect"
import { arbitraryVerifiedShipment, postedShipment, verifiedShipment } from "../../src/index.ts"

const isVerified = Schema.is(VerifiedShipment)
const isPosted = Schema.is(PostedShipment)

describe("samples of shipments", () => {
  it("are valid", () => {
    assert.isTrue(isVerified(verifiedShipment("0418367745")))
    assert.isTrue(isVerified(verifiedShipment("0418367745", { Late: true, DelayReasonCode: "310-2" })))
    assert.isTrue(isPosted(postedShipment("S")))
    assert.isTrue(isPosted(postedShipment("S", { ShipmentMilestoneStatus: "Picked-up", accounts: ["A"], pickupDate: "2026-11-20" })))
  })

  it("contain their lookup numbers", () => {
    const { ConsigneeAddress, PickupAddress, ProNumber, ReferenceNumbers } = postedShipment("S", { ProNumber: "77" })
    assert.deepStrictEqual([ProNumber, ReferenceNumbers?.bolNumber, ReferenceNumbers?.poNumber], ["77", "BOL-77", "PO-77"])
    assert.deepStrictEqual([PickupAddress.postalCode, ConsigneeAddress.postalCode], ["60608", "02108"])
  })

  it.prop("are valid and consistent for all random draws", [arbitraryVerifiedShipment], ([shipment]) => {
    assert.isTrue(isVerified(shipment))
    assert.deepStrictEqual(contradictionsIn({ shipmentId: "S", ...shipment }, []), [])
  })
})
