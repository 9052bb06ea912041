/** Storage port: who follows which references. The queue lives in the subscription's lane. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

export interface StatusSubscriptionRecord {
  readonly id: string
  readonly client: string
  /** JSON that only core reads. */
  readonly doc: string
  /** Normalised; they may belong to no shipment yet. */
  readonly references: ReadonlyArray<string>
  readonly createdAt: number
}

export class StatusSubscriptionStore extends Context.Service<StatusSubscriptionStore, {
  /** Stores it and matches it from now on; its lane is open already. */
  readonly insert: (tenantId: string, record: StatusSubscriptionRecord) => Effect.Effect<void, StorageError>
  /** The client's own only; whether there was one. Nothing matches it afterwards; its lane is closed by the caller. */
  readonly remove: (tenantId: string, client: string, id: string) => Effect.Effect<boolean, StorageError>
  /** What core keeps of the live subscriptions of these ids, as JSON that only core reads; ids that are none of this area's are left out. */
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
}>()("@waybill/core/shipment-status/StatusSubscriptionStore") {}
