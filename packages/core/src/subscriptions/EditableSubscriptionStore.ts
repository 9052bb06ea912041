/** The common part of the storage ports of subscriptions that their clients may change. */
import type { Effect, Option } from "effect"
import type { DestinationStatus } from "../delivery/DeliveryQueue.ts"
import type { SubscriptionDocuments } from "../shared/Area.ts"
import type { StorageError } from "../shared/StoragePort.ts"

/** A subscription as core gives it to the store. Times are milliseconds since 1970. */
export interface SubscriptionRow {
  readonly id: string
  readonly client: string
  /** JSON that only core reads. */
  readonly doc: string
  readonly createdAt: number
  readonly updatedAt: number
  /** Whether new entries are queued for it. */
  readonly matched: boolean
}

/** A subscription as the store returns it, with the state of its destination. */
export interface StoredSubscriptionRow extends Pick<SubscriptionRow, "id" | "client" | "doc" | "createdAt" | "updatedAt"> {
  readonly destination: DestinationStatus
}

/** Documents of live subscriptions are JSON that only core reads; ids of other areas are left out. */
export interface EditableSubscriptionStore<Row extends SubscriptionRow> extends Pick<SubscriptionDocuments, "documents"> {
  /** Stores a subscription, for which entries are queued from now on. The caller has already opened its destination. */
  readonly insert: (tenantId: string, row: Row) => Effect.Effect<void, StorageError>
  readonly update: (tenantId: string, row: Row) => Effect.Effect<void, StorageError>
  /** Finds the client's own subscription. `forUpdate` locks it and its destination until the transaction ends. */
  readonly find: (tenantId: string, client: string, id: string, forUpdate?: boolean) => Effect.Effect<Option.Option<StoredSubscriptionRow>, StorageError>
  /**
   * `removed`: removed now. `gone`: the same client removed it before, and it was not pruned since. `unknown`: anything else. Nothing is queued for it
   * afterwards; the caller closes its destination.
   */
  readonly remove: (tenantId: string, client: string, id: string) => Effect.Effect<"removed" | "gone" | "unknown", StorageError>
  /** Forgets subscriptions that were removed before an instant. Returns their number; at most a few thousand per call. */
  readonly prune: (tenantId: string, removedBefore: number) => Effect.Effect<number, StorageError>
}
