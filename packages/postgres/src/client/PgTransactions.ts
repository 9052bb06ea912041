/**
 * Transactions of the client. They behave like those of Effect's `SqlClient`, with four differences: the outermost transaction of a joined
 * host is neither begun nor ended, a lost connection needs no rollback, releasing a savepoint may fail like any statement, and a
 * transaction adds one service to the context instead of copying it, because a program has many services.
 */
import { isTraced } from "@waybill/core"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { Reactivity } from "effect/reactivity"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type * as Tracer from "effect/Tracer"
import { cancelDeadlineMs, type PgConnection, type PgResult } from "./PgConnection.ts"
import { refusal } from "./PgErrors.ts"
import type { PgLending } from "./PgLending.ts"

/** The host's connection for the next outermost transaction, instead of a connection from the pool. */
export const Joining = Context.Reference<PgConnection | undefined>("@waybill/postgres/client/Joining", {
  defaultValue: () => undefined
})

/** A transaction, or a savepoint inside one. */
class TransactionState {
  readonly parent: TransactionState | undefined
  /** Run when the outermost transaction has committed. */
  readonly callbacks: Array<Effect.Effect<void>> = []
  isOpen = true
  isCommitted = false
  /** Savepoints of one level follow each other. */
  readonly nested = Semaphore.makeUnsafe(1)

  constructor(parent: TransactionState | undefined) {
    this.parent = parent
  }
}

type ReactivityService = Context.Service.Shape<typeof Reactivity.Reactivity>

/** Effect's value of an open transaction, with its state. */
type Level = readonly [connection: PgConnection, depth: number, state: TransactionState]

export interface TransactionOptions {
  readonly transactionService: SqlClient.SqlClient["transactionService"]
  readonly lending: PgLending
  readonly spanAttributes: ReadonlyArray<readonly [string, unknown]>
}

/** `withTransaction` and `afterCommit` of the client. */
export const transactions = ({ lending, spanAttributes, transactionService }: TransactionOptions): Pick<SqlClient.SqlClient, "afterCommit" | "withTransaction"> => {
  const levelKey = transactionService as unknown as Context.Key<unknown, Level>
  const levelOf = (fiber: Fiber.Fiber<unknown, unknown>) => Context.getOrUndefined(fiber.context, levelKey)

  const afterCommit: SqlClient.SqlClient["afterCommit"] = (effect) =>
    Effect.withFiber((fiber) => {
      const level = levelOf(fiber)
      if (level === undefined) return runAfterCommit(effect)
      for (let state: TransactionState | undefined = level[2]; state !== undefined; state = state.parent) {
        if (!state.isOpen) return Effect.die(new Error("afterCommit: the transaction has already ended"))
      }
      const outside = Context.omit(transactionService)(fiber.context)
      level[2].callbacks.push(Effect.provideContext(effect as Effect.Effect<void>, outside))
      return Effect.void
    })

  /** Caches are invalidated after the commit. */
  const deferred = (reactivity: ReactivityService): ReactivityService => {
    const invalidate: ReactivityService["invalidate"] = (keys) => afterCommit(Effect.sync(() => reactivity.invalidateUnsafe(keys)))
    return { ...reactivity, invalidate, mutation: (keys, effect) => Effect.tap(effect, invalidate(keys)) }
  }

  const run = <A, E, R>(effect: Effect.Effect<A, E, R>, fiber: Fiber.Fiber<unknown, unknown>, span: Tracer.Span | undefined): Effect.Effect<A, E | SqlError, R> => {
    const outer = levelOf(fiber)
    const state = new TransactionState(outer?.[2])
    const reactivity = Context.getOrUndefined(fiber.context, Reactivity.Reactivity)
    const parts = (reactivity === undefined ? effect : Effect.provideService(effect, Reactivity.Reactivity, deferred(reactivity))) as Effect.Effect<A, E, R>
    const spanned = span === undefined ? parts : Effect.withParentSpan(parts, span) as Effect.Effect<A, E, R>
    const within = (connection: PgConnection, depth: number, ending: Ending) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.onExit(restore(Effect.provideService(spanned, levelKey, [connection, depth, state])), (exit): Effect.Effect<void, SqlError> => {
          record(span, fiber, Exit.isSuccess(exit) ? depth === 0 ? "commit" : "savepoint" : "rollback")
          if (Exit.isFailure(exit)) return ending.undo
          return Effect.map(ending.commit, () => {
            state.isCommitted = true
          })
        }))
    const ran = outer === undefined ? outermost(lending, fiber, (connection) => within(connection, 0, endingOf(connection))) : nested(outer, within)
    return Effect.onExit(ran, () => {
      state.isOpen = false
      if (!state.isCommitted || state.callbacks.length === 0) return Effect.void
      if (state.parent === undefined) return Effect.forEach(state.callbacks, runAfterCommit, { discard: true })
      state.parent.callbacks.push(...state.callbacks)
      return Effect.void
    })
  }

  return {
    afterCommit,
    withTransaction: (effect) =>
      Effect.withFiber((fiber) =>
        isTraced(fiber)
          ? Effect.useSpan("sql.transaction", { kind: "internal" }, (span) => {
            for (const [key, value] of spanAttributes) span.attribute(key, value)
            return run(effect, fiber, span)
          })
          : run(effect, fiber, undefined))
  }
}

