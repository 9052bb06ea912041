/** Addressees of an invoice or document record: the accounts that it names. One that names none is seen by the accounts of its shipment. */
import { Schema } from "effect"
import { type Fault, fault } from "../../shared/Fault.ts"
import { AccountNumber } from "../../shared/Identifier.ts"
import { isObject, membersOf } from "../../shared/Json.ts"

/** SPEC-GAP-B7: the interface has no member for the payer's account. Names compare without case, blanks, hyphens and underscores. */
const accountNames: ReadonlySet<string> = new Set(["account", "accountnumber", "billtoaccount", "billtoaccountnumber"])

const isAccountName = (name: unknown): boolean => typeof name === "string" && accountNames.has(name.toLowerCase().replaceAll(/[\s_-]/gu, ""))

const isAccount = Schema.is(AccountNumber)

type Json = Readonly<Record<string, unknown>>

interface Named {
  readonly path: ReadonlyArray<PropertyKey>
  /** `undefined` when the value cannot be an account. */
  readonly account: string | undefined
}

const accountOf = (value: unknown): string | undefined => {
  const text = typeof value === "string" ? value.trim() : Number.isSafeInteger(value) && (value as number) >= 0 ? String(value) : ""
  return isAccount(text) ? text : undefined
}

/** Members of one object that name an account. `null` names none. */
const namedIn = (value: unknown, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Named> =>
  Object.entries(membersOf(value)).flatMap(([name, given]) => isAccountName(name) && given !== null ? [{ path: [...path, name], account: accountOf(given) }] : [])

/** Accounts in members and attributes of the invoice or record, and in members of its header and billing party. */
const namedAccounts = (record: Json): ReadonlyArray<Named> => {
  const header = membersOf(record["invoiceHeader"])
  const attributes: ReadonlyArray<unknown> = Array.isArray(record["attributes"]) ? record["attributes"] : []
  return [
    ...namedIn(record, []),
    ...namedIn(header, ["invoiceHeader"]),
    ...namedIn(header["billingParty"], ["invoiceHeader", "billingParty"]),
    ...attributes.flatMap((each, at) => isObject(each) && isAccountName(each["type"]) ? [{ path: ["attributes", at, "value"], account: accountOf(each["value"]) }] : [])
  ]
}

/** The named accounts, sorted and distinct. */
export const addressees = (record: Json): ReadonlyArray<string> =>
  [...new Set(namedAccounts(record).flatMap(({ account }) => account ?? []))].sort()

/** The first value that cannot be an account. If it were ignored, the accounts of the shipment would see what is addressed to somebody else. */
export const addresseeFault = (record: Json): Fault | undefined => {
  const unusable = namedAccounts(record).find(({ account }) => account === undefined)
  return unusable === undefined ? undefined : fault(unusable.path, "An account is a text of 1 to 100 characters, or an integer. Leave it out where the shipment's accounts are meant.")
}
