/** Finds, opens and resumes the destination of a subscription. */
import { Effect } from "effect"
import { QuotaExceeded } from "../access/AccessErrors.ts"
import type { Limits, Quota } from "../access/model/Limits.ts"
import { DeliveryControl, type EndedPauses } from "../delivery/DeliveryControl.ts"
import { DestinationNotFound } from "../delivery/DeliveryErrors.ts"
import { DeliveryQueue, type DestinationOverview, type DestinationSettings } from "../delivery/DeliveryQueue.ts"
import { SigningSecrets } from "../delivery/secrets/SigningSecrets.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { idBefore } from "../shared/UniqueIds.ts"

/** By its id, with the current time by the store's clock. */
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

/**
 * Within the quotas of its client and tenant. Call inside the transaction that stores the subscription; a refusal must roll it back. `quota` is
 * the client's own for this area.
 */
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

/** The dead letter and the pause are written together, but their clock readings may differ. */
const recoverMarginMillis = 1000

interface Resumed {
  readonly destinationId: string
  readonly client: string
  /** The secret that its client has to own still, if any. */
  readonly secretId: string | undefined
  /** Since when dead letters pause it, if they do: deliveries that failed since then are sent again under their ids. SPEC-GAP-E19 */
  readonly pausedSince: number | undefined
}

/** Returns whether it was paused, by one of these pauses. */
export const makeResumeDestination = Effect.gen(function*() {
  const queue = yield* DeliveryQueue
  const control = yield* DeliveryControl
  const secrets = yield* SigningSecrets
  const transaction = yield* Transaction
  const wakeups = yield* Wakeups

  return Effect.fnUntraced(function*(tenantId: string, { client, destinationId, pausedSince, secretId }: Resumed, pauses: EndedPauses) {
    const resumed = yield* transaction.run(Effect.gen(function*() {
      if (secretId !== undefined) yield* secrets.checkUse(tenantId, secretId, client)
      // another pause may have been set since it was read
      if ((yield* control.resume(tenantId, destinationId, pauses)) !== "changed") return false
      if (pausedSince !== undefined) yield* queue.recover(tenantId, destinationId, pausedSince - recoverMarginMillis)
      return true
    }))
    if (resumed) yield* wakeups.wake(tenantId)
    return resumed
  })
})
