/** Starts the service, runs it, and shuts it down in an order that loses nothing. */
import { AccessOptions, lastWritesMillis, NoticeOptions, RetentionOptions, runBackground, runMails, stopWithin, Tenants, Waybill } from "@waybill/core"
import { DeliveryOptions, Sealer } from "@waybill/core/delivery"
import { FreightChargeOptions } from "@waybill/core/freight-charges"
import { PickupDesk, Pickups } from "@waybill/core/pickups"
import { ShipmentStatusOptions } from "@waybill/core/shipment-status"
import { type App, AuthenticatorStandard, ContentHashNode, HmacNode, PortalPage, problemContentType, type WaybillApps, WaybillHttp } from "@waybill/http"
import { StoragePostgres } from "@waybill/postgres"
import { Context, Effect, Layer, type Redacted, Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Keys, keysOf } from "../config/DataDir.ts"
import { type ServerConfig, summaryOf } from "../config/ServerConfig.ts"
import { openDashboard } from "../dashboard/Dashboard.ts"
import type { StaticPage } from "../dashboard/StaticPage.ts"
import { buildOn, checkReplicaConnection, openDatabase, poolLayer, replicaLayer } from "../database/Database.ts"
import { demoSenderLayer, startDemo } from "../demo/Demo.ts"
import { type DemoCommand, demoCommands } from "../demo/DemoCommands.ts"
import { type DemoState, openDemo } from "../demo/DemoState.ts"
import { runEdiExchange } from "../edi/EdiExchange.ts"
import { runEdi } from "../edi/EdiWorker.ts"
import { postedFiles } from "../edi/PostedFiles.ts"
import { logHangups } from "../StopSignals.ts"
import { hasDashboard, plainBanner } from "./Banner.ts"
import { documentsLayer } from "./Documents.ts"
import { indexPage } from "./IndexPage.ts"
import { smtpMailerLayer } from "../mail/SmtpMailer.ts"
import { readPortalPage } from "../portal/PortalPage.ts"
import { makeDrain } from "./Drain.ts"
import { answerWith, listen, probePaths } from "./Listener.ts"
import { readinessLayer } from "./ServerReadiness.ts"
import { version } from "./Version.ts"

/** Runs until interrupted. */
export const serve = (config: ServerConfig) =>
  Effect.scoped(Effect.gen(function*() {
    yield* Effect.logInfo(`Waybill ${version} starting.`).pipe(Effect.annotateLogs(summaryOf(config)))
    for (const warning of config.warnings) yield* Effect.logWarning(warning)
    yield* logHangups

    // Listen first, so that a port in use fails at once. Early requests wait for the service.
    const listener = yield* listen(config)
    const adminListener = config.admin === undefined ? undefined : yield* listen(config.admin, "WAYBILL_ADMIN")
    const adminUrl = (adminListener ?? listener).url
    const keys = yield* keysOf(config)
    const [url] = yield* Effect.all([openDatabase(config), checkReplicaConnection(config)], { concurrency: 2 })
    const demo = config.demo ? yield* openDemo(config.dataDir) : undefined
    const drain = makeDrain(config.drainDelayMillis)
    // with both default drains within Docker's 25 s of `compose.yaml`
    const working = yield* Effect.acquireRelease(Scope.make(), (scope, exit) => stopWithin(config.drainMillis + lastWritesMillis, Scope.close(scope, exit)))
    const services = yield* buildOn(url, servicesLayer(config, keys, url, demo, drain.isDraining)).pipe(Scope.provide(working))

    // Stop both at the same time: no more requests, no more attempts.
    const running = yield* Scope.fork(working, "parallel")
    const tryThese = () => demo === undefined ? [] : demoCommands(demo, config, config.publicUrl ?? listener.url)
    const apps = yield* appsFor(config, tryThese).pipe(Effect.provideContext(services))
    const stop = { drainMillis: config.drainMillis, isDraining: drain.isDraining }
    yield* answerWith(listener, adminListener === undefined ? apps.whole : apps.customers, stop).pipe(Scope.provide(running))
    if (adminListener !== undefined) yield* answerWith(adminListener, apps.operators, stop).pipe(Scope.provide(running))
    yield* Scope.addFinalizer(running, Context.get(services, Pickups).endWaits)
    // a process that keeps e-mails sends them too, whatever the settings of the workers
    yield* (config.role === "api" ? runMails : runBackground).pipe(Effect.provideContext(services), Effect.forkIn(running))
    if (config.role !== "api" && config.ediDir !== undefined) {
      yield* runEdi(config.ediDir, config.ediLimits).pipe(Effect.provideContext(services), Effect.forkIn(running))
      yield* runEdiExchange(config.ediDir, config.ediLimits).pipe(Effect.provideContext(services), Effect.forkIn(running))
    }
    const demoScope = yield* Scope.fork(yield* Effect.scope)
    // Added last, so that a stop begins with it: everything above still works until it ends.
    yield* Effect.addFinalizer(() => drain.run)

    if (config.role !== "worker") yield* checkPublicTenant(config.publicTenant).pipe(Effect.provideContext(services))
    yield* Effect.logInfo("Ready.").pipe(Effect.annotateLogs({ url: listener.url, ...(adminListener === undefined ? {} : { adminUrl }), role: config.role }))
    yield* demo === undefined
      ? plainBanner(config, listener.url, adminUrl)
      : startDemo({ config, state: demo, url: listener.url, adminUrl }).pipe(Effect.provideContext(services), Scope.provide(demoScope))
    return yield* Effect.never
  })).pipe(Effect.onInterrupt(() => Effect.logInfo("Stopped.")))

