/** The session of the portal's page: the token of a link, or the cookies of the host's own session. */
import { PortalClient } from "@waybill/client/portal"
import { connectionOf } from "../session/Server.ts"
import { tabSecret } from "../session/TabSecret.ts"

const linkToken = tabSecret("waybill.portal-token")

const tokenHash = /^#token=([\w.-]+)$/

/**
 * The token of the link that opened the page, which is removed from the address and from the history at once; or the one of this tab. The
 * browser never sends the fragment to a server. `view` is the fragment of the view to show.
 */
export const takeToken = (view = "#/"): string | undefined => {
  const token = tokenHash.exec(location.hash)?.[1]
  if (token === undefined) return linkToken.read()
  history.replaceState(null, "", `${location.pathname}${location.search}${view}`)
  linkToken.write(token)
  return token
}

export const forgetToken = (): void => linkToken.write(undefined)

/** Whether the address is a link, such as one that was pasted into an open page. */
export const isLink = (): boolean => tokenHash.test(location.hash)

/** The calls are below the page's own folder. Cookies are sent only without a link. */
export const portalClient = (token: string | undefined): PortalClient =>
  token === undefined
    ? new PortalClient({ ...connectionOf("./", "same-origin"), basePath: "/v1" })
    : new PortalClient({ ...connectionOf("./", "omit"), basePath: "/v1", bearer: token })
