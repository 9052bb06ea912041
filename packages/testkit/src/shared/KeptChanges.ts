/** How much of what was done to the memory storage has stayed: a call that is refused must not move it. */
import { Context, Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

export class KeptChanges extends Context.Service<KeptChanges, {
  /** Single changes to single records since it was built, without those that were rolled back, and without records of calls: the audit log, and when a client was last seen. */
  readonly count: () => number
  /** Records, members of lists and the like that are there more than when it was built. */
  readonly entries: () => number
}>()("@waybill/testkit/shared/KeptChanges") {
  static readonly layer = Layer.effect(KeptChanges, Effect.map(MemoryDatabase, ({ journal }) => 
    KeptChanges.of({ count: () => journal.kept, entries: () => journal.entries })))
}
