/** How a command ends: its exit code, and the one sentence that goes with it. */
import { Cause, Exit, Schema } from "effect"

export const exitCodes = {
  /** Done, or all is well. */
  done: 0,
  /** The answer is no: a check found something, a signature does not stand; and everything that has no code of its own. */
  failed: 1,
  /** The command line cannot be used as it stands. */
  usage: 2,
  /** No usable answer: nobody there, too slow, in trouble itself (429, 5xx), or not a Waybill server. */
  unreachable: 3,
  /** The server answered, and says no. */
  refused: 4
} as const

export type ExitCode = typeof exitCodes[keyof typeof exitCodes]

export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  detail: Schema.String,
  code: Schema.Literals([1, 2, 3, 4])
}) {
  override get message(): string {
    return this.detail
  }
}

export const failed = (detail: string): CommandFailed => new CommandFailed({ detail, code: exitCodes.failed })
export const unusable = (detail: string): CommandFailed => new CommandFailed({ detail, code: exitCodes.usage })

/** A signal that ends a command is its proper end. */
export const exitCodeOf = (exit: Exit.Exit<unknown, unknown>): ExitCode => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return exitCodes.done
  const error = Cause.squash(exit.cause)
  if (error instanceof CommandFailed) return error.code
  // the argument parser's way to say that it showed an error, or the help of a command that needs another word
  return typeof error === "object" && error !== null && "_tag" in error && error._tag === "ShowHelp" ? exitCodes.usage : exitCodes.failed
}
