/** A time limit for stopping. */
import { Effect, Fiber, Option } from "effect"

/** Time for the last writes after requests and attempts in flight have ended: outcomes, leases, statistics and connections. */
export const lastWritesMillis = 8_000

/**
 * Waits for `stop` for at most `millis`. On a database that does not answer, each last write would wait for its own deadline, one after the other,
 * or forever on a pool without timeouts. What has not ended continues until the process exits.
 */
export const stopWithin = (millis: number, stop: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.gen(function*() {
    const stopping = yield* Effect.forkDetach(stop, { startImmediately: true })
    if (Option.isSome(yield* Effect.timeoutOption(Fiber.await(stopping), millis))) return
    yield* Effect.logWarning(`Stop not complete within ${millis / 1000} s, the database does not answer. Leases expire, then deliveries are sent again.`)
  })
