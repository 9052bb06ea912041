/** The authenticated caller: its tenant, its roles and its visible freight. */
import { accountWithin, carrierGrants } from "./CarrierNumbers.ts"

/** What a caller may do: `carrier` writes through intake, `customer` reads its accounts, `operator` uses `/operator` only. */
export const roles = ["carrier", "customer", "operator"] as const
/** One of `roles`. */
export type Role = typeof roles[number]

/**
 * - `carrier`: writes through intake and sees its whole tenant; with a DOT or MC number, only that carrier's freight.
 * - `customer`: sees freight of its accounts.
 * - `operator`: makes operator calls for every tenant; `tenantId` is empty and `client` names the operator.
 */
export interface Principal {
  readonly tenantId: string
  /** `key:<name>` for an API key or a host's principal, `jwt:<issuer>:<sub>` for a token. Owns its subscriptions. */
  readonly client: string
  readonly roles: ReadonlyArray<Role>
  /** Numbers that the carrier gave to shippers, consignees or payers. */
  readonly accounts: ReadonlyArray<string>
  /** Department of Transportation number, if the caller is one of several carriers in the tenant. */
  readonly dot?: string
  /** Motor carrier number, if the caller is one of several carriers in the tenant. */
  readonly mc?: string
  /** `key`: Waybill stores this client's accounts with its API keys. `token`: the credential contains them. */
  readonly origin: "key" | "token"
  /** An operator that cannot write and cannot read bodies of deliveries. */
  readonly readOnly?: true
}

/** Whether the caller may write through intake. */
export const isCarrier = (principal: Principal): boolean => principal.roles.includes("carrier")

/** Whether the caller may use the operator API. */
export const isOperator = (principal: Pick<Principal, "roles">): boolean => principal.roles.includes("operator")

/**
 * The grants of a carrier with a DOT or MC number; `undefined` for every other caller. New freight that this carrier writes gets these
 * grants, and it cannot see freight without one of them. Empty when its numbers normalise to nothing: then it sees nothing.
 */
export const carrierOf = (principal: Pick<Principal, "roles" | "dot" | "mc">): ReadonlyArray<string> | undefined =>
  !principal.roles.includes("carrier") || (principal.dot === undefined && principal.mc === undefined) ? undefined : carrierGrants(principal)

/** Whether freight with the grants `carrier` belongs to the caller. Callers without a number own everything. */
export const isOwn = (own: ReadonlyArray<string> | undefined, carrier: ReadonlyArray<string>): boolean =>
  own === undefined || carrier.some((grant) => own.includes(grant))

/** The freight that a caller may see: all of the tenant, or freight with one of these grants (account numbers or carrier numbers). */
export type Visibility =
  | { readonly _tag: "All" }
  | { readonly _tag: "Granted"; readonly grants: ReadonlyArray<string> }

/** Which freight the caller sees: carriers without a number all of the tenant, others what their grants admit. */
export const visibilityOf = (principal: Principal): Visibility => {
  if (!isCarrier(principal)) return { _tag: "Granted", grants: principal.accounts }
  const grants = carrierOf(principal)
  return grants === undefined ? { _tag: "All" } : { _tag: "Granted", grants }
}

/** Whether a shipment with these grants is visible. A shipment without grants is visible only to carriers without a number. */
export const maySee = (visibility: Visibility, shipmentGrants: ReadonlyArray<string>): boolean =>
  visibility._tag === "All" || shipmentGrants.some((grant) => visibility.grants.includes(grant))

/**
 * The access that stores keep for a client with these credentials, for use while it is offline. A carrier's accounts show it charges
 * only; if it has a number, only charges on its own bills.
 */
export const accessOf = (credentials: ReadonlyArray<Pick<Principal, "roles" | "accounts" | "dot" | "mc">>) => ({
  seesAll: credentials.some((each) => each.roles.includes("carrier") && carrierOf(each) === undefined),
  accounts: [...new Set(credentials.flatMap((each) => {
    const own = carrierOf(each)
    return own === undefined ? each.accounts : [...own, ...own.flatMap((grant) => each.accounts.map((account) => accountWithin(grant, account)))]
  }))]
})
