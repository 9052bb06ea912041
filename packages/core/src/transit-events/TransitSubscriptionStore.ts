/** Storage port: transit event subscriptions. Their state and queue belong to the subscription's destination. */
import { Context, type Effect, type Option } from "effect"
import type { DestinationState, DestinationStatus } from "../delivery/DeliveryQueue.ts"
import type { StorageError } from "../shared/StorageError.ts"

/** A subscription as core gives it to the store. Times are milliseconds since 1970. */
export interface SubscriptionRecord {
  readonly id: string
  readonly client: string
  /** JSON that only core reads. */
  readonly doc: string
  readonly createdAt: number
  readonly updatedAt: number
  /** Event types as a bit mask. */
  readonly typeMask: number
  /** `undefined`: every shipment that the client may see. */
  readonly shipmentIds: ReadonlyArray<string> | undefined
  /** Whether new events are matched against it. */
  readonly matched: boolean
}

/** A subscription as the store returns it, with the state of its destination. */
export interface StoredSubscription extends Pick<SubscriptionRecord, "id" | "client" | "doc" | "createdAt" | "updatedAt"> {
  readonly destination: DestinationStatus
}

/** Which stored events a replay queues again. Times are milliseconds since 1970. */
export interface ReplayRequest {
  /** When Waybill stored the events: `from` inclusive, `to` exclusive. SPEC-GAP-D22 */
  readonly from: number
  readonly to: number | undefined
  readonly shipmentIds: ReadonlyArray<string> | undefined
}

/** Storage port: subscriptions to events, their filters and what they matched. */
export class TransitSubscriptionStore extends Context.Service<TransitSubscriptionStore, {
  /**
   * Stores a subscription, which matches from now on. The caller has already opened its destination. SPEC-GAP-D13: if it names shipments,
   * their earlier events that the client may see are queued first. Concurrently published events are neither missed nor duplicated.
   */
  readonly insert: (tenantId: string, record: SubscriptionRecord) => Effect.Effect<void, StorageError>
  readonly update: (tenantId: string, record: SubscriptionRecord) => Effect.Effect<void, StorageError>
  /** Finds the client's own subscription. `forUpdate` locks it and its destination until the transaction ends. */
  readonly find: (tenantId: string, client: string, id: string, forUpdate?: boolean) => Effect.Effect<Option.Option<StoredSubscription>, StorageError>
  /** Lists the client's own subscriptions in this state, in the order of their ids. One that was removed ends with its destination, in one transaction. */
  readonly page: (
    tenantId: string,
    client: string,
    state: DestinationState,
    range: { readonly skip: number; readonly limit: number }
  ) => Effect.Effect<{ readonly rows: ReadonlyArray<StoredSubscription>; readonly totalCount: number }, StorageError>
  /**
   * `removed`: removed now. `gone`: the same client removed it before. `unknown`: anything else. It matches nothing afterwards; the
   * caller closes its destination.
   */
  readonly remove: (tenantId: string, client: string, id: string) => Effect.Effect<"removed" | "gone" | "unknown", StorageError>
  /** Documents of live subscriptions as JSON that only core reads. Ids of other areas are left out. */
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
  /** Whether the client may see the shipment now, by any of its credentials. */
  readonly clientSees: (tenantId: string, client: string, shipmentId: string) => Effect.Effect<boolean, StorageError>
  /** Queues stored events again, if the subscription's filters and the client's access admit them now. Returns the number of events. */
  readonly replay: (tenantId: string, id: string, request: ReplayRequest) => Effect.Effect<Option.Option<number>, StorageError>
}>()("@waybill/core/transit-events/TransitSubscriptionStore") {}
