import { assert, describe, it } from "@effect/vitest"
import { moneyText, showMoney, sumOfAmounts } from "@waybill/core/invoices"
import { BigDecimal } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../../arbitraries.ts"

const digits = (minimum: number, maximum: number) => Arbitrary.map(listOf(int(0, 9), minimum, maximum), (each) => each.join(""))

/** Any amount that the interface allows: whole, with a fraction of any length, negative, without a zero before the point. */
const amount = Arbitrary.map(
  Arbitrary.all([oneOf(["", "-"]), digits(0, 14), digits(0, 16)]),
  ([sign, whole, fraction]) => `${sign}${whole}${fraction === "" ? (whole === "" ? "0" : "") : `.${fraction}`}`
)

const sumOf = (...texts: ReadonlyArray<string>) => showMoney(sumOfAmounts(texts.map(BigDecimal.fromStringUnsafe)))

/** Reference implementation on text: the amount in units of 10^-40. */
const unitsOf = (text: string): bigint => {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".")
  const magnitude = BigInt(`${whole}${fraction.padEnd(40, "0")}`)
  return text.startsWith("-") ? -magnitude : magnitude
}

describe("money", () => {
  it.prop("is added exactly, at any scale and sign", [listOf(amount, 0, 30)], ([amounts]) => {
    for (const each of amounts) assert.match(each, moneyText)
    assert.strictEqual(unitsOf(sumOf(...amounts)), amounts.map(unitsOf).reduce((a, b) => a + b, 0n))
  })

  it.prop("is the same in any order", [listOf(amount, 1, 10)], ([amounts]) => {
    assert.strictEqual(sumOf(...amounts.toReversed()), sumOf(...amounts))
  })

  it.prop("has the decimals of the amount that has most", [listOf(amount, 1, 10)], ([amounts]) => {
    const decimalsOf = (text: string) => text.split(".")[1]?.length ?? 0
    assert.strictEqual(decimalsOf(sumOf(...amounts)), Math.max(...amounts.map(decimalsOf)))
  })

  it.prop("is formatted with the same amount and scale", [amount], ([text]) => {
    const money = BigDecimal.fromStringUnsafe(text)
    assert.deepStrictEqual(BigDecimal.fromStringUnsafe(showMoney(money)), money)
  })

  it.prop("is equal at another scale", [amount, int(0, 5)], ([text, zeros]) => {
    const longer = `${text}${text.includes(".") ? "" : "."}${"0".repeat(zeros + 1)}`
    assert.isTrue(BigDecimal.equals(BigDecimal.fromStringUnsafe(text), BigDecimal.fromStringUnsafe(longer)))
    assert.isFalse(BigDecimal.equals(BigDecimal.fromStringUnsafe(text), BigDecimal.sumAll([longer, "0.00000000000000000000000000001"].map(BigDecimal.fromStringUnsafe))))
  })

  it("is exact where a float is not", () => {
    assert.strictEqual(sumOf("0.10", "0.20"), "0.30")
    assert.strictEqual(sumOf("9007199254740993", ".1"), "9007199254740993.1")
    assert.strictEqual(sumOf("99999999999999999999999999999999", "1"), "100000000000000000000000000000000")
    assert.strictEqual(sumOf("0.00000001", "-0.00000001"), "0.00000000")
    assert.strictEqual(sumOf("-.5", ".25"), "-0.25")
    assert.strictEqual(sumOf("-0", "007"), "7")
    assert.strictEqual(sumOf("0.50", "-0.50", "3"), "3.00")
  })

  it("has the published form, at most 32 characters (SPEC-GAP-B4)", () => {
    for (const good of ["0", "-0", "10.00", ".5", "-.5", "007", "9".repeat(32), `-${"9".repeat(20)}.${"9".repeat(10)}`]) assert.match(good, moneyText)
    for (const bad of ["", "-", ".", "5.", "1,000.00", "1e3", "+1", " 1", "1 ", "٣", "0x1", "NaN", "--1", "1.2.3", "9".repeat(33), "1\n"]) {
      assert.notMatch(bad, moneyText)
    }
  })
})
