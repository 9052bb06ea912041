/** Whether a tenant is active. `suspended`: its calls are refused and its deliveries are not sent. */
export const tenantStates = ["active", "suspended"] as const
/** One of `tenantStates`. */
export type TenantState = typeof tenantStates[number]
