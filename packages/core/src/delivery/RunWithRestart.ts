/** How a worker's loops go on whatever happens. */
import { Cause, Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/** One turn after the other; trouble is told, and the next turn comes a second later. */
export const steadily = (turn: Effect.Effect<void, StorageError>, pause: Effect.Effect<void>): Effect.Effect<never> =>
  Effect.forever(Effect.matchCauseEffect(turn, {
    onSuccess: () => pause,
    // a defect must not end deliveries for good: whatever it was about is looked at again
    onFailure: (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.andThen(Effect.logError("Delivery worker failed, restarting in 1 s.", cause), Effect.sleep(1000))
  }))
