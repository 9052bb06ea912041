/** Storage port: the event log. An event is kept as the JSON bytes that go out, beside the keys it is found by. */
import { Context, type Effect } from "effect"
import type { Visibility } from "../access/model/Principal.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { EventFilter } from "./model/EventFilter.ts"
import type { EventIdTaken, ShipmentNotOwn, WalkExpired } from "./TransitEventErrors.ts"

export interface StoredEvent {
  readonly eventId: string
  readonly shipmentId: string
  readonly sequence: number
  readonly body: Uint8Array
}

export interface NewEvent extends StoredEvent {
  readonly type: string
  /** The type's bit in a filter's mask. */
  readonly typeBit: number
  /** Milliseconds since 1970. */
  readonly occurredAt: number
}

/** What one call needs of one shipment's counter. */
export interface SequenceRequest {
  readonly shipmentId: string
  /** Numbers to assign. */
  readonly needed: number
  /** The highest sequence the sender gave itself; the counter never falls behind it. */
  readonly highestGiven: number
  /** Who may see the shipment from now on; `undefined` leaves it as it is. */
  readonly accounts: ReadonlyArray<string> | undefined
}

/** A place in the order of the log. */
export interface EventPosition {
  readonly shipmentId: string
  readonly sequence: number
  readonly eventId: string
}

export interface PageRequest {
  readonly tenantId: string
  readonly visibility: Visibility
  readonly filter: EventFilter
  /** What earlier pages saw; `undefined` sees everything there is now. */
  readonly snapshot: string | undefined
  readonly after: EventPosition | undefined
  /** Results to pass over from there. */
  readonly skip: number
  readonly limit: number
  /** Whether to count all results; the count stops at `countLimit` and is then unknown. */
  readonly count: boolean
}

export interface PageRows {
  readonly rows: ReadonlyArray<StoredEvent>
  readonly snapshot: string
  readonly totalCount: number | null
}

/** Where a page of a walk begins. */
export interface PageMark {
  readonly page: number
  readonly snapshot: string
  readonly after: EventPosition
  readonly totalCount: number | null
}

/** Beyond this many results a total is unknown. SPEC-GAP-D18 */
export const countLimit = 100_000

/** How long the pages of a walk hold still. SPEC-GAP-D19 */
export const walkMillis = 30 * 60_000

export class TransitEventStore extends Context.Service<TransitEventStore, {
  /** Everything stored of these shipments, by (shipmentId, sequence, eventId). */
  readonly ofShipments: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredEvent>, StorageError>
  /** The last events of a shipment by (sequence, eventId), last first, and whose it is. */
  readonly recent: (
    tenantId: string,
    shipmentId: string,
    limit: number
  ) => Effect.Effect<{ readonly accounts: ReadonlyArray<string>; readonly events: ReadonlyArray<StoredEvent> }, StorageError>
  /** When the service stored the event, in milliseconds since 1970. */
  readonly storedAt: (tenantId: string, eventId: string) => Effect.Effect<number | undefined, StorageError>
  /** Those of the ids that are stored. */
  readonly find: (tenantId: string, eventIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredEvent>, StorageError>
  /**
   * SPEC-GAP-D16: locks the shipments until the transaction ends and answers, request by request, the first number assigned. Numbers of
   * a transaction that is rolled back are given out again, so a shipment's sequence has no gaps. `writer` is what a carrier with a
   * number is known by (`carrierOf`): what it writes first is its own, and of others it may write nothing: take back the transaction then.
   */
  readonly allocate: (
    tenantId: string,
    requests: ReadonlyArray<SequenceRequest>,
    writer?: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<number>, ShipmentNotOwn | StorageError>
  /** The carrier of each of these shipments that something was written of; none is an empty list. */
  readonly carriers: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, StorageError>
  /**
   * Stores the events and queues them in the lane of every subscription that matches, as one fact. Call inside the
   * transaction of `allocate`. Matching costs what matches, not what exists. Answers those of the shipments that have a status.
   */
  readonly append: (
    tenantId: string,
    events: ReadonlyArray<NewEvent>,
    traceparent: string | undefined
  ) => Effect.Effect<ReadonlySet<string>, EventIdTaken | StorageError>
  /** Rows in (shipmentId, sequence, eventId) order of one snapshot. */
  readonly page: (request: PageRequest) => Effect.Effect<PageRows, WalkExpired | StorageError>
  /** Remembers where a walk's page begins. Page 2 starts the walk anew and forgets its earlier marks. */
  readonly putMark: (tenantId: string, walkKey: string, mark: PageMark) => Effect.Effect<void, StorageError>
  /** The nearest mark at or before a page, younger than `walkMillis`. */
  readonly findMark: (tenantId: string, walkKey: string, page: number) => Effect.Effect<PageMark | undefined, StorageError>
}>()("@waybill/core/transit-events/TransitEventStore") {}
