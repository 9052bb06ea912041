/** Texts of environment variables. */
import { Config, Effect, Option } from "effect"

/** An empty variable counts as not set. */
export const setting = (name: string): Effect.Effect<string | undefined> =>
  Effect.map(Effect.option(Config.option(Config.String(name))), (found) => {
    const text = Option.getOrUndefined(Option.flatten(found))?.trim()
    return text === "" ? undefined : text
  })
