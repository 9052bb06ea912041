/** Callers of the portal without a link: the customer that a host has authenticated, and what a browser may send with its cookies. */
import { Context } from "effect"
import type { HttpServerRequest } from "effect/http"

/** The customer that a host has authenticated by a session of its own. */
export interface PortalCustomer {
  readonly tenantId: string
  /** A bare name means `key:<name>`; `jwt:<issuer>:<sub>` is the client of a token. */
  readonly client: string
}

/** The customer of the current call, for handlers that the host calls with one. */
export const PortalCaller = Context.Reference<PortalCustomer | undefined>("@waybill/http/portal/PortalCaller", { defaultValue: () => undefined })

/**
 * Whether another site's page made a browser send this write. Such a request has the cookies of the host's session, and no credential of
 * its own. `host` is the requested one.
 */
export const isCrossSiteWrite = ({ headers, method }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "method">, host: string | undefined): boolean => {
  if (method === "GET" || method === "HEAD" || headers["authorization"] !== undefined || headers["x-api-key"] !== undefined) return false
  const site = headers["sec-fetch-site"]
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  // browsers without that header send the origin of the page
  const origin = headers["origin"]
  return origin !== undefined && URL.parse(origin)?.host !== host
}
