/** Metrics of the delivery engine. Each process counts its own. */
import { Metric } from "effect"

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

/** Ended attempts; attribute `outcome`: the code in the attempt's record. */
export const attemptsTotal = counter("waybill_delivery_attempts_total", "Webhook attempts, by outcome.")

/** Events, statuses or bills of accepted deliveries. */
export const deliveredEventsTotal = counter("waybill_delivered_events_total", "Events in accepted deliveries.")

/** Deliveries that became dead letters. */
export const deadLettersTotal = counter("waybill_dead_letters_total", "Deliveries that used up their attempts.")

/** Entries; attribute `reason`: a `DropReason`. */
export const droppedTotal = counter("waybill_delivery_dropped_total", "Entries removed without being sent, by reason: the client may no longer see them, or more waited, or longer, than the quota allows.")

/** Pauses by the engine, not by clients and operators. */
export const pausedDestinationsTotal = counter("waybill_destinations_paused_total", "Subscriptions that this process paused: their receiver answered 410, a dead letter pauses them, or their secret belongs to another client.")

/** Failures to open a signing secret; one a minute for each destination that has to wait. */
export const unreadableSecretsTotal = counter("waybill_unreadable_secrets_total", "Times a destination was held because this process cannot open its signing secret; each is tried once a minute.")

/** Partitions with a later owner, or of a deleted tenant. */
export const lostLeasesTotal = counter("waybill_lost_leases_total", "Partitions that this process lost: another process took them over after their lease expired, or their tenant was deleted.")

/** Seconds from the start of an attempt to its outcome. */
export const attemptSeconds = Metric.histogram("waybill_delivery_attempt_seconds", {
  description: "How long attempts took.",
  attributes: { unit: "seconds" },
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
})
