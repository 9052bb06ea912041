/** The layers behind the methods and handlers: built at the first call, released by `stop`. */
import { lastWritesMillis, LineLimiter, runBackground, StorageError, type StoragePorts, stopWithin, type Waybill } from "@waybill/core"
import { DeliveryOptions } from "@waybill/core/delivery"
import { PickupDesk, Pickups } from "@waybill/core/pickups"
import { Context, Effect, Exit, Fiber, Layer, Option, Scope, Stream } from "effect"
import { HttpBody, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HostRequest } from "../access/AuthenticatorHost.ts"
import { PortalCaller, type PortalCustomer } from "../portal/PortalCaller.ts"
import type { App } from "../server/RequestPipeline.ts"
import type { WaybillApps } from "../server/WaybillHttp.ts"
import { instanceOf } from "../shared/CorrelationId.ts"
import { type Problem, problemDetails } from "../shared/ProblemDetails.ts"
import { failureProblemOf, type ServiceFailure } from "../shared/ProblemOf.ts"
import { stopping } from "../shared/Refused.ts"
import { MountPath } from "../shared/Site.ts"
import { Apps, appsLayer, type HttpOptions } from "./Apps.ts"
import { calledByDesk, isInsideDesk } from "./InsideDesk.ts"
import { loggerOf } from "./HostLog.ts"
import type { WaybillOptions } from "./Options.ts"
import type { HandlerOptions } from "./Waybill.ts"
import { errorOf, openingErrorOf, WaybillError, type WaybillErrorCode } from "./WaybillError.ts"

/** Every use case of core, and the storage ports. */
export type WaybillServices = Waybill.Services | StoragePorts

/** What serves and delivers, over layers of the caller. */
export interface ServiceOptions extends HttpOptions, Pick<WaybillOptions, "log"> {
  /** `Waybill.layer` of `@waybill/core` over a storage and transports. Built at the first call, released by `stop`. */
  readonly layer: Layer.Layer<WaybillServices, StorageError>
  /** The work that `start` runs until `stop`. Default: `runBackground` of `@waybill/core`. */
  readonly background?: Effect.Effect<void, never, WaybillServices>
}

type Services = WaybillServices | Apps

/** How long `stop` waits for running calls. */
const callsMillis = 10_000

