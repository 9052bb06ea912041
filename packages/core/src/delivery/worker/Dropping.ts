/** Drops entries that must not be sent. */
import { Effect } from "effect"
import type { StorageError } from "../../shared/StoragePort.ts"
import { reportDropped } from "../DeliveryReport.ts"
import type { Dropped, DropRequest } from "../DeliveryStore.ts"
import type { EngineState } from "./EngineState.ts"
import { beginCall, type OwnedTenant, ownershipOf } from "./WorkSet.ts"
import { monotonicMillis } from "../../shared/MonotonicTime.ts"

/** Maximum number of keys, and of deliveries, in one call. */
const namedAtOnce = 1000

/** Milliseconds until a destination is asked for again that another transaction has locked. */
const lockedMillis = 1000

type Named = Pick<DropRequest, "closed" | "deliveries" | "keys">

/** Runs one step for a tenant. The rest follows in its next turn. */
export const dropUnsendable = (parts: EngineState, tenant: OwnedTenant): Effect.Effect<void, StorageError> => {
  const { closed, deliveries, keys } = tenant.drops
  const named: Named = { closed: Array.from(closed), keys: keys.splice(0, namedAtOnce), deliveries: deliveries.splice(0, namedAtOnce) }
  // a publisher may add entries to one of them during the call, after which it is named again
  closed.clear()
  const answered = beginCall(Array.from(tenant.partitions.values()))
  return parts.store.drop({ tenantId: tenant.tenantId, owned: ownershipOf(tenant.partitions.values()), ...named }).pipe(
    Effect.onError(() => Effect.sync(() => {
      for (const destinationId of named.closed) closed.add(destinationId)
      keys.push(...named.keys)
      deliveries.push(...named.deliveries)
    })),
    Effect.flatMap((answer) => Effect.flatMap(monotonicMillis, (now) => {
      learn(parts, tenant, named, answer, now)
      return answer.dropped > 0 ? reportDropped(tenant.tenantId, "not_visible", answer.dropped) : Effect.void
    })),
    Effect.ensuring(Effect.sync(answered))
  )
}

const learn = ({ work }: EngineState, tenant: OwnedTenant, { closed, deliveries, keys }: Named, { locked, more }: Dropped, now: number): void => {
  const { drops, tenantId } = tenant
  const left = new Set(locked)
  if (more) {
    drops.keys.push(...keys.filter(({ destinationId }) => !left.has(destinationId)))
    for (const destinationId of closed) if (!left.has(destinationId)) drops.closed.add(destinationId)
  }
  for (const destinationId of left) {
    const destination = work.destination(tenantId, destinationId)
    if (destination !== undefined) work.signalAt(destination, now + lockedMillis)
  }
  // entries of a withdrawn delivery wait again
  const withdrawn = new Set(deliveries.map(({ destinationId }) => destinationId))
  for (const destinationId of new Set([...keys.map((each) => each.destinationId), ...withdrawn])) {
    const destination = left.has(destinationId) ? undefined : work.destination(tenantId, destinationId)
    if (destination === undefined) continue
    destination.behind = true
    // a delivery that its client may see again waits as before
    if (withdrawn.has(destinationId)) destination.stale = true
    work.touch(destination)
  }
}
