/** Several carriers in one tenant: their numbers in one spelling, and the grants by which stores know what belongs to which. */
import { Schema } from "effect"

/** `USDOT 0123456`, `DOT-123456` and `123456` are one number. Empty when nothing was named. SPEC-GAP-B6 */
export const carrierNumber = (written: string): string =>
  written.toUpperCase()
    .replaceAll(/[^A-Z0-9]/gu, "")
    .replace(/^(?:USDOT|DOT|MC)/u, "")
    .replace(/^0+(?=.)/u, "")

const notANumber = "A DOT or MC number is 1 to 20 letters, digits or hyphens, and more than a prefix."

/** A DOT or MC number that a caller is bound to, as it was written. */
export const CarrierNumber = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9-]{1,20}$/u, { message: notANumber }),
  Schema.makeFilter((written: string) => carrierNumber(written) !== "" || notANumber)
)

/** As they were written. */
export interface CarrierNumbers {
  readonly dot?: string | undefined
  readonly mc?: string | undefined
}

/** A carrier as its shipments name it: its numbers in one spelling, and its Standard Carrier Alpha Code. */
export interface NamedCarrier {
  readonly dot?: string
  readonly mc?: string
  readonly scac?: string
}

/**
 * A carrier as stores keep it beside account numbers: one text for each of its numbers. They begin with a blank, which no account
 * number does. A shipment belongs to every carrier that has one of its texts; its SCAC is nobody's credential.
 */
export const carrierGrants = ({ dot, mc, scac }: CarrierNumbers & { readonly scac?: string | undefined }): ReadonlyArray<string> => [
  ...grantOf("dot", dot),
  ...grantOf("mc", mc),
  ...(scac === undefined ? [] : [` scac ${scac.toUpperCase()}`])
]

const grantOf = (kind: "dot" | "mc", written: string | undefined): ReadonlyArray<string> => {
  const number = written === undefined ? "" : carrierNumber(written)
  return number === "" ? [] : [` ${kind} ${number}`]
}

/** The carrier that a store's texts stand for; `undefined` for none. */
export const carrierNamed = (grants: ReadonlyArray<string>): NamedCarrier | undefined => {
  const parts = grants.map((grant) => grant.slice(1).split(" "))
  return parts.length === 0 ? undefined : Object.fromEntries(parts) as NamedCarrier
}

/** An account as a carrier with a number has it: it shows the account's charges of this carrier, and nothing else. */
export const accountWithin = (carrierGrant: string, account: string): string => `${carrierGrant} ${account}`

/** The account that a grant gives sight of charges of: itself, or the one within a carrier; `undefined` for a carrier's own number. */
export const accountOfGrant = (grant: string): string | undefined => grant.startsWith(" ") ? /^ \S+ \S+ (.*)$/su.exec(grant)?.[1] : grant
