/** Runs effects that must not stop each other. */
import { Effect, Exit } from "effect"

/** Runs all effects, also after one of them has failed, `concurrency` at a time. Returns their results, or fails with the first failure when all have ended. */
export const completeAll = <A, E>(effects: Iterable<Effect.Effect<A, E>>, concurrency = 1): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.flatMap(Effect.forEach(effects, (effect) => Effect.exit(effect), { concurrency }), (exits) => {
    const failed = exits.find(Exit.isFailure)
    return failed === undefined ? Effect.succeed(exits.filter(Exit.isSuccess).map(({ value }) => value)) : Effect.failCause(failed.cause)
  })
