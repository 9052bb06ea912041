/** Computes a client's access again, after its keys changed or when part of its access expires. */
import { Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import { heldMillis } from "./AccessOptions.ts"
import type { AccessStore, ClientAccess } from "./AccessStore.ts"
import type { StoredApiKey } from "./model/ApiKey.ts"
import { keyClient, keyNameOf } from "./model/Client.ts"
import { accessOf } from "./model/Principal.ts"

/** `expired`: the client has had no access for so long that its subscriptions are closed. `ending`: it is being removed. */
type ClientAccessStatus = "live" | "held" | "expired" | "ending"

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

/** Union of keys that are neither revoked nor expired; needs at least one. It is computed again when the first of them expires. */
const accessOfKeys = (name: string, keys: ReadonlyArray<StoredApiKey>): ClientAccess => {
  const expiries = keys.map(({ expiresAt }) => expiresAt ?? Infinity)
  const [first, last] = [Math.min(...expiries), Math.max(...expiries)]
  return {
    client: keyClient(name),
    origin: "key",
    ...accessOf(keys),
    roles: [...new Set(keys.flatMap((key) => key.roles))].sort(),
    ...(last === Infinity ? {} : { live: { until: last } }),
    ...(first === Infinity ? {} : { reviewAt: first })
  }
}
