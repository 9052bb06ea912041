/** Tells the storage what clients with tokens may see, so that deliveries follow their accounts while they are not here. */
import { accessOf, AccessStore, isOperator, type Principal, type StorageError } from "@waybill/core"
import { Effect } from "effect"

/** Clients whose last word is remembered. Forgetting one costs one write at its next call. */
const maxRemembered = 10_000

export const makeTokenAccess = Effect.map(AccessStore, (store) => {
  const lastSeen = new Map<string, string>()

  /** Writes only when the credential says something else than at this client's last call here. */
  return (principal: Principal): Effect.Effect<void, StorageError> => {
    if (principal.origin !== "token" || isOperator(principal)) return Effect.void
    const who = JSON.stringify([principal.tenantId, principal.client])
    const { accounts, seesAll } = accessOf([principal])
    const says = JSON.stringify([seesAll, accounts.toSorted()])
    if (lastSeen.get(who) === says) return Effect.void
    const access = { client: principal.client, origin: "token", seesAll, accounts } as const
    return Effect.map(store.putClientAccess(principal.tenantId, access), () => {
      lastSeen.delete(who)
      if (lastSeen.size >= maxRemembered) lastSeen.delete(lastSeen.keys().next().value!)
      lastSeen.set(who, says)
    })
  }
})
