/** The `waybill` program: commands, signals and exit codes. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { waybill } from "./commands/Commands.ts"
import { exitCodeOf, exitCodes } from "./commands/shared/Outcome.ts"
import { describe, fatalLine, writeLine } from "./serve/Logging.ts"
import { version } from "./serve/Version.ts"
import { handleStopSignals } from "./StopSignals.ts"

handleStopSignals()

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader of our output closed the pipe, as `head` does.
  if (error.code === "EPIPE") process.exit(0)
  writeLine(`waybill: Standard output cannot be written: ${error.message}.`)
  process.exit(exitCodes.failed)
})

// A full disk or an ended log collector costs lines of the log, not the server.
process.stderr.on("error", () => {})

/** Expected errors have a message that says what to do; a stack would hide it. */
const report = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  const error = Cause.squash(cause)
  // The argument parser has already printed its error.
  if (isTagged(error) && error._tag === "ShowHelp") return Effect.void
  return Effect.sync(() => writeLine(logsJson ? fatalLine(describe(error)) : `waybill: ${describe(error)}`))
}

/**
 * Whether the program runs as a server whose log is JSON: then its last line is, too. Read from the environment, because the settings
 * themselves may be what is wrong.
 */
const [command] = process.argv.slice(2)
const format = process.env["WAYBILL_LOG_FORMAT"]?.trim().toLowerCase()
const logsJson = (command === undefined || command === "serve") && (format === "json" || format !== "pretty" && process.stderr.isTTY !== true)

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

Command.runWith(waybill, { version })(withValues(process.argv.slice(2))).pipe(
  Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })),
  Effect.provideService(CliOutput.Presenter, presenter),
  Effect.provide(NodeServices.layer),
  Effect.tapCause(report),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCodeOf(exit))
  })
)
