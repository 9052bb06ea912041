import { assert, describe, it } from "@effect/vitest"
import { addressees } from "@waybill/core"

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
    const invoice = { billToAccountNumber: " B ", account_number: 7, invoiceHeader: header, invoiceCharges: [{ accountCode: "4000", account: "LEDGER" }] }
    assert.deepStrictEqual(addressees({ ...invoice, attributes: [{ type: "account", value: "A" }] }), ["7", "A", "B", "C", "D"])
  })

  it("do not include other attributes, or values that cannot be an account", () => {
    const attributes = [
      { type: "requestNumber", value: "A" },
      { type: "accountManager", value: "A" },
      { value: "A" },
      { type: "account" },
      { type: "account", value: "" },
      { type: "account", value: "x".repeat(101) },
      { type: "account", value: "a\u0000b" }
    ]
    assert.deepStrictEqual(addressees({ attributes }), [])
    assert.deepStrictEqual(addressees({}), [])
    assert.deepStrictEqual(addressees({ account: null, accountNumber: {}, billToAccount: "", invoiceHeader: [], attributes: [null, "account"] }), [])
  })
})
