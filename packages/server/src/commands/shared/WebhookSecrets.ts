/** Reads webhook secrets from a file, standard input, or the environment. */
import { Effect, Option, Redacted } from "effect"
import { type Command, Flag } from "effect/cli"
import { readFile } from "node:fs/promises"
import { buffer } from "node:stream/consumers"
import { messageOf } from "../../ErrorMessage.ts"
import { type CommandFailed, usageError } from "./Outcome.ts"
import { setting } from "../../config/Setting.ts"

export const secretFlags = {
  secret: Flag.Redacted("secret").pipe(
    Flag.withDescription("The secret, whsec_…; better in WAYBILL_WEBHOOK_SECRET or a file, because other users of a machine can see command lines"),
    Flag.optional
  ),
  secretFile: Flag.String("secret-file").pipe(
    Flag.withDescription("A file with it, or several, one on each line; - reads standard input"),
    Flag.withMetavar("file"),
    Flag.optional
  )
}

/** Empty when none is given. */
export const secretsFrom = Effect.fnUntraced(function*({ secret, secretFile }: Command.Command.Config.Infer<typeof secretFlags>): Effect.fn.Return<ReadonlyArray<string>, CommandFailed> {
  const text = Option.isSome(secret)
    ? Redacted.value(secret.value)
    : Option.isSome(secretFile)
    ? (yield* readInput(secretFile.value)).toString("utf8")
    : (yield* setting("WAYBILL_WEBHOOK_SECRET")) ?? ""
  return text.split(/[\s,]+/).filter((each) => each !== "")
})

/** Reads a file, or standard input for `-`. */
export const readInput = (path: string): Effect.Effect<Buffer, CommandFailed> =>
  Effect.tryPromise({
    try: () => path === "-" ? buffer(process.stdin) : readFile(path),
    catch: (error) => usageError(`${path === "-" ? "Standard input" : path} cannot be read: ${messageOf(error)}.`)
  })
