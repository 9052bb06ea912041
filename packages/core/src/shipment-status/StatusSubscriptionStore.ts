/** Storage port: status subscriptions and their references. The queue belongs to the subscription's destination. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"

/** A status subscription as core gives it to the store. */
export interface StatusSubscriptionRecord {
  readonly id: string
  readonly client: string
  /** JSON that only core reads. */
  readonly doc: string
  /** Normalised references. They may belong to no shipment yet. */
  readonly references: ReadonlyArray<string>
  readonly createdAt: number
}

/** Storage port: status subscriptions by reference. */
export class StatusSubscriptionStore extends Context.Service<StatusSubscriptionStore, {
  /** Stores a subscription, which matches from now on. The caller has already opened its destination. */
  readonly insert: (tenantId: string, record: StatusSubscriptionRecord) => Effect.Effect<void, StorageError>
  /** Live subscriptions of the client to the one of these references that it follows most. More than `most` need not be counted. */
  readonly mostOfReference: (tenantId: string, client: string, references: ReadonlyArray<string>, most: number) => Effect.Effect<number, StorageError>
  /** Removes the client's own subscription. Returns whether it existed. It matches nothing afterwards; the caller closes its destination. */
  readonly remove: (tenantId: string, client: string, id: string) => Effect.Effect<boolean, StorageError>
  /** Documents of live subscriptions as JSON that only core reads. Ids of other areas are left out. */
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
}>()("@waybill/core/shipment-status/StatusSubscriptionStore") {}
