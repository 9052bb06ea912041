/** Computes again what a client may see and whether it is live: after its keys changed, and when something of it ends by itself. */
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import { heldMillis } from "./AccessOptions.ts"
import type { AccessStore } from "./AccessStore.ts"
import { accessOfKeys } from "./KeyAccess.ts"
import { keyNameOf } from "./model/Client.ts"

/** `over`: no source has let it see anything for so long that its subscriptions are to be closed. */
export type ClientStanding = "live" | "held" | "over" | "ending"

/** Runs in a transaction of the caller that has changed the client's keys, or changes nothing else. */
export const reviewClient = Effect.fnUntraced(function*(
  store: AccessStore["Service"],
  tenantId: string,
  client: string
): Effect.fn.Return<ClientStanding, StorageError> {
  const name = keyNameOf(client)
  const keys = name === undefined ? [] : yield* store.keysOf(tenantId, name)
  if (keys.length > 0) yield* store.putClientAccess(tenantId, accessOfKeys(name!, keys))
  const { endingThrough, now, rows } = yield* store.clientRows(tenantId, client)
  // a key that was revoked ends now; what ended by itself ended at its own instant
  const ended = rows.map(({ liveUntil, origin }) => ({
    origin,
    until: origin === "key" && keys.length === 0 ? Math.min(liveUntil, now) : liveUntil
  }))
  const live = ended.some(({ until }) => until > now)
  for (const { origin, until } of ended) {
    if (until > now || until === -Infinity) continue
    // beside a source that lasts, one that ended must not go on adding accounts
    if (live) yield* store.dropClient(tenantId, client, origin)
    else yield* store.holdClient(tenantId, { client, origin, until, reviewAt: until + heldMillis })
  }
  if (endingThrough !== undefined) return "ending"
  if (live) return "live"
  return Math.max(...ended.map(({ until }) => until)) + heldMillis <= now ? "over" : "held"
})
