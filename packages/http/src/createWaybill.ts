/** The whole service for hosts without Effect: promises, a `Request` handler, start and stop. */
import {
  ApiKeys,
  AuditLog,
  ChargeWindows,
  Clients,
  Deliveries,
  DeliveryWorker,
  mapPaced,
  runBackground,
  ShipmentJourneys,
  SigningSecrets,
  storageAdapter,
  StorageError,
  TenantHealths,
  TenantRemoval,
  TenantLimits,
  Tenants,
  TransitEvents,
  TransitSubscriptions,
  Wakeups
} from "@waybill/core"
import { Context, Effect, Exit, Fiber, Layer, Option, Redacted, Scope, Stream } from "effect"
import { HttpBody, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HostPrincipal, HostRequest } from "./access/AuthenticatorHost.ts"
import { withAudit } from "./facade/AuditedMethods.ts"
import { withBounds } from "./facade/Bounds.ts"
import { documentReadsOf, invoiceReadsOf } from "./facade/InvoiceCalls.ts"
import { allSubscriptionsOf } from "./facade/AllSubscriptions.ts"
import { lookupsOf, methodsOf, ofTenant, webhookTestOf } from "./facade/Methods.ts"
import { layerOf, loggerOf, type WaybillOptions } from "./facade/Options.ts"
import { pickupReadsOf } from "./facade/PickupCalls.ts"
import { plain } from "./facade/Plain.ts"
import { type Run, servedPrincipal } from "./facade/Run.ts"
import { unconfirmed } from "./operator/OperatorHandlers.ts"
import type { HandlerOptions, Waybill } from "./facade/Waybill.ts"
import { errorOf, WaybillError } from "./facade/WaybillError.ts"
import { HeldByHost } from "./invoices/OutsideContents.ts"
import type { App } from "./server/RequestPipeline.ts"
import { type WaybillApps, WaybillHttp } from "./server/WaybillHttp.ts"
import { instanceOf } from "./shared/CorrelationId.ts"
import { type Problem, problemDetails } from "./shared/ProblemDetails.ts"
import { type Failure, problemOf } from "./shared/ProblemOf.ts"
import { stopping } from "./shared/Refused.ts"