/** Warns if the tenant does not exist. It may be created later, or be misspelled. */
const checkPublicTenant = Effect.fnUntraced(function*(tenantId: string | undefined) {
  if (tenantId === undefined) return
  const tenants = yield* Tenants
  yield* Effect.catchTags(Effect.asVoid(tenants.get(tenantId)), {
    TenantNotFound: () =>
      Effect.logWarning(
        `WAYBILL_PUBLIC_TENANT is ${tenantId}, and there is no such tenant. Until there is, lookups without credentials find nothing. Create it with PUT /operator/v1/tenants/${tenantId}, or correct the variable.`
      ),
    // readyz reports whether the storage answers.
    StorageError: () => Effect.void
  })
})

const servicesLayer = (config: ServerConfig, keys: Keys, url: Redacted.Redacted, demo: DemoState | undefined, isStopping: () => boolean) => {
  const database = StoragePostgres.layer({ schema: config.schema, listen: config.role !== "api" }).pipe(
    Layer.provideMerge(replicaLayer(config)),
    Layer.provideMerge(poolLayer(config, url))
  )
  const storage = documentsLayer(config).pipe(Layer.provideMerge(database))
  const transport = Layer.mergeAll(
    HmacNode.layer,
    ContentHashNode.layer,
    Sealer.layer(keys.sealing),
    demoSenderLayer(config.egress, demo?.endpointUrl)
  )
  return Layer.merge(
    AuthenticatorStandard.layer({ operatorKeys: keys.operators, jwt: config.jwt }),
    readinessLayer(config.schema, isStopping)
  ).pipe(
    Layer.provideMerge(Waybill.layer({ storage, transport })),
    Layer.provideMerge(Layer.mergeAll(
      DeliveryOptions.layer(config.delivery),
      Layer.succeed(RetentionOptions, config.retention),
      Layer.succeed(NoticeOptions, { ...NoticeOptions.defaultValue(), failingAfterMillis: config.noticeAfterMillis }),
      config.mail === undefined ? Layer.empty : smtpMailerLayer(config.mail),
      Layer.succeed(AccessOptions, { tokenAccessMillis: config.tokenAccessMillis }),
      Layer.succeed(ShipmentStatusOptions, { othersLookupsPerMinute: config.othersLookupsPerMinute }),
      FreightChargeOptions.layer({ timeZone: config.timeZone }),
      config.pickups === "desk" ? Layer.succeed(PickupDesk, { waitMillis: config.pickupDeskMillis }) : Layer.empty
    ))
  )
}


/** The apps with a page at `/`, and the dashboard with the operator API. A delivery-only process serves just health and metrics. */
const appsFor = Effect.fnUntraced(function*(config: ServerConfig, tryThese: () => ReadonlyArray<DemoCommand>) {
  const portal = config.role === "worker" ? undefined : yield* openPortal(config)
  const { basePaths, publicTenant, publicUrl, trustProxy } = config
  const more = config.ediDir === undefined ? [] : [yield* postedFiles(config.ediDir)]
  const parts = yield* WaybillHttp.makeParts({ more, basePaths, publicTenant, publicBaseUrl: publicUrl, trustForwarded: trustProxy, publicMetrics: true }).pipe(
    Effect.provideService(PortalPage, { address: portal === undefined ? undefined : portalAddress(config), theme: config.portalTheme })
  )
  const dashboard = hasDashboard(config) ? yield* openDashboard() : undefined
  const appOf = (part: keyof WaybillApps): App => {
    const page = part === "customers" ? undefined : dashboard
    const pages = [page, part === "operators" ? undefined : portal].filter((each): each is StaticPage => each !== undefined)
    const index = () => indexPage({ version, basePaths, part, dashboard: page !== undefined, tryThese: part === "operators" ? [] : tryThese() })
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, method, url }) => {
      const path = url.split("?", 1)[0]!
      if (config.role === "worker" && !probePaths.has(path)) return Effect.succeed(onlyDelivers)
      if (path === "/" && (method === "GET" || method === "HEAD")) return Effect.sync(index)
      const found = firstAnswer(pages, { method, path, headers })
      return found === undefined ? parts[part] : Effect.succeed(found)
    })
  }
  return { whole: appOf("whole"), customers: appOf("customers"), operators: appOf("operators") }
})

/** The page at the path of the portal's calls. */
const openPortal = Effect.fnUntraced(function*({ portalFrameAncestors }: ServerConfig) {
  const page = yield* Effect.promise(() => readPortalPage({ frameAncestors: portalFrameAncestors }))
  if (page === undefined) yield* Effect.logWarning("Portal page not available: it was not built. Run npm run build, or start with npm start, which builds it. Links to the portal have no address.")
  return page
})

/** What links open. On a separate address for operators, the requested host is not the one that customers see. */
const portalAddress = ({ admin, publicUrl }: ServerConfig): string | undefined => admin !== undefined && publicUrl === undefined ? undefined : "/portal/"

const firstAnswer = (pages: ReadonlyArray<StaticPage>, request: Parameters<StaticPage>[0]) => {
  for (const page of pages) {
    const answer = page(request)
    if (answer !== undefined) return answer
  }
  return undefined
}

const onlyDelivers = HttpServerResponse.text(
  JSON.stringify({
    status: 404,
    title: "Not found",
    detail: "This process only delivers webhooks. Ask one whose WAYBILL_ROLE is api or all.",
    code: "path_not_found"
  }),
  { status: 404, contentType: problemContentType }
)
