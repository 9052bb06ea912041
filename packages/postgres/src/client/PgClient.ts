/** The SQL client on Postgres: a pool of its own or the host application's, or the transaction that the host holds. */
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
 * Effect's `SqlClient` with what Postgres adds to it, in the shape of `@effect/sql-pg`, and with two things that has not:
 * `bulk` and `joined`.
 *
 * Differences that matter when a statement is written: `int8` arrives as a number, `timestamptz` as a `Date`,
 * `numeric`, `date` and `timestamp` as text, `bytea` as a `Buffer`. Interrupting a statement cancels it on the server;
 * inside a transaction that fails the transaction, as any failed statement does. A `COMMIT` that Postgres answers with
 * `ROLLBACK`, because a failed statement's error was caught, fails instead of passing for success.
 *
 * @stability unstable
 */
export interface PgClient extends SqlClient.SqlClient, BulkRunner {
  readonly config: PgClientConfig
  /** A value as a `json` or `jsonb` parameter. */
  readonly json: (value: unknown) => Statement.Fragment
  /** The payloads of a channel; an empty one means "look for yourself", see `listenOn`. */
  readonly listen: (channel: string) => Stream.Stream<string, SqlError>
  /** Inside a transaction it is sent when that commits. */
  readonly notify: (channel: string, payload: string) => Effect.Effect<void, SqlError>
  /**
   * Runs an effect so that every statement of this client goes to the host's open transaction. `withTransaction` inside
   * becomes a savepoint; the outer transaction is the host's to commit or roll back, and its client the host's to
   * release. Calls on one host wait for each other. Callbacks given to `afterCommit` run when the effect succeeds, which is before the host commits.
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
 * How statements are sent, over whosever pool.
 *
 * @stability unstable
 */
export interface PgStatementOptions {
  /** Prepare repeated statements under names; the default on a pool of our own. Turn it off behind PgBouncer in transaction mode. */
  readonly prepare?: boolean | undefined
  readonly spanAttributes?: Record<string, unknown> | undefined
}

/**
 * A pool of our own. Options that Postgres knows too may also stand in the URL, which wins.
 *
 * @stability unstable
 */
export interface PgPoolConfig extends PgStatementOptions {
  readonly url: Redacted.Redacted
  /** 10 by default. Each `listen` adds one. */
  readonly maxConnections?: number | undefined
  /** 0 by default: idle connections are all closed in time. */
  readonly minConnections?: number | undefined
  /** How long a connection stays unused before it is closed; a minute by default. */
  readonly idleTimeout?: Duration.Input | undefined
  /** How old a connection grows; without end by default. */
  readonly connectionTTL?: Duration.Input | undefined
  /** For reaching the server, not for waiting until one of the pool is free; ten seconds by default. */
  readonly connectTimeout?: Duration.Input | undefined
  /** Shown in `pg_stat_activity`; `waybill` by default. */
  readonly applicationName?: string | undefined
  /**
   * How long a statement may run before the server cancels it, which keeps the connection: 45 seconds by default. Migrations
   * take as long as they take. With `prepare: false` it is set only where it is given, because a proxy may refuse it.
   */
  readonly statementTimeout?: Duration.Input | undefined
  /** How long a transaction may wait for its next statement before the server ends it: ten seconds by default. */
  readonly idleTransactionTimeout?: Duration.Input | undefined
  /**
   * How long the server may take to answer a statement before that is cancelled and the connection given up; a minute by
   * default, and longer than a statement may run. Where the other end is gone without a word, nothing else would tell. Migrations take as long as they take.
   */
  readonly answerTimeout?: Duration.Input | undefined
  readonly ssl?: pg.ClientConfig["ssl"]
}

/** What a client was made of; the URL only where the pool is our own. */
export type PgClientConfig = PgStatementOptions & Partial<PgPoolConfig>

/**
 * Opens a pool and closes it with the scope. Fails at once where the server cannot be reached.
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
    // the pool hands its own options to its clients; given to it, the timeout would also cover the wait for a free one
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
 * Uses the host application's pool, which we neither configure nor end. Ours are the statements only; `listen` opens a
 * connection with the pool's options beside it. Bulk results arrive as text, which costs about three times a pool of our own.
 *
 * Statements are planned anew each time, unless `prepare` is true: kept plans of queue tables go wrong, and the settings that
 * prevent it are not ours to make on a connection that the host uses too.
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

/** Without a listener, an idle connection that the server closes would end the process. The pool has let go of it already. */
const onIdleError = () => {}

const layerOf = <E>(
  client: Effect.Effect<PgClient, E, Scope.Scope | Reactivity.Reactivity>
): Layer.Layer<PgClient | SqlClient.SqlClient, E> =>
  Layer.effectContext(
    Effect.map(client, (client) => Context.make(PgClient, client).pipe(Context.add(SqlClient.SqlClient, client)))
  ).pipe(Layer.provide(Reactivity.layer))

/**
 * Queue tables are empty most of the time. A plan that was kept from such a moment would read them from end to end when
 * they are full, until somebody analyses them.
 */
const keepToIndexes = "-c enable_seqscan=off"

/**
 * Statements are written so that one plan is right whatever their values are. Left to choose, the server plans the claim
 * anew each time, which takes longer than running it, because a short array looks cheaper to it than an unknown one.
 */
const planOnce = "-c plan_cache_mode=force_generic_plan"

const defaultStatementTimeout: Duration.Input = "45 seconds"

/**
 * A statement that runs away must not hold its locks and its connection for ever. And between two statements of a transaction
 * we never wait for anything: when the next does not come, we are gone without the server knowing, and the locks of the
 * transaction would be kept for hours.
 */
const timeouts = ({ idleTransactionTimeout, statementTimeout }: PgPoolConfig): ReadonlyArray<string> => [
  `-c statement_timeout=${millis(statementTimeout ?? defaultStatementTimeout)}`,
  `-c idle_in_transaction_session_timeout=${millis(idleTransactionTimeout ?? "10 seconds")}`
]

/** The server gives up first, because then the connection can be used again. */
const answerMillisOf = ({ answerTimeout, statementTimeout }: PgPoolConfig): number =>
  answerTimeout === undefined ? Math.max(60_000, millis(statementTimeout ?? defaultStatementTimeout) + 15_000) : millis(answerTimeout)

/** A server that no longer answers does not hold up the shutdown for longer. */
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
          // a transaction of our own that is open around us is not the host's
          Effect.updateContext((context: Context.Context<R>) =>
            Context.omit(client.transactionService)(context) as Context.Context<any>),
          inTurn(host)
        ) as Effect.Effect<A, E | SqlError, R>)
  } satisfies Omit<PgClient, keyof SqlClient.SqlClient> & Pick<PgClient, "withTransaction">) as PgClient
})

