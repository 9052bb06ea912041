/** A connection inside a transaction that the host application begins and ends. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type pg from "pg"
import { type BulkValue, PgArray } from "./PgBulk.ts"
import { type PgConnection, type PgQuery, type PgResult, PgWireConnection } from "./PgConnection.ts"
import { refusal, sqlError } from "./PgErrors.ts"
import { type ColumnHint, hintedParser } from "./PgTypes.ts"

/**
 * A pg `Client` or `PoolClient` whose `BEGIN` has completed.
 *
 * @stability unstable
 */
export interface HostClient {
  readonly query: (config: any) => Promise<{ readonly rows: ReadonlyArray<any> }>
}

/**
 * Sends a statement with `$1` placeholders on the connection of an open transaction. `fromDrizzle`,
 * `fromKysely`, `fromKnex` and `fromPrisma` return one. Rows are objects with keys in column order.
 *
 * @stability unstable
 */
export interface HostExecutor {
  readonly executeSql: (text: string, values: ReadonlyArray<unknown>) => Promise<{ readonly rows: ReadonlyArray<unknown> }>
}

/**
 * The connection over a host's transaction. Its statements run one after the other, also when two fibers or two calls
 * share the host. An interruption waits for the running statement, because Waybill must not cancel or close the host's client.
 *
 * @stability unstable
 */
export const hostConnection = (
  host: HostClient | HostExecutor,
  statementName: (text: string) => string | undefined
): Effect.Effect<PgConnection, SqlError> => {
  if ("executeSql" in host) return Effect.succeed(new ExecutorConnection(host))
  if ("totalCount" in host) {
    return Effect.fail(refusal("That is a pool, not a client in a transaction. Pass the client that sent BEGIN.", "join"))
  }
  if ("getTransactionStatus" in host && (host as pg.Client).getTransactionStatus() === "I") {
    return Effect.fail(refusal("The host's client has no transaction open. Send BEGIN and await it first.", "join"))
  }
  const exclusive = exclusiveOn(host)
  return Effect.succeed(
    new PgWireConnection({
      run: (query) => exclusive(() => host.query(query satisfies PgQuery) as Promise<PgResult>),
      statementName,
      readsBinary: false,
      isHosted: true,
      isLost: () => false
    })
  )
}

/**
 * Runs calls on a host's transaction one after the other: savepoints of overlapping calls would release each other, and a
 * rollback of one would undo the other's work.
 */
export const inTurn = (host: HostClient | HostExecutor) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(TurnOf, (holder) =>
    holder === host ? call : lockOf(turns, host).withPermit(Effect.provideService(call, TurnOf, host)))

/** The host whose call is running, so that a nested call does not wait for itself. */
const TurnOf = Context.Reference<object | undefined>("@waybill/postgres/client/TurnOf", { defaultValue: () => undefined })

type Locks = WeakMap<object, Semaphore.Semaphore>
const turns: Locks = new WeakMap()
const statements: Locks = new WeakMap()

const lockOf = (locks: Locks, host: object): Semaphore.Semaphore => {
  const lock = locks.get(host) ?? Semaphore.makeUnsafe(1)
  locks.set(host, lock)
  return lock
}

const exclusiveOn = (host: object) => {
  const lock = lockOf(statements, host)
  return <A>(send: () => Promise<A>): Effect.Effect<A, SqlError> =>
    lock.withPermit(
      Effect.uninterruptible(Effect.tryPromise({ try: send, catch: (cause) => sqlError(cause, "execute") }))
    )
}

type TransformRows = (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/** Sends and receives text: an executor cannot send binary arrays and does not report column types. */
class ExecutorConnection implements PgConnection {
  readonly isHosted = true
  private readonly send: (text: string, values: ReadonlyArray<unknown>) => Effect.Effect<PgResult, SqlError>

  constructor(host: HostExecutor) {
    const exclusive = exclusiveOn(host)
    this.send = (text, values) => exclusive(async () => host.executeSql(...asText(text, values)) as Promise<PgResult>)
  }

  isLost(): boolean {
    return false
  }

  execute(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return Effect.map(this.send(text, values), ({ rows }) => transformRows === undefined ? rows : transformRows(rows))
  }

  executeRaw(text: string, values: ReadonlyArray<unknown>) {
    return this.send(text, values)
  }

  control(text: string) {
    return this.send(text, [])
  }

  executeStream(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return Stream.unwrap(Effect.map(this.execute(text, values, transformRows), (rows) => Stream.fromIterable(rows)))
  }

  executeValues(text: string, values: ReadonlyArray<unknown>) {
    return Effect.map(this.send(text, values), ({ rows }) => rows.map((row) => Object.values(row)))
  }

  executeValuesUnprepared(text: string, values: ReadonlyArray<unknown>) {
    return this.executeValues(text, values)
  }

  executeUnprepared(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return this.execute(text, values, transformRows)
  }

  executeBulk(text: string, values: ReadonlyArray<BulkValue>, columns: ReadonlyArray<ColumnHint> = []) {
    return Effect.flatMap(this.send(text, values), ({ rows }) =>
      Effect.try({
        try: () => rows.map((row) => Object.values(row).map((value, index) => decoded(value, columns[index]))),
        catch: (cause) => sqlError(cause, "decode")
      }))
  }
}

/**
 * Sends arrays as literals with parameters typed as text (`$1` becomes `$1::text`, so `$1::int8[]` becomes
 * `$1::text::int8[]`), because every driver can send a string for a text parameter.
 */
const asText = (text: string, values: ReadonlyArray<unknown>): [string, ReadonlyArray<unknown>] => {
  if (!values.some((value) => value instanceof PgArray)) return [text, values]
  const typed = text.replace(/\$(\d+)/g, (parameter, number) =>
    values[Number(number) - 1] instanceof PgArray ? `${parameter}::text` : parameter)
  return [typed, values.map((value) => value instanceof PgArray ? value.literal() : value)]
}

/** Converts a column value of the host's driver to the value that `bulkTypes` would return. */
const decoded = (value: unknown, hint: ColumnHint | undefined): unknown => {
  if (value === null || value === undefined) return null
  if (typeof value === "string") return hint === undefined ? value : hintedParser(hint)(value)
  if (typeof value === "bigint") return hint === "xid8" ? String(value) : hintedParser("int8")(String(value))
  if (value instanceof Date) return value.getTime()
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const isJson = hint === "json" || hint === "jsonb" || (hint === undefined && !Array.isArray(value))
  if (isJson) return JSON.stringify(value)
  const element = hint?.replace("[]", "") as ColumnHint | undefined
  return Array.isArray(value) ? value.map((item) => decoded(item, element)) : value
}
