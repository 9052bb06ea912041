/** The SQL client on Postgres: over its own pool, over the host application's pool, or inside a transaction of the host. */
import { isTraced } from "@waybill/core"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { Reactivity } from "effect/reactivity"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import type * as Stream from "effect/Stream"
import { setTimeout as after } from "node:timers/promises"
import pg from "pg"
import type { BulkRunner } from "./PgBulk.ts"
import type { PgConnection, PgResult, PgWireConnection } from "./PgConnection.ts"
import { refusal } from "./PgErrors.ts"
import { hostConnection, type HostClient, type HostExecutor, inTurn } from "./PgHost.ts"
import { listenOn } from "./PgListen.ts"
import { statementNames } from "./PgNames.ts"
import { lendFrom } from "./PgPool.ts"
import { BinaryClient, cancelDeadlineMs } from "./PgSocket.ts"

/**
 * Effect's `SqlClient` with Postgres features, with the interface of `@effect/sql-pg` plus `bulk` and `joined`.
 *
 * Result types: `int8` is a number, `timestamptz` a `Date`,
 * `numeric`, `date` and `timestamp` text, `bytea` a `Buffer`. Interrupting a statement cancels it on the server;
 * inside a transaction this fails the transaction, like any failed statement. Postgres answers `COMMIT` with
 * `ROLLBACK` when the error of a failed statement was caught; `withTransaction` then fails.
 *
 * @stability unstable
 */
export interface PgClient extends SqlClient.SqlClient, BulkRunner {
  readonly config: PgClientConfig
  /** A value as a `json` or `jsonb` parameter. */
  readonly json: (value: unknown) => Statement.Fragment
  /** The payloads of a channel; an empty payload means that notifications may be lost, see `listenOn`. */
  readonly listen: (channel: string) => Stream.Stream<string, SqlError>
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
 * The service tag for `PgClient`.
 *
 * @stability unstable
 */
export const PgClient = Context.Service<PgClient>("@waybill/postgres/client/PgClient")

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
  /** For connecting to the server, not for waiting for a free connection of the pool; ten seconds by default. */
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
  readonly ssl?: pg.ClientConfig["ssl"]
}

/** The options a client was made with; the URL only for Waybill's own pool. */
export type PgClientConfig = PgStatementOptions & Partial<PgPoolConfig>

/**
 * Opens a pool and closes it with the scope. Fails at once if the server cannot be reached.
 *
 * @stability unstable
 */
export const layer = (config: PgPoolConfig): Layer.Layer<PgClient | SqlClient.SqlClient, SqlError> =>
  layerOf(Effect.gen(function*() {
    const connection: pg.ClientConfig = {
      connectionString: Redacted.value(config.url),
      application_name: config.applicationName ?? "waybill",
      connectionTimeoutMillis: millis(config.connectTimeout ?? "10 seconds"),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      ...(config.prepare === false ? {} : { options: [keepToIndexes, planOnce, ...timeouts(config)].join(" ") }),
      ...(config.statementTimeout === undefined ? {} : { statement_timeout: millis(config.statementTimeout) }),
      ...(config.ssl === undefined ? {} : { ssl: config.ssl })
    }
    // pg's pool passes its options to its clients; as a pool option the timeout would also limit the wait for a free client
    const Client = class extends BinaryClient {
      constructor() {
        super(connection)
      }
    }
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new pg.Pool({
          Client,
          max: config.maxConnections ?? 10,
          min: config.minConnections ?? 0,
          idleTimeoutMillis: millis(config.idleTimeout ?? "1 minute"),
          ...(config.connectionTTL === undefined ? {} : { maxLifetimeSeconds: millis(config.connectionTTL) / 1000 })
        }).on("error", onIdleError)
      ),
      (pool) => Effect.promise(() => Promise.race([pool.end(), after(endDeadlineMs, undefined, { ref: false })]))
    )
    const client = yield* make({ pool, dedicated: () => new Client(), config, answerMillis: answerMillisOf(config) })
    yield* client`SELECT 1`
    return client
  }))

/**
 * Uses the host application's pool without configuring or ending it. `listen` opens an extra
 * connection with the pool's options. Bulk results arrive as text, which costs about three times as much as on Waybill's own pool.
 *
 * Statements are planned each time, unless `prepare` is true: cached plans of queue tables can be wrong, and the settings that
 * prevent it cannot be made on a connection that the host also uses.
 *
 * @stability unstable
 */
