/** Who calls Waybill: the carrier, and its customers. */
import type { HostPrincipal } from "@waybill/http"
import type { User } from "../accounts/sessions.ts"

/** The TMS serves one carrier. */
export const carrier = { tenantId: "prairie", name: "Prairie Freight Lines", scac: "PRFL" }

/** Who publishes: the TMS itself, whichever dispatcher acts. */
export const tmsPrincipal: HostPrincipal = { tenantId: carrier.tenantId, client: "tms", roles: ["carrier"] }

/** All users of a customer act as one client of Waybill, so subscriptions stay when a person leaves. */
export const clientOf = (customerId: string): string => `customer-${customerId}`

export const principalOf = (user: User): HostPrincipal =>
  user.customer === undefined
    ? tmsPrincipal
    : { tenantId: carrier.tenantId, client: clientOf(user.customer.id), roles: ["customer"], accounts: user.customer.accounts }
