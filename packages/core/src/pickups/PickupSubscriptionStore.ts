/** Storage port: carriers' subscriptions to pickups. Their state and queue belong to the subscription's destination. */
import { Context, type Effect, type Option } from "effect"
import type { DestinationStatus } from "../delivery/DeliveryQueue.ts"
import type { ListRange } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StorageError.ts"

/** A carrier's subscription as core gives it to the store. Times are milliseconds since 1970. */
export interface PickupSubscriptionRecord {
  readonly id: string
  readonly client: string
  /** JSON that only core reads. */
  readonly doc: string
  readonly createdAt: number
  readonly updatedAt: number
  /** Whether new changes are queued for it. */
  readonly matched: boolean
}

/** A carrier's subscription as the store returns it, with the state of its destination. */
export interface StoredPickupSubscription extends Omit<PickupSubscriptionRecord, "matched"> {
  readonly destination: DestinationStatus
}

/** `from` inclusive, `to` exclusive; without `to` there is no end. */
export interface TimeRange {
  readonly from: number
  readonly to: number | undefined
}

/** Storage port: carriers' subscriptions to pickups. */
export class PickupSubscriptionStore extends Context.Service<PickupSubscriptionStore, {
  /** Stores a subscription. `PickupStore` queues changes for it from now on. The caller has already opened its destination. */
  readonly insert: (tenantId: string, record: PickupSubscriptionRecord) => Effect.Effect<void, StorageError>
  readonly update: (tenantId: string, record: PickupSubscriptionRecord) => Effect.Effect<void, StorageError>
  /** Finds the client's own subscription. With `forUpdate`, locks it and its destination until the transaction ends. */
  readonly find: (
    tenantId: string,
    client: string,
    id: string,
    forUpdate?: boolean
  ) => Effect.Effect<Option.Option<StoredPickupSubscription>, StorageError>
  /** Lists the client's own subscriptions in the order of their ids. */
  readonly list: (tenantId: string, client: string, range: ListRange) => Effect.Effect<ReadonlyArray<StoredPickupSubscription>, StorageError>
  /** `removed`: removed now. `gone`: the same client removed it before. `unknown`: anything else. The caller closes its destination. */
  readonly remove: (tenantId: string, client: string, id: string) => Effect.Effect<"removed" | "gone" | "unknown", StorageError>
  /** Documents of live subscriptions as JSON that only core reads. Ids of other areas are left out. */
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
  /** Whether the client may see changes of the pickup now, by any of its credentials. */
  readonly clientSees: (tenantId: string, client: string, pickupId: string) => Effect.Effect<boolean, StorageError>
  /** Queues entries of the work list again that the client may see now. Entries that still wait stay. Returns the number of entries. */
  readonly replay: (tenantId: string, id: string, range: TimeRange) => Effect.Effect<Option.Option<number>, StorageError>
}>()("@waybill/core/pickups/PickupSubscriptionStore") {}
