/** The SQL client on Postgres: over its own pool, over the host application's pool, or inside a transaction of the host. */
import { isTraced } from "@waybill/core"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { Reactivity } from "effect/reactivity"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { Borrower } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import type * as Stream from "effect/Stream"
import type { ConnectionOptions } from "node:tls"
import type pg from "pg"
import { answerMillisOf, mostPrepared, sessionConfig } from "./PgAddress.ts"
import type { BulkRunner } from "./PgBulk.ts"
import type { PgConnection } from "./PgConnection.ts"
import { sqlError } from "./PgErrors.ts"
import { hostConnection, type HostClient, type HostExecutor, inTurn } from "./PgHost.ts"
import { lendFrom } from "./PgHostPool.ts"
import type { PgLending } from "./PgLending.ts"
import { clientListener, type Listener, listenOn } from "./PgListen.ts"
import { statementNames } from "./PgNames.ts"
import { openPool } from "./PgPool.ts"
import { sessionListener } from "./PgSessionListener.ts"
import { type StatementRunner, statementRunner } from "./SqlRow.ts"
import { Joining, transactions } from "./PgTransactions.ts"
import { SqlPgClient, sqlPgConnection, sqlPgListener, sqlPgTransaction } from "./PgSqlPg.ts"

/**
 * Effect's `SqlClient` with Postgres features.
 *
 * Result types: `int8` is a number, `timestamptz` a `Date`,
 * `numeric`, `date` and `timestamp` text, `bytea` a `Buffer`. Interrupting a statement cancels it on the server;
 * inside a transaction this fails the transaction, like any failed statement. Postgres answers `COMMIT` with
 * `ROLLBACK` when the error of a failed statement was caught; `withTransaction` then fails.
 *
 * @stability unstable
 */
