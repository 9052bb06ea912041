/** HTTP handlers of probes, metrics and documentation. */
import { DeliveryQueue } from "@waybill/core"
import { Effect, Metric } from "effect"
import { HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { json } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import { unknownPath } from "../shared/Refused.ts"
import { contentSecurityPolicy } from "./DocsPage.ts"
import { askReadiness, Readiness } from "./Readiness.ts"
import type { SystemContract } from "./SystemContract.ts"

const waitingEntries = Metric.gauge("waybill_queue_waiting_entries", { description: "Events waiting to be put into a delivery." })
const unsettledDeliveries = Metric.gauge("waybill_queue_deliveries_in_progress", { description: "Deliveries being sent or waiting for their next attempt." })
const deadDeliveries = Metric.gauge("waybill_queue_dead_deliveries", { description: "Dead letters." })
const lagSeconds = Metric.gauge("waybill_queue_lag_seconds", { description: "How long the longest due subscription has been due." })

/** The documentation of the service, rendered once. */
export interface Documents {
  readonly openApi: string
  readonly openApiOf: ReadonlyMap<string, string>
  readonly docs: string
}

export const makeSystemHandlers = Effect.gen(function*() {
  const queue = yield* DeliveryQueue
  const readiness = yield* Readiness

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
    Effect.catchCause((cause) => Effect.logWarning("Delivery queue metrics not available.", cause))
  )

  return (documents: Documents): HandlersOf<typeof SystemContract> => ({
    health: () => Effect.succeed(json({ status: "ok" })),
    readiness: () => Effect.map(askReadiness(readiness), (asked) => json(asked, { status: asked.status === "ready" ? 200 : 503 })),
    metrics: () =>
      Effect.map(Effect.andThen(readDepth, PrometheusMetrics.format()), (text) =>
        HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })),
    openApi: () => Effect.succeed(document(documents.openApi)),
    openApiOfArea: ({ params }) => {
      const found = documents.openApiOf.get(params.document)
      return found === undefined ? Effect.fail(unknownPath) : Effect.succeed(document(found))
    },
    docs: () =>
      Effect.succeed(HttpServerResponse.text(documents.docs, {
        contentType: "text/html; charset=utf-8",
        headers: {
          "content-security-policy": contentSecurityPolicy,
          "referrer-policy": "no-referrer",
          "cache-control": "no-cache"
        }
      }))
  })
})

const document = (text: string) => HttpServerResponse.text(text, { contentType: "application/json", headers: { "cache-control": "no-cache" } })
