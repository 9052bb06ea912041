/** The page of the portal, for programs that serve one: where it is, and how it looks. */
import { formatInstant, PortalAccess, type PortalTheme } from "@waybill/core"
import { Context, Effect, Redacted } from "effect"
import { makePortalTokens } from "./PortalTokens.ts"

/** Address and theme of the portal's page. */
export interface PortalPageSettings {
  /** What links open: an absolute address, or a path below the address of the service. Without it, links are tokens only. */
  readonly address: string | undefined
  /** A link's own theme replaces it member by member. */
  readonly theme: PortalTheme
}

/** Where the portal's page is and how it looks. Without an address, links are tokens only. */
export const PortalPage = Context.Reference<PortalPageSettings>("@waybill/http/portal/PortalPage", { defaultValue: () => ({ address: undefined, theme: {} }) })

/** Creates links to a client's portal. `urlOf` makes a path of the service an absolute address. */
export const makePortalLinks = Effect.gen(function*() {
  const access = yield* PortalAccess
  const tokens = yield* makePortalTokens
  const page = yield* PortalPage
  return Effect.fnUntraced(function*(tenantId: string, request: Parameters<typeof access.grant>[1], urlOf?: (path: string) => string) {
    const grant = yield* access.grant(tenantId, request)
    const token = Redacted.value(yield* tokens.sign(grant))
    return { client: grant.client, url: addressOf(page, token, urlOf), token, expiresAt: formatInstant(grant.expiresAt) }
  })
})

const addressOf = ({ address }: PortalPageSettings, token: string, urlOf: ((path: string) => string) | undefined): string | null => {
  if (address === undefined) return null
  const absolute = address.startsWith("/") ? urlOf?.(address) : address
  return absolute === undefined ? null : `${absolute}#token=${token}`
}
