/** The whole service in memory, behind its web handler. */
import { ApiKeys, type Authenticator, Tenants } from "@waybill/core"
import { DeliveryWorker } from "@waybill/core/delivery"
import { ShipmentStatusOptions } from "@waybill/core/shipment-status"
import { reportedEvent, type Script, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect, Exit, Layer, Logger, Metric, Redacted, References, Scope } from "effect"
import { HttpEffect, type HttpServerRequest } from "effect/http"
import type { AccessPorts } from "../src/access/Admission.ts"
import { type ApiDescription, descriptionOf } from "./openapi/ApiDescription.ts"
import { endAfterwards } from "./endAfterwards.ts"
import { recorded } from "./openapi/SentBody.ts"
import { AuthenticatorStandard, type AuthenticatorStandardOptions, Readiness, type ReadinessCheck, type WaybillApps, WaybillHttp, type WaybillHttpOptions } from "../src/index.ts"

export { reportedEvent }

export const operatorKey = "operator-key-for-tests"
/** Key of an operator called `grafana`. */
export const readOnlyKey = "read-only-key-for-tests"
for (const key of [operatorKey, readOnlyKey]) globalThis.waybillTestOutput?.secret(key)

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Untyped, because tests access its members freely. */
  readonly json: any
}

export interface SendOptions {
  readonly key?: string | undefined
  /** Text is sent unchanged, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface LogLine {
  readonly message: unknown
  readonly level: string
  readonly cause: string | undefined
  readonly annotations: Record<string, unknown>
}

export interface TestServiceOptions extends WaybillHttpOptions {
  readonly authenticator?: Layer.Layer<Authenticator, never, ApiKeys | AccessPorts>
  readonly standard?: AuthenticatorStandardOptions
  readonly readiness?: ReadonlyArray<ReadinessCheck>
  /** Default: too many for a test to reach the limit by accident. */
  readonly othersLookupsPerMinute?: number
  /** Lowest level that the log keeps. Default: all. */
  readonly logLevel?: "Debug" | "Error"
  /** The service on another storage, instead of memory. */
  readonly waybill?: ReturnType<typeof TestWaybill.layer>
  /** Layers that replace working services. */
  readonly over?: Layer.Layer<never, never, Layer.Success<ReturnType<typeof TestWaybill.layer>>> | undefined
}

const operatorKeys = [
  { name: "operator", key: Redacted.make(operatorKey), readOnly: false },
  { name: "grafana", key: Redacted.make(readOnlyKey), readOnly: true }
]

export const layerOfService = (options: TestServiceOptions = {}) =>
  Layer.mergeAll(
    options.authenticator ?? AuthenticatorStandard.layer({ operatorKeys, ...options.standard }),
    Readiness.layer(options.readiness ?? [])
  ).pipe(Layer.provideMerge(
    options.over === undefined ? options.waybill ?? TestWaybill.layer() : Layer.provideMerge(options.over, TestWaybill.layer())
  )).pipe(Layer.provide(Layer.succeed(ShipmentStatusOptions, lookupsOf(options))))

/** All allowed at once, so that no test depends on time. */
const lookupsOf = ({ othersLookupsPerMinute = 100_000 }: TestServiceOptions) => ({ othersLookupsPerMinute, othersLookupsAtOnce: othersLookupsPerMinute })

type Services = Layer.Success<ReturnType<typeof layerOfService>>

const decoder = new TextDecoder()

