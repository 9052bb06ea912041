/** Waybill's own pool: sessions of `@effect/sql-pg`, lent to one fiber or transaction at a time. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Pool from "effect/Pool"
import * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { type PgLending, withReservedConnection } from "./PgLending.ts"
import { openSession, type PgSession, type SessionOptions } from "./PgSession.ts"

export interface PoolOptions {
  readonly connection: SessionOptions["connection"]
  readonly connectTimeout: SessionOptions["connectTimeout"]
  readonly statementName: SessionOptions["statementName"]
  readonly answerMillis: number
  readonly maxConnections: number
  readonly minConnections: number
  readonly idleTimeout: Duration.Input
  readonly connectionTTL: Duration.Input | undefined
}

/**
 * Opens a pool, and closes it with the scope.
 *
 * @stability unstable
 */
export const openPool = Effect.fnUntraced(function*(options: PoolOptions) {
  const sessions = new Set<PgSession>()
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope, exit) => closeInTime(scope, exit, sessions))

  /** One dead connection suggests others: unused ones that did not answer since are closed before a statement waits on them. */
  let silentSince = -Infinity
  const onSilence = (askedAt: number) => {
    silentSince = Math.max(silentSince, askedAt)
    for (const session of sessions) if (!session.isLent && session.answeredAt < silentSince) session.retire()
  }
  const retire = (session: PgSession): Effect.Effect<void> => Pool.invalidate(pool, session)
  const acquire = Effect.tap(
    openSession({ ...options, onSilence, onRetired: (session) => Effect.runFork(retire(session)) }),
    (session) => {
      sessions.add(session)
      const aged = options.connectionTTL === undefined
        ? undefined
        : setTimeout(() => session.retire(), Duration.toMillis(options.connectionTTL)).unref()
      return Effect.addFinalizer(() =>
        Effect.sync(() => {
          sessions.delete(session)
          clearTimeout(aged)
        })
      )
    }
  )
  // begins to connect at once
  const pool: Pool.Pool<PgSession, SqlError> = yield* Pool.makeWithTTL({
    acquire,
    min: options.minConnections,
    max: options.maxConnections,
    timeToLive: options.idleTimeout,
    timeToLiveStrategy: "usage"
  }).pipe(Scope.provide(scope))
  const giveBack = (session: PgSession) =>
    Effect.suspend(() => session.giveBack() && session.answeredAt >= silentSince ? Effect.void : retire(session))

  const source: PgLending = {
    borrower: (use) =>
      Pool.use(pool, (session) =>
        Effect.onExit(
          Effect.suspend(() => {
            session.lend()
            return use(session)
          }),
          () => giveBack(session)
        )),
    acquirer: Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(Pool.get(pool)), (session) => {
        session.lend()
        return Effect.as(Effect.addFinalizer(() => giveBack(session)), session)
      })
    )
  }
  return withReservedConnection(options.maxConnections, source)
})

/** How long statements that still run can delay the shutdown. */
const endDeadlineMs = 5000

/** Ends unused sessions at once, and waits for those in use; after the deadline their connections are closed, all at the same time. */
const closeInTime = (scope: Scope.Closeable, exit: Exit.Exit<unknown, unknown>, sessions: ReadonlySet<PgSession>) =>
  Effect.gen(function*() {
    const closing = yield* Effect.forkDetach(Scope.close(scope, exit), { startImmediately: true })
    const closed = yield* Effect.timeoutOption(Fiber.await(closing), endDeadlineMs)
    if (Option.isSome(closed)) return
    for (const session of sessions) session.close()
  })
