/** The carrier's work list: each order, change, cancellation, decision and report of a pickup. */
import { Schema } from "effect"
import { formatInstant, InstantText } from "../../shared/Instant.ts"
import { ListCursor, ListLimit } from "../../shared/ListPage.ts"
import type { KeptPickup } from "./Pickup.ts"
import type { PickupEvent } from "./PickupRecord.ts"
import { ShownPickupRequest, shownRequest } from "./PickupRequest.ts"
import { pickupStatuses, readPickupStatus } from "./PickupStatus.ts"

/** What an entry of the work list is about. */
export const pickupChangeKinds = ["ordered", "changed", "cancelled", "decided", "status"] as const

/** An entry of the work list, also in webhooks to carriers. */
export const PickupChangeEntry = Schema.Struct({
  at: InstantText,
  change: Schema.Literals(pickupChangeKinds),
  /** Waybill's id, from the order on. */
  pickupId: Schema.String,
  /** The carrierPickupNumber; `null` until there is one. */
  confirmationNumber: Schema.NullOr(Schema.String),
  /** The status after the change. */
  status: Schema.String,
  /** The request as it is agreed; the requested one where a change is requested. */
  request: ShownPickupRequest
}).annotate({ identifier: "PickupChangeEntry" })
export type PickupChangeEntry = typeof PickupChangeEntry.Type

/** `cursor` continues where a page ended; `since` is where a list without cursor starts. SPEC-GAP-C36 */
export const PickupChangeQuery = Schema.Struct({
  since: Schema.optionalKey(InstantText),
  status: Schema.optionalKey(Schema.String.check(Schema.makeFilter((text: string) =>
    readPickupStatus(text) !== undefined || `status is one of ${pickupStatuses.join(", ")}.`
  ))),
  cursor: ListCursor,
  limit: ListLimit
})
/** A query of the work list as it is sent. */
export type PickupChangeQueryInput = typeof PickupChangeQuery.Encoded

const kinds = {
  "ordered": "ordered",
  "changed": "changed",
  "change requested": "changed",
  "change not accepted": "decided",
  "decided": "decided",
  "cancelled": "cancelled",
  "reported": "status"
} as const satisfies Readonly<Record<PickupEvent["what"], PickupChangeEntry["change"]>>

const encoder = new TextEncoder()

/** The entry as the JSON bytes that are listed and sent. */
export const pickupChangeBody = (
  { number, pickupId }: { readonly pickupId: string; readonly number: string | undefined },
  pickup: KeptPickup,
  at: number,
  event: PickupEvent
): Uint8Array => {
  const entry: PickupChangeEntry = {
    at: formatInstant(at),
    change: kinds[event.what],
    pickupId,
    confirmationNumber: number ?? null,
    status: event.status,
    request: shownRequest(event.what === "change requested" && event.request !== undefined ? event.request : pickup.request)
  }
  return encoder.encode(JSON.stringify(entry))
}
