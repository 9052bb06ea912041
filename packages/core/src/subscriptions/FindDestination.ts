/** Finds a subscription's destination by its id. */
import { Effect } from "effect"
import { DestinationNotFound } from "../delivery/DeliveryErrors.ts"
import type { DeliveryQueue, DestinationOverview } from "../delivery/DeliveryQueue.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { idBefore } from "../shared/UniqueIds.ts"

/** With the current time by the store's clock. */
export const findDestination = Effect.fnUntraced(function*(
  queue: DeliveryQueue["Service"],
  tenantId: string,
  destinationId: string
): Effect.fn.Return<{ readonly destination: DestinationOverview; readonly now: number }, DestinationNotFound | StorageError> {
  const after = idBefore(destinationId)
  if (after === undefined) return yield* new DestinationNotFound({ destinationId })
  // lists are ordered by id, so it is the first one after the previous id
  const { destinations: [destination], now } = yield* queue.destinations(tenantId, { state: undefined, after, limit: 1 })
  if (destination?.destinationId !== destinationId) return yield* new DestinationNotFound({ destinationId })
  return { destination, now }
})
