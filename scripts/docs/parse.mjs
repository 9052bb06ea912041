// Parses command lines with the real parser of `waybill`, without running the commands.
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { readFileSync } from "node:fs"
import { waybill } from "../../packages/server/src/commands/Commands.ts"

const calls = JSON.parse(readFileSync(0, "utf8"))

const said = []
const quiet = new Proxy(globalThis.console, { get: (_, name) => (...what) => void (name === "error" && said.push(what.join(" "))) })

// this handler calls the handlers of all subcommands
const onlyParsed = Object.assign(Object.create(Object.getPrototypeOf(waybill)), waybill, { handle: () => Effect.void })
const parse = Command.runWith(onlyParsed, { version: "0.0.0" })

const faults = []
for (const { args, isName = false, place } of calls) {
  said.length = 0
  await Effect.runPromise(Effect.matchCause(
    parse(args).pipe(
      Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })),
      Effect.provideService(Console.Console, quiet),
      Effect.provide(NodeServices.layer)
    ),
    { onSuccess: () => {}, onFailure: (cause) => {
      const why = said.join("\n").trim() || String(cause)
      if (!isName || why.includes("Unknown subcommand")) faults.push(`${place}: waybill ${args.join(" ")}\n${why}`)
    } }
  ))
}
process.stdout.write(JSON.stringify(faults))
