/** Periodic background work. */
import { Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

/** Runs `sweep` until interrupted, with a pause of `pauseMillis` after each run. Logs a storage failure with `message`, then continues. */
export const sweepEvery = <A>(pauseMillis: number, sweep: Effect.Effect<A, StorageError>, message: string): Effect.Effect<never> =>
  sweepWithPauses(Effect.as(sweep, pauseMillis), pauseMillis, message)

/** The same with a pause that `sweep` answers, in milliseconds. After a storage failure it is `failurePauseMillis`. */
export const sweepWithPauses = (sweep: Effect.Effect<number, StorageError>, failurePauseMillis: number, message: string): Effect.Effect<never> =>
  sweep.pipe(
    Effect.catchTag("StorageError", (error) => Effect.as(Effect.logWarning(message, error), failurePauseMillis)),
    Effect.flatMap(Effect.sleep),
    Effect.forever
  )
