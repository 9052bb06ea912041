/** Reads webhook secrets from a file, standard input, or the environment. */
import { Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { readFile } from "node:fs/promises"
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

interface Flags {
  readonly secret: Option.Option<Redacted.Redacted>
  readonly secretFile: Option.Option<string>
}

/** Empty when none is given. */
export const secretsFrom = Effect.fnUntraced(function*({ secret, secretFile }: Flags): Effect.fn.Return<ReadonlyArray<string>, CommandFailed> {
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
    try: () => path === "-" ? readStandardInput() : readFile(path),
    catch: (error) => usageError(`${path === "-" ? "Standard input" : path} cannot be read: ${messageOf(error)}.`)
  })

const readStandardInput = async (): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
