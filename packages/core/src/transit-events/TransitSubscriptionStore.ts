/** Storage port: who wants which transit events. Status and queue live in the subscription's lane. */
import { Context, type Effect, type Option } from "effect"
import type { LaneState, LaneStatus } from "../delivery/DeliveryQueue.ts"
import type { StorageError } from "../shared/StorageError.ts"

export interface SubscriptionRecord {
  readonly id: string
  readonly client: string
  /** JSON that only core reads. */
  readonly doc: string
  readonly createdAt: number
  readonly updatedAt: number
  /** Event types as bits. */
  readonly typeMask: number
  /** `undefined`: all that its client may see. */
  readonly shipmentIds: ReadonlyArray<string> | undefined
  /** Whether new events are matched against it at all. */
  readonly matched: boolean
}

export interface StoredSubscription {
  readonly id: string
  readonly client: string
  readonly doc: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly lane: LaneStatus
}

export interface ReplayRequest {
  /** Instants the service stored the events at: from inclusive, to exclusive. SPEC-GAP-D22 */
  readonly from: number
  readonly to: number | undefined
  readonly shipmentIds: ReadonlyArray<string> | undefined
}

export class TransitSubscriptionStore extends Context.Service<TransitSubscriptionStore, {
  /**
   * Stores it and matches it from now on; its lane is open already. SPEC-GAP-D13: when it names shipments, every earlier event of
   * them that its client may see is queued first; events being published at that moment are neither missed nor doubled.
   */
  readonly insert: (tenantId: string, record: SubscriptionRecord) => Effect.Effect<void, StorageError>
  readonly update: (tenantId: string, record: SubscriptionRecord) => Effect.Effect<void, StorageError>
  /** The client's own only. */
  readonly find: (tenantId: string, client: string, id: string) => Effect.Effect<Option.Option<StoredSubscription>, StorageError>
  /** The same, locked until the transaction ends together with its lane: what it says of the lane stays true. */
  readonly findForUpdate: (tenantId: string, client: string, id: string) => Effect.Effect<Option.Option<StoredSubscription>, StorageError>
  /** The client's own in this state, by id. */
  readonly page: (
    tenantId: string,
    client: string,
    state: LaneState,
    range: { readonly skip: number; readonly limit: number }
  ) => Effect.Effect<{ readonly rows: ReadonlyArray<StoredSubscription>; readonly totalCount: number }, StorageError>
  /**
   * `removed` now, `gone` when the same client removed it before, `unknown` otherwise. Nothing matches it afterwards;
   * its lane is closed by the caller.
   */
  readonly remove: (tenantId: string, client: string, id: string) => Effect.Effect<"removed" | "gone" | "unknown", StorageError>
  /** What core keeps of the live subscriptions of these ids, as JSON that only core reads; ids that are none of this area's are left out. */
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
  /** Whether the client may see the shipment now, by whatever credentials it has. */
  readonly clientSees: (tenantId: string, client: string, shipmentId: string) => Effect.Effect<boolean, StorageError>
  /** Queues history once more, limited to what the subscription's filters and client admit now. Answers how many events. */
  readonly replay: (tenantId: string, id: string, request: ReplayRequest) => Effect.Effect<Option.Option<number>, StorageError>
}>()("@waybill/core/transit-events/TransitSubscriptionStore") {}
