/** Storage port: carriers' subscriptions to pickups. Their state and queue belong to the subscription's destination. */
import { Context, type Effect, type Option } from "effect"
import type { ListRange } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { EditableSubscriptionStore, StoredSubscriptionRow, SubscriptionRow } from "../subscriptions/EditableSubscriptionStore.ts"

/** `from` inclusive, `to` exclusive; without `to` there is no end. */
export interface TimeRange {
  readonly from: number
  readonly to: number | undefined
}

/** Storage port: carriers' subscriptions to pickups. `PickupStore` queues changes for them. */
export class PickupSubscriptionStore extends Context.Service<PickupSubscriptionStore, EditableSubscriptionStore<SubscriptionRow> & {
  /** Lists the client's own subscriptions in the order of their ids. */
  readonly list: (tenantId: string, client: string, range: ListRange) => Effect.Effect<ReadonlyArray<StoredSubscriptionRow>, StorageError>
  /** Whether the client may see changes of the pickup now, by any of its credentials. */
  readonly clientSees: (tenantId: string, client: string, pickupId: string) => Effect.Effect<boolean, StorageError>
  /** Queues entries of the work list again that the client may see now. Entries that still wait stay. Returns the number of entries. May commit in steps. */
  readonly replay: (tenantId: string, id: string, range: TimeRange) => Effect.Effect<Option.Option<number>, StorageError>
}>()("@waybill/core/pickups/PickupSubscriptionStore") {}
