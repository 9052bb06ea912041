/** The body of a delivery: a batch of events with one delivery id (area D, EventBatch). */
import { Schema } from "effect"
import { InstantText } from "../../shared/Instant.ts"
import { TransitEvent } from "./TransitEvent.ts"

/** Body of an event webhook (area D). `events` is never empty and has at most `batchMaxSize` events. */
export const EventBatch = Schema.Struct({
  /** Equal for every attempt of the delivery. */
  deliveryId: Schema.String,
  /** When the batch was first sent. Every attempt sends the same bytes. SPEC-GAP-D12 */
  sentAt: InstantText,
  events: Schema.NonEmptyArray(TransitEvent)
}).annotate({ identifier: "EventBatch" })
export type EventBatch = typeof EventBatch.Type

/** JSON before and after the events of a batch. The delivery engine fills in the two placeholders. */
export const eventBatchEnvelope = {
  open: "{\"deliveryId\":\"{deliveryId}\",\"sentAt\":\"{sentAt}\",\"events\":[",
  close: "]}"
}
