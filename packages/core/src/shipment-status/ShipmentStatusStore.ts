/**
 * Storage port: the status of each shipment as the JSON bytes of its lookup answers, with the keys that find it. Core creates the bytes;
 * the store keeps, finds and queues them.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"

/** A stored status, the base for the next report. */
export interface StoredStatus {
  readonly shipmentId: string
  /** JSON that only core reads. */
  readonly state: string
  /** The full lookup answer, for callers that own the freight. */
  readonly verified: Uint8Array
}

/** A shipment's accounts and carrier as a call states them; `undefined` leaves them unchanged. Shared with the event log. */
export interface StatusClaim {
  readonly shipmentId: string
  readonly accounts: ReadonlyArray<string> | undefined
  /** The carrier's grants. From a writer with a DOT or MC number they count only for a shipment without earlier data. */
  readonly carrier?: ReadonlyArray<string> | undefined
  /** Whether the call writes data of the shipment, and does not only lock it. */
  readonly written?: boolean
}

/** A status to store, with both answers as JSON bytes and what lookups find it by. */
export interface StatusWrite extends StoredStatus {
  /** The four public fields. */
  readonly public: Uint8Array
  /** Whether lookups find the shipment: its first milestone is known. SPEC-GAP-A33 */
  readonly covered: boolean
  /** Pickup time in milliseconds since 1970. Used for range queries, and to choose between shipments that share a key. */
  readonly pickupAt: number
  /** Delivery time to the consignee, in milliseconds since 1970. */
  readonly deliveredAt: number | undefined
  /** Lookup keys (see `LookupKey`); `undefined` leaves them unchanged. */
  readonly keys: ReadonlyArray<string> | undefined
  /** Normalised references for subscriptions; `undefined` leaves them unchanged. */
  readonly references: ReadonlyArray<string> | undefined
}

/** A notification for the shipment's subscribers. */
export interface StatusNotice {
  readonly shipmentId: string
  /** Increases by 1 per shipment, without gaps. */
  readonly sequence: number
  readonly noticeId: string
  /** The JSON bytes that are sent. */
  readonly body: Uint8Array
}

/** The result of one report. */
export interface StatusHistoryEntry {
  readonly shipmentId: string
  /** Increases per shipment, in the order of arrival. */
  readonly position: number
  /** Time of the event in milliseconds since 1970. */
  readonly occurredAt: number
  /** JSON that only core reads. */
  readonly doc: string
}

/** What one call stores: statuses, history, and notifications for subscribers. */
export interface StatusChanges {
  readonly statuses: ReadonlyArray<StatusWrite>
  readonly history: ReadonlyArray<StatusHistoryEntry>
  readonly notices: ReadonlyArray<StatusNotice>
  readonly traceparent: string | undefined
}

/** A lookup by one normalised key. */
export interface StatusLookup {
  readonly key: string
  /** The freight that the caller owns: all of the tenant, or freight with one of these grants. Empty for a public lookup. */
  readonly own: "all" | ReadonlyArray<string>
}

/** The store returns the verified bytes only to callers that may see them. */
export type StatusFound =
  | { readonly own: true; readonly verified: Uint8Array }
  | { readonly own: false; readonly public: Uint8Array }

/** A stored status with its history. */
export interface StatusRecord extends StoredStatus {
  readonly accounts: ReadonlyArray<string>
  /** The carrier's grants; empty when the shipment has no carrier. */
  readonly carrier: ReadonlyArray<string>
  readonly covered: boolean
  readonly history: ReadonlyArray<StatusHistoryEntry>
}

/** A query by account and pickup time (area A). */
export interface RangeRequest {
  readonly account: string
  /** Inclusive bounds of the pickup time, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
  readonly limit: number
  /** There is no further shipment after so many bytes of answers. */
  readonly bytes: number
  /** Limits the result to shipments of this carrier. */
  readonly carrier?: ReadonlyArray<string> | undefined
}

