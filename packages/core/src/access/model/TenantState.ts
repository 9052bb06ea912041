/** Whether a tenant is served. `suspended`: refused everywhere, and nothing is sent. */
export const tenantStates = ["active", "suspended"] as const
export type TenantState = typeof tenantStates[number]