export const startService = async (options: TestServiceOptions = {}) => {
  const log: Array<LogLine> = []
  const layer = layerOfService(options).pipe(
    Layer.provideMerge(Layer.mergeAll(
      Logger.layer([Logger.map(Logger.formatStructured, (entry) => {
        log.push(entry)
        globalThis.waybillTestOutput?.said(JSON.stringify(entry))
      })]),
      Layer.succeed(References.MinimumLogLevel, options.logLevel ?? "Debug"),
      // A new registry, because it would count responses of other files' services.
      Layer.sync(Metric.MetricRegistry, () => new Map())
    ))
  )
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const run = <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.runPromiseWith(context)(effect)
  const parts = await run(WaybillHttp.makeParts(options))
  const handlerOf = HttpEffect.toWebHandlerWith<Services, HttpServerRequest.HttpServerRequest>(context)
  const handlers = { whole: handlerOf(parts.whole), customers: handlerOf(parts.customers), operators: handlerOf(parts.operators), portal: handlerOf(parts.portal) }
  const handler = handlers.whole

  const describedBy = async (part: keyof WaybillApps) => descriptionOf(await (await handlers[part](new Request("http://waybill.test/openapi.json"))).text())
  const whole = await describedBy("whole")
  const descriptions: Partial<Record<keyof WaybillApps, Promise<ApiDescription>>> = { whole: Promise.resolve(whole) }

  const fetch = async (given: Request, part: keyof WaybillApps = "whole"): Promise<Answer> => {
    const { json: sentJson, request } = recorded(given)
    const response = await handlers[part](request)
    const text = await response.text()
    const description = await (descriptions[part] ??= describedBy(part === "portal" ? "whole" : part))
    const fault = description.faultOf({ method: request.method, target: targetOf(given), sent: sentJson(), status: response.status, headers: response.headers, text })
    if (fault !== undefined) throw new Error(fault)
    if (response.status >= 400) globalThis.waybillTestOutput?.said(JSON.stringify([...response.headers, text]))
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
      }),
      "whole"
    )

  /** A tenant with a secret called `main`, a carrier, and functions that create keys. */
  const tenant = async (tenantId: string) => {
    await run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, { name: tenantId })))
    await send("PUT", `/operator/v1/tenants/${tenantId}/secrets/main`, { key: operatorKey, body: { anyClient: true } })
    const keyFor = (name: string, roles: ReadonlyArray<"carrier" | "customer">, accounts: ReadonlyArray<string> = [], numbers: { readonly dot?: string; readonly mc?: string } = {}) =>
      run(Effect.flatMap(ApiKeys, (keys) =>
        Effect.map(keys.create(tenantId, { name, roles, accounts, ...numbers }), ({ id, key }) => ({ id, key: Redacted.value(key) }))))
    const carrier = await keyFor("carrier", ["carrier"])
    return {
      tenantId,
      carrier: carrier.key,
      carrierKeyId: carrier.id,
      /** A carrier that writes invoices of its own numbers only. */
      carrierOf: async (name: string, numbers: { readonly dot?: string; readonly mc?: string }) => (await keyFor(name, ["carrier"], [], numbers)).key,
      customer: async (name: string, accounts: ReadonlyArray<string>) => (await keyFor(name, ["customer"], accounts)).key,
      publish: (...events: ReadonlyArray<unknown>) => send("POST", "/intake/v1/transit-events", { key: carrier.key, body: { events } }),
      register: (...shipments: ReadonlyArray<unknown>) => send("POST", "/intake/v1/shipments", { key: carrier.key, body: { shipments } }),
      update: (...updates: ReadonlyArray<unknown>) => send("POST", "/intake/v1/status-updates", { key: carrier.key, body: { updates } }),
      charge: (...charges: ReadonlyArray<unknown>) => send("POST", "/intake/v1/freight-charges", { key: carrier.key, body: { charges } }),
      follow: (key: string, ...referenceNumbers: ReadonlyArray<string>) =>
        send("POST", "/in-transit/v1/notifications/subscribe", { key, body: { referenceNumbers, webhookUrl: `https://${tenantId}.example/status` } }),
      subscribeToCharges: (key: string, accounts: ReadonlyArray<string>, more: object = {}) =>
        send("POST", "/pfc/v1/subscriptions", {
          key,
          body: { webhookUrl: `https://${tenantId}.example/charges`, accounts, dataOptions: {}, ...more }
        }),
      subscribe: (key: string, more: object = {}) =>
        send("POST", "/visibility/v1/subscriptions", { key, body: { endpointUrl: "https://receiver.example/hook", hmacSecretId: "main", ...more } })
    }
  }

  return {
    send,
    fetch,
    /** The response with its body unread. */
    respond: (request: Request): Promise<Response> => handler(request),
    run,
    tenant,
    log,
    context,
    /** Requests that a receiver got so far, with their bodies. */
    received: (url: string) =>
      run(Effect.flatMap(ScriptedReceivers, (receivers) =>
        Effect.map(receivers.requests(url), (requests) =>
          requests.map(({ body, headers }) => {
            const text = decoder.decode(body)
            const json = JSON.parse(text) as any
            const fault = whole.faultOfNotification({ headers, body: json })
            if (fault !== undefined) throw new Error(fault)
            return { headers, text, json }
          })))),
    /** Sets the behaviour of a receiver. */
    script: (url: string, script: Script) => run(Effect.flatMap(ScriptedReceivers, (receivers) => receivers.script(url, script))),
    /** Sends everything due. */
    deliver: () => run(Effect.flatMap(DeliveryWorker, (worker) => worker.drain)),
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** A service that stops after the test or the file that started it. */
export const runningService = async (options?: TestServiceOptions): Promise<TestService> => {
  const service = await startService(options)
  endAfterwards(() => service.stop())
  return service
}

export type TestService = Awaited<ReturnType<typeof startService>>
export type TestTenant = Awaited<ReturnType<TestService["tenant"]>>

/** The code of an error in area D's format, or `undefined`. */
export const problemCode = (answer: Answer): string | undefined =>
  answer.headers.get("content-type") === "application/problem+json" && answer.json?.status === answer.status &&
    typeof answer.json.title === "string" && typeof answer.json.instance === "string"
    ? answer.json.code
    : undefined

/** As written: a parsed URL has no dots and no fragment any more. */
const targetOf = (request: Request): string => request.url.replace(/^[a-z]+:\/\/[^/]*/, "").split("#", 1)[0]!

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
