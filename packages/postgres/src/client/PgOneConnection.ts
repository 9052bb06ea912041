/** A connection beside the host's pool. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import pg from "pg"

/** As on a pool of Waybill's own. */
const connectMillis = 10_000

/**
 * A pool of one connection with the options of the host's pool, ended with the scope: it does not wait for the host's connections. To connect takes ten
 * seconds at most where the host's pool has no limit: the end of the scope waits for it.
 */
export const oneConnection = (pool: pg.Pool): Effect.Effect<pg.Pool, never, Scope.Scope> => {
  const { Client } = pool as unknown as { readonly Client: typeof pg.Client }
  // a copy of the options would lack the password, which pg hides from copies
  const BesidePool = class extends Client {
    constructor() {
      super(pool.options)
    }
  }
  return Effect.acquireRelease(Effect.sync(() => new pg.Pool({ Client: BesidePool, max: 1, connectionTimeoutMillis: pool.options.connectionTimeoutMillis || connectMillis })), (one) => Effect.promise(() => one.end()))
}
