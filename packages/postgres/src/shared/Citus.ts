/** Whether the tables are distributed over the nodes of a Citus cluster. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { PgClient, type PgClientService } from "../client/PgClient.ts"
import { bool } from "../client/SqlRow.ts"
import { statement } from "../client/SqlStatement.ts"

/** Whether the database has the extension. */
export const hasCitus: Effect.Effect<boolean, SqlError, PgClientService> = Effect.flatMap(PgClient, (sql) =>
  sql.one(bool, statement`SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS citus`))

/** Whether the tables of a schema are distributed. */
export const isDistributed = (schema: string): Effect.Effect<boolean, SqlError, PgClientService> =>
  Effect.gen(function*() {
    const sql = yield* PgClient
    if (!(yield* hasCitus)) return false
    return yield* sql.one(
      bool,
      statement`SELECT EXISTS (
  SELECT FROM pg_catalog.pg_dist_partition AS p JOIN pg_class AS c ON c.oid = p.logicalrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = ${schema} AND c.relname = 'tenants'
) AS distributed`
    )
  })

/** Asks once. Tables are distributed while no server runs. */
export const makeIsDistributed = (schema: string): Effect.Effect<Effect.Effect<boolean, SqlError>, never, PgClientService> =>
  Effect.map(PgClient, (sql) => {
    let known: boolean | undefined
    const ask = Effect.tap(Effect.provideService(isDistributed(schema), PgClient, sql), (answer) =>
      Effect.sync(() => {
        known = answer
      }))
    return Effect.suspend(() => known === undefined ? ask : Effect.succeed(known))
  })
