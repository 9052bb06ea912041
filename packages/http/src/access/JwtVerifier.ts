/** Bearer JWTs of an identity provider that the operator trusts. */
import { AccountNumber, ClientName, type Principal, StorageError, TenantId, Unauthenticated } from "@waybill/core"
import { Effect, Redacted, Schema } from "effect"
import * as Clock from "effect/Clock"
import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify } from "jose"

export interface JwtOptions {
  readonly jwksUrl: string
  readonly issuer: string | ReadonlyArray<string>
  readonly audience: string | ReadonlyArray<string>
  /** How far apart the clocks may be. 60 by default. */
  readonly clockToleranceSeconds?: number | undefined
}

/** Only signatures whose key is not a shared secret: whoever can verify must not be able to sign. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]

const CarrierNumber = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9-]{1,20}$/u))

const Claims = Schema.Struct({
  sub: ClientName,
  tenant: Schema.optionalKey(TenantId),
  roles: Schema.NonEmptyArray(Schema.Literals(["carrier", "customer", "operator"])),
  accounts: Schema.optionalKey(Schema.Array(AccountNumber).check(Schema.isMaxLength(10_000))),
  dot: Schema.optionalKey(CarrierNumber),
  mc: Schema.optionalKey(CarrierNumber)
})

const decodeClaims = Schema.decodeUnknownEffect(Claims)

const invalid = new Unauthenticated({ presented: true })

/** A token as a principal. Fails with `StorageError` when the provider's keys cannot be had, because that says nothing about the token. */
export const makeJwtVerifier = (options: JwtOptions) => {
  const keys = createRemoteJWKSet(new URL(options.jwksUrl), { timeoutDuration: 5_000, cooldownDuration: 30_000, cacheMaxAge: 600_000 })
  const issuers = [options.issuer].flat()
  const audiences = [options.audience].flat()
  const clockTolerance = options.clockToleranceSeconds ?? 60

  /** Read before any key is fetched, so that junk makes nobody fetch. */
  const couldBeOurs = (token: string): boolean => {
    try {
      const { iss } = decodeJwt(token)
      return iss !== undefined && issuers.includes(iss)
    } catch {
      return false
    }
  }

  const verify = async (token: string, nowMillis: number): Promise<JWTPayload> => {
    const settings = {
      algorithms,
      issuer: issuers,
      audience: audiences,
      clockTolerance,
      currentDate: new Date(nowMillis),
      requiredClaims: ["exp", "sub"]
    }
    try {
      return (await jwtVerify(token, keys, settings)).payload
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
      // a token without a key id may fit several keys
      for await (const key of error) {
        const verified = await jwtVerify(token, key, settings).catch((inner: unknown) => {
          if (inner instanceof errors.JWSSignatureVerificationFailed) return undefined
          throw inner
        })
        if (verified !== undefined) return verified.payload
      }
      throw new errors.JWSSignatureVerificationFailed()
    }
  }

  return Effect.fnUntraced(function*(token: Redacted.Redacted): Effect.fn.Return<Principal, Unauthenticated | StorageError> {
    const text = Redacted.value(token)
    if (!couldBeOurs(text)) return yield* invalid
    const now = yield* Clock.currentTimeMillis
    const payload = yield* Effect.tryPromise({
      try: () => verify(text, now),
      catch: (error) => tellsOfToken(error) ? invalid : new StorageError({ operation: "Authenticator.keys", cause: error })
    })
    const claims = yield* Effect.mapError(decodeClaims(payload), () => invalid)
    return yield* principalOf(claims)
  })
}

const principalOf = (claims: typeof Claims.Type): Effect.Effect<Principal, Unauthenticated> => {
  const { accounts = [], dot, mc, roles, sub, tenant } = claims
  if (roles.includes("operator")) {
    // operators belong to no tenant, and see no tenant's freight as a side effect
    return Effect.succeed({ tenantId: "", client: sub, roles: ["operator"], accounts: [], origin: "token" })
  }
  if (tenant === undefined) return Effect.fail(invalid)
  return Effect.succeed({
    tenantId: tenant,
    client: sub,
    roles,
    accounts: [...new Set(accounts)],
    ...(dot === undefined ? {} : { dot }),
    ...(mc === undefined ? {} : { mc }),
    origin: "token"
  })
}

/** Whether the token is at fault. Everything else, above all fetching keys, is trouble of ours. */
const tellsOfToken = (error: unknown): boolean =>
  error instanceof errors.JOSEError && error.constructor !== errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) && !(error instanceof errors.JWKSInvalid)
