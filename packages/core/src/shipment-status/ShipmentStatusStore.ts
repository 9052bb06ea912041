/**
 * Storage port: what is known of each shipment's movement, kept as the JSON bytes that lookups answer, beside the keys it is
 * found by. Core decides what the bytes are; the store keeps, finds and queues.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/** What the next report is applied to. */
export interface StoredStatus {
  readonly shipmentId: string
  /** JSON that only core reads. */
  readonly state: string
  /** The verified answer, every field. */
  readonly verified: Uint8Array
}

/** What a call says of a shipment's accounts and carrier; `undefined` leaves them as they are. They are the event log's as well. */
export interface StatusClaim {
  readonly shipmentId: string
  readonly accounts: ReadonlyArray<string> | undefined
  /** What the carrier is known by. Of a writer with a number it counts only where nothing was written before. */
  readonly carrier?: ReadonlyArray<string> | undefined
  /** Whether something of it is written now, and not only looked at. */
  readonly written?: boolean
}

export interface StatusWrite extends StoredStatus {
  /** The four fields that anybody may see. */
  readonly public: Uint8Array
  /** Whether lookups find it: its first milestone is known. */
  readonly covered: boolean
  /** When it was picked up, in milliseconds since 1970: bounds ranges, and decides between shipments that share a key. */
  readonly pickupAt: number
  /** When the consignee got it. */
  readonly deliveredAt: number | undefined
  /** Lookup keys (see `LookupKey`); `undefined` leaves them as they are. */
  readonly keys: ReadonlyArray<string> | undefined
  /** Normalised references that subscriptions name; `undefined` leaves them as they are. */
  readonly references: ReadonlyArray<string> | undefined
}

/** A notification to queue for whoever follows the shipment. */
export interface StatusNotice {
  readonly shipmentId: string
  /** Rising per shipment, without gaps. */
  readonly sequence: number
  readonly noticeId: string
  /** The JSON that goes out, as it goes out. */
  readonly body: Uint8Array
}

/** What became of one report. */
export interface StatusHistoryEntry {
  readonly shipmentId: string
  /** Rising per shipment, in the order the reports came. */
  readonly position: number
  /** When it happened, in milliseconds since 1970. */
  readonly occurredAt: number
  /** JSON that only core reads. */
  readonly doc: string
}

export interface StatusChanges {
  readonly statuses: ReadonlyArray<StatusWrite>
  readonly history: ReadonlyArray<StatusHistoryEntry>
  readonly notices: ReadonlyArray<StatusNotice>
  readonly traceparent: string | undefined
}

export interface StatusLookup {
  readonly key: string
  /** Whose freight is the caller's own: all of it, or what belongs to some accounts or to a carrier (none for a public lookup). */
  readonly own: "all" | ReadonlyArray<string>
}

/** The verified bytes leave the store only for whoever may see them. */
export type StatusFound =
  | { readonly own: true; readonly verified: Uint8Array }
  | { readonly own: false; readonly public: Uint8Array }

export interface StatusRecord extends StoredStatus {
  readonly accounts: ReadonlyArray<string>
  /** What its carrier is known by; empty for none. */
  readonly carrier: ReadonlyArray<string>
  readonly covered: boolean
  readonly history: ReadonlyArray<StatusHistoryEntry>
}

export interface RangeRequest {
  readonly account: string
  /** Inclusive bounds of the pick-up, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
  readonly limit: number
  /** Only shipments of this carrier. */
  readonly carrier?: ReadonlyArray<string> | undefined
}

/** What a number may stand for when nobody says what it is. */
export interface StatusSearch {
  readonly shipmentId: string
  /** Whole lookup keys. */
  readonly keys: ReadonlyArray<string>
  /** Beginnings of lookup keys that end where a part ends: in a blank. */
  readonly prefixes: ReadonlyArray<string>
}

export class ShipmentStatusStore extends Context.Service<ShipmentStatusStore, {
  /**
   * Locks the shipments until the transaction ends, in everybody's order, the ones the event log locks included; says whose
   * they are from now on; answers those that have a status. `writer` is what a carrier with a number is known by: statuses of
   * other carriers' shipments are left out.
   */
  readonly lock: (
    tenantId: string,
    claims: ReadonlyArray<StatusClaim>,
    writer?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<StoredStatus>, StorageError>
  /** The carrier of each of these shipments that something was written of; none is an empty list. */
  readonly carriers: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, StorageError>
  /** Statuses of shipments whose locks the caller holds already. */
  readonly read: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredStatus>, StorageError>
  /**
   * Stores statuses and history, and queues each notice in the lane of every subscription that names one of the shipment's
   * references and whose client may see the shipment now, as one fact. Matching costs what matches, not what exists.
   */
  readonly write: (tenantId: string, changes: StatusChanges) => Effect.Effect<void, StorageError>
  /**
   * The shipment of each key, covered or not; of several, the one picked up last (then the greatest shipmentId). With `carrier`, of its
   * shipments only, and of more than a thousand with one key those picked up last may be all that is looked at.
   */
  readonly resolve: (
    tenantId: string,
    keys: ReadonlyArray<string>,
    carrier?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string | undefined>, StorageError>
  /**
   * One covered shipment a lookup at most: of several, the caller's own first, then the one picked up last, then the greatest
   * shipmentId. Of more than a thousand with one key, those picked up last may be all that is looked at.
   */
  readonly find: (tenantId: string, lookups: ReadonlyArray<StatusLookup>) => Effect.Effect<ReadonlyArray<StatusFound | undefined>, StorageError>
  /** Verified answers of an account's covered shipments, by pick-up and shipmentId. */
  readonly findPickedUp: (tenantId: string, range: RangeRequest) => Effect.Effect<ReadonlyArray<Uint8Array>, StorageError>
  /** Whether any client or shipment of the tenant has the account; with `carrier`, any of its shipments. */
  readonly accountKnown: (tenantId: string, account: string, carrier?: ReadonlyArray<string>) => Effect.Effect<boolean, StorageError>
  /** Shipments, covered or not, of this id or with such a key: the one picked up last first, then the greatest shipmentId; `limit` at most. */
  readonly search: (tenantId: string, search: StatusSearch, limit: number) => Effect.Effect<ReadonlyArray<StoredStatus>, StorageError>
  /** All that is known of one shipment, history in order; with `newest`, so many of its last entries at most. */
  readonly record: (tenantId: string, shipmentId: string, newest?: number) => Effect.Effect<StatusRecord | undefined, StorageError>
  /**
   * Forgets shipments delivered before one instant with their history, and notices queued before another that no waiting
   * entry or unsettled or dead delivery refers to. Answers how many; at most a few thousand a call.
   */
  readonly prune: (
    tenantId: string,
    before: { readonly delivered: number; readonly noticed: number }
  ) => Effect.Effect<number, StorageError>
}>()("@waybill/core/shipment-status/ShipmentStatusStore") {}
