/** The tenants of a service. */

export interface TenantSettings {
  readonly name: string
  /** Host names whose public lookups use this tenant. */
  readonly hosts?: ReadonlyArray<string>
}

/** A carrier, broker or shipper that uses the service: the unit of isolation. */
export interface Tenant {
  readonly tenantId: string
  readonly name: string
  readonly hosts: ReadonlyArray<string>
  /** `suspended`: every call is refused, and nothing is sent. */
  readonly state: "active" | "suspended"
}
