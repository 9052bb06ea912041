/** Stores the access of token clients, so that deliveries can check it while the client is offline. */
import { Effect } from "effect"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { AccessOptions, defaultTokenAccessMillis } from "./AccessOptions.ts"
import { AccessStore, type ClientAccess } from "./AccessStore.ts"
import { keyNameOf } from "./model/Client.ts"
import { accessOf, type Principal } from "./model/Principal.ts"

/** Stores what the caller may see now, so that it can be checked again when deliveries are sent. */
export type RememberAccess = (principal: Principal) => Effect.Effect<void, StorageError>

/**
 * Tokens contain their own accounts. Publishing needs the accounts and their expiry when the client is offline, so they are stored. When
 * a client with held deliveries returns, its waiting deliveries are sent. The access of API keys is stored with the keys.
 */
export const makeRememberAccess: Effect.Effect<RememberAccess, never, AccessStore | DeliveryQueue | Transaction | Wakeups> = Effect.gen(function*() {
  const store = yield* AccessStore
  const queue = yield* DeliveryQueue
  const transaction = yield* Transaction
  const wakeups = yield* Wakeups
  const { tokenAccessMillis } = yield* AccessOptions

  return Effect.fnUntraced(function*(principal: Principal) {
    if (principal.origin === "key") return
    const { client, tenantId } = principal
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
