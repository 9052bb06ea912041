/** Authentication by the host application, instead of Waybill's API keys. */
import {
  AccountNumber,
  AuthenticationUnavailable,
  Authenticator,
  CarrierNumber,
  clientNamed,
  isOperator,
  makeTenantAdmission,
  type Principal,
  TenantId,
  Unauthenticated
} from "@waybill/core"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type AccessPorts, makeTokenAccess } from "./TokenAccess.ts"

/** The caller, as the host identifies it. `accounts` and `origin` are optional. */
export interface HostPrincipal {
  readonly tenantId: string
  /** A bare name means `key:<name>`, the client of API keys with that name; `jwt:<issuer>:<sub>` is the client of a token. */
  readonly client: string
  readonly roles: ReadonlyArray<Principal["roles"][number]>
  readonly accounts?: ReadonlyArray<string>
  readonly dot?: string
  readonly mc?: string
  readonly origin?: Principal["origin"]
  /** For operators: no writes, and no reads of delivery bodies. */
  readonly readOnly?: boolean
}

interface HostLogin {
  // A method, so that `host` may be declared with the framework's own type.
  authenticate(request: Request, host?: unknown): Promise<HostPrincipal | undefined>
}

/**
 * Returns `undefined` when the request has no valid credentials. A rejection means that the credentials could not be
 * checked; callers get 503. `request` has method, address and headers. `host` is the framework's own request, with the
 * results of your authentication (Express and Nest `req`, Fastify `request`, Hono `c`), if the mount provides it.
 */
export type HostAuthenticate = HostLogin["authenticate"]

/** The framework's own request of the current call. */
export const HostRequest = Context.Reference<unknown>("@waybill/http/access/HostRequest", { defaultValue: () => undefined })

export const AuthenticatorHost = {
  layer: (authenticate: HostAuthenticate): Layer.Layer<Authenticator, never, AccessPorts> => Layer.effect(Authenticator, make(authenticate))
}

const make = Effect.fnUntraced(function*(authenticate: HostAuthenticate) {
  const admit = yield* makeTenantAdmission
  const rememberAccess = yield* makeTokenAccess
  return Authenticator.of({
    authenticate: Effect.fnUntraced(function*({ headers, method, url }) {
      const request = new Request(`http://${hostOf(headers["host"])}${url.startsWith("/") ? url : "/"}`, {
        method,
        headers: Object.entries(headers).flatMap(([name, value]): Array<[string, string]> => value === undefined ? [] : [[name, value]])
      })
      const host = yield* HostRequest
      const said = yield* Effect.tryPromise({
        try: () => authenticate(request, host),
        catch: (cause) => new AuthenticationUnavailable({ operation: "authenticate of the host", cause })
      })
      if (said === undefined || said === null) {
        const presented = headers["authorization"] !== undefined || headers["x-api-key"] !== undefined || headers["cookie"] !== undefined
        return yield* new Unauthenticated({ presented, reason: "authenticate of the host knows no caller" })
      }
      const principal = yield* principalOf(said)
      if (!isOperator(principal) && Option.isNone(yield* admit(principal.tenantId))) return yield* new Unauthenticated({ presented: true, reason: "host principal of an unknown tenant" })
      yield* rememberAccess(principal)
      return principal
    })
  })
})

const hostOf = (header: string | undefined): string => header !== undefined && /^[\w.:[\]-]+$/.test(header) && URL.canParse(`http://${header}`) ? header : "localhost"

const Customer = Schema.Struct({
  tenantId: TenantId,
  client: Schema.String.check(
    Schema.makeFilter((client: string) => clientNamed(client) !== undefined || "client is a name of 1 to 200 printable characters, or jwt:<issuer>:<sub>.")
  ),
  roles: Schema.NonEmptyArray(Schema.Literals(["carrier", "customer"])),
  accounts: Schema.Array(AccountNumber),
  dot: Schema.optionalKey(CarrierNumber),
  mc: Schema.optionalKey(CarrierNumber)
})

const decode = Schema.decodeUnknownEffect(Customer)

/** Validates the host's principal once: a principal without a tenant must not reach a store. Dies with the reason. */
export const principalOf = (said: HostPrincipal): Effect.Effect<Principal> => {
  const { accounts = [], client, dot, mc, origin = "token", readOnly, roles, tenantId } = said
  if (Array.isArray(roles) && roles.includes("operator")) {
    return Effect.succeed({ tenantId: "", client: String(client ?? ""), roles: ["operator"], accounts: [], origin, ...(readOnly === true ? { readOnly } : {}) })
  }
  return decode({ tenantId, client, roles, accounts, ...(dot === undefined ? {} : { dot }), ...(mc === undefined ? {} : { mc }) }).pipe(
    Effect.mapError((error) => new TypeError(`This principal cannot be used. ${error.message}`)),
    Effect.orDie,
    Effect.map((checked) => ({ ...checked, client: clientNamed(checked.client)!, origin }))
  )
}
