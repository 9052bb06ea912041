import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { type ProForm, proNumberOf } from "../../src/network/ProNumbers.ts"
import { isProNumber } from "./CheckDigits.ts"

const forms: ReadonlyArray<ProForm> = ["modulo 7", "modulo 11", "modulo 10", "plain"]
const serials = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 99_999_999 }))

describe("PRO numbers", () => {
  it("have the check digits that carriers print", () => {
    expect(["100-340397-9", "828-561881-X", "111-003542-0"].every((number) => isProNumber("modulo 11", number))).toBe(true)
    expect(["100-340397-8", "828-561881-0", "111-003542-X", "1003403979"].some((number) => isProNumber("modulo 11", number))).toBe(false)
    expect(proNumberOf("modulo 11", 340_397)).toBe("100-340397-9")
    expect(proNumberOf("modulo 7", 12_345_678)).toBe("123456782")
    expect(isProNumber("modulo 7", "123456781")).toBe(false)
    // 3·5 + 0 + 3·0 + … + 3·1 = 18
    expect(proNumberOf("modulo 10", 1)).toBe("5000000012")
    expect(isProNumber("modulo 10", "5000000011")).toBe(false)
    expect(proNumberOf("plain", 42)).toBe("00000000042")
  })

  it.prop("are valid, and never shared between serials or forms", [serials, serials], ([one, other]) => {
    for (const form of forms) expect(isProNumber(form, proNumberOf(form, one))).toBe(true)
    const numbers = new Set(forms.flatMap((form) => [proNumberOf(form, one), proNumberOf(form, other)].map((number) => number.replaceAll("-", ""))))
    expect(numbers.size).toBe(one === other ? forms.length : forms.length * 2)
  })
})