export const layerFromPool = (
  pool: pg.Pool,
  options: PgStatementOptions = {}
): Layer.Layer<PgClient | SqlClient.SqlClient, SqlError> =>
  layerOf(Effect.gen(function*() {
    yield* Effect.acquireRelease(
      Effect.sync(() => pool.on("error", onIdleError)),
      () => Effect.sync(() => pool.off("error", onIdleError))
    )
    const { Client } = pool as unknown as { readonly Client: typeof pg.Client }
    return yield* make({ pool, dedicated: () => new Client(pool.options), config: options, answerMillis: undefined })
  }))

/** Without an `error` listener, an idle connection that the server closes would crash the process. The pool has already removed it. */
const onIdleError = () => {}

const layerOf = <E>(
  client: Effect.Effect<PgClient, E, Scope.Scope | Reactivity.Reactivity>
): Layer.Layer<PgClient | SqlClient.SqlClient, E> =>
  Layer.effectContext(
    Effect.map(client, (client) => Context.make(PgClient, client).pipe(Context.add(SqlClient.SqlClient, client)))
  ).pipe(Layer.provide(Reactivity.layer))

/**
 * Queue tables are empty most of the time. A plan cached then uses sequential scans, which are slow when the table is
 * full, until the next ANALYZE.
 */
const keepToIndexes = "-c enable_seqscan=off"

/**
 * Each statement is written so that one generic plan fits all values. By default the server would make a custom plan for
 * the claim each time, because a short array looks cheaper than an unknown one; planning takes longer than running it.
 */
const planOnce = "-c plan_cache_mode=force_generic_plan"

const defaultStatementTimeout: Duration.Input = "45 seconds"

/**
 * A runaway statement must not hold its locks and its connection forever. Waybill never waits between two statements of a
 * transaction, so an idle transaction means that the process vanished; without a timeout its locks would stay for hours.
 */
const timeouts = ({ idleTransactionTimeout, statementTimeout }: PgPoolConfig): ReadonlyArray<string> => [
  `-c statement_timeout=${millis(statementTimeout ?? defaultStatementTimeout)}`,
  `-c idle_in_transaction_session_timeout=${millis(idleTransactionTimeout ?? "10 seconds")}`
]

/** The server cancels first, so that the connection stays usable. */
const answerMillisOf = ({ answerTimeout, statementTimeout }: PgPoolConfig): number =>
  answerTimeout === undefined ? Math.max(60_000, millis(statementTimeout ?? defaultStatementTimeout) + 15_000) : millis(answerTimeout)

/** How long a server that does not answer can delay the shutdown. */
const endDeadlineMs = 5000

const millis = (input: Duration.Input): number => Duration.toMillis(input)

interface MakeOptions {
  readonly pool: pg.Pool
  readonly dedicated: () => pg.Client
  readonly config: PgClientConfig
  readonly answerMillis: number | undefined
}

const make = Effect.fnUntraced(function*({ answerMillis, config, dedicated, pool }: MakeOptions) {
  const statementName = config.prepare === false ? () => undefined : statementNames()
  const { acquirer, borrower } = lendFrom(pool, { statementName, answerMillis })
  const spanAttributes = Object.entries({ "db.system.name": "postgresql", ...config.spanAttributes })
  const client = yield* SqlClient.make({ acquirer, borrower, compiler, driver: "pg", spanAttributes })
  const withTransaction = transactions(client.transactionService, acquirer, spanAttributes)

  return Object.assign(client, {
    config,
    withTransaction,
    json: (value: unknown) => Statement.fragment([PgJson(value)]),
    listen: (channel: string) => listenOn(dedicated, channel),
    notify: (channel: string, payload: string) => Effect.asVoid(client`SELECT pg_notify(${channel}, ${payload})`),
    bulk: (...[statement, values, columns]: Parameters<BulkRunner["bulk"]>) =>
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
      }),
    joined: (host: HostClient | HostExecutor) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(hostConnection(host, statementName), (connection) =>
        withTransaction(Effect.provideService(effect, Joining, undefined)).pipe(
          Effect.provideService(Joining, connection),
          // an open Waybill transaction around this call is not the host's transaction
          Effect.updateContext((context: Context.Context<R>) =>
            Context.omit(client.transactionService)(context) as Context.Context<any>),
          inTurn(host)
        ) as Effect.Effect<A, E | SqlError, R>)
  } satisfies Omit<PgClient, keyof SqlClient.SqlClient> & Pick<PgClient, "withTransaction">) as PgClient
})

