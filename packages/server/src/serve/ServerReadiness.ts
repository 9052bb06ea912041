/** Readiness of this process: the database answers and has a supported schema version, and the process is not stopping. */
import { Readiness } from "@waybill/http"
import { migrations, pending, PgClient, ReadReplica } from "@waybill/postgres"
import { Effect, Layer, Schema } from "effect"

class MigrationsMissing extends Schema.TaggedError<MigrationsMissing>()("MigrationsMissing", { names: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `The database lacks the migrations ${this.names.join(", ")}. Run waybill migrate, or start a process again.`
  }
}

class ReplicaNotUsed extends Schema.TaggedError<ReplicaNotUsed>()("ReplicaNotUsed", {}) {}

/** A newer program may have migrated the schema, or a restored backup may be older than this program. */
export const readinessLayer = (schema: string, isStopping: () => boolean): Layer.Layer<never, never, PgClient.PgClientService> =>
  Layer.effect(
    Readiness,
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const check = pending({ schema, migrations }).pipe(
        Effect.flatMap((missing) => missing.length === 0 ? Effect.void : new MigrationsMissing({ names: missing.map(({ name }) => name) })),
        Effect.provideService(PgClient.PgClient, sql)
      )
      const replica = yield* ReadReplica
      const replicaCheck = replica === undefined ? [] : [{
        name: "read replica",
        check: Effect.flatMap(replica.status, ({ isUsed }) => isUsed ? Effect.void : new ReplicaNotUsed()),
        // the primary answers instead
        isOptional: true
      }]
      return { checks: [{ name: "migrations", check }, ...replicaCheck], isStopping }
    })
  )
