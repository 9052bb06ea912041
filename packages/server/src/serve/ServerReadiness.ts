/** Readiness of this process: the database answers and has a supported schema version. */
import { Readiness } from "@waybill/http"
import { migrations, pending } from "@waybill/postgres"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

class MigrationsMissing extends Schema.TaggedError<MigrationsMissing>()("MigrationsMissing", { names: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `The database lacks the migrations ${this.names.join(", ")}. Run waybill migrate, or start a process again.`
  }
}

/** A newer program may have migrated the schema, or a restored backup may be older than this program. */
export const readinessLayer = (schema: string): Layer.Layer<never, never, SqlClient.SqlClient> =>
  Layer.effect(
    Readiness,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const check = pending({ schema, migrations }).pipe(
        Effect.flatMap((missing) => missing.length === 0 ? Effect.void : new MigrationsMissing({ names: missing.map(({ name }) => name) })),
        Effect.provideService(SqlClient.SqlClient, sql)
      )
      return { checks: [{ name: "migrations", check }] }
    })
  )
