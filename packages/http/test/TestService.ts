/** The whole service behind its web handler, in memory: what a test sends, and what it gets back. */
import { ApiKeys, type Authenticator, type DeliveryWorker, Tenants } from "@waybill/core"
import { reportedEvent, type ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Context, Effect, Exit, Layer, Logger, Redacted, References, Scope } from "effect"
import { HttpEffect, type HttpServerRequest } from "effect/http"
import { AuthenticatorStandard, type AuthenticatorStandardOptions, Readiness, WaybillHttp, type WaybillHttpOptions } from "../src/index.ts"

export const operatorKey = "operator-key-for-tests"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into member by member
  readonly json: any
}

export interface SendOptions {
  readonly key?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface LogLine {
  readonly message: unknown
  readonly level: string
  readonly annotations: Record<string, unknown>
}

export interface TestServiceOptions extends WaybillHttpOptions {
  readonly authenticator?: Layer.Layer<Authenticator, never, ApiKeys | import("@waybill/core").AccessStore>
  readonly standard?: Omit<AuthenticatorStandardOptions, "operatorKey">
  readonly readiness?: Layer.Layer<Readiness, never, import("@waybill/core").AccessStore>
}

type Services = Layer.Success<ReturnType<typeof TestWaybill.layer>>

export const startService = async (options: TestServiceOptions = {}) => {
  const log: Array<LogLine> = []
  const layer = Layer.mergeAll(
    options.authenticator ?? AuthenticatorStandard.layer({ operatorKey: Redacted.make(operatorKey), ...options.standard }),
    options.readiness ?? Readiness.layerStorage
  ).pipe(
    Layer.provideMerge(TestWaybill.layer()),
    Layer.provideMerge(Layer.mergeAll(
      Logger.layer([Logger.map(Logger.formatStructured, (entry) => void log.push(entry))]),
      Layer.succeed(References.MinimumLogLevel, "Debug")
    ))
  )
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const run = <A, E>(effect: Effect.Effect<A, E, Services | Authenticator | Readiness>) => Effect.runPromiseWith(context)(effect)
  const app = await run(WaybillHttp.make(options))
  const handler = HttpEffect.toWebHandlerWith<Context.Service.Identifier<never> | Services, HttpServerRequest.HttpServerRequest>(context)(app)

  const fetch = async (request: Request): Promise<Answer> => {
    const response = await handler(request)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parsed(text) }
  }

  const send = (method: string, path: string, { body, headers, key }: SendOptions = {}): Promise<Answer> =>
    fetch(
      new Request(`http://waybill.test${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { "x-api-key": key }),
          ...(body === undefined ? {} : { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
    )

  /** A tenant with a secret called `main`, and keys for whoever is asked for. */
  const tenant = async (tenantId: string) => {
    await run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, { name: tenantId })))
    await send("PUT", `/operator/v1/tenants/${tenantId}/secrets/main`, { key: operatorKey, body: {} })
    const key = (name: string, roles: ReadonlyArray<string>, accounts: ReadonlyArray<string> = []) =>
      run(Effect.flatMap(ApiKeys, (keys) =>
        Effect.map(keys.create(tenantId, { name, roles, accounts }), ({ id, key }) => ({ id, key: Redacted.value(key) }))))
    const carrier = await key("carrier", ["carrier"])
    return {
      tenantId,
      carrier: carrier.key,
      carrierKeyId: carrier.id,
      key,
      customer: async (name: string, accounts: ReadonlyArray<string>) => (await key(name, ["customer"], accounts)).key,
      publish: (...events: ReadonlyArray<unknown>) => send("POST", "/intake/v1/transit-events", { key: carrier.key, body: { events } })
    }
  }

  return { send, fetch, run, tenant, log, handler, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

export type TestService = Awaited<ReturnType<typeof startService>>

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export type { DeliveryWorker, ScriptedReceivers }
export { reportedEvent }
