/** Transactions that stay open for as long as a test wants, and statements that wait for them. */
import { Transaction } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Deferred, Effect, Fiber } from "effect"
import { PgClient } from "../../src/index.ts"

/** Begins a transaction and does the work. Answers what commits it. */
export const holding = Effect.fnUntraced(function*<A, E, R>(work: Effect.Effect<A, E, R>) {
  const transaction = yield* Transaction
  const release = yield* Deferred.make<void>()
  const held = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkChild(transaction.run(
    work.pipe(Effect.tap(() => Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(release))))
  ))
  yield* Deferred.await(held)
  return Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(fiber))
})

/** How many of this file's connections wait for a lock that somebody else holds: other files are at work on the same server. */
export const howManyWait = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(
    sql<{ n: number }>`
      SELECT count(DISTINCT pid)::int AS n FROM pg_locks JOIN pg_stat_activity AS a USING (pid)
      WHERE NOT granted AND a.application_name = current_setting('application_name')`,
    ([row]) => row!.n
  ))

/** Until so many wait. */
export const waiting = (count: number) => fixtures.eventually(howManyWait, (n) => n >= count)

export const somebodyWaits = waiting(1)
