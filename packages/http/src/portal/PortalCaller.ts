/** Callers of the portal without a link. */
import { Context } from "effect"

/** The customer that a host has authenticated by a session of its own. */
export interface PortalCustomer {
  readonly tenantId: string
  /** A bare name means `key:<name>`; `jwt:<issuer>:<sub>` is the client of a token. */
  readonly client: string
}

/** The customer of the current call, for handlers that the host calls with one. */
export const PortalCaller = Context.Reference<PortalCustomer | undefined>("@waybill/http/portal/PortalCaller", { defaultValue: () => undefined })
