/** Wakes waiting calls of one process. */
import { PickupSignals, WaitingCalls } from "@waybill/core/pickups"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"

export const PickupSignalsMemory = {
  layer: Layer.effect(PickupSignals, Effect.map(MemoryDatabase, ({ atCommit }) => {
    const calls = new WaitingCalls()
    const keyOf = (tenantId: string, pickupId: string) => JSON.stringify([tenantId, pickupId])
    return PickupSignals.of({
      decided: (tenantId, pickupId) => atCommit(() => calls.wake(keyOf(tenantId, pickupId))),
      listen: (tenantId, pickupId) => calls.listen(keyOf(tenantId, pickupId))
    })
  }))
}
