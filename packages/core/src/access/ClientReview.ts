/** Computes a client's access again, after its keys changed or when part of its access expires. */
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import { heldMillis } from "./AccessOptions.ts"
import type { AccessStore } from "./AccessStore.ts"
import { accessOfKeys } from "./KeyAccess.ts"
import { keyNameOf } from "./model/Client.ts"

/** `expired`: the client has had no access for so long that its subscriptions are closed. `ending`: it is being removed. */
export type ClientAccessStatus = "live" | "held" | "expired" | "ending"

/** Runs in the transaction that changed the client's keys, or in a transaction of its own. */
export const reviewClient = Effect.fnUntraced(function*(
  store: AccessStore["Service"],
  tenantId: string,
  client: string
): Effect.fn.Return<ClientAccessStatus, StorageError> {
  const name = keyNameOf(client)
  const keys = name === undefined ? [] : yield* store.keysOf(tenantId, name)
  if (keys.length > 0) yield* store.putClientAccess(tenantId, accessOfKeys(name!, keys))
  const { endingThrough, now, rows } = yield* store.clientRows(tenantId, client)
  // access from revoked keys ends now; expired access ended at its own instant
  const ended = rows.map(({ liveUntil, origin }) => ({
    origin,
    until: origin === "key" && keys.length === 0 ? Math.min(liveUntil, now) : liveUntil
  }))
  const live = ended.some(({ until }) => until > now)
  for (const { origin, until } of ended) {
    if (until > now || until === -Infinity) continue
    // while another source is live, an ended source must not add its accounts
    if (live) yield* store.dropClient(tenantId, client, origin)
    else yield* store.holdClient(tenantId, { client, origin, until, reviewAt: until + heldMillis })
  }
  if (endingThrough !== undefined) return "ending"
  if (live) return "live"
  return Math.max(...ended.map(({ until }) => until)) + heldMillis <= now ? "expired" : "held"
})
