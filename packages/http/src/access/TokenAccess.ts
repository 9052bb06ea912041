/** Saves the access of clients with tokens, and when they were seen, because deliveries need it while they are offline. */
import { type AccessStore, isCarrier, isOperator, makeRememberAccess, monotonicMillis, type Principal, RecentMap, type StorageError, type Transaction } from "@waybill/core"
import type { DeliveryQueue, Wakeups } from "@waybill/core/delivery"
import { Effect } from "effect"
import { clientKeyOf } from "./ClientKey.ts"

/** Storage ports that authenticators need. */
export type AccessPorts = AccessStore | DeliveryQueue | Transaction | Wakeups

/** Clients whose saved access is remembered. A forgotten client costs one write at its next call. */
const maxRemembered = 10_000

/** A client's access is saved again after this time, because the client was seen. */
const seenMillis = 60_000

export const makeTokenAccess = Effect.map(makeRememberAccess, (rememberAccess) => {
  const lastSeen = new RecentMap<{ readonly says: string; readonly until: number }>(maxRemembered)

  /** Writes when the access differs from the client's last call here, and once per minute. */
  return Effect.fnUntraced(function*(principal: Principal): Effect.fn.Return<void, StorageError> {
    if (principal.origin !== "token" || isOperator(principal)) return
    const now = yield* monotonicMillis
    const who = clientKeyOf(principal)
    const says = JSON.stringify([isCarrier(principal), principal.roles.toSorted(), principal.accounts.toSorted()])
    const known = lastSeen.get(who)
    if (known !== undefined && known.says === says && now < known.until) return
    yield* rememberAccess(principal)
    lastSeen.put(who, { says, until: now + seenMillis })
  })
})
