/** Records when API keys were last used: in memory at every request, in storage about once a minute. Requests never wait for it. */
import { Clock, Effect, type Scope } from "effect"
import { logUnwritten, makeFlushLater, writeOfTenants } from "../shared/WriteOfTenants.ts"
import type { AccessStore } from "./AccessStore.ts"

/** Most keys whose use waits to be written. More uses are skipped until the next flush. */
const maxPending = 10_000

interface KeyUse {
  readonly tenantId: string
  readonly id: string
  readonly client: string
  at: number
}

/** Returns a function that records a use. It flushes until its scope closes, and a last time then. */
export const makeKeyUses = Effect.fnUntraced(function*(
  store: AccessStore["Service"]
): Effect.fn.Return<(tenantId: string, id: string, client: string) => Effect.Effect<void>, never, Scope.Scope> {
  const pending = new Map<string, KeyUse>()
  const flushLater = yield* makeFlushLater(Effect.suspend(() => {
    const ofTenants = Map.groupBy(pending.values(), ({ tenantId }) => tenantId)
    pending.clear()
    return Effect.flatMap(writeOfTenants(ofTenants, store.touchKeys), (unwritten) =>
      logUnwritten(unwritten, (error) => Effect.logWarning("Last use of API keys not written.", error)))
  }))

  return (tenantId, id, client) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => {
      const known = pending.get(id)
      if (known !== undefined) known.at = at
      else if (pending.size < maxPending) pending.set(id, { tenantId, id, client, at })
      return flushLater
    })
})
