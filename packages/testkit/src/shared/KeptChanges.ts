/** Counts changes of the memory storage that were kept: a refused call must not change the count. */
import { Context, Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** Counts what was written, to prove that a refused call wrote nothing. */
export class KeptChanges extends Context.Service<KeptChanges, {
  /** Record changes since the storage was built, without rolled-back ones and without records of calls: the audit log, and when a client was last seen. */
  readonly count: () => number
  /** Records and list members added since the storage was built. */
  readonly entries: () => number
}>()("@waybill/testkit/shared/KeptChanges") {
  static readonly layer = Layer.effect(KeptChanges, Effect.map(MemoryDatabase, ({ journal }) => 
    KeptChanges.of({ count: () => journal.kept, entries: () => journal.entries })))
}
