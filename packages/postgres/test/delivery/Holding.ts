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

/** Until a statement waits for a lock that somebody else holds. */
export const somebodyWaits = Effect.flatMap(PgClient.PgClient, (sql) =>
  fixtures.eventually(
    sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted`,
    ([row]) => row!.n > 0
  ))
