/** A pickup with its history, for the carrier. */
import { Schema } from "effect"
import { carrierNamed } from "../../access/model/CarrierNumbers.ts"
import { formatInstant, InstantText } from "../../shared/Instant.ts"
import { Count } from "../../shared/Members.ts"
import type { KeptPickup } from "./Pickup.ts"
import type { PickupReport } from "./PickupReport.ts"
import { type PickupRequest, ShownPickupRequest, shownRequest } from "./PickupRequest.ts"
import { PickupVisibility, visiblePickup } from "./PickupVisibility.ts"

const HistoryEntry = Schema.Struct({
  position: Count,
  at: InstantText,
  what: Schema.Literals(["ordered", "changed", "change requested", "change not accepted", "decided", "cancelled", "reported"]),
  /** The client that caused it. */
  by: Schema.String,
  /** The status after it. */
  status: Schema.String,
  /** The carrier's decision. */
  decision: Schema.optionalKey(Schema.Literals(["accept", "reject", "callUs"])),
  messages: Schema.optionalKey(Schema.Array(Schema.String)),
  request: Schema.optionalKey(ShownPickupRequest),
  report: Schema.optionalKey(Schema.Unknown)
}).annotate({ identifier: "PickupHistoryEntry" })

/** The stored content of a history entry. */
export interface PickupEvent extends Omit<typeof HistoryEntry.Type, "position" | "at" | "request" | "report"> {
  readonly request?: PickupRequest
  readonly report?: PickupReport
}

/** A pickup with its history, as carriers read it. */
export const PickupRecord = Schema.Struct({
  /** Waybill's id. */
  pickupId: Schema.String,
  carrierPickupNumber: Schema.NullOr(Schema.String),
  isTest: Schema.Boolean,
  client: Schema.String,
  accounts: Schema.Array(Schema.String),
  /** The carrier that decided it, in tenants with several carriers. */
  carrier: Schema.NullOr(Schema.Struct({ dot: Schema.optionalKey(Schema.String), mc: Schema.optionalKey(Schema.String) })),
  createdAt: InstantText,
  /** The request that waits for the carrier's decision: the order, or a change of it. */
  waiting: Schema.NullOr(ShownPickupRequest),
  request: ShownPickupRequest,
  /** `pickupConfirmationId` is empty while the pickup has no number. */
  visibility: PickupVisibility,
  history: Schema.Array(HistoryEntry)
}).annotate({ identifier: "PickupRecord" })
export type PickupRecord = typeof PickupRecord.Type

/** The record that carriers read, from what is stored. */
export const pickupRecord = (
  row: {
    readonly pickupId: string
    readonly number: string | undefined
    readonly isTest: boolean
    readonly client: string
    readonly accounts: ReadonlyArray<string>
    readonly carrier: ReadonlyArray<string> | undefined
    readonly createdAt: number
  },
  pickup: KeptPickup,
  history: ReadonlyArray<{ readonly position: number; readonly at: number; readonly event: PickupEvent }>
): PickupRecord => ({
  pickupId: row.pickupId,
  carrierPickupNumber: row.number ?? null,
  isTest: row.isTest,
  client: row.client,
  accounts: row.accounts,
  carrier: carrierNamed(row.carrier ?? []) ?? null,
  createdAt: formatInstant(row.createdAt),
  waiting: pickup.waiting === null ? null : shownRequest(pickup.waiting.request),
  request: shownRequest(pickup.request),
  visibility: visiblePickup(row.number ?? "", pickup),
  history: history.map(({ at, event: { request, ...event }, position }) => ({
    position,
    at: formatInstant(at),
    ...event,
    ...(request === undefined ? {} : { request: shownRequest(request) })
  }))
})
