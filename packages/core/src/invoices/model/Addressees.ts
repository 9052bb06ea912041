/** Addressees of an invoice or document record: the accounts that it names. One that names none is seen by the accounts of its shipment. */
import { Schema } from "effect"
import { AccountNumber } from "../../shared/Identifier.ts"
import { isObject } from "../../shared/Json.ts"

/** SPEC-GAP-B7: the interface has no member for the payer's account. Names compare without case, blanks, hyphens and underscores. */
const accountNames: ReadonlySet<string> = new Set(["account", "accountnumber", "billtoaccount", "billtoaccountnumber"])

const isAccountName = (name: unknown): boolean => typeof name === "string" && accountNames.has(name.toLowerCase().replaceAll(/[\s_-]/gu, ""))

const isAccount = Schema.is(AccountNumber)

/** Values of the members of one object that name an account. */
const namedIn = (value: unknown): ReadonlyArray<unknown> =>
  isObject(value) ? Object.entries(value).flatMap(([name, account]) => isAccountName(name) ? [account] : []) : []

/**
 * Accounts in members and attributes of the invoice or record, and in members of its header and billing party. Sorted and distinct. Values
 * that cannot be an account are ignored.
 */
export const addressees = (record: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const header = isObject(record["invoiceHeader"]) ? record["invoiceHeader"] : {}
  const attributes = Array.isArray(record["attributes"]) ? record["attributes"].filter((each) => isObject(each) && isAccountName(each["type"])) : []
  const named = [...namedIn(record), ...namedIn(header), ...namedIn(header["billingParty"]), ...attributes.map((each) => each.value)]
  return [...new Set(named.map(textOf).filter((value) => isAccount(value)))].sort()
}

const textOf = (value: unknown): string => typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : ""
