/** A connection inside a transaction that the host application begins and ends. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import type pg from "pg"
import { type BulkValue, PgArray } from "./PgBulk.ts"
import { noClient, type PgConnection, type PgResult, type PgStatement, PgWireConnection } from "./PgConnection.ts"
import { refusal, sqlError } from "./PgErrors.ts"
import { lastResult, pgQuery } from "./PgQuery.ts"
import { type ColumnHint, hintedParser, unreadableTime } from "./PgTypes.ts"

/**
 * A pg `Client` or `PoolClient` whose `BEGIN` has completed.
 *
 * @stability unstable
 */
export interface HostClient {
  readonly query: (config: any) => Promise<{ readonly rows: ReadonlyArray<any> }>
  /** Distinguishes it from a pool, and from the objects of other libraries that have a `query`. */
  readonly getTypeParser: (oid: any, format?: any) => unknown
}

/**
 * Sends a statement with `$1` placeholders on the connection of an open transaction. `fromDrizzle` and
 * the other adapters return one. Rows are objects with keys in column order.
 *
 * @stability unstable
 */
export interface HostExecutor {
  readonly executeSql: (text: string, values: ReadonlyArray<unknown>) => Promise<{ readonly rows: ReadonlyArray<any> }>
  /** The library's own transaction, as `fromDrizzle` and the others got it. */
  readonly original?: unknown
}

/** A pool is accepted here and refused by `hostConnection`, with a message of its own. */
export const isHost = (value: unknown): value is HostClient | HostExecutor =>
  typeof value === "object" && value !== null && (
    typeof (value as HostExecutor).executeSql === "function" ||
    isPool(value) ||
    typeof (value as HostClient).query === "function" && typeof (value as HostClient).getTypeParser === "function"
  )

/** pg decodes binary values as UTF-8 before a parser gets them: a boolean is read as false, and most bytes are lost. */
export const readsBinary = (client: object): boolean => "binary" in client && client.binary === true

/** Also of another copy of `pg`, whose pools are no instances of this one's. */
export const isPool = (value: object): boolean => "totalCount" in value

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
  if ("executeSql" in host) return Effect.succeed(executorConnection(host))
  if ("getTransactionStatus" in host && (host as pg.Client).getTransactionStatus() === "I") {
    return Effect.fail(refusal("The host's client has no transaction open. Send BEGIN and await it first.", "join"))
  }
  if (isPool(host)) {
    return Effect.fail(refusal("That is a pool, not a client in a transaction. Pass the client that sent BEGIN.", "join"))
  }
  if (readsBinary(host)) {
    return Effect.fail(refusal("The client given to within(tx) has binary: true, and pg does not read binary values correctly. Connect it without binary.", "join"))
  }
  return Effect.succeed(new HostedClient(host, statementName))
}

class HostedClient extends PgWireConnection {
  readonly isHosted = true
  readonly hostClient = noClient
  readonly run: PgWireConnection["run"]

  constructor(host: HostClient, statementName: (text: string) => string | undefined) {
    super()
    const exclusive = exclusiveOn(host)
    // without a deadline, because Waybill never closes a client of the host
    this.run = (statement) => exclusive(async () => lastResult(await host.query(pgQuery({ ...statement, deadlineMs: undefined }, statementName)) as PgResult))
  }

  isLost(): boolean {
    return false
  }
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

/** The connection of an executor, inside a transaction of the host. */
const executorConnection = (host: HostExecutor): PgConnection => {
  const exclusive = exclusiveOn(host)
  return new RowsConnection({
    isHosted: true,
    send: (text, values) => exclusive(async () => {
      const result = await host.executeSql(...asText(text, values))
      if (!Array.isArray(result?.rows)) throw refusal("executeSql resolved to no rows. Resolve to { rows }, a list of objects.", "join")
      return result as PgResult
    }),
    ordinary: (row) => row,
    columnsOf: undefined
  })
}

interface RowsConnectionOptions {
  readonly isHosted: boolean
  readonly send: (text: string, values: ReadonlyArray<unknown>) => Effect.Effect<PgResult, SqlError>
  /** A row of an ordinary statement. */
  readonly ordinary: (row: object) => object
  /** Sends a bulk statement and returns its column types too, if the host's client reports them. */
  readonly columnsOf: ((text: string, values: ReadonlyArray<unknown>) => Effect.Effect<PgResult & { readonly columns: ColumnHints }, SqlError>) | undefined
}

export type ColumnHints = ReadonlyArray<ColumnHint | undefined>

/** A connection of the host that returns rows as objects, with values as its driver decodes them. */
export class RowsConnection extends PgWireConnection {
  readonly isHosted: boolean
  readonly hostClient = noClient
  private readonly options: RowsConnectionOptions

  constructor(options: RowsConnectionOptions) {
    super()
    this.isHosted = options.isHosted
    this.options = options
  }

  isLost(): boolean {
    return false
  }

  run({ asArrays, text, values }: PgStatement) {
    return Effect.map(this.options.send(text, values), (result) => {
      const rows: ReadonlyArray<object> = result.rows.map(this.options.ordinary)
      return { rows: asArrays ? rows.map((row) => Object.values(row)) : rows }
    })
  }

  /** Decodes by column types, because the host's driver has decoded the values its own way. */
  override executeBulk(text: string, values: ReadonlyArray<BulkValue>, hints: ColumnHints = []) {
    const { columnsOf } = this.options
    const answer = columnsOf === undefined
      ? Effect.map(this.options.send(text, values), ({ rows }) => ({ rows, columns: hints }))
      : columnsOf(text, values)
    return Effect.flatMap(answer, ({ columns, rows }) =>
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
export const decoded = (value: unknown, hint: ColumnHint | undefined): unknown => {
  if (value === null || value === undefined) return null
  if (typeof value === "string") return hint === undefined ? value : hintedParser(hint)(value)
  if (typeof value === "bigint") return hint === "xid8" ? String(value) : hintedParser("int8")(String(value))
  // several drivers read infinity as an invalid date; no statement returns -infinity
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? Infinity : value.getTime()
  if (hint === "timestamptz") throw new Error(unreadableTime)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const isJson = hint === "json" || hint === "jsonb" || (hint === undefined && !Array.isArray(value))
  if (isJson) return JSON.stringify(value)
  const element = hint?.replace("[]", "") as ColumnHint | undefined
  return Array.isArray(value) ? value.map((item) => decoded(item, element)) : value
}
