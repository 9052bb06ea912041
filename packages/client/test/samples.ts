/** Events and batches as a sender would write them. */
import type { EventBatch, TransitEvent } from "../src/transit-events/index.ts"

export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
export const otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

export const eventOf = (shipmentId: string, sequence: number, more: Partial<TransitEvent> = {}): TransitEvent => ({
  eventId: `${shipmentId}-${sequence}`,
  type: "IN_TRANSIT",
  occurredAt: "2026-11-20T08:15:00-06:00",
  sequence,
  shipment: { shipmentId, origin: { city: "Omaha" }, destination: { city: "Tulsa" } },
  ...more
})

export const batchOf = (deliveryId: string, events: ReadonlyArray<TransitEvent>): EventBatch => ({
  deliveryId,
  sentAt: "2026-11-20T14:15:00.000Z",
  events
})

export const bytesOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))
