/** Credentials as Waybill gives them out: API keys, the operator's key, and JWTs of a trusted identity provider. */
import {
  AccessStore,
  ApiKeys,
  Authenticator,
  isOperator,
  type Principal,
  sameHash,
  sha256,
  type StorageError,
  Unauthenticated
} from "@waybill/core"
import { Effect, Layer, Option, Redacted } from "effect"
import { type JwtOptions, makeJwtVerifier } from "./JwtVerifier.ts"
import { presentedIn } from "./PresentedCredentials.ts"
import { makeTokenAccess } from "./TokenAccess.ts"

export interface AuthenticatorStandardOptions {
  /** Opens `/operator`. Without it only operators' JWTs do. */
  readonly operatorKey?: Redacted.Redacted | undefined
  readonly jwt?: JwtOptions | undefined
}

type Checked = Effect.Effect<Principal, Unauthenticated | StorageError>

const operator: Principal = { tenantId: "", client: "", roles: ["operator"], accounts: [], origin: "key" }

const invalid = new Unauthenticated({ presented: true })

export const AuthenticatorStandard = {
  /**
   * The same credentials for every area. SPEC-GAP-X1
   *
   * Takes `X-API-Key` and `Authorization: Bearer`; either may carry an API key or the operator's key. A request that shows
   * two credentials must show two of the same caller.
   */
  layer: (options: AuthenticatorStandardOptions = {}): Layer.Layer<Authenticator, never, ApiKeys | AccessStore> =>
    Layer.effect(Authenticator, make(options))
}

const make = Effect.fnUntraced(function*(options: AuthenticatorStandardOptions) {
  const apiKeys = yield* ApiKeys
  const access = yield* AccessStore
  const rememberAccess = yield* makeTokenAccess
  const verifyJwt = options.jwt === undefined ? undefined : makeJwtVerifier(options.jwt)
  const operatorHash = options.operatorKey === undefined ? undefined : yield* sha256(Redacted.value(options.operatorKey))

  const byKey = Effect.fnUntraced(function*(key: Redacted.Redacted): Effect.fn.Return<Principal, Unauthenticated | StorageError> {
    const text = Redacted.value(key)
    if (text === "") return yield* invalid
    if (text.startsWith("wb.")) return yield* apiKeys.principalOf(key)
    // hashes have one length, so their comparison tells nothing of the key's
    if (operatorHash !== undefined && sameHash(operatorHash, yield* sha256(text))) return operator
    return yield* invalid
  })

  const byJwt = Effect.fnUntraced(function*(
    token: Redacted.Redacted,
    verify: ReturnType<typeof makeJwtVerifier>
  ): Effect.fn.Return<Principal, Unauthenticated | StorageError> {
    const principal = yield* verify(token)
    if (isOperator(principal)) return principal
    if (Option.isNone(yield* access.findTenant(principal.tenantId))) return yield* invalid
    yield* rememberAccess(principal)
    return principal
  })

  /** An operator's key may look like anything, a token too. */
  const byBearer = (token: Redacted.Redacted): Checked =>
    verifyJwt === undefined || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(Redacted.value(token))
      ? byKey(token)
      : Effect.catchTag(byKey(token), "Unauthenticated", () => byJwt(token, verifyJwt))

  return Authenticator.of({
    authenticate: Effect.fnUntraced(function*({ headers }) {
      const { apiKey, bearer, unreadable } = presentedIn(headers)
      if (unreadable) return yield* invalid
      if (apiKey === undefined && bearer === undefined) return yield* new Unauthenticated({ presented: false })
      if (bearer === undefined) return yield* byKey(apiKey!)
      const principal = yield* byBearer(bearer)
      if (apiKey === undefined) return principal
      return sameCaller(principal, yield* byKey(apiKey)) ? principal : yield* invalid
    })
  })
})

const sameCaller = (a: Principal, b: Principal): boolean => shown(a) === shown(b)

const shown = ({ accounts, client, dot, mc, roles, tenantId }: Principal): string =>
  JSON.stringify([tenantId, client, roles.toSorted(), accounts.toSorted(), dot, mc])