/** Connects to the storage at the first call; if it is unavailable, the next call tries again. */
export const createWaybill = (options: WaybillOptions): Waybill => {
  const service = new Service(options)
  const { joined } = storageAdapter(options.storage)!
  const run: Run = (effect) => service.run(effect)
  const alone = methodsOf(run, (effect) => effect)

  return withAudit((effect) => service.run(effect), withBounds(run, {
    ...alone,
    events: { ...alone.events, list: (principal, query = {}) => service.run(listEvents(principal, query)) },
    shipments: { ...alone.shipments, ...lookupsOf(run) },
    chargeSubscriptions: { ...alone.chargeSubscriptions, ...webhookTestOf(run) },
    invoices: { ...alone.invoices, ...invoiceReadsOf(run) },
    documents: { ...alone.documents, ...documentReadsOf(run) },
    pickups: { ...alone.pickups, ...pickupReadsOf(run) },
    tenants: {
      put: (tenantId, settings) => service.run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, plain(settings)))),
      list: (query = {}) => service.run(Effect.flatMap(Tenants, (tenants) => tenants.page(plain(query)))),
      suspend: (tenantId) => service.run(Effect.flatMap(Tenants, (tenants) => tenants.suspend(tenantId))),
      resume: (tenantId) => service.run(Effect.flatMap(Tenants, (tenants) => tenants.resume(tenantId))),
      delete: (tenantId, { confirm }) =>
        service.run(confirm === tenantId ? ofTenant(tenantId, TenantRemoval, (removal) => removal.remove(tenantId)) : Effect.fail(unconfirmed(tenantId))),
      health: () => service.run(Effect.flatMap(TenantHealths, ({ all }) => all))
    },
    apiKeys: {
      create: (tenantId, request) =>
        service.run(Effect.map(ofTenant(tenantId, ApiKeys, (keys) => keys.create(tenantId, plain(request))), ({ id, key }) => ({ id, key: Redacted.value(key) }))),
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, ApiKeys, (keys) => keys.list(tenantId, plain(query)))),
      revoke: (tenantId, id) => service.run(ofTenant(tenantId, ApiKeys, (keys) => keys.revoke(tenantId, id)))
    },
    audit: { list: (query = {}) => service.run(Effect.flatMap(AuditLog, (log) => log.list(plain(query)))) },
    clients: {
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, Clients, (clients) => clients.list(tenantId, plain(query)))),
      delete: (tenantId, client) => service.run(ofTenant(tenantId, Clients, (clients) => clients.remove(tenantId, client)))
    },
    limits: {
      get: (tenantId) => service.run(Effect.flatMap(TenantLimits, (limits) => limits.get(tenantId))),
      put: (tenantId, change) => service.run(Effect.flatMap(TenantLimits, (limits) => limits.put(tenantId, plain(change))))
    },
    secrets: {
      put: (tenantId, hmacSecretId, settings = {}) =>
        service.run(Effect.map(
          ofTenant(tenantId, SigningSecrets, (secrets) => secrets.put(tenantId, hmacSecretId, plain(settings))),
          (put) => ({ hmacSecretId: put.hmacSecretId, secret: Redacted.value(put.secret) })
        )),
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, SigningSecrets, (secrets) => secrets.list(tenantId, plain(query)))),
      delete: (tenantId, hmacSecretId) => service.run(ofTenant(tenantId, SigningSecrets, (secrets) => secrets.remove(tenantId, hmacSecretId)))
    },
    deliveries: {
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.list(tenantId, plain(query)))),
      get: (tenantId, deliveryId) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.get(tenantId, deliveryId))),
      retry: (tenantId, deliveryId) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.retry(tenantId, deliveryId))),
      dismiss: (tenantId, deliveryId) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.dismiss(tenantId, deliveryId))),
      recover: (tenantId, subscriptionId, since) =>
        service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.recover(tenantId, subscriptionId, plain({ since })))),
      replay: (tenantId, subscriptionId, range) =>
        service.run(ofTenant(tenantId, TransitSubscriptions, (subscriptions) => subscriptions.replay(tenantId, subscriptionId, plain(range))))
    },
    allSubscriptions: allSubscriptionsOf(run),
    journeys: {
      find: (tenantId, reference) =>
        service.run(Effect.map(ofTenant(tenantId, ShipmentJourneys, (journeys) => journeys.find(tenantId, { reference })), ({ data }) => data)),
      get: (tenantId, shipmentId) => service.run(ofTenant(tenantId, ShipmentJourneys, (journeys) => journeys.get(tenantId, shipmentId)))
    },
    handler: (request, options = {}) => service.answer("whole", request, options),
    customerHandler: (request, options = {}) => service.answer("customers", request, options),
    operatorHandler: (request, options = {}) => service.answer("operators", request, options),
    within: (transaction) => {
      const join = joined(transaction)
      return withBounds(run, methodsOf(run, (effect) => Effect.provideService(join(effect), HeldByHost, true)))
    },
    wake: (tenantId) => service.run(Effect.flatMap(Wakeups, (wakeups) => wakeups.wake(tenantId))),
    runOnce: () => service.run(deliverOnce),
    start: () => service.start(),
    stop: () => service.stop()
  } satisfies Waybill))
}

const listEvents = (said: HostPrincipal, query: object) =>
  Effect.flatMap(TransitEvents, (all) =>
    Effect.flatMap(servedPrincipal(said), (principal) =>
      Effect.flatMap(all.list(principal, plain(query)), (page) =>
        Effect.map(mapPaced(page.data, (event) => JSON.parse(decoder.decode(event))), (data) => ({ ...page, data })))))

const decoder = new TextDecoder()

/** How long `stop` waits for running calls. */
const stopTimeoutMillis = 10_000

class Apps extends Context.Service<Apps, WaybillApps>()("@waybill/http/createWaybill/Apps") {}

