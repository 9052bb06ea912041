/** Hints between workers of one process. None is lost, so a worker in memory needs no polling. */
import { type WakeableWorker, Wakeups } from "@waybill/core/delivery"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"

export const WakeupsMemory = {
  layer: Layer.effect(Wakeups, Effect.map(MemoryDatabase, ({ atCommit }) => {
    const workers = new Set<WakeableWorker>()
    return Wakeups.of({
      wake: (tenantId) =>
        atCommit(() => {
          for (const worker of workers) worker.hint(tenantId)
        }),
      serve: (worker) => Effect.acquireRelease(Effect.sync(() => void workers.add(worker)), () => Effect.sync(() => workers.delete(worker)))
    })
  }))
}
