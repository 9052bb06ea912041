/** Wakes waiting calls of one process. */
import { PickupSignals, WaitingCalls } from "@waybill/core/pickups"
import { storeLayer } from "../shared/StoreLayer.ts"

export const layer = storeLayer(PickupSignals, {}, ({ atCommit }) => {
  const calls = new WaitingCalls()
  const keyOf = (tenantId: string, pickupId: string) => JSON.stringify([tenantId, pickupId])
  return {
    decided: (tenantId, pickupId) => atCommit(() => calls.wake(keyOf(tenantId, pickupId))),
    listen: (tenantId, pickupId) => calls.listen(keyOf(tenantId, pickupId))
  }
})
