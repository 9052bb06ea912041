/** Postgres as one value for `createWaybill`: your pool or a URL, and your transactions. */
import { checkOptions, hostTransaction, makeStorage, type OptionKinds, optionKinds, StorageError, type WaybillStorage } from "@waybill/core"
import { Cause, Context, Effect, Layer, Redacted } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import type pg from "pg"
import * as PgClient from "./client/PgClient.ts"
import { checkAddress, checkDatabase } from "./client/PgDatabase.ts"
import { oneConnection } from "./client/PgOneConnection.ts"
import { hostFault, refusal } from "./client/PgErrors.ts"
import { type HostClient, type HostExecutor, isHost } from "./client/PgHost.ts"
import { statement, text as textColumn } from "./client/Sql.ts"
import { ReadReplica } from "./replica/ReadReplica.ts"
import * as StoragePostgres from "./StoragePostgres.ts"

/** Either a pool of the host or a URL, and the schema of the tables. */
export interface PostgresStorageOptions extends StoragePostgres.StoragePostgresOptions {
  /** The host's pool. Waybill uses it and never ends it. */
  readonly pool?: pg.Pool
  /** Opens Waybill's own pool instead. */
  readonly url?: string
  /** Connections of Waybill's own pool; 10 by default. */
  readonly maxConnections?: number
  /** How long a statement on Waybill's own pool may run before Postgres cancels it; 45,000 by default. Not set on a host's pool. */
  readonly statementTimeoutMillis?: number
  /** How long a transaction on Waybill's own pool may wait for its next statement; 10,000 by default. Not set on a host's pool. */
  readonly idleTransactionTimeoutMillis?: number
  /**
   * A standby of the database, which answers lookups when it has everything that the primary committed before them. Otherwise, and while it
   * is unavailable, the primary answers. Waybill opens a pool of its own, with the options of the other pool.
   */
  readonly readUrl?: string
  /** Prepare repeated statements; turn it off behind PgBouncer in transaction mode. */
  readonly prepare?: boolean
}

/**
 * What `waybill.within(tx)` takes: a `pg` client that has sent `BEGIN`, the result of `fromDrizzle`, `fromKysely`, `fromKnex`,
 * `fromPrisma`, `fromTypeOrm`, `fromMikroOrm` or `fromPostgresJs`, or `{ executeSql(text, values) }` for any other client.
 */
export type PostgresTransaction = HostClient | HostExecutor

const { boolean, count, millis, object, text } = optionKinds

const kinds: OptionKinds<PostgresStorageOptions> = {
  pool: object,
  url: text,
  schema: text,
  migrate: boolean,
  sqlPublishing: boolean,
  listen: boolean,
  maxConnections: count,
  statementTimeoutMillis: millis,
  idleTransactionTimeoutMillis: millis,
  readUrl: text,
  prepare: boolean
}

/** pg reads values as text. Times in another style than ISO have an order of day and month, or a zone, that the text does not tell. */
const readableTimes = Effect.gen(function*() {
  const style = yield* (yield* PgClient.PgClient).one(textColumn, statement`SELECT current_setting('DateStyle')`)
  if (style.startsWith("ISO")) return
  yield* refusal(`the connections of its pool have the DateStyle "${style}". Set it to ISO, such as by options: "-c DateStyle=ISO" of the pool`, "open")
})

/** Several services may run on one storage, each with its own client. A transaction that another service's client joined would not reach the stores. */
class ClientOfStores extends Context.Reference<PgClient.PgClient | undefined>("@waybill/postgres/ClientOfStores", { defaultValue: () => undefined }) {}

/** Storage for `createWaybill`. Missing migrations are applied when it opens, unless `migrate` is false. */
export const postgresStorage = (options: PostgresStorageOptions): WaybillStorage<PostgresTransaction> => {
  checkOptions("postgresStorage", options, kinds)
  const { idleTransactionTimeoutMillis, maxConnections, pool, prepare, readUrl, statementTimeoutMillis, url } = options
  checkDatabase("postgresStorage", options)
  if (readUrl !== undefined) checkAddress("postgresStorage", "readUrl", readUrl)
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

  const replica = readUrl === undefined
    ? Layer.empty
    : ReadReplica.layer({ url: Redacted.make(readUrl), ...statements, maxConnections, statementTimeout: statementTimeoutMillis })

  // each connection of the host's pool may be in a transaction that waits for the first call of within(tx), which opens the storage
  const upToDate = pool === undefined
    ? StoragePostgres.upToDate(options)
    : Effect.scoped(Effect.flatMap(oneConnection(pool), (one) =>
      Effect.provide(Effect.andThen(readableTimes, StoragePostgres.upToDate(options)), PgClient.layerFromPool(one, statements))))

  return makeStorage<PostgresTransaction>({
    layer: Layer.merge(StoragePostgres.stores(options), Layer.effect(ClientOfStores, PgClient.PgClient)).pipe(
      Layer.provide(replica),
      Layer.provide(Layer.effectDiscard(upToDate)),
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
          "within(tx) takes a pg client that has sent BEGIN, { executeSql }, or the result of fromDrizzle, fromKysely, fromKnex, fromPrisma, fromTypeOrm, fromMikroOrm or fromPostgresJs."
        )
      }
      return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.flatMap(ClientOfStores, (client) => {
          if (client === undefined) return Effect.die(new Error("This service runs on another storage than the one whose transaction it joins."))
          return Effect.catch(client.joined(tx)(effect), (error): Effect.Effect<never, unknown> => {
            const behind = error instanceof StorageError ? error.cause : error
            if (!isSqlError(behind)) return Effect.fail(error)
            const fault = hostFault(behind)
            // a retry would not help: the calling code has to be corrected
            if (fault !== undefined) return Effect.die(new Error(fault, { cause: behind }))
            return Effect.fail(new StorageError({ operation: hostTransaction, cause: behind }))
          })
        }) as Effect.Effect<A, E, R>
    }
  })
}
