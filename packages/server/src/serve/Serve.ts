/** Puts the service together, runs it, and takes it down in the order that loses nothing. */
import { DeliveryOptions, DeliveryWorker, Retention, Sealer, Waybill } from "@waybill/core"
import { type App, AuthenticatorStandard, HmacNode, problemContentType, Readiness, WaybillHttp } from "@waybill/http"
import { StoragePostgres } from "@waybill/postgres"
import { Context, Effect, Fiber, Layer, type Redacted, Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Keys, keysOf } from "../config/DataDir.ts"
import { type ServerConfig, summaryOf } from "../config/ServerConfig.ts"
import { openDatabase, poolLayer } from "../database/Database.ts"
import { demoSenderLayer, startDemo } from "../demo/Demo.ts"
import { type DemoState, openDemo } from "../demo/DemoState.ts"
import { plainBanner } from "./Banner.ts"
import { indexPage } from "./IndexPage.ts"
import { answerWith, listen } from "./Listener.ts"
import { version } from "./Version.ts"

/** Runs until interrupted. */
export const serve = (config: ServerConfig) =>
  Effect.scoped(Effect.gen(function*() {
    yield* Effect.logInfo(`Waybill ${version} starts.`).pipe(Effect.annotateLogs(summaryOf(config)))
    for (const warning of config.warnings) yield* Effect.logWarning(warning)

    // first, so that a taken port shows at once; requests that come before the service is there wait for it
    const listener = yield* listen(config)
    const keys = yield* keysOf(config)
    const url = yield* openDatabase(config)
    const demo = config.demo ? yield* openDemo(config.dataDir) : undefined
    const services = yield* Layer.build(servicesLayer(config, keys, url, demo))

    // these two stop at the same time: no more requests, no more attempts
    const running = yield* Scope.fork(yield* Effect.scope, "parallel")
    const tryThis = demo?.curl(config.publicUrl ?? listener.url)
    const app = yield* appFor(config, tryThis).pipe(Effect.provideContext(services))
    yield* answerWith(listener, app, config.drainMillis).pipe(Scope.provide(running))
    const worker = config.role === "api"
      ? undefined
      : yield* Context.get(services, DeliveryWorker).run.pipe(Effect.forkIn(running))
    if (worker !== undefined) yield* Context.get(services, Retention).run.pipe(Effect.forkIn(running))

    yield* Effect.logInfo("Ready.").pipe(Effect.annotateLogs({ url: listener.url, role: config.role }))
    yield* demo === undefined
      ? plainBanner(config, listener.url)
      : startDemo({ config, state: demo, url: listener.url }).pipe(Effect.provideContext(services))
    // it never ends by itself; if it does, this process is of no use
    return yield* worker === undefined ? Effect.never : Effect.andThen(Fiber.join(worker), Effect.die(new Error("The delivery worker ended.")))
  })).pipe(Effect.onInterrupt(() => Effect.logInfo("Stopped.")))

const servicesLayer = (config: ServerConfig, keys: Keys, url: Redacted.Redacted, demo: DemoState | undefined) => {
  const storage = StoragePostgres.layer({ schema: config.schema, listen: config.role !== "api" }).pipe(Layer.provide(poolLayer(config, url)))
  const useCases = Layer.mergeAll(Waybill.layer, Readiness.layerStorage)
  return AuthenticatorStandard.layer({ operatorKey: keys.operator, jwt: config.jwt }).pipe(
    Layer.provideMerge(useCases),
    Layer.provideMerge(Layer.mergeAll(
      storage,
      HmacNode.layer,
      Sealer.layer(keys.sealing),
      demoSenderLayer(config.egress, demo?.endpointUrl),
      DeliveryOptions.layer(config.delivery)
    ))
  )
}

const workerPaths = new Set(["/healthz", "/readyz", "/metrics"])

/** The service, and a page at `/`; of a process that only delivers, what says how it does. */
const appFor = Effect.fnUntraced(function*(config: ServerConfig, tryThis: string | undefined) {
  const service = yield* WaybillHttp.make({ publicBaseUrl: config.publicUrl, trustForwarded: config.trustProxy })
  const page = indexPage({ version, tryThis })
  const app: App = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const path = request.url.split("?", 1)[0]!
    if (config.role === "worker" && !workerPaths.has(path)) return Effect.succeed(onlyDelivers)
    return path === "/" && (request.method === "GET" || request.method === "HEAD") ? Effect.succeed(page) : service
  })
  return app
})

const onlyDelivers = HttpServerResponse.text(
  JSON.stringify({
    status: 404,
    title: "Not found",
    detail: "This process only delivers webhooks. Ask one whose WAYBILL_ROLE is api or all.",
    code: "not_found"
  }),
  { status: 404, contentType: problemContentType }
)