/** The host's connection for the next outermost transaction, instead of a connection from the pool. */
const Joining = Context.Reference<PgConnection | undefined>("@waybill/postgres/client/Joining", {
  defaultValue: () => undefined
})

/**
 * Effect's transactions with three differences: the outermost transaction of a joined host is neither begun nor ended,
 * a lost connection needs no rollback, and releasing a savepoint may fail like any statement.
 */
const transactions = (
  transactionService: SqlClient.SqlClient["transactionService"],
  acquirer: Effect.Effect<PgWireConnection, SqlError, Scope.Scope>,
  spanAttributes: ReadonlyArray<readonly [string, unknown]>
): SqlClient.SqlClient["withTransaction"] => {
  // if this fails too, the connection is closed on release; on a host's connection, the host's commit then rolls back
  const undo = (connection: PgConnection, text: string) =>
    connection.isLost() ? Effect.void : Effect.ignore(connection.control(text, cancelDeadlineMs))
  const unlessHosted = <E>(connection: PgConnection, effect: Effect.Effect<void, E>) =>
    connection.isHosted ? Effect.void : effect

  const within = SqlClient.makeWithTransaction({
    transactionService: transactionService as unknown as Context.Key<unknown, readonly [PgConnection, number]>,
    spanAttributes,
    acquireConnection: (restore) =>
      Effect.withFiber((fiber) => {
        const joining = fiber.getRef(Joining)
        const begin = fiber.getRef(SqlClient.BeginTransaction) ?? "BEGIN"
        return joining === undefined
          ? restore(Effect.tap(acquirer, (connection) => Effect.sync(() => connection.begin(begin))))
          : Effect.succeed(joining)
      }),
    // BEGIN is sent with the first statement, which is interruptible
    begin: () => Effect.void,
    commit: (connection) => unlessHosted(connection, commit(connection)),
    // the transaction has ended, but pg has not read that yet and would close the connection as one inside a transaction
    onCommitFailure: (connection) => unlessHosted(connection, undo(connection, "ROLLBACK")),
    rollback: (connection) => unlessHosted(connection, undo(connection, "ROLLBACK")),
    savepoint: (connection, depth) => Effect.asVoid(send(connection, `SAVEPOINT waybill_${depth}`)),
    rollbackSavepoint: (connection, depth) =>
      Effect.andThen(
        undo(connection, `ROLLBACK TO SAVEPOINT waybill_${depth}`),
        undo(connection, `RELEASE SAVEPOINT waybill_${depth}`)
      )
  })
  const releaseSavepoint = Effect.flatMap(transactionService, ([connection, depth]) =>
    depth === 0 ? Effect.void : Effect.asVoid(send(connection as PgConnection, `RELEASE SAVEPOINT waybill_${depth}`)))

  return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    within(Effect.tap(effect, () => releaseSavepoint)) as Effect.Effect<A, E | SqlError, R>
}

/** How long the server may take to begin or commit before the connection is closed; the outcome of a commit is then unknown. */
const controlDeadlineMs = 60_000

/**
 * An interruption waits for the answer, because the work after a commit must run if the commit succeeded. It waits only briefly:
 * a connection whose server vanished must not delay a shutdown.
 */
const send = (connection: PgConnection, text: string): Effect.Effect<PgResult, SqlError> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const asking = yield* Effect.forkChild(connection.control(text, controlDeadlineMs), { startImmediately: true, uninterruptible: false })
    const answer = Fiber.await(asking)
    const waited = yield* Effect.exit(Effect.interruptible(answer))
    if (Exit.isSuccess(waited)) return yield* waited.value
    yield* Effect.timeoutOption(answer, cancelDeadlineMs)
    yield* Fiber.interrupt(asking)
    return yield* yield* answer
  }))

const commit = (connection: PgConnection): Effect.Effect<void, SqlError> =>
  Effect.flatMap(send(connection, "COMMIT"), ({ command }) =>
    command === "ROLLBACK"
      ? Effect.fail(refusal(
        "Nothing was stored: a statement of this transaction failed, and its error was caught. Let it fail, or put it into a withTransaction of its own.",
        "commit"
      ))
      : Effect.void)

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

