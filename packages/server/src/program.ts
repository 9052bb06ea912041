/** The `waybill` program: commands, signals and exit codes. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Effect } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { waybill } from "./commands/Commands.ts"
import { exitCodeOf } from "./commands/shared/Outcome.ts"
import { describe, writeLine } from "./serve/Logging.ts"
import { version } from "./serve/Version.ts"
import { handleStopSignals } from "./StopSignals.ts"

handleStopSignals()

/** The reader of our output closed the pipe, as `head` does. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0)
  throw error
})

/** Expected errors have a message that says what to do; a stack would hide it. */
const report = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  const error = Cause.squash(cause)
  // The argument parser has already printed its error.
  if (isTagged(error) && error._tag === "ShowHelp") return Effect.void
  return Effect.sync(() => writeLine(`waybill: ${describe(error)}`))
}

const isTagged = (error: unknown): error is { readonly _tag: string } => typeof error === "object" && error !== null && "_tag" in error

Command.run(waybill, { version }).pipe(
  Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })),
  Effect.provide(NodeServices.layer),
  Effect.tapCause(report),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCodeOf(exit))
  })
)