const runAfterCommit = <R>(effect: Effect.Effect<void, never, R>) =>
  Effect.ignoreCause(effect, { log: "Error", message: "Work after a commit failed." })

const record = (span: Tracer.Span | undefined, fiber: Fiber.Fiber<unknown, unknown>, event: string): void =>
  span?.event(`effect.sql.transaction.${event}`, fiber.getRef(Clock.Clock).currentTimeNanosUnsafe())

/** How a transaction ends. */
interface Ending {
  readonly commit: Effect.Effect<void, SqlError>
  readonly undo: Effect.Effect<void>
}

/** The default of a database or a role may be stricter. A statement that waited for another would then not see what that wrote, or fail. */
const beginText = "BEGIN ISOLATION LEVEL READ COMMITTED"

/** BEGIN is sent with the first statement, which is interruptible. */
const outermost = <A, E, R>(lending: PgLending, fiber: Fiber.Fiber<unknown, unknown>, within: (connection: PgConnection) => Effect.Effect<A, E, R>) => {
  const joining = fiber.getRef(Joining)
  if (joining !== undefined) return within(joining)
  const begin = fiber.getRef(SqlClient.BeginTransaction) ?? beginText
  return lending.borrower((connection) => {
    connection.begin?.(begin)
    return within(connection)
  })
}

const nested = <A, E, R>(
  [connection, outerDepth, { nested }]: Level,
  within: (connection: PgConnection, depth: number, ending: Ending) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> => {
  const depth = outerDepth + 1
  const savepoint = `waybill_${depth}`
  const undo = Effect.andThen(rollBack(connection, `ROLLBACK TO SAVEPOINT ${savepoint}`), rollBack(connection, `RELEASE SAVEPOINT ${savepoint}`))
  const release = send(connection, `RELEASE SAVEPOINT ${savepoint}`)
  const ending: Ending = { commit: Effect.asVoid(Effect.onError(release, () => undo)), undo }
  return nested.withPermit(Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(send(connection, `SAVEPOINT ${savepoint}`), () => restore(within(connection, depth, ending)))))
}

/** The host ends its own transaction. */
const hosted: Ending = { commit: Effect.void, undo: Effect.void }

const endingOf = (connection: PgConnection): Ending => {
  if (connection.isHosted) return hosted
  const undo = rollBack(connection, "ROLLBACK")
  // the transaction has ended, but pg has not read that yet and would close the connection as one inside a transaction
  return { commit: Effect.onError(commit(connection), () => undo), undo }
}

/** If this fails too, the connection is closed on release; on a host's connection, the host's commit then rolls back. */
const rollBack = (connection: PgConnection, text: string): Effect.Effect<void> =>
  Effect.suspend(() => connection.isLost() ? Effect.void : Effect.ignore(connection.control(text, cancelDeadlineMs)))

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
        "Nothing was stored: a statement of this transaction failed, and its error was caught. Do not catch the error, or run the statement in a nested withTransaction.",
        "commit"
      ))
      : Effect.void)
