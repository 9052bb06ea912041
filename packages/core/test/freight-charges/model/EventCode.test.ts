import { assert, describe, it } from "@effect/vitest"
import { eventCodes, meaningOf } from "@waybill/core/freight-charges"

describe("the meaning of an event code (SPEC-GAP-E7)", () => {
  it("is one of the 49 published codes, in any case", () => {
    assert.strictEqual(new Set(eventCodes).size, 49)
    for (const code of eventCodes) assert.strictEqual(meaningOf(` ${code.toLowerCase()}`), code)
  })

  it("is known for the codes of published examples, and for no other", () => {
    assert.deepStrictEqual(["RCN", "INV", "Cancel", "BILL"].map(meaningOf), ["RCC", "FINL", "ACTCHG", "OTHR"])
    for (const code of ["XYZ", "", "constructor", undefined, 5]) assert.isUndefined(meaningOf(code))
  })
})
