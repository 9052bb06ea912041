/** Storage ports on Postgres. */
import { StorageError } from "@waybill/core"
import { type Context, Effect, Layer } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { PgClient, type PgClientService } from "../client/PgClient.ts"
import type { RowDecoder } from "../client/SqlRow.ts"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { type Lookup, ReadReplica } from "../replica/ReadReplica.ts"
import { makeIsDistributed } from "./Citus.ts"
import { database } from "./Database.ts"
import { makeSettled } from "./SettledOnCitus.ts"

/** An operation of a port, which may also fail with an SQL error. */
type OnSql<Operation> = Operation extends (...args: infer Args) => Effect.Effect<infer A, infer E, infer R> ? (...args: Args) => Effect.Effect<A, E | SqlError, R>
  : Operation extends Effect.Effect<infer A, infer E, infer R> ? Effect.Effect<A, E | SqlError, R>
  : never

/** The operations of a port, each of which may fail with an SQL error. */
export type Operations<Port> = { readonly [K in keyof Port]: OnSql<Port[K]> }

type Run = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/** The port with these operations. An SQL error becomes a `StorageError` that names the operation. */
const operationsOf = <Port extends object>(name: string, operations: Operations<Port>): Port => {
  const named = Object.entries<unknown>(operations).map(([operation, run]) => {
    const refail = Effect.mapError((error: unknown) => isSqlError(error) ? new StorageError({ operation: `${name}.${operation}`, cause: error }) : error)
    return [operation, Effect.isEffect(run) ? refail(run as Effect.Effect<unknown, unknown>) : (...args: ReadonlyArray<unknown>) => refail((run as Run)(...args))]
  })
  return Object.fromEntries(named) as Port
}

/**
 * Sends a read that answers a caller and decides nothing to the replica, if there is one. In a transaction it runs in the transaction, whose own writes
 * only the primary has.
 */
const makeLookup: Effect.Effect<<A>(read: Lookup<A>) => Effect.Effect<A, SqlError>, never, PgClientService> = Effect.gen(function*() {
  const sql = yield* PgClient
  const replica = yield* ReadReplica
  if (replica === undefined) return (read) => read(sql, undefined)
  return (read) => Effect.flatMap(sql.transactionConnection, (open) => open === undefined ? replica.lookup(read) : read(sql, undefined))
})

const storeParts = Effect.gen(function*() {
  const own = yield* database
  const { name, schema, sql } = own
  const isDistributed = yield* makeIsDistributed(name)
  /**
   * Runs a statement that takes an advisory lock until the transaction ends, and returns its row; Citus has it on the coordinator. A transaction of Citus has an id after its first
   * statement on distributed tables. Its search for deadlocks takes all transactions without an id for one, and finds deadlocks among them that do not exist.
   * So such a statement precedes the lock.
   */
  const takeLock = Effect.fnUntraced(function*<A>(tenantId: string, decoder: RowDecoder<A>, lock: Statement) {
    if (yield* isDistributed) yield* sql.run(statement`SELECT count(*) FROM ${schema}.tenants WHERE tenant_id = ${tenant(tenantId)}`)
    return yield* sql.one(decoder, lock)
  })
  return { ...own, isDistributed, lookup: yield* makeLookup, settled: yield* makeSettled, takeLock }
})

/** What the operations of a store use. */
export type StoreParts = Effect.Success<typeof storeParts>

/** The layer of a port with these operations. */
export const storeLayer = <I, Port extends object>(port: Context.Key<I, Port | undefined>, operations: (parts: StoreParts) => Operations<Port>) =>
  Layer.effect(port, Effect.map(storeParts, (parts) => operationsOf<Port>(port.key.split("/").at(-1)!, operations(parts))))
