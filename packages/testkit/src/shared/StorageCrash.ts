/** Crashes of the storage in memory. */
import { Context, Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/**
 * A crash of the storage, as if a database lost its power and was started again at once. It loses the outcomes of deliveries that were written since anything else was:
 * their commits do not wait for the disk. Workers notice it and send those deliveries again under the same ids.
 */
export class StorageCrash extends Context.Service<StorageCrash, Effect.Effect<void>>()("@waybill/testkit/shared/StorageCrash") {
  static readonly layer = Layer.effect(StorageCrash, Effect.map(MemoryDatabase, ({ crash }) => crash))
}
