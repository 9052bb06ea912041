/** The whole service for hosts that do not use Effect: plain promises, a `Request` handler, start and stop. */
import {
  ApiKeys,
  Deliveries,
  DeliveryWorker,
  type Principal,
  SigningSecrets,
  storageAdapter,
  StorageError,
  Tenants,
  TransitEvents,
  TransitSubscriptions,
  Wakeups
} from "@waybill/core"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { HttpEffect, HttpServerRequest } from "effect/http"
import { type HostPrincipal, principalOf } from "./access/AuthenticatorHost.ts"
import { layerOf, loggerOf, type WaybillOptions } from "./facade/Options.ts"
import { plain } from "./facade/Plain.ts"
import type { Waybill, WaybillWithin } from "./facade/Waybill.ts"
import { errorOf, WaybillError } from "./facade/WaybillError.ts"
import { existingTenant } from "./operator/ExistingTenant.ts"
import type { App } from "./server/RequestPipeline.ts"
import { WaybillHttp } from "./server/WaybillHttp.ts"
import { instanceOf } from "./shared/CorrelationId.ts"
import { type Problem, problemDetails } from "./shared/ProblemDetails.ts"
import { type Failure, problemOf } from "./shared/ProblemOf.ts"
import { stopping } from "./shared/Refused.ts"

/** Nothing is opened before the first call; a storage that is not there yet is asked again at the next. */
export const createWaybill = (options: WaybillOptions): Waybill => {
  const service = new Service(options)
  const { joined } = storageAdapter(options.storage)!
  const asIs = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect

  return {
    ...methodsOf(service, asIs),
    events: { ...methodsOf(service, asIs).events, list: (principal, query = {}) => service.run(listEvents(principal, query)) },
    tenants: {
      put: (tenantId, settings) => service.run(Effect.flatMap(Tenants, (tenants) => tenants.put(tenantId, plain(settings))))
    },
    apiKeys: {
      create: (tenantId, request) =>
        service.run(Effect.map(ofTenant(tenantId, ApiKeys, (keys) => keys.create(tenantId, plain(request))), ({ id, key }) => ({ id, key: Redacted.value(key) }))),
      revoke: (tenantId, id) => service.run(ofTenant(tenantId, ApiKeys, (keys) => keys.revoke(tenantId, id)))
    },
    secrets: {
      put: (tenantId, hmacSecretId, settings = {}) =>
        service.run(Effect.map(
          ofTenant(tenantId, SigningSecrets, (secrets) => secrets.put(tenantId, hmacSecretId, plain(settings))),
          (put) => ({ hmacSecretId: put.hmacSecretId, secret: Redacted.value(put.secret) })
        ))
    },
    deliveries: {
      list: (tenantId, query = {}) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.list(tenantId, plain(query)))),
      get: (tenantId, deliveryId) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.get(tenantId, deliveryId))),
      retry: (tenantId, deliveryId) => service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.retry(tenantId, deliveryId))),
      recover: (tenantId, subscriptionId, since) =>
        service.run(ofTenant(tenantId, Deliveries, (deliveries) => deliveries.recover(tenantId, subscriptionId, plain({ since })))),
      replay: (tenantId, subscriptionId, range) =>
        service.run(ofTenant(tenantId, TransitSubscriptions, (subscriptions) => subscriptions.replay(tenantId, subscriptionId, plain(range))))
    },
    handler: (request, { mountPath = "" } = {}) => service.answer(request, mountPath),
    within: (transaction) => methodsOf(service, joined(transaction)),
    wake: (tenantId) => service.run(Effect.flatMap(Wakeups, (wakeups) => wakeups.wake(tenantId))),
    runOnce: () => service.run(Effect.flatMap(DeliveryWorker, (worker) => worker.drain)),
    start: () => service.start(),
    stop: () => service.stop()
  }
}

type Around = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The methods that can join a transaction; `around` makes them do so. */
const methodsOf = (service: Service, around: Around): WaybillWithin => {
  const subscriptions = <A, E extends Failure>(
    said: HostPrincipal,
    call: (subscriptions: TransitSubscriptions["Service"], principal: Principal) => Effect.Effect<A, E>
  ) => service.run(around(Effect.flatMap(TransitSubscriptions, (all) => Effect.flatMap(principalOf(said), (principal) => call(all, principal)))))
  return {
    events: {
      publish: (said, events, options) =>
        service.run(around(Effect.flatMap(TransitEvents, (all) =>
          Effect.flatMap(principalOf(said), (principal) => all.publish(principal, plain(events) as ReadonlyArray<unknown>, options)))))
    },
    subscriptions: {
      create: (said, subscription) => subscriptions(said, (all, principal) => all.create(principal, plain(subscription))),
      list: (said, query = {}) => subscriptions(said, (all, principal) => all.list(principal, plain(query))),
      get: (said, id) => subscriptions(said, (all, principal) => all.get(principal, id)),
      patch: (said, id, patch) => subscriptions(said, (all, principal) => all.patch(principal, id, plain(patch))),
      remove: (said, id) => subscriptions(said, (all, principal) => all.remove(principal, id))
    }
  }
}

