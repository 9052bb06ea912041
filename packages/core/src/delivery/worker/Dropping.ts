/** Drops entries that must not be sent. */
import { Effect } from "effect"
import type { StorageError } from "../../shared/StorageError.ts"
import { reportDropped } from "../DeliveryReport.ts"
import type { EngineState } from "./EngineState.ts"
import { type OwnedTenant, ownershipOf } from "./WorkSet.ts"

/** Maximum number of keys, and of deliveries, in one call. */
const namedAtOnce = 1000

/** Runs one step for a tenant. The rest follows in its next turn. */
export const dropUnsendable = ({ store, work }: EngineState, tenant: OwnedTenant): Effect.Effect<void, StorageError> => {
  const { closed, deliveries, keys } = tenant.drops
  const request = { closed: Array.from(closed), keys: keys.splice(0, namedAtOnce), deliveries: deliveries.splice(0, namedAtOnce) }
  return store.drop({
    tenantId: tenant.tenantId,
    owned: ownershipOf(tenant.partitions.values()),
    ...request,
    deliveries: request.deliveries.map(({ deliveryId }) => deliveryId)
  }).pipe(
    Effect.onError(() => Effect.sync(() => {
      keys.push(...request.keys)
      deliveries.push(...request.deliveries)
    })),
    Effect.flatMap(({ dropped, more }) => {
      if (more) keys.push(...request.keys)
      else for (const destinationId of request.closed) closed.delete(destinationId)
      // entries of a withdrawn delivery wait again
      const withdrawn = new Set(request.deliveries.map((each) => each.destinationId))
      for (const destinationId of new Set([...request.keys.map((each) => each.destinationId), ...withdrawn])) {
        const destination = work.destination(tenant.tenantId, destinationId)
        if (destination !== undefined) {
          destination.behind = true
          // a delivery that its client may see again waits as before
          if (withdrawn.has(destinationId)) destination.stale = true
          work.touch(destination)
        }
      }
      return dropped > 0 ? reportDropped(tenant.tenantId, "not_visible", dropped) : Effect.void
    })
  )
}