export class Service {
  readonly #layer: Layer.Layer<Services, StorageError>
  readonly #logger: Layer.Layer<never>
  readonly #background: Effect.Effect<void, never, WaybillServices>
  readonly #running = new Set<Promise<unknown>>()
  readonly #errors = new LineLimiter()
  readonly #opening = new AbortController()
  #built: Promise<Built> | undefined
  #desk: unknown
  #worker: Fiber.Fiber<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(options: ServiceOptions) {
    this.#logger = loggerOf(options.log)
    this.#background = options.background ?? runBackground
    this.#layer = appsLayer(options).pipe(Layer.provideMerge(options.layer), Layer.provideMerge(this.#logger))
  }

  #refusedCall(): Problem<WaybillErrorCode> | undefined {
    if (this.#stopped !== undefined) return stopping.problem
    return this.#desk !== undefined && isInsideDesk(this.#desk) ? calledByDesk : undefined
  }

  #services(): Promise<Built> {
    return this.#built ??= this.#build()
  }

  async #build(): Promise<Built> {
    try {
      const built = await build(this.#layer, this.#opening.signal)
      this.#desk = Context.get(built.context, PickupDesk)
      return built
    } catch (error) {
      this.#built = undefined
      throw this.#stopped === undefined ? error : new WaybillError(stopping.problem)
    }
  }

  run<A>(effect: Effect.Effect<A, ServiceFailure, Services>): Promise<A> {
    const refused = this.#refusedCall()
    if (refused !== undefined) return Promise.reject(new WaybillError(refused))
    return this.#track((async () => {
      const { context } = await this.#services()
      const exit = await Effect.runPromiseExitWith(context)(effect)
      if (Exit.isSuccess(exit)) return exit.value
      throw errorOf(exit.cause)
    })())
  }

  async answer(part: keyof WaybillApps, request: Request, reached: HandlerOptions, customer?: PortalCustomer): Promise<Response> {
    if (typeof (request as Partial<Request> | undefined)?.headers?.get !== "function") {
      throw new TypeError("waybill.handler takes a Request, as fetch does. For Node's (req, res) use toNodeHandler(waybill).")
    }
    const refused = this.#refusedCall()
    if (refused !== undefined) return refusal(refused)
    if (request.bodyUsed) {
      this.#log(bodyWasUsed.detail, Effect.logError(bodyWasUsed.detail))
      return refusal(bodyWasUsed)
    }
    return this.#track((async () => {
      let context: Context.Context<Services>
      try {
        context = (await this.#services()).context
      } catch (error) {
        if (this.#stopped !== undefined) return refusal(stopping.problem)
        this.#log("Waybill failed to open.", Effect.logError("Waybill failed to open.", (error as Error).cause ?? error))
        return refusal(unavailable)
      }
      const app = Effect.map(Effect.flatMap(Context.get(context, Apps), (apps) => reachedBy(reached, apps[part])).pipe(Effect.provideService(PortalCaller, customer)), (response) =>
        request.method === "HEAD" ? response : this.#untilSent(response))
      return HttpEffect.toWebHandlerWith<Services, HttpServerRequest.HttpServerRequest>(context)(app)(request)
    })())
  }

  #log(name: string, line: Effect.Effect<void>): void {
    Effect.runFork(Effect.provide(this.#errors.log(name, line), this.#logger))
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
    // a stop that came meanwhile would not end it
    if (this.#stopped !== undefined) return
    this.#worker ??= Effect.runForkWith(context)(this.#background)
  }

  stop(): Promise<void> {
    return this.#stopped ??= this.#end()
  }

  async #end(): Promise<void> {
    const built = await this.#opened()
    if (built === undefined) return
    const { context, scope } = built
    const attempts = this.#worker === undefined ? Effect.void : Fiber.interrupt(this.#worker)
    const calls = Effect.andThen(
      Context.get(context, Pickups).endWaits,
      Effect.ignore(Effect.timeout(Effect.promise(() => Promise.allSettled(this.#running)), callsMillis))
    )
    const stop = Effect.andThen(Effect.all([attempts, calls], { concurrency: "unbounded" }), Scope.close(scope, Exit.void))
    const { drainMillis } = Context.get(context, DeliveryOptions)
    await Effect.runPromiseWith(context)(stopWithin(Math.max(callsMillis, drainMillis) + lastWritesMillis, stop))
  }

  /** What the first call opened, or opens now: it has as long as any running call, and is then interrupted. On a pool without timeouts it could take forever. */
  async #opened(): Promise<Built | undefined> {
    const opening = this.#built?.catch(() => undefined)
    let built: Built | undefined
    const ended = Effect.promise(async () => {
      built = await opening
    })
    const interrupted = Effect.suspend(() => {
      this.#opening.abort()
      return ended
    })
    const stop = Effect.timeoutOrElse(ended, { duration: callsMillis, orElse: () => interrupted })
    await Effect.runPromise(Effect.provide(stopWithin(callsMillis + lastWritesMillis, stop), this.#logger))
    return built
  }

  #track<A>(call: Promise<A>): Promise<A> {
    this.#running.add(call)
    const done = () => this.#running.delete(call)
    call.then(done, done)
    return call
  }
}

interface Built {
  readonly context: Context.Context<Services>
  readonly scope: Scope.Closeable
}

const build = async (layer: Layer.Layer<Services, StorageError>, signal: AbortSignal): Promise<Built> => {
  const scope = Scope.makeUnsafe()
  const exit = await Effect.runPromiseExit(Layer.buildWithScope(layer, scope), { signal })
  if (Exit.isSuccess(exit)) return { context: exit.value, scope }
  await Effect.runPromise(Scope.close(scope, exit))
  throw openingErrorOf(exit.cause)
}

/** For requests that arrived through the host's own server or router. */
const reachedBy = ({ host, mountPath = "", remoteAddress, target }: HandlerOptions, app: App): App => {
  const mount = mountPath.replace(/\/+$/, "")
  const withHost = host === undefined ? app : Effect.provideService(app, HostRequest, host)
  const mounted = mount === "" ? withHost : Effect.provideService(withHost, MountPath, mount)
  if (mount === "" && remoteAddress === undefined && target === undefined) return mounted
  return Effect.updateService(mounted, HttpServerRequest.HttpServerRequest, (request) => {
    const url = target ?? request.url
    return request.modify({
      url: mount !== "" && url.startsWith(`${mount}/`) ? url.slice(mount.length) : url,
      ...(remoteAddress === undefined ? {} : { remoteAddress: Option.some(remoteAddress) })
    })
  })
}

const unavailable = failureProblemOf(new StorageError({ operation: "createWaybill", cause: undefined }))

const bodyWasUsed: Problem = {
  status: 500,
  code: "body_already_read",
  detail: "The request's body was read before Waybill got the request. Pass the request unread, or a request.clone() made before."
}

const refusal = (problem: Problem): Response =>
  new Response(problemDetails.write(problem, instanceOf(crypto.randomUUID())), {
    status: problem.status,
    headers: { "content-type": problemDetails.contentType, "cache-control": "no-store", ...problem.headers }
  })
