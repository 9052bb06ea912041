/** Work in the background that leaves storage to others in between. */
import { Duration, Effect } from "effect"

/** For every moment a store spends on it, others have so many. */
const pausePerMoment = 4

/** A store that somebody holds up is not left alone for longer than this. */
const longestPauseMillis = 1000

/** Runs it, and leaves the store alone for a while afterwards, unless its answer says that nothing was done. */
export const throttled = <A, E, R>(work: Effect.Effect<A, E, R>, didWork: (answer: A) => boolean = () => true): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const [took, answer] = yield* Effect.timed(work)
    if (didWork(answer)) yield* Effect.sleep(Duration.min(Duration.times(took, pausePerMoment), Duration.millis(longestPauseMillis)))
    return answer
  })
