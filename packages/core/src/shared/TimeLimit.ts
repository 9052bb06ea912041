/** A time limit for background work. On a host's pool a statement that waits for a lock may have none. */
import { Effect } from "effect"
import { StorageError } from "./StoragePort.ts"

/** Longer than any statement or short step that is not blocked, which would never end. */
export const blockedMillis = 30_000

/** Interrupts work that does not end in time: an interrupted statement is cancelled on the server. */
export const withTimeLimit = <A, E, R>(operation: string, work: Effect.Effect<A, E, R>, millis: number = blockedMillis): Effect.Effect<A, E | StorageError, R> =>
  Effect.timeoutOrElse(work, {
    duration: millis,
    orElse: () => Effect.fail(new StorageError({ operation, cause: `No end within ${millis / 1000} seconds. Another transaction may hold locks.` }))
  })
