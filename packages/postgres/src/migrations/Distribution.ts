/** Distributes the tables of a schema over the nodes of a Citus cluster: by `tenant_id`, or whole on every node. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { PgClient } from "../client/PgClient.ts"
import { bool, row, text } from "../client/SqlRow.ts"
import { raw, statement } from "../client/SqlStatement.ts"
import { hasCitus, isDistributed } from "../shared/Citus.ts"
import { isAlive } from "../delivery/worker/OwnershipSql.ts"
import { lockedForMigration, quoteSchema } from "./Migrations.ts"

/** Its name among the migrations. */
export const citusName = "citus" as const

/** Tables of the installation, not of a tenant: Citus keeps a copy of each on every node. */
export const referenceTables: ReadonlySet<string> = new Set(["cluster", "delivery_workers", "migrations"])

/** The tables cannot be distributed. */
export class DistributionRefused extends Schema.TaggedError<DistributionRefused>()("DistributionRefused", {
  schema: Schema.String,
  reason: Schema.Literals(["no-citus", "no-tenant", "in-use"]),
  /** The tables without `tenant_id`, for that reason. */
  tables: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const failed = `Distribution of schema ${this.schema} failed and changed nothing`
    switch (this.reason) {
      case "no-citus":
        return `${failed}: the database lacks the extension citus. Run CREATE EXTENSION citus on the coordinator and the workers.`
      case "no-tenant":
        return `${failed}: ${this.tables.join(", ")} have no tenant_id in their primary key. Distribute or remove them yourself; Waybill did not make them.`
      case "in-use":
        return `${failed}: a server uses it. Stop all servers, wait for half a minute, and run it again.`
    }
  }
}

/**
 * Whether {@link distributeMissing} has something to do: the tables are to be distributed and are not, or some are and others, of a later
 * migration, are not.
 */
export const lacksDistribution = (schema: string, wanted: boolean) =>
  Effect.gen(function*() {
    if (!(yield* hasCitus) || !(yield* isDistributed(schema))) return wanted
    return (yield* undistributed(schema)).length > 0
  })

/** Distributes tables if they are `wanted`, and tables of later migrations in a schema that is distributed. Returns whether it did. */
export const distributeMissing = (schema: string, wanted: boolean) =>
  Effect.gen(function*() {
    if (!(yield* lacksDistribution(schema, wanted))) return false
    return (yield* distribute(schema)).length > 0
  })

/**
 * Distributes the tables that are not distributed yet, and returns their names. The kind of a table follows from its primary key, so that
 * new tables are included. The rows that the tables have are moved. All in one transaction.
 */
export const distribute = (schema: string) =>
  lockedForMigration(schema, Effect.gen(function*() {
    const sql = yield* PgClient
    if (!(yield* hasCitus)) return yield* new DistributionRefused({ schema, reason: "no-citus", tables: [] })
    if (!(yield* isDistributed(schema)) && (yield* sql.one(bool, hasWorkers(schema)))) {
      return yield* new DistributionRefused({ schema, reason: "in-use", tables: [] })
    }
    const tables = yield* undistributed(schema)
    const unknown = tables.filter(({ hasTenant, name }) => !hasTenant && !referenceTables.has(name))
    if (unknown.length > 0) return yield* new DistributionRefused({ schema, reason: "no-tenant", tables: unknown.map(({ name }) => name) })
    // one transaction makes tables of both kinds, which Citus refuses on parallel connections
    yield* sql.run(raw("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"))
    // another schema may be distributed at the same time, and metadata of the cluster is locked for that
    yield* sql.run(raw("SET LOCAL lock_timeout TO '60s'"))
    for (const { name } of tables) yield* sql.unsafe(`SELECT ${distributed(schema, name)}`).unprepared
    return tables.map(({ name }) => name)
  }))

/** A server that does not know of the distribution would give wrong pages of events. */
export const hasWorkers = (schema: string) => statement`SELECT EXISTS (SELECT FROM ${raw(quoteSchema(schema))}.delivery_workers WHERE ${isAlive}) AS workers`

const tableRow = row({ name: text, hasTenant: bool })

/** Reference tables first, then `tenants`, which the others are placed with. */
const undistributed = (schema: string) =>
  Effect.flatMap(PgClient, (sql) =>
    sql.rows(
      tableRow,
      statement`
SELECT c.relname::text AS name, EXISTS (
    SELECT FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'tenant_id'
  ) AS has_tenant
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ${schema} AND c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT FROM pg_catalog.pg_dist_partition AS p WHERE p.logicalrelid = c.oid)
ORDER BY has_tenant, c.relname <> 'tenants', c.relname`
    ))

const distributed = (schema: string, table: string): string => {
  const place = `${quoteSchema(schema)}.${table}`
  if (referenceTables.has(table)) return `create_reference_table('${place}')`
  // its own colocation group, so that two schemas of one database are moved separately
  const colocated = table === "tenants" ? "'none'" : `'${quoteSchema(schema)}.tenants'`
  return `create_distributed_table('${place}', 'tenant_id', colocate_with => ${colocated})`
}
