/** Distributes the tables of a schema over the nodes of a Citus cluster: by `tenant_id`, or whole on every node. */
import { Effect, Schema } from "effect"
import { PgClient } from "../../src/client/PgClient.ts"
import { bool, row, text } from "../../src/client/SqlRow.ts"
import { raw, statement } from "../../src/client/SqlStatement.ts"
import { lockedForMigration, quoteSchema } from "../../src/migrations/Migrations.ts"

/** Tables of the installation, not of a tenant: Citus keeps a copy of each on every node. */
export const referenceTables: ReadonlySet<string> = new Set(["cluster", "delivery_workers", "migrations"])

/** The tables cannot be distributed on this database. */
export class DistributionRefused extends Schema.TaggedError<DistributionRefused>()("DistributionRefused", {
  schema: Schema.String,
  reason: Schema.Literals(["no-citus", "no-tenant"]),
  tables: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const failed = `Distribution of schema ${this.schema} failed and changed nothing`
    return this.reason === "no-citus"
      ? `${failed}: the database lacks the extension citus. Run CREATE EXTENSION citus on the coordinator and the workers.`
      : `${failed}: ${this.tables.join(", ")} have no tenant_id in their primary key. Distribute or remove them yourself; Waybill did not make them.`
  }
}

const tableRow = row({ name: text, hasTenant: bool })

/**
 * Distributes the tables that are not distributed yet, and returns their names. The kind of a table follows from its primary key, so that
 * new tables are included. The rows that the tables have are moved. All in one transaction.
 */
export const distribute = (schema: string) =>
  lockedForMigration(schema, Effect.gen(function*() {
    const sql = yield* PgClient
    const hasCitus = yield* sql.one(bool, statement`SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS citus`)
    if (!hasCitus) return yield* new DistributionRefused({ schema, reason: "no-citus", tables: [] })
    const tables = yield* sql.rows(tableRow, undistributedTables(schema))
    const unknown = tables.filter(({ hasTenant, name }) => !hasTenant && !referenceTables.has(name))
    if (unknown.length > 0) return yield* new DistributionRefused({ schema, reason: "no-tenant", tables: unknown.map(({ name }) => name) })
    // one transaction makes tables of both kinds, which Citus refuses on parallel connections
    yield* sql.run(raw("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"))
    // another schema may be distributed at the same time, and metadata of the cluster is locked for that
    yield* sql.run(raw("SET LOCAL lock_timeout TO '60s'"))
    for (const { name } of tables) yield* sql.unsafe(`SELECT ${distributed(schema, name)}`).unprepared
    return tables.map(({ name }) => name)
  }))

/** Reference tables first, then `tenants`, which the others are placed with. */
const undistributedTables = (schema: string) => statement`
SELECT c.relname::text AS name, EXISTS (
    SELECT FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'tenant_id'
  ) AS has_tenant
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ${schema} AND c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT FROM pg_catalog.pg_dist_partition AS p WHERE p.logicalrelid = c.oid)
ORDER BY has_tenant, c.relname <> 'tenants', c.relname`

const distributed = (schema: string, table: string): string => {
  const place = `${quoteSchema(schema)}.${table}`
  if (referenceTables.has(table)) return `create_reference_table('${place}')`
  // its own colocation group, so that two schemas of one database are moved separately
  const colocated = table === "tenants" ? "'none'" : `'${quoteSchema(schema)}.tenants'`
  return `create_distributed_table('${place}', 'tenant_id', colocate_with => ${colocated})`
}
