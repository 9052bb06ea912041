/** Tells the storage what clients with tokens may see and that they were seen, so that deliveries follow while they are not here. */
import { type AccessStore, type DeliveryQueue, isCarrier, isOperator, makeRememberAccess, type Principal, RecentMap, type StorageError, type Transaction, type Wakeups } from "@waybill/core"
import { Effect } from "effect"
import * as Clock from "effect/Clock"

/** What authenticators need of a storage. */
export type AccessPorts = AccessStore | DeliveryQueue | Transaction | Wakeups

/** Clients whose last word is remembered. Forgetting one costs one write at its next call. */
const maxRemembered = 10_000

/** How long a client's access is good for before it is written again because the client was seen. */
const seenMillis = 60_000

export const makeTokenAccess = Effect.map(makeRememberAccess, (rememberAccess) => {
  const lastSeen = new RecentMap<{ readonly says: string; readonly until: number }>(maxRemembered)

  /** Writes when the credential says something else than at this client's last call here, and once a minute. */
  return Effect.fnUntraced(function*(principal: Principal): Effect.fn.Return<void, StorageError> {
    if (principal.origin !== "token" || isOperator(principal)) return
    const now = yield* Clock.currentTimeMillis
    const who = JSON.stringify([principal.tenantId, principal.client])
    const says = JSON.stringify([isCarrier(principal), principal.roles.toSorted(), principal.accounts.toSorted()])
    const known = lastSeen.get(who)
    if (known !== undefined && known.says === says && now < known.until) return
    yield* rememberAccess(principal)
    lastSeen.put(who, { says, until: now + seenMillis })
  })
})
