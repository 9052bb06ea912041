/** Who is calling, for which tenant, and whose freight they may see. */

export type Role = "carrier" | "customer" | "operator"

/**
 * - `carrier`: writes through intake and sees all of its tenant.
 * - `customer`: sees what belongs to its accounts.
 * - `operator`: every tenant, operator calls only; `tenantId` is empty and `client` names the operator.
 */
export interface Principal {
  readonly tenantId: string
  /** The API key's name or the JWT's subject. Subscriptions belong to it. */
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

/** What of a tenant's freight somebody may see: all of it, or what belongs to some accounts. */
export type Visibility =
  | { readonly _tag: "All" }
  | { readonly _tag: "Accounts"; readonly accounts: ReadonlyArray<string> }

export const visibilityOf = (principal: Principal): Visibility =>
  isCarrier(principal) ? { _tag: "All" } : { _tag: "Accounts", accounts: principal.accounts }

/** Whether a shipment with these accounts may be seen. One without accounts is seen by carriers only. */
export const maySee = (visibility: Visibility, shipmentAccounts: ReadonlyArray<string>): boolean =>
  visibility._tag === "All" || shipmentAccounts.some((account) => visibility.accounts.includes(account))
