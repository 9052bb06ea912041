/** Installs and upgrades the SQL function that publishes transit events. It is optional, and has a version of its own. */
import { Effect } from "effect"
import { PgClient } from "../client/PgClient.ts"
import { int4, optional } from "../client/SqlRow.ts"
import { statement } from "../client/SqlStatement.ts"
import { wakeChannel } from "../delivery/WakeupsPostgres.ts"
import { asOneStatement, lockedForMigration, quoteSchema } from "../migrations/Migrations.ts"
import { jsonFunctions } from "./JsonTextSql.ts"
import { publishFunctions } from "./PublishFunctionSql.ts"

/** Its name among the migrations. */
export const sqlPublishingName = "sql-publishing" as const

/** Raised by every change of the functions, also by one that comes from core's schema or from a statement of the event log. */
export const sqlPublishingVersion = 9

/** The function that hosts call. */
const publishSignature = "publish_transit_events(text, jsonb)"

/** Creates or replaces the functions. Only the owner and granted roles may call them. */
export const sqlPublishing = (schemaName: string): string => {
  const schema = quoteSchema(schemaName)
  const functions = [...jsonFunctions, ...publishFunctions]
  return [
    ...functions.map(({ create }) => `${create(schema, wakeChannel(schemaName))};`),
    ...functions.map(({ signature }) => `REVOKE ALL ON FUNCTION ${schema}.${signature} FROM PUBLIC;`),
    `COMMENT ON FUNCTION ${schema}.${publishSignature} IS 'version ${sqlPublishingVersion}';`
  ].join("\n\n")
}

/** The installed version; `undefined` if the functions are not installed. */
const installedVersion = (schemaName: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient
    return yield* sql.one(
      optional(int4),
      statement`
SELECT substring(obj_description(to_regprocedure(${`${quoteSchema(schemaName)}.${publishSignature}`}), 'pg_proc') FROM '^version (\\d+)$')::int4 AS version`
    )
  })

/** Whether the functions have to be installed: they are wanted and missing, or an older version is installed. */
export const lacksSqlPublishing = (schemaName: string, wanted: boolean) =>
  Effect.map(installedVersion(schemaName), (version) => version === undefined ? wanted : version < sqlPublishingVersion)

/** Installs the functions if they are wanted, and upgrades installed ones. A newer version stays. Returns whether it did. */
export const installSqlPublishing = (schemaName: string, wanted: boolean) =>
  Effect.gen(function*() {
    if (!(yield* lacksSqlPublishing(schemaName, wanted))) return false
    const sql = yield* PgClient
    return yield* lockedForMigration(schemaName, Effect.gen(function*() {
      const lacks = yield* lacksSqlPublishing(schemaName, wanted)
      if (lacks) yield* sql.unsafe(asOneStatement(sqlPublishing(schemaName))).unprepared
      return lacks
    }))
  })
