/** Tokens of portal links: signed here, accepted by the portal's calls only. */
import { maxLinkSeconds, PortalAccess, type PortalGrant, PortalTheme, type PresentedRequest, type Principal, type StorageError, TenantId, type TenantSuspended, type Unauthenticated } from "@waybill/core"
import { Effect, Redacted, Schema } from "effect"
import * as Clock from "effect/Clock"
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from "jose"
import { invalidCredentials, presentedIn } from "../access/PresentedCredentials.ts"

/** Distinguishes the tokens from those of an identity provider, so that neither is accepted in place of the other. */
const type = "waybill-portal+jwt"
const issuer = "waybill"
const audience = "waybill-portal"
const algorithm = "HS256"

/** Processes may disagree by this much about the time. */
const clockToleranceSeconds = 5

const Claims = Schema.Struct({
  tenant: TenantId,
  sub: Schema.String.check(Schema.isMaxLength(500)),
  iat: Schema.Int,
  exp: Schema.Int,
  theme: PortalTheme
})

const decodeClaims = Schema.decodeUnknownEffect(Claims)

export interface PortalTokens {
  readonly sign: (grant: PortalGrant) => Effect.Effect<Redacted.Redacted>
  /** The token of a link, if the request presents one. An API key beside it makes the request ambiguous, so it is left to the authenticator. */
  readonly presented: (headers: PresentedRequest["headers"]) => Redacted.Redacted | undefined
  /** The grant and its caller. Fails when the token is invalid or its client has no access now. */
  readonly verify: (
    token: Redacted.Redacted
  ) => Effect.Effect<{ readonly grant: PortalGrant; readonly principal: Principal }, Unauthenticated | TenantSuspended | StorageError>
}

export const makePortalTokens: Effect.Effect<PortalTokens, never, PortalAccess> = Effect.gen(function*() {
  const access = yield* PortalAccess

  const payloadOf = async (token: string, now: number): Promise<JWTPayload> => {
    const settings = {
      algorithms: [algorithm],
      audience,
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(now),
      issuer,
      maxTokenAge: maxLinkSeconds,
      requiredClaims: ["exp", "iat", "sub"],
      typ: type
    }
    for (const key of access.tokenKeys) {
      try {
        return (await jwtVerify(token, key, settings)).payload
      } catch (error) {
        // another process may have signed it with another of the keys
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }

  return {
    sign: ({ client, expiresAt, issuedAt, tenantId, theme }) =>
      Effect.map(
        Effect.promise(() =>
          new SignJWT({ tenant: tenantId, theme })
            .setProtectedHeader({ alg: algorithm, typ: type })
            .setIssuer(issuer)
            .setAudience(audience)
            .setSubject(client)
            .setIssuedAt(issuedAt / 1000)
            .setExpirationTime(expiresAt / 1000)
            .sign(access.tokenKeys[0]!)
        ),
        Redacted.make
      ),
    presented: (headers) => {
      const { apiKey, bearer } = presentedIn(headers)
      return bearer !== undefined && apiKey === undefined && typeOf(Redacted.value(bearer)) === type ? bearer : undefined
    },
    verify: Effect.fnUntraced(function*(token: Redacted.Redacted) {
      const now = yield* Clock.currentTimeMillis
      const payload = yield* Effect.tryPromise({
        try: () => payloadOf(Redacted.value(token), now),
        catch: (error) => invalidCredentials(error instanceof errors.JWTExpired ? "portal link expired" : "portal link is invalid")
      })
      const { exp, iat, sub, tenant, theme } = yield* Effect.mapError(decodeClaims(payload), () => invalidCredentials("portal link claims cannot be used"))
      const grant: PortalGrant = { tenantId: tenant, client: sub, issuedAt: iat * 1000, expiresAt: exp * 1000, theme }
      return { grant, principal: yield* access.principalOf(grant) }
    })
  }
})

const typeOf = (token: string): unknown => {
  try {
    return decodeProtectedHeader(token).typ
  } catch {
    return undefined
  }
}
