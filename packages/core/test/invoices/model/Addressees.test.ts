import { assert, describe, it } from "@effect/vitest"
import { addresseeFault, addressees } from "@waybill/core/invoices"

describe("addressees", () => {
  it("are the distinct accounts in the attributes (SPEC-GAP-B7)", () => {
    const attributes = [
      { type: "accountNumber", value: "B" },
      { type: "BILLTOACCOUNTNUMBER", value: " A " },
      { id: 3, type: "Bill-to account", value: "B" },
      { type: "account", value: "007" },
      { type: "bill_to_account_number", value: "C" }
    ]
    assert.deepStrictEqual(addressees({ attributes }), ["007", "A", "B", "C"])
  })

  it("are the accounts in members of the invoice, its header and its billing party (SPEC-GAP-B7)", () => {
    const header = { billToAccount: "C", billingParty: { billingPartyName: "Payer", account: "D" }, consignor: { account: "SHIPPER" } }
    const invoice = { billToAccountNumber: " B ", account_number: 7, account: 0, invoiceHeader: header, invoiceCharges: [{ accountCode: "4000", account: "LEDGER" }] }
    assert.deepStrictEqual(addressees({ ...invoice, attributes: [{ type: "account", value: "A" }] }), ["0", "7", "A", "B", "C", "D"])
  })

  it("do not include other attributes, or members that are null", () => {
    const attributes = [{ type: "requestNumber", value: "A" }, { type: "accountManager", value: "A" }, { value: "A" }]
    assert.deepStrictEqual(addressees({ attributes }), [])
    assert.deepStrictEqual(addressees({}), [])
    const without = { account: null, billToAccount: null, invoiceHeader: [], attributes: [null, "account"] }
    assert.deepStrictEqual([addressees(without), addresseeFault(without)], [[], undefined])
  })

  it.each<[string, object]>([
    ["/account", { account: "" }],
    ["/account", { account: " " }],
    ["/accountNumber", { accountNumber: {} }],
    ["/accountNumber", { accountNumber: ["A"] }],
    ["/billToAccount", { billToAccount: true }],
    ["/billToAccount", { billToAccount: 1.5 }],
    ["/billToAccount", { billToAccount: -1 }],
    ["/invoiceHeader/account", { account: "A", invoiceHeader: { account: "x".repeat(101) } }],
    ["/invoiceHeader/billingParty/account", { invoiceHeader: { billingParty: { account: "a\u0000b" } } }],
    ["/attributes/1/value", { attributes: [{ type: "account", value: "A" }, { type: "account" }] }],
    ["/attributes/0/value", { attributes: [{ type: "Bill-to account", value: null }] }]
  ])("have a fault at %s of a value that cannot be an account: %j (SPEC-GAP-B7)", (path, record) => {
    assert.strictEqual(addresseeFault({ ...record })?.pointer, path)
  })
})
