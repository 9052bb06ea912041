/** Output of values that are returned only once, such as keys and secrets: printed or written to a file on request only. */
import { Effect, Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { open, rm } from "node:fs/promises"
import { clauseOf } from "../../ErrorMessage.ts"
import { failed, usageError } from "./Outcome.ts"

export const disclosureFlags = {
  show: Flag.Boolean("show").pipe(Flag.withDescription("Print it; logs may keep it"), Flag.withDefault(false)),
  out: Flag.String("out").pipe(
    Flag.withDescription("Write it to a new file that only you can read"),
    Flag.withMetavar("file"),
    Flag.optional
  )
}

export interface Disclosure {
  readonly isShown: boolean
  /** Writes the text to the file, if one was given. */
  readonly keep: (text: string) => Effect.Effect<void, ReturnType<typeof failed>>
  /** ` It is in <file>.`, or empty. */
  readonly note: string
}

/** Creates the file before it calls the server, so that the server generates nothing that would be lost. */
export const disclosure = (flags: Command.Command.Config.Infer<typeof disclosureFlags>, what: string, isNeeded: boolean) =>
  Effect.gen(function*() {
    const path = Option.getOrUndefined(flags.out)
    if (isNeeded && path === undefined && !flags.show) {
      return yield* usageError(`${what} is shown only once. Choose where it goes: --out <file>, or --show to print it.`)
    }
    if (path === undefined) return { isShown: flags.show, keep: () => Effect.void, note: "" } satisfies Disclosure
    const file = yield* Effect.tryPromise({
      try: () => open(path, "wx", 0o600),
      catch: (error) => usageError(`${path} cannot be created: ${clauseOf(error)}.`)
    })
    const keep = (text: string) =>
      Effect.tryPromise({
        try: async () => {
          await file.writeFile(`${text}\n`)
          await file.sync()
        },
        catch: (error) => failed(`${path} could not be written: ${clauseOf(error)}. ${what} is lost; create another one.`)
      })
    yield* Effect.addFinalizer((exit) =>
      Effect.promise(async () => {
        const { size } = await file.stat()
        await file.close()
        // Remove the empty file of a failed call.
        if (exit._tag === "Failure" && size === 0) await rm(path, { force: true })
      }))
    return { isShown: flags.show, keep, note: ` It is in ${path}.` } satisfies Disclosure
  })
