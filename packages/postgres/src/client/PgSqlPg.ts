/** A `PgClient` of `@effect/sql-pg` that the host brings: its pool and its transactions, with the result types of Waybill's client. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { PgConnection } from "./PgConnection.ts"
import { sqlError, sqlPgError } from "./PgErrors.ts"
import { type ColumnHints, decoded, RowsConnection } from "./PgHost.ts"
import { type Listener, received } from "./PgListen.ts"
import { textParameters } from "./PgParameters.ts"
import { hints } from "./PgTypes.ts"

/** The client of `@effect/sql-pg`, as far as Waybill uses it. */
export interface SqlPgClient extends SqlClient.SqlClient {
  readonly "~@effect/sql-pg/PgClient": "~@effect/sql-pg/PgClient"
  readonly config: {}
  readonly json: (value: unknown) => Fragment
  readonly listen: (
    channel: string
  ) => Effect.Effect<
    Queue.Dequeue<{ readonly processId: number; readonly channel: string; readonly payload: string }, SqlError>,
    SqlError,
    Scope.Scope
  >
  readonly notify: (channel: string, payload: string) => Effect.Effect<void, SqlError>
}

/**
 * The host's client, found by the key of its service: Waybill bundles its own copy of the package, and the host's may be of
 * another version.
 */
export const SqlPgClient = Context.Service<SqlPgClient>("@effect/sql-pg/PgClient")

/**
 * Runs each statement on the host's client: on the connection of its open transaction, or else on its pool. Statements are
 * planned each time, because a plan that is kept from an empty queue table can be wrong.
 */
export const sqlPgConnection = (host: SqlPgClient, within: Within = (statement) => statement): PgConnection => {
  const client = host.withoutTransforms()
  const known = new Map<string, ColumnHints>()
  const sent = <A>(values: ReadonlyArray<unknown>, send: (parameters: ReadonlyArray<unknown>) => Effect.Effect<A, SqlError>) =>
    Effect.flatMap(
      Effect.try({ try: () => textParameters(values), catch: (cause) => sqlError(cause, "encode") }),
      (parameters) => Effect.mapError(within(send(parameters)), (error) => sqlPgError(error, "execute"))
    )
  const send = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.map(sent(values, (parameters) => client.unsafe(text, parameters).unprepared), (rows) => ({ rows }))
  const described = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.map(sent(values, (parameters) => client.unsafe(text, parameters).raw as Effect.Effect<SqlPgResult, SqlError>), ({ fields, rows }) => {
      const columns = fields.map(({ dataTypeId }) => hints.get(dataTypeId))
      if (known.size < maxKnownStatements) known.set(text, columns)
      return { rows, columns }
    })
  return new RowsConnection({
    isHosted: false,
    send,
    ordinary: (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, ordinary(value)])),
    // only a prepared statement reports its column types, so each statement is prepared once
    columnsOf: (text, values) =>
      Effect.suspend(() => {
        const columns = known.get(text)
        return columns === undefined ? described(text, values) : Effect.map(send(text, values), ({ rows }) => ({ rows, columns }))
      })
  })
}

type Within = <A, E>(statement: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** The connection of the host's transaction that is open in a context, for statements that other fibers send. */
export const sqlPgTransaction = (host: SqlPgClient, context: Context.Context<never>): PgConnection | undefined => {
  const open = Context.getOrUndefined(context, host.transactionService)
  return open === undefined ? undefined : sqlPgConnection(host, (statement) => Effect.provideService(statement, host.transactionService, open))
}

/** Bulk statements are a fixed set of texts. */
const maxKnownStatements = 1000

interface SqlPgResult {
  readonly rows: ReadonlyArray<object>
  readonly fields: ReadonlyArray<{ readonly dataTypeId: number }>
}

/** Listens on a connection of the host's pool. */
export const sqlPgListener = (client: SqlPgClient): Listener => (channel, ready, onPayload) =>
  Effect.gen(function*() {
    const notifications = yield* Effect.mapError(client.listen(channel), (error) => sqlPgError(error, "listen"))
    ready()
    return yield* received(notifications, onPayload)
  })

/** A value of an ordinary statement. The package decodes int8 to a bigint and bytes to a Uint8Array. */
const ordinary = (value: unknown): unknown => {
  if (typeof value === "bigint") return decoded(value, "int8")
  if (value instanceof Uint8Array) return decoded(value, "bytea")
  return Array.isArray(value) ? value.map(ordinary) : value
}
