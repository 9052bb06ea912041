/** Normalised carrier numbers, and the grants that stores use to record which carrier owns a row. */
import { Schema } from "effect"

/** Normalises a number: `USDOT 0123456`, `DOT-123456` and `123456` are equal. Empty when the text has no number. SPEC-GAP-B6 */
export const carrierNumber = (written: string): string =>
  written.toUpperCase()
    .replaceAll(/[^A-Z0-9]/gu, "")
    .replace(/^(?:USDOT|DOT|MC)/u, "")
    .replace(/^0+(?=.)/u, "")

const notANumber = "A DOT or MC number is at most 20 letters, digits or hyphens, with a digit among them, such as 1234567 or MC-765432."

/** A caller's DOT or MC number, as it was written. */
export const CarrierNumber = Schema.String.check(
  Schema.isPattern(/^[A-Za-z-]*[0-9][A-Za-z0-9-]*$/u, { message: notANumber }),
  Schema.isMaxLength(20, { message: notANumber })
)

/** DOT and MC number, as they were written. */
export interface CarrierNumbers {
  readonly dot?: string | undefined
  readonly mc?: string | undefined
}

/** The carrier of a shipment: normalised numbers and its Standard Carrier Alpha Code (SCAC). */
export interface NamedCarrier {
  readonly dot?: string
  readonly mc?: string
  readonly scac?: string
}

/**
 * A carrier's grants: one text per number, stored in the list of account numbers. They begin with a blank, which no account number does. A
 * shipment belongs to every carrier that has one of its grants. A SCAC is not a credential, so no caller has a SCAC grant.
 */
export const carrierGrants = ({ dot, mc, scac }: CarrierNumbers & { readonly scac?: string | undefined }): ReadonlyArray<string> => [
  ...grantOf("dot", dot),
  ...grantOf("mc", mc),
  ...(scac === undefined ? [] : [` scac ${scac.toUpperCase()}`])
]

/** The grant of a normalised number that is not empty. */
export const grantOfNumber = (kind: "dot" | "mc", number: string): string => ` ${kind} ${number}`

const grantOf = (kind: "dot" | "mc", written: string | undefined): ReadonlyArray<string> => {
  const number = written === undefined ? "" : carrierNumber(written)
  return number === "" ? [] : [grantOfNumber(kind, number)]
}

/** Parses a carrier from its grants; `undefined` when there are none. */
export const carrierNamed = (grants: ReadonlyArray<string>): NamedCarrier | undefined => {
  const parts = grants.map((grant) => grant.slice(1).split(" "))
  return parts.length === 0 ? undefined : Object.fromEntries(parts) as NamedCarrier
}

/** The grant for an account within one carrier. It shows the account's charges of this carrier, and nothing else. */
export const accountWithin = (carrierGrant: string, account: string): string => `${carrierGrant} ${account}`

/** The account whose charges a grant shows: the account itself, or the account within a carrier. `undefined` for a carrier's own number. */
export const accountOfGrant = (grant: string): string | undefined => grant.startsWith(" ") ? /^ \S+ \S+ (.*)$/su.exec(grant)?.[1] : grant
