/** Exit codes of commands, and their error message. */
import { Cause, Exit, Schema } from "effect"

export const exitCodes = {
  /** Success. */
  done: 0,
  /** A check found a problem, a signature is invalid, or an error without its own code. */
  failed: 1,
  /** Invalid command line. */
  usage: 2,
  /** No usable response: unreachable, too slow, overloaded or failing (429, 5xx), or not a Waybill server. */
  unreachable: 3,
  /** The server refused the request. */
  refused: 4
} as const

type ExitCode = typeof exitCodes[keyof typeof exitCodes]

export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  code: Schema.Literals([1, 2, 3, 4])
}) {}

export const failed = (message: string): CommandFailed => new CommandFailed({ message, code: exitCodes.failed })
export const usageError = (message: string): CommandFailed => new CommandFailed({ message, code: exitCodes.usage })

/** A command that a signal ends was successful. */
export const exitCodeOf = (exit: Exit.Exit<unknown, unknown>): ExitCode => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return exitCodes.done
  const error = Cause.squash(exit.cause)
  if (error instanceof CommandFailed) return error.code
  // The argument parser has printed an error, or the help of a command that needs a subcommand.
  return typeof error === "object" && error !== null && "_tag" in error && error._tag === "ShowHelp" ? exitCodes.usage : exitCodes.failed
}
