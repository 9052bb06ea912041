/** Stores the access of token clients, so that deliveries can check it while the client is offline. */
import { Effect } from "effect"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { StorageError, Transaction } from "../shared/StoragePort.ts"
import { AccessOptions, defaultTokenAccessMillis } from "./AccessOptions.ts"
import { AccessStore, type ClientAccess } from "./AccessStore.ts"
import { keyNameOf } from "./model/Client.ts"
import { accessOf, type Principal } from "./model/Principal.ts"

/** Stores what the caller may see now, so that it can be checked again when deliveries are sent. A removed client is refused. */
export type RememberAccess = (principal: Principal) => Effect.Effect<void, StorageError>

/**
 * Tokens contain their own accounts. Publishing needs the accounts and their expiry when the client is offline, so they are stored. When
 * a client with held deliveries returns, its waiting deliveries are sent. The access of API keys is stored with the keys. It is locked: a subscription that is
 * created while its client is removed would stay, and get what a later client of the same name may see.
 */
export const makeRememberAccess: Effect.Effect<RememberAccess, never, AccessStore | DeliveryQueue | Transaction | Wakeups> = Effect.gen(function*() {
  const store = yield* AccessStore
  const queue = yield* DeliveryQueue
  const transaction = yield* Transaction
  const wakeups = yield* Wakeups
  const { tokenAccessMillis } = yield* AccessOptions

  return Effect.fnUntraced(function*(principal: Principal) {
    const { client, tenantId } = principal
    if (principal.origin === "key") {
      const { now, rows } = yield* store.clientRows(tenantId, client)
      if (rows.some(({ liveUntil }) => liveUntil > now)) return
      return yield* new StorageError({ operation: "AccessStore.clientRows", cause: `The access of ${client} ended during the call.` })
    }
    const restored = yield* transaction.run(Effect.tap(store.putClientAccess(tenantId, tokenAccess(principal, tokenAccessMillis)), (wasHeld) =>
      wasHeld ? queue.accessRestored(tenantId, client) : Effect.void))
    if (restored) yield* wakeups.wake(tenantId)
  })
})

const tokenAccess = (principal: Principal, configured: number | undefined): ClientAccess => {
  const ofHost = keyNameOf(principal.client) !== undefined
  const forMillis = configured ?? (ofHost ? undefined : defaultTokenAccessMillis)
  return {
    client: principal.client,
    origin: "token",
    ...accessOf([principal]),
    roles: principal.roles,
    ...(forMillis === undefined ? {} : { live: { forMillis } })
  }
}
