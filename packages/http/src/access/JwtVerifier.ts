/** Bearer JWTs of a trusted identity provider. */
import { AccountNumber, AuthenticationUnavailable, CarrierNumber, checkOptions, ClientName, type OptionKind, type OptionKinds, optionKinds, type Principal, TenantId, tokenClient, type Unauthenticated } from "@waybill/core"
import { Effect, Exit, Redacted, Schema } from "effect"
import * as Clock from "effect/Clock"
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose"
import { type JwksEvent, JwksKeys, KeysUnavailable } from "./JwksKeys.ts"
import { operatorNamed } from "./OperatorKeys.ts"
import { invalidCredentials } from "./PresentedCredentials.ts"

/** Which bearer JWTs are accepted. */
export interface JwtOptions {
  /** https, unless `allowHttpHosts` contains its host: an attacker who changes the key set in transit can sign tokens. */
  readonly jwksUrl: string
  /** Hosts whose key set may be fetched over plain http, such as `127.0.0.1`. Default: none. */
  readonly allowHttpHosts?: ReadonlyArray<string> | undefined
  readonly issuer: string | ReadonlyArray<string>
  readonly audience: string | ReadonlyArray<string>
  /** Maximum clock difference in seconds. Default 60. */
  readonly clockToleranceSeconds?: number | undefined
}

const textOrList: OptionKind = {
  what: "a text or a list of texts",
  accepts: (value) => [value].flat().every(optionKinds.text.accepts) && [value].flat().length > 0
}

const jwtKinds: OptionKinds<JwtOptions> = {
  jwksUrl: optionKinds.text,
  issuer: textOrList,
  audience: textOrList,
  allowHttpHosts: optionKinds.list,
  clockToleranceSeconds: { what: "a number of seconds from 0 to 86,400", accepts: (value) => typeof value === "number" && value >= 0 && value <= 86_400 }
}

/** Throws for what a host without types may give. */
export const checkJwtOptions = (jwt: JwtOptions): void => {
  checkOptions("jwt", jwt, jwtKinds)
  for (const name of ["issuer", "audience"] as const) if (jwt[name] === undefined) throw new TypeError(`jwt needs ${name}: without it, tokens for other services would be accepted.`)
  const refusal = refusalOfJwksUrl(jwt)
  if (refusal !== undefined) throw new RangeError(`jwt.jwksUrl ${refusal}, or name its host in jwt.allowHttpHosts.`)
}

/** Asymmetric algorithms only: a verifier must not be able to sign. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]

const Claims = Schema.Struct({
  sub: ClientName,
  tenant: Schema.optionalKey(TenantId),
  roles: Schema.Array(Schema.String),
  accounts: Schema.optionalKey(Schema.Array(AccountNumber).check(Schema.isMaxLength(10_000))),
  dot: Schema.optionalKey(CarrierNumber),
  mc: Schema.optionalKey(CarrierNumber)
})

/** Providers list the roles of all their applications; unknown ones are ignored. */
const knownRoles = ["carrier", "customer", "operator"] as const

const algorithmRefused = "JWT algorithm is not allowed"

const decodeClaims = Schema.decodeUnknownEffect(Claims)

const claimDecoders = Object.entries(Claims.fields).map(([name, claim]) =>
  [name, Schema.decodeUnknownExit(Schema.Struct({ [name]: claim } as Record<string, typeof claim>))] as const)

/** Names the first claim that is missing or invalid, without its value. */
const claimsReason = (payload: JWTPayload): string => {
  const refused = claimDecoders.find(([, decode]) => Exit.isFailure(decode(payload)))?.[0]
  return refused === undefined ? "JWT claims cannot be used" : payload[refused] === undefined ? `JWT without the claim ${refused}` : `JWT claim ${refused} cannot be used`
}

/** Why the URL of a key set is not acceptable, or `undefined`. */
export const refusalOfJwksUrl = ({ allowHttpHosts = [], jwksUrl }: Pick<JwtOptions, "jwksUrl" | "allowHttpHosts">): string | undefined => {
  const url = URL.parse(jwksUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) return "is not an address such as https://login.example.com/jwks"
  if (url.protocol === "https:" || allowHttpHosts.includes(url.hostname)) return undefined
  return "uses plain http, so an attacker on the network could replace the key set and sign tokens: use https"
}

/**
 * Turns a token into a principal. Fails with `AuthenticationUnavailable` when the provider's keys cannot be fetched,
 * because the token may be valid. Throws when the URL of the keys is not acceptable.
 */