/** The host's connection that the next outermost transaction runs on, in place of one from the pool. */
const Joining = Context.Reference<PgConnection | undefined>("@waybill/postgres/client/Joining", {
  defaultValue: () => undefined
})

/**
 * Transactions as Effect makes them, but for three things: the outermost one of a joined host is neither begun nor ended,
 * a connection that is lost needs no roll-back, and releasing a savepoint may fail as any statement may.
 */
const transactions = (
  transactionService: SqlClient.SqlClient["transactionService"],
  acquirer: Effect.Effect<PgWireConnection, SqlError, Scope.Scope>,
  spanAttributes: ReadonlyArray<readonly [string, unknown]>
): SqlClient.SqlClient["withTransaction"] => {
  // where even this fails, the connection is closed on release, or is the host's, whose commit then rolls back
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
    // goes along with the first statement, where it can still be interrupted
    begin: () => Effect.void,
    commit: (connection) => unlessHosted(connection, commit(connection)),
    // over already; but pg has not yet read so, and would give the connection up as one inside a transaction
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

/** How long the server may take to begin or commit before its connection is given up; a commit's outcome is then unknown. */
const controlDeadlineMs = 60_000

/**
 * An interruption waits for the answer, as what follows a commit has to follow this one. But only for a moment: whoever stops
 * must not be kept by a connection whose other end is gone without a word.
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

