/** Work in the background that comes again and again. */
import { Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

/** Sweeps until interrupted, so many milliseconds after the last sweep ended. A failure is logged with the message, and the next sweep tries again. */
export const sweepEvery = <A>(pauseMillis: number, sweep: Effect.Effect<A, StorageError>, message: string): Effect.Effect<never> =>
  Effect.forever(
    sweep.pipe(
      Effect.catchTag("StorageError", (error) => Effect.logWarning(message, error)),
      Effect.andThen(Effect.sleep(pauseMillis))
    )
  )
