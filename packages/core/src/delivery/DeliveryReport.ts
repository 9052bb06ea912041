/** Reports attempts to operators: metrics, and a log line for events that may need action. */
import { Effect, Metric } from "effect"
import type { LineLimiter } from "../shared/LineLimiter.ts"
import { spanFrom } from "../shared/TraceContext.ts"
import type { Attempt, Verdict } from "./worker/Attempts.ts"
import * as metrics from "./DeliveryMetrics.ts"
import type { DropReason } from "./DeliveryQueue.ts"

/** An attempt that ended, and what it meant. */
export interface Reported {
  readonly attempt: Attempt
  readonly verdict: Verdict
}

export const report = (finished: ReadonlyArray<Reported>, lines: LineLimiter): Effect.Effect<void> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<never>()
    const counts = new Map<string, number>()
    let events = 0
    let dead = 0
    let pauses = 0
    for (const { attempt, verdict } of finished) {
      counts.set(verdict.record.outcome, (counts.get(verdict.record.outcome) ?? 0) + 1)
      if (verdict.state === "delivered") events += attempt.events
      metrics.attemptSeconds.updateUnsafe(verdict.record.durationMillis / 1000, context)
      if (verdict.state === "dead") {
        dead += 1
        yield* lines.log(
          `Dead letter of subscription ${attempt.destination.destinationId} in tenant ${attempt.tenantId}`,
          logDelivery(attempt, verdict, "Dead letter: delivery has no attempts left. Retry it, or recover the subscription.")
        )
      }
      if (verdict.pause !== undefined) {
        pauses += 1
        yield* logDelivery(attempt, verdict, `Subscription paused. ${verdict.pause}`)
      }
    }
    if (dead > 0) yield* Metric.update(metrics.deadLettersTotal, dead)
    if (pauses > 0) yield* Metric.update(metrics.pausedDestinationsTotal, pauses)
    for (const [outcome, count] of counts) yield* Metric.update(Metric.withAttributes(metrics.attemptsTotal, { outcome }), count)
    if (events > 0) yield* Metric.update(metrics.deliveredEventsTotal, events)
  })

/** A pause without an attempt. */
export const reportPaused = (tenantId: string, subscription: string, reason: string): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(metrics.pausedDestinationsTotal, 1),
    Effect.logWarning(`Subscription paused. ${reason}`).pipe(Effect.annotateLogs({ tenant: tenantId, subscription }))
  )

/** One line for a tenant, however many there are: after an outage they are all of them. */
export const reportLost = (tenantId: string, partitions: number): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(metrics.lostLeasesTotal, partitions),
    Effect.logWarning("Leases lost: they expired and another worker took them over, or the tenant was deleted.").pipe(
      Effect.annotateLogs({ tenant: tenantId, partitions })
    )
  )

export const reportClockChange = (millis: number): Effect.Effect<void> =>
  Effect.logWarning("Database clock changed. Retries and rate limits keep their intervals.").pipe(Effect.annotateLogs({ seconds: Math.round(millis / 100) / 10 }))

/** One line a drop, or a step of the backlog's upkeep. */
export const reportDropped = (tenantId: string, reason: DropReason, entries: number): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(Metric.withAttributes(metrics.droppedTotal, { reason }), entries),
    Effect.logInfo("Entries dropped from the delivery queue, not sent.").pipe(Effect.annotateLogs({ tenant: tenantId, reason, entries }))
  )

const logDelivery = (attempt: Attempt, verdict: Verdict, message: string): Effect.Effect<void> =>
  Effect.logWarning(message).pipe(Effect.annotateLogs({
    tenant: attempt.tenantId,
    subscription: attempt.destination.destinationId,
    delivery: attempt.deliveryId,
    attempt: attempt.attempt,
    outcome: verdict.record.outcome,
    // attempts end outside their span
    ...traceOf(attempt)
  }))

const traceOf = ({ traceparent }: Attempt): { readonly trace_id?: string } => {
  const span = spanFrom(traceparent)
  return span === undefined ? {} : { trace_id: span.traceId }
}
