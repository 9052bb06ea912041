/** Links that open the portal of a client. */
import type { PortalTheme } from "../portal/PortalSession.ts"

/** A new link: its client, how long it works, and the theme of the page. */
export interface PortalLinkCreate {
  /** A bare name means `key:<name>`. */
  readonly client: string
  /** 60 to 86,400. The server's default is an hour. */
  readonly expiresInSeconds?: number
  /** How the portal's page looks. Other members come from the server's settings. */
  readonly theme?: PortalTheme
}

/** A link that opens a client's portal, with its token. */
export interface PortalLink {
  /** Qualified: `key:<name>` or `jwt:<issuer>:<sub>`. */
  readonly client: string
  /** Opens the portal's page. `null` if the service has no page. */
  readonly url: string | null
  /** For the calls of `PortalClient`, as `bearer`. Returned only once. */
  readonly token: string
  readonly expiresAt: string
}