export interface PgClient extends SqlClient.SqlClient, BulkRunner, StatementRunner {
  readonly config: PgClientConfig
  /** A value as a `json` or `jsonb` parameter. */
  readonly json: (value: unknown) => Statement.Fragment
  /** The payloads of a channel; an empty payload means that notifications may be lost, see `listenOn`. */
  readonly listen: (channel: string) => Stream.Stream<string, SqlError>
  /** The connection of the open transaction. */
  readonly transactionConnection: Effect.Effect<PgConnection | undefined>
  /** Inside a transaction the notification is sent on commit. */
  readonly notify: (channel: string, payload: string) => Effect.Effect<void, SqlError>
  /**
   * Runs an effect with every statement of this client in the host's open transaction. `withTransaction` inside
   * becomes a savepoint. The host commits or rolls back the outer transaction and releases its client.
   * Calls on one host run one after the other. `afterCommit` callbacks run when the effect succeeds, before the host commits.
   */
  readonly joined: (
    host: HostClient | HostExecutor
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
}

/**
 * Identifies the `PgClient` service in types. It is no client itself: otherwise a layer of any other `SqlClient` would
 * satisfy it in types and fail at runtime.
 *
 * @stability unstable
 */
export interface PgClientService {
  readonly "~@waybill/postgres/client/PgClient": "~@waybill/postgres/client/PgClient"
}

/**
 * The service tag for `PgClient`.
 *
 * @stability unstable
 */
export const PgClient = Context.Service<PgClientService, PgClient>("@waybill/postgres/client/PgClient")

/**
 * How statements are sent, on any pool.
 *
 * @stability unstable
 */
export interface PgStatementOptions {
  /** Prepare repeated statements under names; the default on Waybill's own pool. Turn it off behind PgBouncer in transaction mode. */
  readonly prepare?: boolean | undefined
  readonly spanAttributes?: Record<string, unknown> | undefined
}

/**
 * Options of Waybill's own pool. Connection options may also be in the URL, which takes precedence.
 *
 * @stability unstable
 */
export interface PgPoolConfig extends PgStatementOptions {
  readonly url: Redacted.Redacted
  /** 10 by default. Each `listen` adds one. */
  readonly maxConnections?: number | undefined
  /** 0 by default: all idle connections are closed after `idleTimeout`. */
  readonly minConnections?: number | undefined
  /** How long a connection stays unused before it is closed; a minute by default. */
  readonly idleTimeout?: Duration.Input | undefined
  /** The maximum age of a connection; unlimited by default. */
  readonly connectionTTL?: Duration.Input | undefined
  /**
   * For connecting to the server and its first answer, not for waiting for a free connection of the pool; ten seconds by default. A
   * server on a connection that was unused for a second has as long to show that it is still there.
   */
  readonly connectTimeout?: Duration.Input | undefined
  /** Shown in `pg_stat_activity`; `waybill` by default. */
  readonly applicationName?: string | undefined
  /**
   * How long a statement may run before the server cancels it; the connection stays usable. 45 seconds by default, no limit for
   * migrations. With `prepare: false` it is set only if given, because a proxy may refuse it.
   */
  readonly statementTimeout?: Duration.Input | undefined
  /** How long a transaction may wait for its next statement before the server ends it: ten seconds by default. */
  readonly idleTransactionTimeout?: Duration.Input | undefined
  /**
   * How long the server may take to answer a statement before the client cancels it and closes the connection; a minute by
   * default, longer than the statement timeout. It detects connections whose server vanished. No limit for migrations.
   */
  readonly answerTimeout?: Duration.Input | undefined
  readonly ssl?: boolean | ConnectionOptions | undefined
}

/** The options a client was made with; the URL only for Waybill's own pool. */
export type PgClientConfig = PgStatementOptions & Partial<PgPoolConfig>

/**
 * Opens a pool and closes it with the scope. Fails at once if the server cannot be reached.
 *
 * @stability unstable
 */
export const layer = (config: PgPoolConfig): Layer.Layer<PgClientService | SqlClient.SqlClient, SqlError> =>
  layerOf(Effect.tap(openLater(config), (client) => client`SELECT 1`))

/**
 * Opens a pool that connects with its first statement, for a server that may be unreachable now.
 *
 * @stability unstable
 */
export const openLater = Effect.fnUntraced(function*(config: PgPoolConfig) {
  // read for each connection, as libpq does: certificates in its files are renewed while the process runs
  const connection = Effect.try({ try: () => sessionConfig(config), catch: (cause) => sqlError(cause, "connect") })
  const { connectTimeout } = yield* connection
  const statementName = statementNamesOf(config)
  const lending = yield* openPool({
    connection,
    connectTimeout,
    statementName,
    answerMillis: answerMillisOf(config),
    maxConnections: config.maxConnections ?? 10,
    minConnections: config.minConnections ?? 0,
    idleTimeout: config.idleTimeout ?? "1 minute",
    connectionTTL: config.connectionTTL
  })
  return yield* make({ lending, listener: sessionListener(connection), config, statementName })
})

/**
 * Uses the host application's pool without configuring or ending it. `listen` opens an extra
 * connection with the pool's options. Bulk results arrive as text, which costs about four times as much as on Waybill's own pool.
 *
 * Statements are planned each time, unless `prepare` is true: cached plans of queue tables can be wrong, and the settings that
 * prevent it cannot be made on a connection that the host also uses.
 *
 * @stability unstable
 */
export const layerFromPool = (
  pool: pg.Pool,
  options: PgStatementOptions = {}
): Layer.Layer<PgClientService | SqlClient.SqlClient, SqlError> =>
  layerOf(Effect.gen(function*() {
    yield* Effect.acquireRelease(
      Effect.sync(() => pool.on("error", onIdleError)),
      () => Effect.sync(() => pool.off("error", onIdleError))
    )
    const { Client } = pool as unknown as { readonly Client: typeof pg.Client }
    const statementName = statementNamesOf(options)
    const lending = lendFrom(pool, statementName)
    return yield* make({ lending, listener: clientListener(() => new Client(pool.options)), config: options, statementName })
  }))

/**
 * Uses the host application's `PgClient` of `@effect/sql-pg`: its pool, and its `withTransaction`. Statements inside an open
 * transaction of the host's client join it, and the host's statements inside a transaction of this client join that one. `listen`
 * holds one connection of the host's pool.
 *
 * Statement timeouts are the host's. Statements are planned each time, and bulk parameters are sent as text.
 *
 * @stability unstable
 */
export const layerFromSqlPg: Layer.Layer<PgClientService, never, SqlPgClient> = Layer.effect(
  PgClient,
  Effect.gen(function*() {
    const host = yield* SqlPgClient
    const connection = sqlPgConnection(host)
    const borrower: PgLending["borrower"] = (use) => use(connection)
    const lending: PgLending = { borrower, acquirer: Effect.succeed(connection) }
    return yield* make({ lending, listener: sqlPgListener(host), config: {}, statementName: () => undefined, host })
  })
).pipe(Layer.provide(Reactivity.layer))

/** Without an `error` listener, an idle connection that the server closes would crash the process. The pool has already removed it. */
const onIdleError = () => {}

const layerOf = <E>(
  client: Effect.Effect<PgClient, E, Scope.Scope | Reactivity.Reactivity>
): Layer.Layer<PgClientService | SqlClient.SqlClient, E> =>
  Layer.effectContext(
    Effect.map(client, (client) => Context.make(PgClient, client).pipe(Context.add(SqlClient.SqlClient, client)))
  ).pipe(Layer.provide(Reactivity.layer))

const statementNamesOf = ({ prepare }: PgStatementOptions) => prepare === false ? () => undefined : statementNames(mostPrepared)

interface MakeOptions {
  readonly lending: PgLending
  readonly listener: Listener
  readonly config: PgClientConfig
  readonly statementName: (text: string) => string | undefined
  /** A client of the host that begins and ends transactions. */
  readonly host?: SqlPgClient
}

const make = Effect.fnUntraced(function*({ config, host, lending, listener, statementName }: MakeOptions) {
  const { acquirer } = lending
  const borrower = lending.borrower as Borrower
  const spanAttributes = Object.entries({ "db.system.name": "postgresql", ...config.spanAttributes })
  const client = yield* SqlClient.make({ acquirer, borrower, compiler, driver: "pg", spanAttributes })
  const own = transactions({ transactionService: client.transactionService, lending, spanAttributes })
  const isOwn = (fiber: Fiber.Fiber<unknown, unknown>) =>
    host === undefined || fiber.getRef(Joining) !== undefined || Context.getOrUndefined(fiber.context, client.transactionService) !== undefined
  const bulk: BulkRunner["bulk"] = (statement, values, columns) =>
    Effect.withFiber((fiber) => {
      const transaction = Context.getOrUndefined(fiber.context, client.transactionService)
      const run = (connection: unknown) => (connection as PgConnection).executeBulk(statement, values, columns)
      const ran = transaction === undefined ? borrower(run) : run(transaction[0])
      if (!isTraced(fiber)) return ran
      return Effect.useSpan(Statement.spanName(spanAttributes), { kind: "client" }, (span) => {
        for (const [key, value] of spanAttributes) span.attribute(key, value)
        span.attribute("db.query.text", statement)
        return ran
      })
    })

  return Object.assign(client, {
    config,
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.withFiber((fiber) => isOwn(fiber) ? own.withTransaction(effect) : host!.withTransaction(effect)),
    afterCommit: <R>(effect: Effect.Effect<void, never, R>) =>
      Effect.withFiber((fiber) => isOwn(fiber) ? own.afterCommit(effect) : host!.afterCommit(effect)),
    json: (value: unknown) => Statement.fragment([PgJson(value)]),
    listen: (channel: string) => listenOn(listener, channel),
    notify: (channel: string, payload: string) => Effect.asVoid(client`SELECT pg_notify(${channel}, ${payload})`),
    bulk,
    ...statementRunner(bulk),
    transactionConnection: Effect.withFiber((fiber) => {
      const open = Context.getOrUndefined(fiber.context, client.transactionService)
      if (open !== undefined) return Effect.succeed(open[0] as PgConnection)
      return Effect.succeed(host === undefined ? undefined : sqlPgTransaction(host, fiber.context))
    }),
    joined: (host: HostClient | HostExecutor) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(hostConnection(host, statementName), (connection) =>
        own.withTransaction(Effect.provideService(effect, Joining, undefined)).pipe(
          Effect.provideService(Joining, connection),
          // an open Waybill transaction around this call is not the host's transaction
          Effect.updateContext((context: Context.Context<R>) =>
            Context.omit(client.transactionService)(context) as Context.Context<any>),
          inTurn(host)
        ) as Effect.Effect<A, E | SqlError, R>)
  } satisfies Omit<PgClient, keyof SqlClient.SqlClient> & Pick<PgClient, "afterCommit" | "withTransaction">) as PgClient
})

interface PgJson extends Statement.Custom<"PgJson", unknown> {}
const PgJson = Statement.custom<PgJson>("PgJson")

const compiler = Statement.makeCompiler<PgJson>({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: Statement.defaultEscape("\""),
  onRecordUpdate: (placeholders, alias, columns, values, returning) => [
    `(values ${placeholders}) AS ${alias}${columns}${returning ? ` RETURNING ${returning[0]}` : ""}`,
    [...values.flat(), ...(returning?.[1] ?? [])]
  ],
  onCustom: (value, placeholder) => [placeholder(undefined), [JSON.stringify(value.paramA)]]
})