const listEvents = (said: HostPrincipal, query: object) =>
  Effect.flatMap(TransitEvents, (all) =>
    Effect.flatMap(principalOf(said), (principal) =>
      Effect.map(all.list(principal, plain(query)), (page) => ({ ...page, data: page.data.map((event) => JSON.parse(decoder.decode(event))) }))))

const decoder = new TextDecoder()

const ofTenant = <I, S, A, E, R>(tenantId: string, service: Context.Key<I, S>, call: (service: S) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Tenants, (tenants) => existingTenant(tenants)(tenantId, Effect.flatMap(service, call)))

/** How long `stop` waits for calls that are running. */
const patienceMillis = 10_000

class WaybillApp extends Context.Service<WaybillApp, App>()("@waybill/http/createWaybill/WaybillApp") {}

/** The layers behind the methods: built at the first call, released by `stop`. */
class Service {
  readonly #layer
  readonly #logger
  readonly #running = new Set<Promise<unknown>>()
  #built: Promise<{ readonly context: Context.Context<Services>; readonly scope: Scope.Closeable }> | undefined
  #worker: Fiber.Fiber<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(options: WaybillOptions) {
    const { basePaths, bodyTimeoutMillis, publicBaseUrl, trustForwarded } = options
    this.#logger = loggerOf(options.log)
    this.#layer = Layer.provideMerge(
      Layer.effect(WaybillApp, WaybillHttp.make({ basePaths, bodyTimeoutMillis, publicBaseUrl, trustForwarded })),
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

  async answer(request: Request, mountPath: string): Promise<Response> {
    if (this.#stopped !== undefined) return refusal(stopping.problem)
    return this.#track((async () => {
      let context: Context.Context<Services>
      try {
        context = (await this.#services()).context
      } catch (error) {
        Effect.runFork(Effect.provide(Effect.logError("The service could not be opened.", (error as Error).cause ?? error), this.#logger))
        return refusal(unavailable)
      }
      const app = mountPath === "" ? Context.get(context, WaybillApp) : below(mountPath, Context.get(context, WaybillApp))
      return HttpEffect.toWebHandlerWith<Services, HttpServerRequest.HttpServerRequest>(context)(app)(request)
    })())
  }

  async start(): Promise<void> {
    await this.run(Effect.void)
    const { context } = await this.#services()
    this.#worker ??= Effect.runForkWith(context)(tireless)
  }

  stop(): Promise<void> {
    return this.#stopped ??= this.#end()
  }

  async #end(): Promise<void> {
    if (this.#built === undefined) return
    const built = await this.#built.catch(() => undefined)
    if (this.#worker !== undefined) await Effect.runPromise(Fiber.interrupt(this.#worker))
    await Effect.runPromise(Effect.ignore(Effect.timeout(Effect.promise(() => Promise.allSettled(this.#running)), patienceMillis)))
    if (built !== undefined) await Effect.runPromise(Scope.close(built.scope, Exit.void))
  }

  #track<A>(call: Promise<A>): Promise<A> {
    this.#running.add(call)
    const done = () => this.#running.delete(call)
    call.then(done, done)
    return call
  }
}

/** A worker that dies of a defect is started again: deliveries must not stop without anybody noticing. */
const tireless = Effect.flatMap(DeliveryWorker, (worker) =>
  worker.run.pipe(
    Effect.catchDefect((defect) => Effect.andThen(Effect.logError("The delivery worker died and is started again.", defect), Effect.sleep(1000))),
    Effect.forever
  ))

type Services = Layer.Success<ReturnType<typeof layerOf>> | WaybillApp

const build = async (layer: Layer.Layer<Services, Failure>) => {
  const scope = Scope.makeUnsafe()
  const exit = await Effect.runPromiseExit(Layer.buildWithScope(layer, scope))
  if (Exit.isSuccess(exit)) return { context: exit.value, scope }
  await Effect.runPromise(Scope.close(scope, exit))
  throw errorOf(exit.cause)
}

/** The same, for requests whose path a router in front of us matched in part. */
const below = (mountPath: string, app: App): App => {
  const mount = mountPath.replace(/\/+$/, "")
  return Effect.updateService(app, HttpServerRequest.HttpServerRequest, (request) =>
    request.url.startsWith(`${mount}/`) ? request.modify({ url: request.url.slice(mount.length) }) : request)
}

const unavailable = problemOf(new StorageError({ operation: "createWaybill", cause: undefined }))

const refusal = (problem: Problem): Response =>
  new Response(problemDetails.write(problem, instanceOf(crypto.randomUUID())), {
    status: problem.status,
    headers: { "content-type": problemDetails.contentType, "cache-control": "no-store", ...problem.headers }
  })
