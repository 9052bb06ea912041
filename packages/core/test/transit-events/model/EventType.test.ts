import { assert, describe, it } from "@effect/vitest"
import { allTypes, eventTypes, typeMask } from "@waybill/core/transit-events"
import { int, listOf } from "../../arbitraries.ts"

describe("typeMask", () => {
  it("gives every type a bit of its own, which never changes because it is stored", () => {
    assert.lengthOf(eventTypes, 24)
    assert.strictEqual(typeMask(["PICKUP_SCHEDULED"]), 1)
    assert.strictEqual(typeMask(["PROOF_OF_DELIVERY"]), 1 << 13)
    assert.strictEqual(typeMask(["OTHER"]), 1 << 23)
    assert.strictEqual(typeMask(eventTypes), allTypes)
    assert.strictEqual(typeMask([]), 0)
  })

  it.prop("has a type's bit exactly when the type is in the set", [listOf(int(0, 23), 0, 30)], ([indices]) => {
    const types = indices.map((at) => eventTypes[at]!)
    for (const type of eventTypes) assert.strictEqual((typeMask(types) & typeMask([type])) !== 0, types.includes(type))
  })
})
