/** Postgres as one value for `createWaybill`: your pool or a URL, and your transactions. */
import { makeStorage, StorageError, type WaybillStorage } from "@waybill/core"
import { Cause, Effect, Layer, Redacted } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import type pg from "pg"
import * as PgClient from "./client/PgClient.ts"
import { hostFault } from "./client/PgErrors.ts"
import type { HostClient, HostExecutor } from "./client/PgHost.ts"
import { InHostTransaction } from "./shared/HostTransaction.ts"
import * as StoragePostgres from "./StoragePostgres.ts"

export interface PostgresStorageOptions extends StoragePostgres.StoragePostgresOptions {
  /** The host's pool. We add our statements to it and never end it. */
  readonly pool?: pg.Pool
  /** Or a pool of our own. */
  readonly url?: string
  /** Connections of a pool of our own; 10 by default. */
  readonly maxConnections?: number
  /** How long a statement of a pool of our own may run before Postgres cancels it; 45,000 by default. On a host's pool we set nothing. */
  readonly statementTimeoutMillis?: number
  /** How long a transaction of a pool of our own may wait for its next statement; 10,000 by default. On a host's pool we set nothing. */
  readonly idleTransactionTimeoutMillis?: number
  /** Prepare repeated statements; turn it off behind PgBouncer in transaction mode. */
  readonly prepare?: boolean
}

/**
 * Storage for `createWaybill`. Missing migrations are applied when it opens, unless `migrate` is false.
 *
 * `waybill.within(tx)` takes a `pg` client that has sent `BEGIN`, what `fromDrizzle`, `fromKysely`, `fromKnex` or `fromPrisma`
 * make of a transaction, or `{ executeSql(text, values) }` for anything else that can send a statement on one.
 */
export const postgresStorage = (options: PostgresStorageOptions): WaybillStorage => {
  const { idleTransactionTimeoutMillis, maxConnections, pool, prepare, statementTimeoutMillis, url } = options
  if ((pool === undefined) === (url === undefined)) {
    throw new TypeError("postgresStorage needs either a pool or a url.")
  }
  const statements = prepare === undefined ? {} : { prepare }
  const client = pool === undefined
    ? PgClient.layer({
      url: Redacted.make(url!),
      ...statements,
      maxConnections,
      statementTimeout: statementTimeoutMillis,
      idleTransactionTimeout: idleTransactionTimeoutMillis
    })
    : PgClient.layerFromPool(pool, statements)

  // the client that the layer was built with; joining needs the very same one
  let open: PgClient.PgClient | undefined
  const remembered = Layer.effectDiscard(Effect.acquireRelease(
    Effect.map(PgClient.PgClient, (sql) => {
      open = sql
    }),
    () => Effect.sync(() => {
      open = undefined
    })
  ))

  return makeStorage({
    layer: Layer.merge(StoragePostgres.layer(options), remembered).pipe(
      Layer.provide(client),
      Layer.catchCause((cause) =>
        Layer.effectContext(
          Effect.failCause(Cause.map(cause, (error) => new StorageError({ operation: "open", cause: error })))
        )
      )
    ),
    joined: (tx) => {
      if (!isHost(tx)) {
        throw new TypeError(
          "within(tx) takes a pg client that has sent BEGIN, or what fromDrizzle, fromKysely, fromKnex or fromPrisma make of a transaction."
        )
      }
      return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.suspend(() => {
          if (open === undefined) return Effect.die(new Error("The storage is not open yet, or was closed."))
          return Effect.catch(open.joined(tx)(Effect.provideService(effect, InHostTransaction, true)), (error) => {
            const behind = error instanceof StorageError ? error.cause : error
            if (!isSqlError(behind)) return Effect.fail(error)
            const fault = hostFault(behind)
            // trying again would not help, and only whoever wrote the call can
            if (fault !== undefined) return Effect.die(new Error(fault, { cause: behind }))
            return Effect.fail(error === behind ? new StorageError({ operation: "within", cause: behind }) : error)
          })
        }) as Effect.Effect<A, E, R>
    }
  })
}

const isHost = (tx: unknown): tx is HostClient | HostExecutor =>
  typeof tx === "object" && tx !== null &&
  (typeof (tx as HostClient).query === "function" || typeof (tx as HostExecutor).executeSql === "function")
