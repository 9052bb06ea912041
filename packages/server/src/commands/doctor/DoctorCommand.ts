/** `waybill doctor`: checks whether a server can run with these settings, and names the fixes. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import type { ConfigInvalid, ServerConfig } from "../../config/ServerConfig.ts"
import { readConfig } from "../ServeCommand.ts"
import { failed } from "../shared/Outcome.ts"
import { counted, jsonFlag } from "../shared/Output.ts"
import { databaseChecks, databaseFindings } from "./DatabaseFindings.ts"
import { ediFinding } from "./EdiFindings.ts"
import { broken, type Finding, type NamedFinding, ok, skipped, warning } from "./Finding.ts"
import { dataDirFinding, egressFinding } from "./MachineFindings.ts"
import { documentsFinding, jwksFinding } from "./ServiceFindings.ts"

const marks = { ok: "ok      ", warning: "warning ", failed: "FAILED  ", skipped: "skipped " } as const

const lineOf = ([name, { detail, result, todo }]: NamedFinding): string =>
  `${marks[result]}${name.padEnd(16)}${detail}${todo === undefined ? "" : `\n                        → ${todo}`}`

/** Checks before those of the database. */
const machineChecks: Readonly<Record<string, (config: ServerConfig) => Effect.Effect<Finding>>> = {
  "data directory": dataDirFinding,
  egress: (config) => Effect.succeed(egressFinding(config)),
  jwks: jwksFinding,
  documents: documentsFinding,
  edi: ediFinding
}

const settingsFindings = ({ faults }: ConfigInvalid): ReadonlyArray<NamedFinding> => [
  ...faults.map(({ problem, variable }) => ["settings", broken(`${variable} ${problem}`, "Correct it; the server does not start otherwise.")] as const),
  ...[...Object.keys(machineChecks), ...databaseChecks].map((name) => [name, skipped("not checked: the settings are invalid")] as const)
]

const findings = Effect.gen(function*() {
  const config = yield* readConfig
  const settings = config.warnings.length === 0
    ? ok("all are valid")
    : warning(config.warnings.join(" "), "The server starts with them; change them if they are not intended.")
  const ofMachine = yield* Effect.forEach(Object.entries(machineChecks), ([name, find]) => Effect.map(find(config), (finding): NamedFinding => [name, finding]))
  return [["settings", settings], ...ofMachine, ...(yield* databaseFindings(config))] satisfies ReadonlyArray<NamedFinding>
}).pipe(Effect.catchTag("ConfigInvalid", (error) => Effect.succeed(settingsFindings(error))))

export const doctorCommand = Command.make(
  "doctor",
  { json: jsonFlag },
  Effect.fnUntraced(function*({ json }) {
    const all = yield* findings
    const bad = all.filter(([, { result }]) => result === "failed")
    if (json) yield* Console.log(JSON.stringify({ healthy: bad.length === 0, checks: all.map(([name, finding]) => ({ name, ...finding })) }))
    else for (const finding of all) yield* Console.log(lineOf(finding))
    if (bad.length > 0) return yield* failed(`${counted(bad.length, "check")} failed.`)
  })
).pipe(
  Command.withDescription("Check the settings of a server, its database, clock, keys and queue, with the same variables that it has. Changes nothing"),
  Command.withShortDescription("Check settings, database, clock, keys and queue"),
  Command.withExamples([
    { command: "waybill doctor", description: "Where the server runs, or will run" },
    { command: "waybill doctor --json | jq '.checks[] | select(.result != \"ok\")'", description: "Only failed checks and warnings" }
  ])
)
