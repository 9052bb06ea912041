/** Runs the loops of a worker, and restarts them after errors. */
import { Cause, Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/** Repeats a turn. After an error it logs the error and waits one second. */
export const runWithRestart = (turn: Effect.Effect<void, StorageError>, pause: Effect.Effect<void>): Effect.Effect<never> =>
  Effect.forever(Effect.matchCauseEffect(turn, {
    onSuccess: () => pause,
    // a defect must not stop deliveries: the next turn tries again
    onFailure: (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.andThen(Effect.logError("Delivery worker failed, restarting in 1 s.", cause), Effect.sleep(1000))
  }))
