/** Opens a subscription's destination within the quotas of its client and tenant. */
import { Effect } from "effect"
import { QuotaExceeded } from "../access/AccessErrors.ts"
import type { Limits, Quota } from "../access/model/Limits.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { DeliveryQueue, DestinationSettings } from "../delivery/DeliveryQueue.ts"

/** Call inside the transaction that stores the subscription; a refusal must roll it back. `quota` is the client's own for this area. */
export const openDestinationWithin = Effect.fnUntraced(function*(
  queue: DeliveryQueue["Service"],
  limits: Limits,
  quota: Quota,
  tenantId: string,
  destination: DestinationSettings
): Effect.fn.Return<void, QuotaExceeded | StorageError> {
  const ofClient = yield* queue.openDestination(tenantId, destination)
  if (ofClient > limits[quota]) return yield* new QuotaExceeded({ quota, limit: limits[quota] })
  const ofTenant = yield* queue.countDestinations(tenantId, limits.subscriptions)
  if (ofTenant > limits.subscriptions) return yield* new QuotaExceeded({ quota: "subscriptions", limit: limits.subscriptions })
})
