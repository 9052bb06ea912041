/** Who is calling, for which tenant, and whose freight they may see. */
import { accountWithin, carrierGrants } from "./CarrierNumbers.ts"

export type Role = "carrier" | "customer" | "operator"

/**
 * - `carrier`: writes through intake and sees all of its tenant; with a DOT or MC number, what belongs to that carrier.
 * - `customer`: sees what belongs to its accounts.
 * - `operator`: every tenant, operator calls only; `tenantId` is empty and `client` names the operator.
 */
export interface Principal {
  readonly tenantId: string
  /** `key:<name>` of an API key or a host's principal, `jwt:<issuer>:<sub>` of a token. Subscriptions belong to it. */
  readonly client: string
  readonly roles: ReadonlyArray<Role>
  /** Shippers', consignees' or payers' numbers with the carrier. */
  readonly accounts: ReadonlyArray<string>
  /** Department of Transportation number, where the caller is one carrier among several of the tenant. */
  readonly dot?: string
  /** Motor carrier number, likewise. */
  readonly mc?: string
  /** `key`: the service keeps this client's accounts with its API keys. `token`: the credential itself brought them. */
  readonly origin: "key" | "token"
  /** An operator that writes nothing and reads no bodies of deliveries. */
  readonly readOnly?: true
}

export const isCarrier = (principal: Principal): boolean => principal.roles.includes("carrier")

export const isOperator = (principal: Principal): boolean => principal.roles.includes("operator")

/**
 * What a carrier with a number of its own is known by; `undefined` for everybody else. What it writes first belongs to these numbers,
 * and what belongs to none of them is unknown to it. No text at all where its numbers are none: it sees nothing.
 */
export const carrierOf = (principal: Pick<Principal, "roles" | "dot" | "mc">): ReadonlyArray<string> | undefined =>
  !principal.roles.includes("carrier") || (principal.dot === undefined && principal.mc === undefined) ? undefined : carrierGrants(principal)

/** Whether something of a carrier belongs to the caller; everything does to callers without a number. */
export const isOwn = (own: ReadonlyArray<string> | undefined, carrier: ReadonlyArray<string>): boolean =>
  own === undefined || carrier.some((grant) => own.includes(grant))

/** What of a tenant's freight somebody may see: all of it, or what has one of these grants: account numbers, or a carrier's own numbers. */
export type Visibility =
  | { readonly _tag: "All" }
  | { readonly _tag: "Granted"; readonly grants: ReadonlyArray<string> }

export const visibilityOf = (principal: Principal): Visibility => {
  if (!isCarrier(principal)) return { _tag: "Granted", grants: principal.accounts }
  const grants = carrierOf(principal)
  return grants === undefined ? { _tag: "All" } : { _tag: "Granted", grants }
}

/** Whether a shipment with these accounts, and of this carrier, may be seen. One without any is seen by carriers without a number only. */
export const maySee = (visibility: Visibility, shipmentGrants: ReadonlyArray<string>): boolean =>
  visibility._tag === "All" || shipmentGrants.some((grant) => visibility.grants.includes(grant))

/**
 * What stores keep of a client that has these credentials, for when it is not there to ask. A carrier's accounts show it charges only:
 * where it has a number, those of its own bills.
 */
export const accessOf = (credentials: ReadonlyArray<Pick<Principal, "roles" | "accounts" | "dot" | "mc">>) => ({
  seesAll: credentials.some((each) => each.roles.includes("carrier") && carrierOf(each) === undefined),
  accounts: [...new Set(credentials.flatMap((each) => {
    const own = carrierOf(each)
    return own === undefined ? each.accounts : [...own, ...own.flatMap((grant) => each.accounts.map((account) => accountWithin(grant, account)))]
  }))]
})