/** Search terms for a number of unknown kind. */
export interface StatusSearch {
  readonly shipmentId: string
  /** Complete lookup keys. */
  readonly keys: ReadonlyArray<string>
  /** Prefixes of lookup keys. Each ends with a blank, so that it ends at a part of the key. */
  readonly prefixes: ReadonlyArray<string>
}

/** Storage port: the status of each shipment, its lookup keys and history, and notifications about it. */
export class ShipmentStatusStore extends Context.Service<ShipmentStatusStore, {
  /**
   * Locks the shipments until the transaction ends, in one fixed order. The event log uses the same locks. Stores the claimed accounts
   * and carriers, and returns the status of each shipment that has one. `writer`: grants of a carrier with a number; statuses of other
   * carriers' shipments are left out.
   */
  readonly lock: (
    tenantId: string,
    claims: ReadonlyArray<StatusClaim>,
    writer?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<StoredStatus>, StorageError>
  /** The carrier's grants of each shipment with data; an empty list for a shipment without carrier. */
  readonly carriers: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, StorageError>
  /** Statuses of shipments that the caller has already locked. */
  readonly read: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredStatus>, StorageError>
  /**
   * Stores statuses and history. Queues each notice for every subscription that names one of the shipment's references and whose client
   * may see the shipment now. All in one transaction. The cost depends on the number of matching subscriptions, not of all.
   */
  readonly write: (tenantId: string, changes: StatusChanges) => Effect.Effect<void, StorageError>
  /**
   * Finds the shipment of each key, with or without a milestone. If several match, the latest pickup wins, then the greatest shipmentId.
   * `carrier` limits the search to its shipments; then, if more than 1,000 share a key, only the latest 1,000 pickups may be searched.
   */
  readonly resolve: (
    tenantId: string,
    keys: ReadonlyArray<string>,
    carrier?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string | undefined>, StorageError>
  /**
   * Finds at most one shipment with a milestone per lookup. If several match, the caller's own comes first, then the latest pickup, then
   * the greatest shipmentId. If more than 1,000 share a key, only the latest 1,000 pickups may be searched.
   */
  readonly find: (tenantId: string, lookups: ReadonlyArray<StatusLookup>) => Effect.Effect<ReadonlyArray<StatusFound | undefined>, StorageError>
  /** Full answers of an account's shipments with a milestone, in the order of pickup and shipmentId. */
  readonly findPickedUp: (tenantId: string, range: RangeRequest) => Effect.Effect<ReadonlyArray<Uint8Array>, StorageError>
  /** Whether any client or shipment of the tenant has the account; with `carrier`, any of this carrier's shipments. */
  readonly accountKnown: (tenantId: string, account: string, carrier?: ReadonlyArray<string>) => Effect.Effect<boolean, StorageError>
  /**
   * Finds shipments, with or without a milestone, by id or key: latest pickup first, then greatest shipmentId; at most `limit`. If more than
   * 1,000 have a prefix, not all of them may be searched.
   */
  readonly search: (tenantId: string, search: StatusSearch, limit: number) => Effect.Effect<ReadonlyArray<StoredStatus>, StorageError>
  /** Everything stored about one shipment, with its history in order; with `newest`, at most that many of the latest entries; no older ones after `maxHistoryBytes`. */
  readonly record: (tenantId: string, shipmentId: string, newest?: number) => Effect.Effect<StatusRecord | undefined, StorageError>
  /**
   * Deletes shipments delivered before `delivered`, with their history, and notices queued before `noticed` that no waiting entry and no
   * unfinished or dead delivery refers to. Returns their number; at most a few thousand per call.
   */
  readonly prune: (
    tenantId: string,
    before: { readonly delivered: number; readonly noticed: number }
  ) => Effect.Effect<number, StorageError>
}>()("@waybill/core/shipment-status/ShipmentStatusStore") {}
