/** What a delivery carries: a batch of events under one delivery id (area D, EventBatch). */
import type { TransitEvent } from "./TransitEvent.ts"

export interface EventBatch {
  /** The same for every attempt of this delivery. */
  readonly deliveryId: string
  /** When the batch was first sent. */
  readonly sentAt: string
  /** At least one. */
  readonly events: ReadonlyArray<TransitEvent>
}

/** The bytes are no event batch. `pointer` says where. */
export class EventBatchMalformed extends Error {
  override readonly name = "EventBatchMalformed"
  /** JSON pointer; empty for the whole body. */
  readonly pointer: string

  constructor(pointer: string, sentence: string, options?: ErrorOptions) {
    super(`${pointer === "" ? "The body" : pointer} ${sentence}`, options)
    this.pointer = pointer
  }
}

const longestText = 1000

/**
 * Reads a delivery's body.
 *
 * Checks what a receiver relies on: that ids, type and times are there, and the sequence is a number. Anything else is
 * passed on as it came, with fields and event types this version has not heard of.
 */
export const parseEventBatch = (body: Uint8Array): EventBatch => {
  const batch = object("", readJson(body))
  text("/deliveryId", batch["deliveryId"])
  text("/sentAt", batch["sentAt"])
  const events = batch["events"]
  if (!Array.isArray(events) || events.length === 0) throw new EventBatchMalformed("/events", "is not a list of at least one event.")
  events.forEach((event, index) => checkEvent(`/events/${index}`, event))
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

const readJson = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch (cause) {
    throw new EventBatchMalformed("", "is not JSON in UTF-8.", { cause })
  }
}

const object = (pointer: string, value: unknown): Readonly<Record<string, unknown>> => {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new EventBatchMalformed(pointer, "is not an object.")
}

const text = (pointer: string, value: unknown): void => {
  if (typeof value === "string" && value !== "" && value.length <= longestText) return
  throw new EventBatchMalformed(pointer, `is not a text of 1 to ${longestText} characters.`)
}
