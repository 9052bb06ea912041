/** `waybill doctor`: checks whether a server can run with these settings, and names the fixes. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import type { ConfigInvalid } from "../../config/ServerConfig.ts"
import { readConfig } from "../ServeCommand.ts"
import { failed } from "../shared/Outcome.ts"
import { counted, jsonFlag } from "../shared/Output.ts"
import { databaseFindings } from "./DatabaseFindings.ts"
import { ediFinding } from "./EdiFindings.ts"
import { broken, type Finding, ok, skipped, warning } from "./Finding.ts"
import { dataDirFinding, egressFinding } from "./MachineFindings.ts"
import { documentsFinding, jwksFinding } from "./ServiceFindings.ts"

const marks = { ok: "ok      ", warning: "warning ", failed: "FAILED  ", skipped: "skipped " } as const

const lineOf = ({ detail, name, result, todo }: Finding): string =>
  `${marks[result]}${name.padEnd(16)}${detail}${todo === undefined ? "" : `\n                        → ${todo}`}`

const settingsFindings = ({ faults }: ConfigInvalid): ReadonlyArray<Finding> => [
  ...faults.map(({ problem, variable }) => broken("settings", `${variable} ${problem}`, "Correct it; the server does not start otherwise.")),
  ...["data directory", "egress", "jwks", "documents", "edi", "database", "writes", "durability", "read replica", "migrations", "indexes", "locks", "clock", "secrets", "queue", "e-mail"].map((name) => skipped(name, "not checked: the settings are invalid"))
]

const findings = Effect.gen(function*() {
  const config = yield* readConfig
  const found: ReadonlyArray<Finding> = [
    config.warnings.length === 0
      ? ok("settings", "all are valid")
      : warning("settings", config.warnings.join(" "), "The server starts with them; change them if they are not intended."),
    yield* dataDirFinding(config),
    egressFinding(config),
    yield* jwksFinding(config),
    yield* documentsFinding(config),
    yield* ediFinding(config),
    ...(yield* databaseFindings(config))
  ]
  return found
}).pipe(Effect.catchTag("ConfigInvalid", (error) => Effect.succeed(settingsFindings(error))))

export const doctorCommand = Command.make(
  "doctor",
  { json: jsonFlag },
  Effect.fnUntraced(function*({ json }) {
    const all = yield* findings
    const bad = all.filter(({ result }) => result === "failed")
    if (json) yield* Console.log(JSON.stringify({ healthy: bad.length === 0, checks: all }))
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
