/** Readiness of this process: the database answers, is no standby and has a supported schema version, and the process is not stopping. */
import { Readiness } from "@waybill/http"
import { migrations, pending, PgClient, ReadReplica } from "@waybill/postgres"
import { Effect, Layer, Schema } from "effect"

class MigrationsMissing extends Schema.TaggedError<MigrationsMissing>()("MigrationsMissing", { names: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `The database lacks the migrations ${this.names.join(", ")}. Run waybill migrate, or start a process again.`
  }
}

class ReplicaNotUsed extends Schema.TaggedError<ReplicaNotUsed>()("ReplicaNotUsed", {}) {}

/**
 * Fails on a standby as a write does, so that its connection is closed and the next one looks the address up again: a process that gets no requests
 * while it is not ready would otherwise keep its connections to the old primary. A primary that is read-only answers lookups, and passes.
 */
const primaryCheck = (sql: PgClient.PgClient) =>
  // the pool may have several connections to the old primary, and the next one may lead to the new one
  Effect.retry(sql`SELECT CASE WHEN pg_is_in_recovery() THEN pg_notify('waybill_readiness', '') END`, { times: 4 })

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
      return { checks: [{ name: "migrations", check }, { name: "primary", check: primaryCheck(sql) }, ...replicaCheck], isStopping }
    })
  )