export const makeJwtVerifier = (options: JwtOptions) => {
  const refusal = refusalOfJwksUrl(options)
  if (refusal !== undefined) throw new RangeError(`jwksUrl ${refusal}.`)
  const keys = new JwksKeys(options.jwksUrl)
  const issuers = [options.issuer].flat()
  const audiences = [options.audience].flat()
  const clockTolerance = options.clockToleranceSeconds ?? 60

  /** Why the token cannot be valid. Checked before keys are fetched, so that junk causes no fetch. */
  const refusalOf = (token: string): string | undefined => {
    try {
      const { iss } = decodeJwt(token)
      const { alg } = decodeProtectedHeader(token)
      if (alg !== undefined && !algorithms.includes(alg)) return algorithmRefused
      return iss !== undefined && issuers.includes(iss) ? undefined : "JWT issuer is wrong"
    } catch {
      return "unknown key or malformed JWT"
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
      return (await jwtVerify(token, keys.find, settings)).payload
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
      // A token without a key id may match several keys.
      for await (const key of error) {
        const verified = await jwtVerify(token, key, settings).catch((inner: unknown) => {
          // another key may be the one, unless this one has signed what it says
          if (inner instanceof errors.JWTClaimValidationFailed || inner instanceof errors.JWTExpired) throw inner
          return undefined
        })
        if (verified !== undefined) return verified.payload
      }
      throw new errors.JWSSignatureVerificationFailed()
    }
  }

  return Effect.fnUntraced(function*(token: Redacted.Redacted): Effect.fn.Return<Principal, Unauthenticated | AuthenticationUnavailable> {
    const text = Redacted.value(token)
    const foreign = refusalOf(text)
    if (foreign !== undefined) return yield* invalidCredentials(foreign)
    const now = yield* Clock.currentTimeMillis
    const payload = yield* Effect.tryPromise({
      try: () => verify(text, now),
      catch: (error) => error instanceof KeysUnavailable ? new AuthenticationUnavailable({ operation: "JWKS fetch", cause: error.cause }) : invalidCredentials(reasonOf(error))
    }).pipe(Effect.ensuring(Effect.suspend(() => logged(keys.takeEvent()))))
    const claims = yield* Effect.mapError(decodeClaims(payload), () => invalidCredentials(claimsReason(payload)))
    return yield* principalOf(claims, payload.iss!)
  })
}

const logged = (event: JwksEvent | undefined): Effect.Effect<void> => {
  if (event === undefined) return Effect.void
  if (event === "fetched again") return Effect.logInfo("JWKS fetched again.")
  return Effect.logWarning(`JWKS fetch failed, trying again. Known keys are valid until ${event.knownUntil.toISOString()}.`, event.error)
}

const principalOf = (claims: typeof Claims.Type, issuer: string): Effect.Effect<Principal, Unauthenticated> => {
  const { accounts = [], dot, mc, sub, tenant } = claims
  const roles = knownRoles.filter((role) => claims.roles.includes(role))
  if (roles.length === 0) return Effect.fail(invalidCredentials("JWT without a known role"))
  if (roles.includes("operator")) return Effect.succeed(operatorNamed(`jwt:${issuer}:${sub}`, "token"))
  const client = tokenClient(issuer, sub)
  if (tenant === undefined) return Effect.fail(invalidCredentials("JWT without a tenant"))
  if (client === undefined) return Effect.fail(invalidCredentials("JWT whose iss and sub are too long"))
  return Effect.succeed({
    tenantId: tenant,
    client,
    roles,
    accounts: [...new Set(accounts)],
    ...(dot === undefined ? {} : { dot }),
    ...(mc === undefined ? {} : { mc }),
    origin: "token"
  })
}

/** Why a token is invalid, for the log. Contains no part of the token. */
const reasonOf = (error: unknown): string => {
  if (error instanceof errors.JWTExpired) return "JWT expired"
  if (error instanceof errors.JWTClaimValidationFailed) return claimReasons[error.claim] ?? "JWT claims cannot be used"
  if (error instanceof errors.JWSSignatureVerificationFailed) return "JWT signature is wrong"
  if (error instanceof errors.JWKSNoMatchingKey) return "JWT signed with an unknown key"
  if (error instanceof errors.JOSEAlgNotAllowed) return algorithmRefused
  // such as an RSA key of less than 2048 bits, or one without its numbers
  return error instanceof errors.JOSEError ? "malformed JWT" : "JWT signed with a key that cannot be used"
}

const claimReasons: Readonly<Record<string, string>> = {
  aud: "JWT audience is wrong",
  iss: "JWT issuer is wrong",
  nbf: "JWT is not valid yet",
  exp: "JWT expiry is missing or wrong",
  sub: "JWT subject is missing"
}
