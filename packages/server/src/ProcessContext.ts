/** What commands use of the process that runs them. Results go to Effect's Console, and settings come from its ConfigProvider. */
import { Context, Effect } from "effect"
import { writeLine } from "./serve/Logging.ts"

export interface ProcessContext {
  /** Names of its environment variables. */
  readonly variables: ReadonlyArray<string>
  readonly directory: string
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean
  /** Writes bytes of a result as they are, where the Console would end the line. */
  readonly writeOutput: (text: string) => void
  /** Writes a line to standard error. */
  readonly writeError: (line: string) => void
  /** Ends when nobody reads the results any more. */
  readonly outputClosed: Effect.Effect<void>
}

export const ProcessContext: Context.Reference<ProcessContext> = Context.Reference<ProcessContext>("waybill/ProcessContext", {
  defaultValue: () => ({
    variables: Object.keys(process.env),
    directory: process.cwd(),
    isTerminal: process.stderr.isTTY === true,
    writeOutput: (text) => void process.stdout.write(text),
    writeError: writeLine,
    outputClosed: Effect.callback<void>((resume) => void process.stdout.once("error", () => resume(Effect.void)))
  })
})
