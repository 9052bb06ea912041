/** Authentication by Waybill's own credentials: API keys, operator keys, and JWTs of a trusted identity provider. */
import {
  ApiKeys,
  type AuthenticationUnavailable,
  Authenticator,
  type Principal,
  sameHash,
  sha256,
  type StorageError,
  type TenantSuspended,
  Unauthenticated
} from "@waybill/core"
import { Effect, Layer, Redacted } from "effect"
import { type JwtOptions, makeJwtVerifier } from "./JwtVerifier.ts"
import { type OperatorKey, operatorNamed } from "./OperatorKeys.ts"
import { invalidCredentials, presentedIn } from "./PresentedCredentials.ts"
import { type AccessPorts, makeAdmission } from "./Admission.ts"

/** Which credentials are accepted besides API keys. */
export interface AuthenticatorStandardOptions {
  /** Keys for `/operator`. Without keys, only operator JWTs open it. */
  readonly operatorKeys?: ReadonlyArray<OperatorKey> | undefined
  readonly jwt?: JwtOptions | undefined
}

type Failure = Unauthenticated | TenantSuspended | AuthenticationUnavailable | StorageError

/** The same object for every anonymous call, because the stack trace of a new error takes a quarter of the call's processor time. */
const noCredentials = new Unauthenticated({ presented: false })

/** Authenticates callers by API keys, operator keys and JWTs. */
export const AuthenticatorStandard = {
  /**
   * The same credentials for every area. SPEC-GAP-X1
   *
   * Accepts `X-API-Key` and `Authorization: Bearer`; either may carry an API key or an operator key. Two credentials in
   * one request must belong to the same caller. Beside `X-API-Key`, other schemes of `Authorization` are ignored.
   */
  layer: (options: AuthenticatorStandardOptions = {}): Layer.Layer<Authenticator, never, ApiKeys | AccessPorts> =>
    Layer.effect(Authenticator, makeAuthenticatorStandard(options))
}

export const makeAuthenticatorStandard = Effect.fnUntraced(function*(options: AuthenticatorStandardOptions) {
  const apiKeys = yield* ApiKeys
  const admit = yield* makeAdmission
  const verifyJwt = options.jwt === undefined ? undefined : makeJwtVerifier(options.jwt)
  const operators = yield* Effect.forEach(options.operatorKeys ?? [], ({ key, name, readOnly }) =>
    Effect.map(sha256(Redacted.value(key)), (hash) => ({ hash, principal: operatorNamed(name, "key", readOnly) })))

  const byKey = Effect.fnUntraced(function*(key: Redacted.Redacted): Effect.fn.Return<Principal, Failure> {
    const text = Redacted.value(key)
    if (text === "") return yield* invalidCredentials("empty key")
    if (text.startsWith("wb.")) return yield* apiKeys.principalOf(key)
    // Hashes have equal length, so comparing them reveals nothing about the key.
    const presented = yield* sha256(text)
    const found = operators.find(({ hash }) => sameHash(hash, presented))
    return found === undefined ? yield* invalidCredentials("unknown key") : found.principal
  })

  const byJwt = Effect.fnUntraced(function*(
    token: Redacted.Redacted,
    verify: ReturnType<typeof makeJwtVerifier>
  ): Effect.fn.Return<Principal, Failure> {
    const principal = yield* verify(token)
    yield* admit(principal, "JWT of an unknown tenant")
    return principal
  })

  /** An operator key may have any form, even that of a token. A token with `alg: none` has no signature. */
  const byBearer = (token: Redacted.Redacted): Effect.Effect<Principal, Failure> =>
    verifyJwt === undefined || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(Redacted.value(token))
      ? byKey(token)
      : Effect.catchTag(byKey(token), "Unauthenticated", () => byJwt(token, verifyJwt))

  return Authenticator.of({
    authenticate: Effect.fnUntraced(function*({ headers }) {
      const { apiKey, bearer, unreadable } = presentedIn(headers)
      if (unreadable) return yield* invalidCredentials("Authorization header without a bearer token")
      if (apiKey === undefined && bearer === undefined) return yield* noCredentials
      if (bearer === undefined) return yield* byKey(apiKey!)
      const principal = yield* byBearer(bearer)
      if (apiKey === undefined) return principal
      return sameCaller(principal, yield* byKey(apiKey)) ? principal : yield* invalidCredentials("two credentials of different callers")
    })
  })
})

const sameCaller = (a: Principal, b: Principal): boolean => shown(a) === shown(b)

const shown = ({ accounts, client, dot, mc, readOnly, roles, tenantId }: Principal): string =>
  JSON.stringify([tenantId, client, roles.toSorted(), accounts.toSorted(), dot, mc, readOnly])
