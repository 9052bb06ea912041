/** A bound for the stop of all work. */
import { Effect, Fiber, Option, Scope } from "effect"

/**
 * A scope that is closed within this time, whatever its finalizers do: each last write to a database that does not answer would
 * wait for its own deadline, one after the other. What does not end in time goes on until the process exits.
 */
export const scopeClosedWithin = (millis: number): Effect.Effect<Scope.Closeable, never, Scope.Scope> =>
  Effect.acquireRelease(Scope.make(), (scope, exit) =>
    Effect.gen(function*() {
      const closing = yield* Effect.forkDetach(Scope.close(scope, exit), { startImmediately: true })
      if (Option.isSome(yield* Effect.timeoutOption(Fiber.await(closing), millis))) return
      yield* Effect.logWarning(`Stop not complete within ${millis / 1000} s, the database does not answer. Leases expire, then deliveries are sent again.`)
    }))