/** The layers behind the methods: built at the first call, released by `stop`. */
class Service {
  readonly #layer
  readonly #logger
  readonly #running = new Set<Promise<unknown>>()
  #built: Promise<{ readonly context: Context.Context<Services>; readonly scope: Scope.Closeable }> | undefined
  #worker: Fiber.Fiber<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(options: WaybillOptions) {
    const { basePaths, bodyTimeoutMillis, clientAddress, publicBaseUrl, publicTenant, trustForwarded } = options
    this.#logger = loggerOf(options.log)
    this.#layer = Layer.provideMerge(
      Layer.effect(Apps, WaybillHttp.makeParts({
        basePaths,
        bodyTimeoutMillis,
        publicBaseUrl,
        publicTenant,
        trustForwarded,
        clientAddress: clientAddress && (({ source }) => source instanceof Request ? clientAddress(source) : undefined)
      })),
      layerOf(options)
    )
  }

  async #services() {
    this.#built ??= build(this.#layer).catch((error: unknown) => {
      this.#built = undefined
      throw error
    })
    return this.#built
  }

  run<A>(effect: Effect.Effect<A, Failure, Services>): Promise<A> {
    if (this.#stopped !== undefined) return Promise.reject(new WaybillError(stopping.problem))
    return this.#track((async () => {
      const { context } = await this.#services()
      const exit = await Effect.runPromiseExitWith(context)(effect)
      if (Exit.isSuccess(exit)) return exit.value
      throw errorOf(exit.cause)
    })())
  }

  async answer(part: keyof WaybillApps, request: Request, reached: HandlerOptions): Promise<Response> {
    if (this.#stopped !== undefined) return refusal(stopping.problem)
    if (request.bodyUsed) {
      Effect.runFork(Effect.provide(Effect.logError(bodyWasUsed.detail), this.#logger))
      return refusal(bodyWasUsed)
    }
    return this.#track((async () => {
      let context: Context.Context<Services>
      try {
        context = (await this.#services()).context
      } catch (error) {
        Effect.runFork(Effect.provide(Effect.logError("Waybill failed to open.", (error as Error).cause ?? error), this.#logger))
        return refusal(unavailable)
      }
      const app = Effect.map(reachedBy(reached, Context.get(context, Apps)[part]), (response) =>
        request.method === "HEAD" ? response : this.#untilSent(response))
      return HttpEffect.toWebHandlerWith<Services, HttpServerRequest.HttpServerRequest>(context)(app)(request)
    })())
  }

  /** A call ends only when its body has been sent. */
  #untilSent(response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse {
    const { body } = response
    if (body._tag !== "Stream") return response
    let done = () => {}
    void this.#track(new Promise<void>((resolve) => done = resolve))
    const stream = Stream.ensuring(body.stream, Effect.sync(() => done()))
    return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType, body.contentLength))
  }

  async start(): Promise<void> {
    await this.run(Effect.void)
    const { context } = await this.#services()
    this.#worker ??= Effect.runForkWith(context)(runBackground)
  }

  stop(): Promise<void> {
    return this.#stopped ??= this.#end()
  }

  async #end(): Promise<void> {
    if (this.#built === undefined) return
    const built = await this.#built.catch(() => undefined)
    if (this.#worker !== undefined) await Effect.runPromise(Fiber.interrupt(this.#worker))
    await Effect.runPromise(Effect.ignore(Effect.timeout(Effect.promise(() => Promise.allSettled(this.#running)), stopTimeoutMillis)))
    if (built !== undefined) await Effect.runPromise(Scope.close(built.scope, Exit.void))
  }

  #track<A>(call: Promise<A>): Promise<A> {
    this.#running.add(call)
    const done = () => this.#running.delete(call)
    call.then(done, done)
    return call
  }
}

/** Closes charge windows first, so that their notifications are sent in the same run. */
const deliverOnce = Effect.gen(function*() {
  const windows = yield* ChargeWindows
  const worker = yield* DeliveryWorker
  yield* windows.closeDue
  return yield* worker.drain
})

type Services = Layer.Success<ReturnType<typeof layerOf>> | Apps

const build = async (layer: Layer.Layer<Services, Failure>) => {
  const scope = Scope.makeUnsafe()
  const exit = await Effect.runPromiseExit(Layer.buildWithScope(layer, scope))
  if (Exit.isSuccess(exit)) return { context: exit.value, scope }
  await Effect.runPromise(Scope.close(scope, exit))
  throw errorOf(exit.cause)
}

/** For requests that arrived through the host's own server or router. */
const reachedBy = ({ host, mountPath = "", remoteAddress }: HandlerOptions, app: App): App => {
  const mount = mountPath.replace(/\/+$/, "")
  const told = host === undefined ? app : Effect.provideService(app, HostRequest, host)
  if (mount === "" && remoteAddress === undefined) return told
  return Effect.updateService(told, HttpServerRequest.HttpServerRequest, (request) =>
    request.modify({
      ...(mount !== "" && request.url.startsWith(`${mount}/`) ? { url: request.url.slice(mount.length) } : {}),
      ...(remoteAddress === undefined ? {} : { remoteAddress: Option.some(remoteAddress) })
    }))
}

const unavailable = problemOf(new StorageError({ operation: "createWaybill", cause: undefined }))

const bodyWasUsed: Problem = {
  status: 500,
  code: "body_already_read",
  title: "Internal server error",
  detail: "Something read this request's body before Waybill could. Give it the request unread, or a request.clone() that was made before."
}

const refusal = (problem: Problem): Response =>
  new Response(problemDetails.write(problem, instanceOf(crypto.randomUUID())), {
    status: problem.status,
    headers: { "content-type": problemDetails.contentType, "cache-control": "no-store", ...problem.headers }
  })
