/** HTTP handlers of probes, metrics and documentation. */
import { AccessStore, LineLimiter, MailStore } from "@waybill/core"
import { DeliveryControl, DeliveryQueue, type DeliveryTroubles } from "@waybill/core/delivery"
import { Effect, Metric } from "effect"
import { HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { json, sharedBytes } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import { unknownPath } from "../shared/Refused.ts"
import type { Site } from "../shared/Site.ts"
import { contentSecurityPolicy } from "./DocsPage.ts"
import { Readiness, runChecks, stoppingReadiness, storageCheck } from "./Readiness.ts"
import { namedSeries, updateAreas } from "./UnhealthySubscriptionMetrics.ts"
import type { SystemContract, withPublicMetrics } from "./SystemContract.ts"

const waitingEntries = Metric.gauge("waybill_queue_waiting_entries", { description: "Events waiting to be put into a delivery." })
const unsettledDeliveries = Metric.gauge("waybill_queue_deliveries_in_progress", { description: "Deliveries being sent or waiting for their next attempt." })
const deadDeliveries = Metric.gauge("waybill_queue_dead_deliveries", { description: "Dead letters." })
const lagSeconds = Metric.gauge("waybill_queue_lag_seconds", {
  description: "How long the oldest signal or due retry has waited for a worker.",
  attributes: { unit: "seconds" }
})

const mailLagSeconds = Metric.gauge("waybill_mail_lag_seconds", {
  description: "How long the e-mail that is due first has waited for a process that sends e-mail.",
  attributes: { unit: "seconds" }
})

/** The parts of a document that names the server's URL, which depends on the request. All responses share the bytes. */
export type Document = (server: string) => ReadonlyArray<Uint8Array>

/** The documentation of the service. */
export interface Documents {
  readonly openApi: Document
  readonly openApiOf: ReadonlyMap<string, Document>
  readonly docs: Document
}

type Handlers = HandlersOf<typeof SystemContract> & HandlersOf<ReturnType<typeof withPublicMetrics>>

export const makeSystemHandlers = Effect.gen(function*() {
  const queue = yield* DeliveryQueue
  const control = yield* DeliveryControl
  const mails = yield* MailStore
  const { checks: ownChecks, isStopping } = yield* Readiness
  const lines = new LineLimiter()
  const checks = [storageCheck(yield* AccessStore), ...ownChecks]
  const running = yield* oneAtATime(runChecks(checks, lines))
  const checked = Effect.suspend(() => isStopping() ? Effect.succeed(stoppingReadiness) : running)

  const readDepth = queue.depth.pipe(
    Effect.timeout(3_000),
    Effect.flatMap((depth) =>
      Effect.all([
        Metric.update(waitingEntries, depth.waitingEntries),
        Metric.update(unsettledDeliveries, depth.unsettled),
        Metric.update(deadDeliveries, depth.dead),
        Metric.update(lagSeconds, depth.lagMillis / 1000)
      ], { discard: true })
    ),
    // The counters are useful even when the storage is unavailable.
    Effect.catchCause((cause) => lines.log("Delivery queue metrics", Effect.logWarning("Delivery queue metrics not available.", cause)))
  )

  const readMailLag = mails.lagMillis.pipe(
    Effect.timeout(3_000),
    Effect.flatMap((millis) => Metric.update(mailLagSeconds, millis / 1000)),
    Effect.catchCause((cause) => lines.log("Metrics of e-mails", Effect.logWarning("Metrics of e-mails not available.", cause)))
  )

  const noUnhealthy: DeliveryTroubles = { now: 0, sources: [], destinations: [] }
  const readUnhealthy = Effect.suspend(() => control.troubles).pipe(
    Effect.timeout(3_000),
    Effect.tap(updateAreas),
    Effect.catchCause((cause) =>
      Effect.as(lines.log("Metrics of unhealthy subscriptions", Effect.logWarning("Metrics of unhealthy subscriptions not available.", cause)), noUnhealthy))
  )

  const readings = yield* oneAtATime(Effect.all([readUnhealthy, readDepth, readMailLag], { concurrency: 3 }))

  /** Public metrics name no tenant, because customers may reach them. */
  return (documents: Documents, { namesTenants }: { readonly namesTenants: boolean }): Handlers => ({
    health: () => Effect.succeed(json({ status: "ok" })),
    readiness: () => Effect.map(checked, (asked) => json(asked, { status: asked.status === "ready" ? 200 : 503 })),
    metrics: () =>
      Effect.gen(function*() {
        const [troubles] = yield* readings
        const text = yield* PrometheusMetrics.format()
        return HttpServerResponse.text(namesTenants ? `${text}${text.endsWith("\n") ? "" : "\n"}${namedSeries(troubles)}` : text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
      }),
    openApi: ({ site }) => Effect.succeed(openApi(documents.openApi, site)),
    openApiOfArea: ({ params, site }) => {
      const found = documents.openApiOf.get(params.document)
      return found === undefined ? Effect.fail(unknownPath) : Effect.succeed(openApi(found, site))
    },
    docs: ({ site }) =>
      Effect.succeed(sharedBytes(documents.docs(serverOf(site)), "text/html; charset=utf-8", {
        "content-security-policy": contentSecurityPolicy,
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache"
      }))
  })
})

/** Shares a run with all callers that ask before it ends, and remembers nothing. Anybody may ask, and each run takes connections to the database. */
const oneAtATime = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E, R>> =>
  Effect.gen(function*() {
    let forget: Effect.Effect<void> = Effect.void
    const [shared, invalidate] = yield* Effect.cachedInvalidateWithTTL(Effect.ensuring(run, Effect.suspend(() => forget)), Infinity)
    forget = invalidate
    return shared
  })

/** The URL that every path of the documents follows. */
const serverOf = ({ urlOf }: Site): string => urlOf("") || "/"

const openApi = (document: Document, site: Site) => sharedBytes(document(serverOf(site)), "application/json", { "cache-control": "no-cache" })
