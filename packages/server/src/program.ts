/** The `waybill` program: signals, streams and exit codes of its process. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { runCommandLine } from "./CommandLine.ts"
import { exitCodeOf, exitCodes } from "./commands/shared/Outcome.ts"
import { writeLine } from "./serve/Logging.ts"
import { handleStopSignals } from "./StopSignals.ts"

handleStopSignals()

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe, as `head` does, or the terminal closed. A command that acts or judges goes on, and its exit code says how it ended.
  if (error.code === "EPIPE" || error.code === "EIO" && process.stdout.isTTY) return
  writeLine(`waybill: Standard output cannot be written: ${error.message}.`)
  process.exit(exitCodes.failed)
})

// A full disk or an ended log collector costs lines of the log, not the server.
process.stderr.on("error", () => {})

runCommandLine(process.argv.slice(2)).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCodeOf(exit))
  })
)
