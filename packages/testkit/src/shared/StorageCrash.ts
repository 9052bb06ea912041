/** Crashes of the storage in memory. */
import { Context, Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/**
 * A crash of the storage, as if a database lost its power and was started again at once. It loses the outcomes of deliveries that were written since anything else was:
 * their commits do not wait for the disk. Workers notice it and send those deliveries again under the same ids.
 *
 * With a number, it loses only the newest of these writes, at most so many, as if the disk had the older ones already. Returns how many it lost.
 */
export class StorageCrash extends Context.Service<StorageCrash, (newest?: number) => Effect.Effect<number>>()("@waybill/testkit/shared/StorageCrash") {
  static readonly layer = Layer.effect(StorageCrash, Effect.map(MemoryDatabase, ({ crash }) => crash))
}
