/** What a receiver gets: a batch of events under one delivery id (area D, EventBatch). */
import { Schema } from "effect"
import { InstantText } from "../../shared/Instant.ts"
import { TransitEvent } from "./TransitEvent.ts"

export const EventBatch = Schema.Struct({
  /** The same for every attempt of this delivery. */
  deliveryId: Schema.String,
  /** When the batch was first sent; frozen with the bytes. SPEC-GAP-D12 */
  sentAt: InstantText,
  events: Schema.NonEmptyArray(TransitEvent)
}).annotate({ identifier: "EventBatch" })
export type EventBatch = typeof EventBatch.Type

/** Text before, and after, the joined events of a batch; the engine fills in the two marks. */
export const eventBatchEnvelope = {
  open: "{\"deliveryId\":\"{deliveryId}\",\"sentAt\":\"{sentAt}\",\"events\":[",
  close: "]}"
}
