/** Loads destinations that are unknown or have changed, before anything is taken from them. */
import { Effect } from "effect"
import type { StorageError } from "../../shared/StoragePort.ts"
import { reportPaused } from "../DeliveryReport.ts"
import { type Destination, loadInto, pause, secretOpened } from "./Destination.ts"
import type { EngineState } from "./EngineState.ts"
import type { OwnedTenant } from "./WorkSet.ts"
import { closedBreaker } from "../model/Breaker.ts"
import { monotonicMillis } from "../../shared/MonotonicTime.ts"

/** Loads destinations, and pauses those whose client may no longer use their secret. */
export const loadDestinations = (parts: EngineState, tenant: OwnedTenant, unknown: ReadonlyArray<Destination>): Effect.Effect<void, StorageError> => {
  const { outcomes, services, store, work } = parts
  const since = work.nextEvent()
  for (const destination of unknown) {
    destination.stale = false
    destination.loads += 1
    tenant.unloaded.delete(destination)
  }
  return Effect.gen(function*() {
    const loaded = yield* store.load(tenant.tenantId, unknown.map(({ destinationId }) => destinationId))
    const answered = parts.storeTime(yield* monotonicMillis)
    const unreadable = new Set(yield* Effect.filter(loaded, (each) => Effect.map(services.keysOf(tenant.tenantId, each, answered), (keys) => keys === undefined)))
    const now = yield* monotonicMillis
    const byId = new Map(loaded.map((each) => [each.destinationId, each]))
    for (const destination of unknown) {
      const settings = byId.get(destination.destinationId)
      if (settings === undefined) destinationClosed(parts, tenant, destination)
      else if (loadInto(destination, settings, { now, since, storeAhead: parts.storeAhead })) {
        tenant.sources.add(settings.source)
        secretOpened(destination, !unreadable.has(settings), now)
        if (settings.secretRefused && settings.isActive) {
          const reason = pausedBySecret(settings.hmacSecretId)
          if (destination.pause === undefined) yield* reportPaused(tenant.tenantId, destination.destinationId, reason)
          pause(destination, { reason, always: false })
          outcomes.change(destination)
        }
        work.touch(destination)
      }
    }
  }).pipe(
    Effect.onError(() => Effect.sync(() => {
      for (const destination of unknown) {
        destination.stale = true
        // another load of it may have succeeded
        work.touch(destination)
      }
    })),
    Effect.ensuring(Effect.sync(() => {
      for (const destination of unknown) destination.loads -= 1
    }))
  )
}

/** Reason of a pause because the client may no longer use the secret. */
const pausedBySecret = (hmacSecretId: string): string =>
  `The signing secret ${hmacSecretId} no longer belongs to this client. Name another secret, or ask the operator for this one.`

/** Applies that the store no longer has the destination: its entries are dropped. */
export const destinationClosed = ({ work }: EngineState, tenant: OwnedTenant, destination: Destination): void => {
  work.unready(destination)
  destination.sends = false
  destination.settings = undefined
  destination.ahead = destination.behind = destination.blocked = false
  destination.waiting = []
  destination.waitingUntil = Infinity
  // it is forgotten like one without failures
  destination.breaker = closedBreaker
  destination.unreadableUntil = undefined
  tenant.drops.closed.add(destination.destinationId)
  // a signal arrived since the request, or another load of it failed
  if (destination.stale) work.touch(destination)
}
