/** Background work that leaves most of the storage's time to other work. */
import { Duration, Effect } from "effect"
import type { StorageError } from "./StoragePort.ts"
import { withTimeLimit } from "./TimeLimit.ts"

/** Pause after each unit of work, as a multiple of the work's duration. */
const pausePerMoment = 4

/** Longest pause, so that a slow statement does not stop the work for long. */
const longestPauseMillis = 1000

/** Runs the work, one statement or a few, then pauses, unless `didWork` finds that the work did nothing. Fails if the work is blocked. */
export const throttled = <A>(operation: string, work: Effect.Effect<A, StorageError>, didWork: (answer: A) => boolean = () => true): Effect.Effect<A, StorageError> =>
  Effect.gen(function*() {
    const [took, answer] = yield* Effect.timed(withTimeLimit(operation, work))
    if (didWork(answer)) yield* Effect.sleep(Duration.min(Duration.times(took, pausePerMoment), Duration.millis(longestPauseMillis)))
    return answer
  })

/** Deletions of one store in a row, before it is the turn of others. */
const prunesInARow = 10

/** Deletes in steps of a few thousand rows, with a pause after each, so that other work never waits long. */
export const pruneSome = Effect.fnUntraced(function*(prune: Effect.Effect<number, StorageError>) {
  let done = 0
  for (let n = 0; n < prunesInARow; n++) {
    const removed = yield* throttled("Retention.step", prune, (count) => count > 0)
    if (removed === 0) return { done, more: false }
    done += removed
  }
  return { done, more: true }
})
