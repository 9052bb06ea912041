/** Addressees of an invoice: accounts in its attributes. The accounts of its shipment are added elsewhere. */
import { Schema } from "effect"
import { AccountNumber } from "../../shared/Identifier.ts"
import type { InvoiceAttribute } from "./Invoice.ts"

/** SPEC-GAP-B7: the interface has no member for the payer's account. Types compare without case, blanks, hyphens and underscores. */
const accountTypes: ReadonlySet<string> = new Set(["account", "accountnumber", "billtoaccount", "billtoaccountnumber"])

const isAccount = Schema.is(AccountNumber)

/** Sorted and distinct. Values that cannot be an account are ignored. */
export const addressees = (attributes: ReadonlyArray<InvoiceAttribute> = []): ReadonlyArray<string> => {
  const named = attributes.filter(({ type }) => type !== undefined && accountTypes.has(type.toLowerCase().replaceAll(/[\s_-]/gu, "")))
  return [...new Set(named.map(({ value }) => (value ?? "").trim()).filter((value) => isAccount(value)))].sort()
}
