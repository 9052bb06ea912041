import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { type PickupInput, PickupRequest, withNulls } from "../../../src/pickups/index.ts"
import { untyped } from "../../untyped.ts"

const input: PickupInput = {
  isTest: "False",
  requestFunction: "NewPickup",
  pickupAddress: [{
    orgAddressName: "Cicero Mills",
    orgAddressLine1: "1 Mill Road",
    orgCity: "Cicero",
    orgState: "IL",
    orgZip: "60804",
    orgCountry: "USA"
  }],
  grossPickupWeight: 1200,
  weightUofM: "LBS",
  handlingUnitCount: 2,
  readyTime: "2026-11-20T13:00:00"
}

describe("withNulls", () => {
  it("makes a request that leaves out unknown values a request of the interface", () => {
    const full = Schema.decodeUnknownSync(PickupRequest)(withNulls(input))
    assert.strictEqual(full.customer, null)
    assert.strictEqual(full.carrierPickupNumber, null)
    assert.strictEqual(full.grossPickupWeight, 1200)
    assert.isNotNull(full.readyTime)
    assert.notProperty(full, "warehouseName")
    assert.throws(() => Schema.decodeUnknownSync(PickupRequest)(input))
  })

  it("leaves required members out, and other values as they are", () => {
    const { grossPickupWeight: _, ...incomplete } = input
    assert.notProperty(withNulls(untyped(incomplete)), "grossPickupWeight")
    for (const value of [null, undefined, "x", [input]]) assert.strictEqual<unknown>(withNulls(untyped(value)), value)
  })

  it("gives a change the number of its pickup, unless it names one", () => {
    assert.propertyVal(withNulls(input, "100000001"), "carrierPickupNumber", "100000001")
    assert.propertyVal(withNulls({ ...input, carrierPickupNumber: "7" }, "100000001"), "carrierPickupNumber", "7")
  })
})
