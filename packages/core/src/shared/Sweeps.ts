/** Periodic background work. */
import { Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

/** Runs `sweep` until interrupted, with a pause of `pauseMillis` after each run. Logs a storage failure with `message`, then continues. */
export const sweepEvery = <A>(pauseMillis: number, sweep: Effect.Effect<A, StorageError>, message: string): Effect.Effect<never> =>
  Effect.forever(
    sweep.pipe(
      Effect.catchTag("StorageError", (error) => Effect.logWarning(message, error)),
      Effect.andThen(Effect.sleep(pauseMillis))
    )
  )
