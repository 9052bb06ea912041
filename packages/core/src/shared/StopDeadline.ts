/** A bound for the stop of all work. */
import { Effect, Fiber, Option } from "effect"

/** Milliseconds after requests and attempts in flight have ended: for outcomes, leases, statistics and connections. */
export const lastWritesMillis = 8_000

/**
 * Waits for the stop at most this long, whatever it does: each last write to a database that does not answer would wait for its own deadline,
 * one after the other, or without an end on a pool without timeouts. What does not end in time goes on until the process exits.
 */
export const stoppedWithin = (millis: number, stop: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.gen(function*() {
    const stopping = yield* Effect.forkDetach(stop, { startImmediately: true })
    if (Option.isSome(yield* Effect.timeoutOption(Fiber.await(stopping), millis))) return
    yield* Effect.logWarning(`Stop not complete within ${millis / 1000} s, the database does not answer. Leases expire, then deliveries are sent again.`)
  })
