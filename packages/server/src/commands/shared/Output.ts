/** Output of commands: results on standard output, progress on standard error. */
import { Console, Effect } from "effect"
import { Flag } from "effect/cli"
import { ProcessContext } from "../../ProcessContext.ts"

export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the result as JSON: one object, or one on each line where results come one by one"),
  Flag.withDefault(false)
)

/** Prints the result as text or JSON. */
export const printResult = (asJson: boolean, result: { readonly json: unknown; readonly text: string }): Effect.Effect<void> =>
  Console.log(asJson ? JSON.stringify(result.json) : result.text)

/** Progress for people; never part of the result. */
export const printProgress = (line: string): Effect.Effect<void> => Effect.map(ProcessContext, ({ writeError }) => writeError(line))

/** Ends a command that would print for ever when nobody reads it any more. */
export const whileRead = <E, R>(command: Effect.Effect<void, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(ProcessContext, ({ outputClosed }) => Effect.raceFirst(command, outputClosed))

/** `1 event`, `2 events`. */
export const counted = (count: number, what: string, more = `${what}s`): string => `${count} ${count === 1 ? what : more}`

/** Aligns columns. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths: Array<number> = []
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  return rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at]!)).join("  ").trimEnd()).join("\n")
}

/** Prints each row as JSON, or all of them as a table; `none` is said where there are none. */
export const printRows = <A>(asJson: boolean, rows: ReadonlyArray<A>, cellsOf: (row: A) => ReadonlyArray<string>, none: string, heads: ReadonlyArray<ReadonlyArray<string>> = []): Effect.Effect<void> =>
  asJson
    ? Effect.forEach(rows, (row) => Console.log(JSON.stringify(row)), { discard: true })
    : rows.length > 0
    ? Console.log(table([...heads, ...rows.map(cellsOf)]))
    : printProgress(none)
