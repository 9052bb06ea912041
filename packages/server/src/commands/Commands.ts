/** What can be typed after `waybill`. */
import { migrate, migrations, pending, print } from "@waybill/postgres"
import { Console, Effect, Layer, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { readServerConfig, type ServerConfig } from "../config/ServerConfig.ts"
import { variables } from "../config/Variables.ts"
import { openDatabase, poolLayer } from "../database/Database.ts"
import { demoCarrier, demoTenant } from "../demo/DemoSeed.ts"
import { loggingLayer } from "../serve/Logging.ts"
import { serve } from "../serve/Serve.ts"
import { telemetryLayer } from "../serve/Telemetry.ts"
import { version } from "../serve/Version.ts"

/** `migrate --check` found something. */
export class MigrationsMissing extends Schema.TaggedError<MigrationsMissing>()("MigrationsMissing", {
  schema: Schema.String,
  names: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `Schema ${this.schema} lacks ${this.names.join(", ")}. Run: waybill migrate`
  }
}

const readConfig = Effect.suspend(() =>
  readServerConfig({
    names: Object.keys(process.env),
    isTerminal: process.stderr.isTTY === true,
    directory: process.cwd()
  }))

/** Logs, traces and metrics as the settings want them. */
const observed = (config: ServerConfig) =>
  Layer.mergeAll(
    loggingLayer({
      format: config.logFormat,
      level: config.logLevel,
      // the demo's own reports are told of by its receiver
      skip: ({ fields, level }) => level === "info" && fields["tenant"] === demoTenant && fields["client"] === demoCarrier
    }),
    telemetryLayer({ enabled: config.telemetry, version })
  )

const runServe = Effect.flatMap(readConfig, (config) => Effect.provide(serve(config), observed(config)))

const serveCommand = Command.make("serve", {}, () => runServe).pipe(
  Command.withDescription("Run the server. This is what happens without a command, too")
)

const migrateCommand = Command.make(
  "migrate",
  {
    print: Flag.Boolean("print").pipe(Flag.withDescription("Print every migration as SQL, for a database administrator; no database is asked"), Flag.withDefault(false)),
    check: Flag.Boolean("check").pipe(Flag.withDescription("Change nothing; exit with 1 when something is missing"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function*(flags) {
    const config = yield* readConfig
    const target = { schema: config.schema, migrations }
    if (flags.print) return yield* Console.log(print(target))
    const work = Effect.gen(function*() {
      if (flags.check) {
        const missing = yield* pending(target)
        if (missing.length > 0) return yield* new MigrationsMissing({ schema: config.schema, names: missing.map(({ name }) => name) })
        return yield* Console.log(`Schema ${config.schema} is up to date.`)
      }
      const applied = yield* migrate(target)
      yield* Console.log(
        applied.length === 0
          ? `Schema ${config.schema} is up to date.`
          : `Schema ${config.schema}: applied ${applied.map(({ name }) => name).join(", ")}.`
      )
    })
    yield* Effect.scoped(Effect.flatMap(openDatabase(config), (url) => Effect.provide(work, poolLayer(config, url)))).pipe(
      Effect.provide(observed(config))
    )
  })
).pipe(
  Command.withDescription("Bring the tables up to date. The server does it itself at each start, where it may"),
  Command.withExamples([
    { command: "waybill migrate --print > waybill.sql", description: "Hand the tables to whoever may create them" },
    { command: "waybill migrate --check", description: "In a deployment, before the new version starts" }
  ])
)

const settings = Object.values(variables).map(({ fallback, meaning, name }) => `  ${name}\n      ${meaning}; default: ${fallback}`).join("\n")

export const waybill = Command.make("waybill", {}, () => runServe).pipe(
  Command.withDescription(`Freight visibility over the industry's open interfaces.\n\nSettings are environment variables:\n\n${settings}`),
  Command.withShortDescription("Freight visibility over the industry's open interfaces"),
  Command.withSubcommands([serveCommand, migrateCommand])
)
