/** Storage port: the event log. An event is stored as the JSON bytes that are sent, with the keys that find it. */
import { Context, type Effect } from "effect"
import type { Visibility } from "../access/model/Principal.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { StoredSince } from "../shared/StoredSince.ts"
import type { EventFilter } from "./model/EventFilter.ts"
import type { EventKey } from "./model/EventPublication.ts"
import type { EventIdTaken, ShipmentNotOwn, CursorExpired } from "./TransitEventErrors.ts"

/** An event of the log. `body` is its JSON as it is sent. */
export interface StoredEvent extends EventKey {
  readonly sequence: number
  readonly body: Uint8Array
}

/** An event to store, with what filters and pages read. */
export interface NewEvent extends StoredEvent {
  readonly type: string
  /** The type's bit in a filter's mask. */
  readonly typeBit: number
  /** Milliseconds since 1970. */
  readonly occurredAt: number
}

/** The sequence numbers that one call needs for one shipment. */
export interface SequenceRequest {
  readonly shipmentId: string
  /** How many numbers to assign. */
  readonly needed: number
  /** The highest sequence that the sender assigned. The counter is never lower. */
  readonly highestGiven: number
  /** Accounts that may see the shipment from now on; `undefined` leaves them unchanged. */
  readonly accounts: ReadonlyArray<string> | undefined
}

/** A position in the order of the log. */
export type EventPosition = Omit<StoredEvent, "body">

/** A page of the event log. */
export interface PageRequest {
  readonly tenantId: string
  readonly visibility: Visibility
  readonly filter: EventFilter
  /** Snapshot of the earlier pages; `undefined` takes a new one. */
  readonly snapshot: string | undefined
  readonly after: EventPosition | undefined
  /** Number of results to skip after `after`. */
  readonly skip: number
  readonly limit: number
  /** Whether to count all results. The count is `null` where it would look at more than `countLimit` events, those of other types included. */
  readonly count: boolean
}

/** A page as the store returns it. */
export interface PageRows {
  readonly rows: ReadonlyArray<StoredEvent>
  readonly snapshot: string
  readonly totalCount: number | null
}

/** Cursor: the start of a page, on the snapshot of the first page. */
export interface PageCursor {
  readonly page: number
  readonly snapshot: string
  readonly after: EventPosition
  readonly totalCount: number | null
}

/** Where a count would look at more events, the total is unknown. SPEC-GAP-D18 */
export const countLimit = 100_000

/** How long a cursor stays on its snapshot, in milliseconds. SPEC-GAP-D19 */
export const cursorMillis = 30 * 60_000

/** Storage port of the event log: appends events with gap-free sequences, queues them for subscriptions, and reads pages. */
export class TransitEventStore extends Context.Service<TransitEventStore, {
  /** All events of these shipments, in (shipmentId, sequence, eventId) order. */
  readonly ofShipments: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredEvent>, StorageError>
  /**
   * The latest events of a shipment in descending (sequence, eventId) order, and the shipment's accounts. At most `limit` events, and no
   * more after `maxHistoryBytes`.
   */
  readonly recent: (
    tenantId: string,
    shipmentId: string,
    limit: number
  ) => Effect.Effect<{ readonly accounts: ReadonlyArray<string>; readonly events: ReadonlyArray<StoredEvent> }, StorageError>
  /** When Waybill stored the event, in milliseconds since 1970. */
  readonly storedAt: (tenantId: string, key: EventKey) => Effect.Effect<number | undefined, StorageError>
  /** Finds the stored events with these keys, which are distinct. Events of other shipments with the same ids cost nothing. */
  readonly find: (tenantId: string, keys: ReadonlyArray<EventKey>) => Effect.Effect<ReadonlyArray<StoredEvent>, StorageError>
  /** The stored events with this id, each of another shipment, by shipment; at most `limit`. For operators. */
  readonly withId: (tenantId: string, eventId: string, limit: number) => Effect.Effect<ReadonlyArray<StoredEvent>, StorageError>
  /**
   * SPEC-GAP-D16: locks the shipments until the transaction ends, and returns the first assigned number of each request. A rollback
   * releases the numbers, so a shipment's sequence has no gaps. `writer`: grants of a carrier with a number (`carrierOf`). A new
   * shipment belongs to it. If another carrier owns one of the shipments, the call fails and its transaction must be rolled back.
   */
  readonly allocate: (
    tenantId: string,
    requests: ReadonlyArray<SequenceRequest>,
    writer?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<number>, ShipmentNotOwn | StorageError>
  /** The carrier's grants of each shipment with data; an empty list for a shipment without carrier. */
  readonly carriers: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, StorageError>
  /**
   * Stores the events and queues them for every matching subscription, in the transaction of `allocate`. The cost depends on the number
   * of matching subscriptions, not of all. Returns the shipments that have a status.
   */
  readonly append: (
    tenantId: string,
    events: ReadonlyArray<NewEvent>,
    traceparent: string | undefined
  ) => Effect.Effect<ReadonlySet<string>, EventIdTaken | StorageError>
  /** Rows of one snapshot in (shipmentId, sequence, eventId) order. */
  readonly page: (request: PageRequest) => Effect.Effect<PageRows, CursorExpired | StorageError>
  /**
   * Events that were committed since a position, those of a shipment in their order; at most `limit`. Following the positions returns each event
   * once. `undefined` is the present end.
   */
  readonly since: (tenantId: string, visibility: Visibility, position: string | undefined, limit: number) => Effect.Effect<StoredSince<StoredEvent>, StorageError>
  /** Stores a cursor. A cursor for page 2 starts over and deletes the client's earlier cursors for this query. */
  readonly putCursor: (tenantId: string, queryKey: string, cursor: PageCursor) => Effect.Effect<void, StorageError>
  /** The stored cursor nearest to a page, at or before it and younger than `cursorMillis`. */
  readonly findCursor: (tenantId: string, queryKey: string, page: number) => Effect.Effect<PageCursor | undefined, StorageError>
}>()("@waybill/core/transit-events/TransitEventStore") {}
