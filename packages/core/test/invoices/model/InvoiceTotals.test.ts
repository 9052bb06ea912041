import { assert, describe, it } from "@effect/vitest"
import { type Invoice, showMoney, sumOfAmounts, totalWarnings } from "@waybill/core/invoices"
import { invoiceSample } from "@waybill/testkit"
import { BigDecimal } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf } from "../../arbitraries.ts"

const warnings = (costs: ReadonlyArray<string>, total: string) => totalWarnings(invoiceSample({ costs, total }) as unknown as Invoice)

const cents = Arbitrary.map(int(-1_000_000, 1_000_000), (n) => `${n < 0 ? "-" : ""}${Math.trunc(Math.abs(n) / 100)}.${String(Math.abs(n) % 100).padStart(2, "0")}`)

describe("totalWarnings", () => {
  it.prop("is empty for lines that add up, and not if a cent is missing", [listOf(cents, 0, 20)], ([costs]) => {
    const sum = sumOfAmounts(costs.map(BigDecimal.fromStringUnsafe))
    assert.deepStrictEqual(warnings(costs, showMoney(sum)), [])
    assert.lengthOf(warnings(costs, showMoney(BigDecimal.sum(sum, BigDecimal.make(1n, 2)))), 1)
  })

  it("contains both sums, in characters that fit into a header (SPEC-GAP-B8)", () => {
    assert.deepStrictEqual(warnings(["200.905", "62.88"], "263.78"), [
      "The charge lines add up to 263.785 USD, the invoice amount is 263.78 USD."
    ])
    assert.deepStrictEqual(warnings([], "1"), ["The charge lines add up to 0 USD, the invoice amount is 1 USD."])
  })

  it("compares values, not their formats", () => assert.deepStrictEqual(warnings(["1.50", ".5", "-0"], "2"), []))

  it("ignores lines without a cost", () => {
    const sample = invoiceSample({ costs: ["1", "2"], total: "2" })
    const { cost: _, ...first } = sample.invoiceCharges[0]!
    assert.deepStrictEqual(totalWarnings({ ...sample, invoiceCharges: [first, sample.invoiceCharges[1]] } as unknown as Invoice), [])
  })

  it("does not add different currencies (SPEC-GAP-B8)", () => {
    const sample = invoiceSample({ costs: ["1", "2"], total: "3" })
    const inOther = (currencyCode: string) =>
      totalWarnings({ ...sample, invoiceCharges: sample.invoiceCharges.map((each, n) => n === 0 ? { ...each, cost: { currencyCode, value: "1" } } : each) } as unknown as Invoice)
    assert.deepStrictEqual(inOther("cad"), ["The amounts are in several currencies (CAD, USD), so the charge lines were not compared with the invoice amount."])
    assert.deepStrictEqual(inOther("usd"), [])
  })
})
