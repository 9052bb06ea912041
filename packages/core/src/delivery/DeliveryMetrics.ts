/** Metrics of the delivery engine. Each process counts its own. */
import { Metric } from "effect"

/** Ended attempts; attribute `outcome`: the code in the attempt's record. */
export const attemptsTotal = Metric.counter("waybill_delivery_attempts_total", {
  description: "Webhook attempts, by outcome.",
  incremental: true
})

/** Events, statuses or bills of accepted deliveries. */
export const deliveredEventsTotal = Metric.counter("waybill_delivered_events_total", {
  description: "Events in accepted deliveries.",
  incremental: true
})

/** Deliveries that became dead letters. */
export const deadLettersTotal = Metric.counter("waybill_dead_letters_total", {
  description: "Deliveries that used up their attempts.",
  incremental: true
})

/** Entries; attribute `reason`: a `DropReason`. */
export const droppedTotal = Metric.counter("waybill_delivery_dropped_total", {
  description: "Entries removed without being sent, by reason: the client may no longer see them, or more waited, or longer, than the quota allows.",
  incremental: true
})

/** Pauses by the engine, not by clients and operators. */
export const pausedDestinationsTotal = Metric.counter("waybill_destinations_paused_total", {
  description: "Subscriptions that this process paused: their receiver answered 410, a dead letter pauses them, or their secret belongs to another client.",
  incremental: true
})

/** Failures to open a signing secret; one a minute for each destination that has to wait. */
export const unreadableSecretsTotal = Metric.counter("waybill_unreadable_secrets_total", {
  description: "Times a destination was held because this process cannot open its signing secret; each is tried once a minute.",
  incremental: true
})

/** Partitions with a later owner, or of a deleted tenant. */
export const lostLeasesTotal = Metric.counter("waybill_lost_leases_total", {
  description: "Partitions that this process lost: another process took them over after their lease expired, or their tenant was deleted.",
  incremental: true
})

/** Seconds from the start of an attempt to its outcome. */
export const attemptSeconds = Metric.histogram("waybill_delivery_attempt_seconds", {
  description: "How long attempts took.",
  attributes: { unit: "seconds" },
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
})
