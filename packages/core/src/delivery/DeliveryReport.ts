/** Reports attempts to operators: metrics, and a log line for events that may need action. */
import { Effect, Metric } from "effect"
import type { LineLimiter } from "../shared/LineLimiter.ts"
import { spanFrom } from "../shared/TraceContext.ts"
import type { Attempt, Verdict } from "./worker/Attempts.ts"
import * as metrics from "./DeliveryMetrics.ts"
import type { DropReason } from "./DeliveryQueue.ts"
import type { DeliveryOutcome } from "./DeliveryStore.ts"

/** An ended attempt and its verdict. */
export interface Reported {
  readonly attempt: Attempt
  readonly verdict: Verdict
  /** Whether it pauses the destination, which no other one did before. */
  readonly pauses: boolean
}

/** A written outcome. `sent` is undefined if the delivery was taken and not sent. */
export interface Written {
  readonly outcome: DeliveryOutcome
  readonly sent: Reported | undefined
}

/** Counts attempts whose outcome is written, and logs dead letters and pauses; `lines` limits the log of dead letters. */
export const report = (tenantId: string, written: ReadonlyArray<Written>, lines: LineLimiter): Effect.Effect<void> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<never>()
    const counts = new Map<string, number>()
    let events = 0
    let dead = 0
    let pauses = 0
    for (const each of written) {
      const { outcome: { destinationId, state }, sent } = each
      if (state === "dead") {
        dead += 1
        yield* lines.log(
          `Dead letter of subscription ${destinationId} in tenant ${tenantId}`,
          Effect.logWarning("Dead letter: delivery has no attempts left. Retry it, or recover the subscription.").pipe(Effect.annotateLogs(fieldsOf(tenantId, each)))
        )
      }
      if (sent === undefined) continue
      const { attempt, verdict: { pause, record } } = sent
      counts.set(record.outcome, (counts.get(record.outcome) ?? 0) + 1)
      if (state === "delivered") events += attempt.taken.events
      metrics.attemptSeconds.updateUnsafe(record.durationMillis / 1000, context)
      if (!sent.pauses) continue
      pauses += 1
      yield* Effect.logWarning(`Subscription paused. ${pause}`).pipe(Effect.annotateLogs(fieldsOf(tenantId, each)))
    }
    if (dead > 0) yield* Metric.update(metrics.deadLettersTotal, dead)
    if (pauses > 0) yield* Metric.update(metrics.pausedDestinationsTotal, pauses)
    for (const [outcome, count] of counts) yield* Metric.update(Metric.withAttributes(metrics.attemptsTotal, { outcome }), count)
    if (events > 0) yield* Metric.update(metrics.deliveredEventsTotal, events)
  })

/** Counts and logs a pause by the engine that no attempt caused. */
export const reportPaused = (tenantId: string, subscription: string, reason: string): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(metrics.pausedDestinationsTotal, 1),
    Effect.logWarning(`Subscription paused. ${reason}`).pipe(Effect.annotateLogs({ tenant: tenantId, subscription }))
  )

/** Counts lost partitions, and logs one line for each tenant: after an outage all partitions may be lost. */
export const reportLost = (tenantId: string, partitions: number): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(metrics.lostLeasesTotal, partitions),
    Effect.logWarning("Partitions lost: their leases expired and another worker took them over, their tenant was deleted, or the database crashed.").pipe(
      Effect.annotateLogs({ tenant: tenantId, partitions })
    )
  )

/** Logs a change of the store's clock. */
export const reportClockChange = (millis: number): Effect.Effect<void> =>
  Effect.logWarning("Database clock changed. Retries and rate limits keep their intervals.").pipe(Effect.annotateLogs({ seconds: Math.round(millis / 100) / 10 }))

/** Counts dropped entries, and logs one line for each step. */
export const reportDropped = (tenantId: string, reason: DropReason, entries: number): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(Metric.withAttributes(metrics.droppedTotal, { reason }), entries),
    Effect.logInfo("Entries dropped from the delivery queue, not sent.").pipe(Effect.annotateLogs({ tenant: tenantId, reason, entries }))
  )

const fieldsOf = (tenantId: string, { outcome: { attempt, deliveryId: delivery, destinationId: subscription, record }, sent }: Written): Readonly<Record<string, unknown>> => {
  // the span of the attempt has ended
  const span = spanFrom(sent?.attempt.taken.traceparent)
  // a dead letter without an attempt: every process that sent it crashed
  return { tenant: tenantId, subscription, delivery, attempt, outcome: record?.outcome ?? "interrupted", ...(span === undefined ? {} : { trace_id: span.traceId }) }
}
