/** Authentication by the host application, instead of Waybill's API keys. */
import {
  AccountNumber,
  type ApiKeys,
  AuthenticationUnavailable,
  Authenticator,
  CarrierNumber,
  clientNamed,
  decodeInput,
  type InvalidInput,
  type Principal,
  TenantId,
  Unauthenticated
} from "@waybill/core"
import { Context, Effect, Layer, Schema } from "effect"
import { makeAuthenticatorStandard } from "./AuthenticatorStandard.ts"
import { operatorNamed } from "./OperatorKeys.ts"
import { invalidCredentials } from "./PresentedCredentials.ts"
import { AcceptsUndescribed, SecuritySchemes, type SecuritySchemesByName, standardSchemes } from "./SecuritySchemes.ts"
import { type AccessPorts, makeAdmission } from "./Admission.ts"
import { usableHost } from "../shared/RequestHost.ts"

/** The caller, as the host identifies it. `accounts` and `origin` are optional. */
export interface HostPrincipal {
  readonly tenantId: string
  /** A bare name means `key:<name>`, the client of API keys with that name; `jwt:<issuer>:<sub>` is the client of a token. */
  readonly client: string
  readonly roles: ReadonlyArray<"carrier" | "customer">
  readonly accounts?: ReadonlyArray<string>
  readonly dot?: string
  readonly mc?: string
  /** Whether the accounts come from an API key of Waybill. Default: `token`. */
  readonly origin?: "key" | "token"
}

/** An operator of every tenant, from `authenticate` only: methods for operators take no caller. */
export interface HostOperator {
  /** Its name in the audit log. */
  readonly client: string
  readonly roles: readonly ["operator"]
  /** No writes, and no reads of delivery bodies. */
  readonly readOnly?: boolean
}

interface HostLogin {
  // A method, so that `host` may be declared with the framework's own type.
  authenticate(request: Request, host?: unknown): Promise<HostPrincipal | HostOperator | undefined>
}

/**
 * Returns `undefined` when the request has no valid credentials. A rejection means that the credentials could not be
 * checked, as does no answer within 10 seconds; callers get 503. `request` has method, address and headers. `host` is the framework's own request, with the
 * results of your authentication (Express and Nest `req`, Fastify `request`, Hono `c`), if the mount provides it.
 */
export type HostAuthenticate = HostLogin["authenticate"]

/** The framework's own request of the current call. */
export const HostRequest = Context.Reference<unknown>("@waybill/http/access/HostRequest", { defaultValue: () => undefined })

/** Authenticates callers by the host's own `authenticate`. */
export const AuthenticatorHost = {
  /** `schemes` describe the credentials in the OpenAPI document and in 401 responses. */
  layer: (authenticate: HostAuthenticate, schemes: SecuritySchemesByName = {}): Layer.Layer<Authenticator, never, AccessPorts> =>
    Layer.merge(Layer.effect(Authenticator, make(authenticate)), Layer.succeed(SecuritySchemes, schemes)),

  /** Requests with the header `X-API-Key` are calls of programs: they are authenticated by that key of Waybill alone, all others by the host. */
  layerWithApiKeys: (authenticate: HostAuthenticate, schemes: SecuritySchemesByName = {}): Layer.Layer<Authenticator, never, ApiKeys | AccessPorts> =>
    Layer.mergeAll(
      Layer.effect(Authenticator, makeWithApiKeys(authenticate)),
      Layer.succeed(SecuritySchemes, { ...schemes, ApiKey: standardSchemes.ApiKey }),
      Layer.succeed(AcceptsUndescribed, Object.keys(schemes).length === 0)
    )
}

/** A call waits no longer for the host, whose own session store may have no time limit. */
const answerMillis = 10_000

const failed = (cause: unknown) => new AuthenticationUnavailable({ operation: "authenticate of the host", cause })

const unknownCaller = "authenticate of the host knows no caller"

/** The same object for every anonymous call, because the stack trace of a new error takes a quarter of the call's processor time. */
const anonymous = new Unauthenticated({ presented: false, reason: unknownCaller })

const makeWithApiKeys = Effect.fnUntraced(function*(authenticate: HostAuthenticate) {
  const host = yield* make(authenticate)
  const programs = yield* makeAuthenticatorStandard({})
  return Authenticator.of({
    authenticate: (request) => {
      const key = request.headers["x-api-key"]
      return key === undefined ? host.authenticate(request) : programs.authenticate({ ...request, headers: { "x-api-key": key } })
    }
  })
})

const make = Effect.fnUntraced(function*(authenticate: HostAuthenticate) {
  const admit = yield* makeAdmission
  return Authenticator.of({
    authenticate: Effect.fnUntraced(function*({ headers, method, url }) {
      const request = new Request(`http://${usableHost(headers["host"])}${url.startsWith("/") ? url : "/"}`, {
        method,
        headers: Object.entries(headers).flatMap(([name, value]): Array<[string, string]> => value === undefined ? [] : [[name, value]])
      })
      const host = yield* HostRequest
      const answer = yield* Effect.timeoutOrElse(
        Effect.tryPromise({
          // a host without types may answer without a promise
          try: async () => authenticate(request, host),
          catch: failed
        }),
        { duration: answerMillis, orElse: () => Effect.fail(failed(new Error(`authenticate did not answer within ${answerMillis / 1000} seconds.`))) }
      )
      if (answer === undefined || answer === null) {
        const presented = headers["authorization"] !== undefined || headers["x-api-key"] !== undefined || headers["cookie"] !== undefined
        return yield* (presented ? invalidCredentials(unknownCaller) : anonymous)
      }
      const principal = isHostOperator(answer) ? operatorNamed(String(answer.client ?? ""), "token", answer.readOnly === true) : yield* Effect.orDie(Effect.mapError(principalOf(answer), unusable))
      yield* admit(principal, "host principal of an unknown tenant")
      return principal
    })
  })
})

const Customer = Schema.Struct({
  tenantId: TenantId,
  client: Schema.String.check(
    Schema.makeFilter((client: string) => clientNamed(client) !== undefined || "client is a name of 1 to 200 printable characters, or jwt:<issuer>:<sub>.")
  ),
  roles: Schema.NonEmptyArray(Schema.Literals(["carrier", "customer"])).check(Schema.isMaxLength(2)),
  accounts: Schema.Array(AccountNumber).check(Schema.isMaxLength(10_000)),
  dot: Schema.optionalKey(CarrierNumber),
  mc: Schema.optionalKey(CarrierNumber)
})

const decode = decodeInput(Customer)

export const isHostOperator = (answer: HostPrincipal | HostOperator): answer is HostOperator =>
  Array.isArray(answer.roles) && (answer.roles as ReadonlyArray<string>).includes("operator")

/** Validates the host's principal once: a principal without a tenant must not reach a store. */
export const principalOf = ({ accounts = [], client, dot, mc, origin = "token", roles, tenantId }: HostPrincipal): Effect.Effect<Principal, InvalidInput> =>
  Effect.map(
    decode({ tenantId, client, roles, accounts, ...(dot === undefined ? {} : { dot }), ...(mc === undefined ? {} : { mc }) }, ["principal"]),
    (checked) => ({ ...checked, client: clientNamed(checked.client)!, origin })
  )

const unusable = ({ message }: InvalidInput) => new TypeError(`authenticate returned a principal that cannot be used. ${message}`)
