/** The command line of `waybill`: reads the arguments, runs the command and reports its error. */
import type { NodeServices } from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { waybill } from "./commands/Commands.ts"
import { setting } from "./config/Setting.ts"
import { ProcessContext } from "./ProcessContext.ts"
import { describe, fatalLine } from "./serve/Logging.ts"
import { version } from "./serve/Version.ts"

/** Runs the command that the arguments name; `exitCodeOf` is what its exit means. */
export const runCommandLine = (args: ReadonlyArray<string>): Effect.Effect<void, unknown, NodeServices> =>
  Command.runWith(waybill, { version })(withValues(args)).pipe(
    Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })),
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.tapCause((cause) => report(args, cause))
  )

/** Expected errors have a message that says what to do; a stack would hide it. */
const report = Effect.fnUntraced(function*([command]: ReadonlyArray<string>, cause: Cause.Cause<unknown>) {
  if (Cause.hasInterruptsOnly(cause)) return
  const error = Cause.squash(cause)
  // The argument parser has already printed its error.
  if (isTagged(error) && error._tag === "ShowHelp") return
  const { isTerminal, writeError } = yield* ProcessContext
  // A server whose log is JSON also ends it with JSON. Not read from the settings, because they may be what is wrong.
  const format = (yield* setting("WAYBILL_LOG_FORMAT"))?.toLowerCase()
  const logsJson = (command === undefined || command === "serve") && (format === "json" || format !== "pretty" && !isTerminal)
  writeError(logsJson ? fatalLine(describe(error)) : `waybill: ${describe(error)}`)
})

/** An invalid command line gets its error and where the help is; the help itself would hide the error. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.flatMap(CliOutput.Formatter, (formatter) =>
        Console.error(`${formatter.formatErrors(event.errors).trim()}\n\nSee ${[...event.commandPath, "--help"].join(" ")}`))
      : CliOutput.defaultPresenter.present(event)
}

const isTagged = (error: unknown): error is { readonly _tag: string } => typeof error === "object" && error !== null && "_tag" in error

/**
 * The parser would read `--since -1h` as the flags -1 and -h, and print the help. No flag has one letter but -h, so
 * longer words behind a single hyphen are the value of the flag before them.
 */
const withValues = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const joined: Array<string> = []
  for (const arg of args) {
    const flag = joined.at(-1)
    if (flag !== undefined && /^--[a-z-]+$/.test(flag) && /^-[^-]./.test(arg)) joined[joined.length - 1] = `${flag}=${arg}`
    else joined.push(arg)
  }
  return joined
}
