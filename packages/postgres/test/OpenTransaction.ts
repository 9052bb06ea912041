/** A transaction that stays open until the test commits it, and the statements that its locks block. */
import { Transaction } from "@waybill/core"
import { fixtures } from "@waybill/conformance/suites"
import { Deferred, Effect, Fiber } from "effect"
import { PgClient } from "../src/index.ts"

/** Runs an effect in a transaction that stays open. Returns the effect that commits it. */
export const openTransaction = Effect.fnUntraced(function*<A, E, R>(work: Effect.Effect<A, E, R>) {
  const transaction = yield* Transaction
  const release = yield* Deferred.make<void>()
  const held = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkChild(transaction.run(
    work.pipe(Effect.tap(() => Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(release))))
  ))
  yield* Deferred.await(held)
  return Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(fiber))
})

/** Counts this file's connections that wait for a lock. Connections of other test files on the same server do not count. */
export const countBlocked = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(
    sql<{ n: number }>`
      SELECT count(DISTINCT pid)::int AS n FROM pg_locks JOIN pg_stat_activity AS a USING (pid)
      WHERE NOT granted AND a.application_name = current_setting('application_name')`,
    ([row]) => row!.n
  ))

/** Waits until `count` connections are blocked. */
export const untilBlocked = (count: number) => fixtures.eventually(countBlocked, (n) => n >= count)

export const untilOneIsBlocked = untilBlocked(1)

/** Runs `second` while a transaction with `first` is open, which is committed once it blocks `second`. Returns the results of both. */
export const runBlocked = Effect.fnUntraced(function*<A, E, R, B, F, S>(first: Effect.Effect<A, E, R>, second: Effect.Effect<B, F, S>) {
  const commit = yield* openTransaction(first)
  const waiting = yield* Effect.forkChild(second)
  yield* untilOneIsBlocked
  return [yield* commit, yield* Fiber.join(waiting)] as const
})
