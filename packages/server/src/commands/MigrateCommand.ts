/** `waybill migrate`: applies, prints or checks the migrations. */
import { applyMissingMigrations, checkMigrations, hasCitus, isDistributed, migrations, printMigrations } from "@waybill/postgres"
import { Console, Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { missingPrivilege, openDatabase, poolLayer } from "../database/Database.ts"
import { observed, readConfig } from "./ServeCommand.ts"
import { usageError } from "./shared/Outcome.ts"
import { jsonFlag, printResult } from "./shared/Output.ts"

/** `migrate --check` found missing migrations. */
export class MigrationsMissing extends Schema.TaggedError<MigrationsMissing>()("MigrationsMissing", {
  schema: Schema.String,
  names: Schema.Array(Schema.String),
  citus: Schema.Boolean
}) {
  override get message(): string {
    return `Schema ${this.schema} lacks ${this.names.join(", ")}. Run: waybill migrate${this.citus ? " --citus" : ""}`
  }
}

export const migrateCommand = Command.make(
  "migrate",
  {
    print: Flag.Boolean("print").pipe(Flag.withDescription("Print every migration as SQL, for a database administrator; needs no database"), Flag.withDefault(false)),
    check: Flag.Boolean("check").pipe(Flag.withDescription("Change nothing; exit with 1 when something is missing"), Flag.withDefault(false)),
    after: Flag.Int("after").pipe(Flag.withDescription("With --print: only migrations after this version, for a database at this version"), Flag.optional),
    sqlPublishing: Flag.Boolean("sql-publishing").pipe(
      Flag.withDescription("Include the SQL function that publishes transit events. Once installed, every start upgrades it"),
      Flag.withDefault(false)
    ),
    citus: Flag.Boolean("citus").pipe(
      Flag.withDescription("Distribute the tables by tenant over the nodes of a Citus cluster. Stop all servers first. Once distributed, every start distributes new tables"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function*(flags) {
    if (flags.print && flags.check) return yield* usageError("Give --print or --check, not both.")
    if (flags.print && flags.citus) return yield* usageError("--citus needs the database. Apply what --print prints, then run waybill migrate --citus.")
    const after = Option.getOrUndefined(flags.after)
    if (after !== undefined && !flags.print) return yield* usageError("--after goes with --print.")
    if (after !== undefined && !migrations.some(({ id }) => id === after)) return yield* usageError(`There is no version ${after}; the newest is ${migrations.at(-1)!.id}.`)
    const config = yield* readConfig
    const { schema } = config
    if (flags.print) {
      const sql = printMigrations(schema, {
        ...(after === undefined ? {} : { after }),
        transaction: true,
        include: flags.sqlPublishing ? ["sql-publishing"] : []
      })
      return yield* flags.json ? Console.log(JSON.stringify({ schema, sql })) : Console.log(sql)
    }
    const wanted = { sqlPublishing: flags.sqlPublishing, citus: flags.citus }
    const upToDate = `Schema ${schema} is up to date.`
    const check = Effect.fnUntraced(function*(url: Redacted.Redacted) {
      // It rejects with the same errors as migrate.
      const missing = yield* Effect.tryPromise({ try: () => checkMigrations({ schema, url: Redacted.value(url), ...wanted }), catch: (error) => error })
      if (flags.json || missing.length === 0) yield* printResult(flags.json, { json: { schema, missing }, text: upToDate })
      if (missing.length > 0) return yield* new MigrationsMissing({ schema, names: missing, citus: flags.citus })
    })
    const apply = Effect.gen(function*() {
      const applied = yield* applyMissingMigrations(schema, wanted)
      yield* printResult(flags.json, { json: { schema, applied }, text: applied.length === 0 ? upToDate : `Schema ${schema}: applied ${applied.join(", ")}.` })
      if ((yield* hasCitus) && !(yield* isDistributed(schema))) {
        yield* Effect.logWarning("The database has the extension citus, and Waybill's tables are on this node alone. Run waybill migrate --citus to distribute them.")
      }
    })
    const work = (url: Redacted.Redacted): Effect.Effect<void, unknown> => flags.check ? check(url) : Effect.provide(apply, poolLayer(config, url))
    yield* Effect.scoped(Effect.flatMap(openDatabase(config), (url) => Effect.mapError(work(url), (error) => missingPrivilege(error, url) ?? error))).pipe(
      Effect.provide(observed(config))
    )
  })
).pipe(
  Command.withDescription("Apply missing migrations. The server does this at each start, if it has the privileges"),
  Command.withExamples([
    { command: "waybill migrate --print > waybill.sql", description: "SQL for a database administrator" },
    { command: "waybill migrate --print --after 5 > upgrade.sql", description: "Only migrations of a newer version" },
    { command: "waybill migrate --citus", description: "On the coordinator of a Citus cluster" },
    { command: "waybill migrate --check", description: "In a deployment, before the new version starts" }
  ])
)
