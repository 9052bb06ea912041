import { assert, describe, it } from "@effect/vitest"
import { carrierNumber } from "@waybill/core"
import { int, oneOf } from "../../arbitraries.ts"

describe("carrierNumber", () => {
  it.prop("normalises every spelling of a number (SPEC-GAP-B6)", [
    int(1, 99_999_999),
    oneOf(["", "DOT", "USDOT", "usdot", "MC", "mc"]),
    oneOf(["", " ", "-", "# ", "/"]),
    oneOf(["", "0", "000"])
  ], ([number, prefix, blank, zeros]) => {
    assert.strictEqual(carrierNumber(`${prefix}${blank}${zeros}${number}${blank}`), String(number))
  })

  it("keeps letters of the number, and is empty for text without a number", () => {
    assert.strictEqual(carrierNumber("ff-012345"), "FF012345")
    assert.strictEqual(carrierNumber("000"), "0")
    for (const nothing of ["", " - ", "DOT", "MC#"]) assert.strictEqual(carrierNumber(nothing), "")
  })
})
