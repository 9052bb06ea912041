/** Lookup keys of pickups. */
import { Schema } from "effect"
import { anyCase, given, nameUpTo } from "./KeptText.ts"
import type { PickupRequest } from "./PickupRequest.ts"

/** The published values. Any case of them is read. */
export const lookupTypes = ["PickupConfirmationID", "PRO"] as const
/** Values of `isTest` in a lookup, in any case. */
export const testFlags = ["true", "false"] as const

/** Parameters of the visibility call, all text. `requestType` has no effect and any value: no values are published, and reading never cancels. SPEC-GAP-C13 */
export const PickupQuery = Schema.Struct({
  lookupValue: nameUpTo(100).check(Schema.isPattern(/\S/u, { message: "lookupValue must not be empty." })),
  lookupType: anyCase("lookupType", lookupTypes),
  requestType: nameUpTo(100).check(Schema.isPattern(/\S/u, { message: "requestType must not be empty." })),
  isTest: anyCase("isTest", testFlags)
}).annotate({ identifier: "PickupQuery" })
export type PickupQuery = typeof PickupQuery.Type

/** The key of a lookup. `pro` is normalised. */
export type PickupLookup =
  | { readonly by: "number"; readonly number: string; readonly isTest: boolean }
  | { readonly by: "pro"; readonly pro: string; readonly isTest: boolean }

/** The key that a query asks for. */
export const pickupLookup = ({ isTest, lookupType, lookupValue }: PickupQuery): PickupLookup => {
  const test = isTest.toLowerCase() === "true"
  return lookupType.toLowerCase() === "pro"
    ? { by: "pro", pro: plainPro(lookupValue), isTest: test }
    : { by: "number", number: lookupValue.trim(), isTest: test }
}

/** Normalises a PRO: upper case, without blanks and hyphens. Leading zeros, letters and check digits stay. */
export const plainPro = (pro: string): string => pro.replaceAll(/[\s-]+/gu, "").toUpperCase()

/** Normalises a list of PROs and removes duplicates. */
export const plainPros = (pros: ReadonlyArray<string | null | undefined>): ReadonlyArray<string> =>
  [...new Set(pros.map((pro) => plainPro(pro ?? "")).filter((pro) => pro !== ""))]

/** The PROs under which lookups find the pickup, in their compared form. */
export const pickupPros = (request: PickupRequest): ReadonlyArray<string> =>
  plainPros((request.shipmentDetails ?? []).flatMap((shipment) => [shipment.proNumber, shipment.crossRefPro]))

/** The accounts that give access to the pickup, in addition to the client that ordered it. */
export const pickupAccounts = (request: PickupRequest): ReadonlyArray<string> => [...new Set(namedAccounts(request).map((each) => each.account))]

/** An account in a request, with its place for faults. */
export interface NamedAccount {
  readonly account: string
  readonly path: ReadonlyArray<PropertyKey>
}

/** The accounts that a request names (`orgAccountNumber`, `btAccountNumber`). They may see the pickup. SPEC-GAP-C20 */
export const namedAccounts = ({ billToAddress, pickupAddress }: PickupRequest): ReadonlyArray<NamedAccount> =>
  [
    ...pickupAddress.map((each, at) => ({ account: given(each.orgAccountNumber), path: ["pickupAddress", at, "orgAccountNumber"] })),
    ...(billToAddress ?? []).map((each, at) => ({ account: given(each.btAccountNumber), path: ["billToAddress", at, "btAccountNumber"] }))
  ].flatMap(({ account, path }) => account === undefined ? [] : [{ account: account.trim(), path }])

/** Test numbers, and only those, have this form, so a number alone shows whether it is a test. Digits, because the interface shows numbers as integers. SPEC-GAP-C14 */
const testShape = /^9999\d{8,}$/u

/** Whether a number is one of test pickups: `9999` and at least eight digits. SPEC-GAP-C14 */
export const isTestNumber = (number: string): boolean => testShape.test(number)

/** Nine digits, or a test number. */
export const issuedNumber = (n: number, isTest: boolean): string => isTest ? `9999${String(n).padStart(8, "0")}` : String(100_000_000 + n)

const numberShape = /^[^\p{Cc}\p{Cs}\s](?:[^\p{Cc}\p{Cs}]{0,98}[^\p{Cc}\p{Cs}\s])?$/u

/** Whether a text can be a pickup number. Other text never reaches the store. */
export const isPickupNumber = (text: string): boolean => numberShape.test(text)
