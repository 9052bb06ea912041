/** The embedded database for other programs: development, examples, tests. */
import { Cause, Effect, Exit, Logger, Redacted, Scope } from "effect"
import { resolve } from "node:path"
import { runEmbeddedPostgres } from "./EmbeddedPostgres.ts"

export interface EmbeddedPostgres {
  /** URL of a superuser, password included. */
  readonly url: string
  readonly stop: () => Promise<void>
}

/**
 * Runs a real Postgres on the loopback interface. `directory` is created if absent and contains everything; delete it
 * after `stop`. One process at a time can use it.
 */
export const startEmbeddedPostgres = async (directory: string): Promise<EmbeddedPostgres> => {
  const scope = Scope.makeUnsafe()
  const exit = await Effect.runPromiseExit(runEmbeddedPostgres(resolve(directory)).pipe(Scope.provide(scope), Effect.provide(Logger.layer([]))))
  if (Exit.isFailure(exit)) {
    await Effect.runPromise(Scope.close(scope, exit))
    throw Cause.squash(exit.cause)
  }
  return { url: Redacted.value(exit.value), stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}
