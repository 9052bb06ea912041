/** Commands of operators that make one call to the server and print its answer. */
import type { OperatorClient } from "@waybill/client"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { type CommandFailed, usageError } from "./Outcome.ts"
import { jsonFlag, printProgress, printRows } from "./Output.ts"
import { callServer, connectionFlags, operatorFlags, operatorOfAllTenants, operatorOfTenant } from "./Remote.ts"

type Flags = Command.Command.Config
type Values<F extends Flags> = Command.Command.Config.InferValue<F>

interface OneCall<Caller, F extends Flags, Answer> {
  readonly description: string
  readonly examples: ReadonlyArray<Command.Command.Example>
  /** Besides those of the connection and `--json`. */
  readonly flags: F
  /** What is wrong with flags that are valid alone. */
  readonly check?: (values: Values<F>) => string | undefined
  readonly call: (caller: Caller, values: Values<F>, options: { readonly signal: AbortSignal }) => Promise<Answer>
  readonly print: (asJson: boolean, answer: Answer, values: Values<F>) => Effect.Effect<void>
}

const makeCommandOf = <Connection extends Flags, Caller>(connection: Connection, callerOf: (values: Values<Connection>) => Effect.Effect<Caller, CommandFailed>) =>
  <const Name extends string, const F extends Flags, Answer>(name: Name, { call, check, description, examples, flags, print }: OneCall<Caller, F, Answer>) =>
    Command.make(
      name,
      { connection, own: flags, json: jsonFlag },
      Effect.fnUntraced(function*({ connection, json, own }) {
        const problem = check?.(own)
        if (problem !== undefined) return yield* usageError(problem)
        const caller = yield* callerOf(connection)
        const answer = yield* callServer((signal) => call(caller, own, { signal }))
        yield* print(json, answer, own)
      })
    ).pipe(Command.withDescription(description), Command.withExamples(examples))

/** A command that calls in the tenant of `--tenant`. */
export const tenantCommand = makeCommandOf(operatorFlags, operatorOfTenant)

/** A command that does not concern a single tenant. */
export const operatorCommand = makeCommandOf<typeof connectionFlags, OperatorClient>(connectionFlags, operatorOfAllTenants)

/** A command that has only subcommands. */
export const commandGroup = <const Name extends string, const Subcommands extends ReadonlyArray<Command.Command.SubcommandEntry>>(name: Name, description: string, subcommands: Subcommands) =>
  Command.make(name).pipe(Command.withDescription(description), Command.withSubcommands(subcommands))

/** The members that were given. */
export const given = <F extends Readonly<Record<string, Option.Option<unknown>>>>(values: F) =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => Option.isSome(value) ? [[name, value.value]] : [])) as {
    readonly [Name in keyof F]?: F[Name] extends Option.Option<infer A> ? A : never
  }

export const limitFlag = Flag.Int("limit").pipe(Flag.withDescription("Maximum number to list; default 100"), Flag.withDefault(100))

export const limitFault = ({ limit }: { readonly limit: number }): string | undefined => limit < 1 ? "--limit is a number from 1." : undefined

/** Entries in one call to the server, at most. */
const maxPageSize = 500

/** Calls for the first entries, and one more, to see whether there are more. */
export const firstOf = async <A>(limit: number, entriesOf: (page: { readonly limit: number }) => AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const entry of entriesOf({ limit: Math.min(maxPageSize, limit + 1) })) {
    if (found.push(entry) > limit) break
  }
  return found
}

export const allOf = <A>(entriesOf: (page: { readonly limit: number }) => AsyncIterable<A>): Promise<ReadonlyArray<A>> => firstOf(Infinity, entriesOf)

interface ListTexts<A> {
  readonly cellsOf: (entry: A) => ReadonlyArray<string>
  readonly none: string
  /** Said with the number of entries shown, when there are more. */
  readonly more: (shown: number) => string
}

/** Prints what `firstOf` found. */
export const printFirst = Effect.fnUntraced(function*<A>(asJson: boolean, found: ReadonlyArray<A>, limit: number, { cellsOf, more, none }: ListTexts<A>) {
  yield* printRows(asJson, found.slice(0, limit), cellsOf, none)
  if (found.length > limit) yield* printProgress(more(limit))
})
