import { assert, describe, it } from "@effect/vitest"
import { eventCodes, publishedCode, spelled } from "@waybill/core"

describe("publishedCode", () => {
  it("accepts the 49 published codes in any case", () => {
    assert.strictEqual(new Set(eventCodes).size, 49)
    for (const code of eventCodes) assert.deepStrictEqual(publishedCode(` ${code.toLowerCase()}`), { eventCode: code })
  })

  it("maps any other code to OTHR, with the carrier's code (SPEC-GAP-E7)", () => {
    assert.deepStrictEqual(spelled({ eventCode: "DBRS", carrierDescription: "Debris hauled away" }), {
      eventCode: "OTHR",
      carrierCode: "DBRS",
      carrierDescription: "Debris hauled away"
    })
    assert.deepStrictEqual(spelled({ eventCode: "XX", carrierCode: "own" }), { eventCode: "OTHR", carrierCode: "own" })
    assert.deepStrictEqual(spelled({ eventCode: "RCN" }), { eventCode: "RCC", carrierCode: "RCN" })
    assert.deepStrictEqual(spelled({ eventCode: "constructor" }), { eventCode: "OTHR", carrierCode: "constructor" })
    assert.deepStrictEqual(spelled({ eventCategoryName: "no code" }), { eventCategoryName: "no code" })
  })
})
