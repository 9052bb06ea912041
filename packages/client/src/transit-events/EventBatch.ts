/** Body of a delivery: a batch of events with one delivery id (area D, EventBatch). */
import { BodyMalformed, checksOf } from "../shared/ReceivedJson.ts"
import type { TransitEvent } from "./TransitEvent.ts"

/** The body of one delivery of transit events (area D). */
export interface EventBatch {
  /** The same for every attempt of this delivery. */
  readonly deliveryId: string
  /** When the batch was first sent. */
  readonly sentAt: string
  /** At least one. An event can arrive again in another delivery: compare `shipment.shipmentId` and `eventId`. */
  readonly events: ReadonlyArray<TransitEvent>
}

/** The body is not an event batch. `pointer` is the location of the error. */
export class EventBatchMalformed extends BodyMalformed {
  override readonly name = "EventBatchMalformed"
}

const { json, nonEmptyList, object, text } = checksOf(EventBatchMalformed)

/**
 * Parses the body of a delivery.
 *
 * Checks only what a receiver relies on: ids, type and times are present, and the sequence is a number. Everything else
 * passes unchanged, unknown fields and event types included.
 */
export const parseEventBatch = (body: Uint8Array): EventBatch => checkEventBatch(json(body))

/** Like `parseEventBatch`, for a parsed body. */
export const checkEventBatch = (body: unknown): EventBatch => {
  const batch = object("", body)
  text("/deliveryId", batch["deliveryId"])
  text("/sentAt", batch["sentAt"])
  nonEmptyList("/events", batch["events"], "event").forEach((event, index) => checkEvent(`/events/${index}`, event))
  return batch as unknown as EventBatch
}

const checkEvent = (pointer: string, value: unknown): void => {
  const event = object(pointer, value)
  text(`${pointer}/eventId`, event["eventId"])
  text(`${pointer}/type`, event["type"])
  text(`${pointer}/occurredAt`, event["occurredAt"])
  const sequence = event["sequence"]
  if (!Number.isSafeInteger(sequence) || (sequence as number) < 0) {
    throw new EventBatchMalformed(`${pointer}/sequence`, "is not an integer from 0.")
  }
  text(`${pointer}/shipment/shipmentId`, object(`${pointer}/shipment`, event["shipment"])["shipmentId"])
}
