/** Which notices of a source can be removed, and their removal: bytes that no waiting entry, no flight and no delivery that may be sent again refers to. */
import { timestamptz } from "../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { hasDestination } from "./LookupSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"

/**
 * The oldest number that a destination of the source still refers to, as an expression; null when there is none. Numbers rise, so
 * everything below it is no longer needed. It reads what waits, is in flight or is not settled, so ask only when there is something old.
 */
const oldestReference = (schema: Statement, tenantId: string, { source }: Pick<PayloadSource, "source">): Statement => {
  const own = tenant(tenantId)
  const isOpen = statement`l.tenant_id = ${own} AND l.source = ${raw(`'${source}'`)} AND l.state <> 'closed'`
  return statement`least(
    (SELECT min(e.ref)
     FROM ${schema}.delivery_destinations AS l
     JOIN ${schema}.delivery_entries AS e ON e.tenant_id = ${own} AND e.destination_id = l.destination_id
     WHERE ${isOpen}),
    (SELECT min(r.ref)
     FROM ${schema}.delivery_destinations AS l
     JOIN ${schema}.deliveries AS d ON d.tenant_id = ${own} AND d.destination_id = l.destination_id AND d.state IN ('sending', 'waiting', 'dead')
     CROSS JOIN LATERAL unnest(d.refs) AS r (ref)
     WHERE ${isOpen}),
    (SELECT min(r.ref)
     FROM ${schema}.delivery_flights AS f
     CROSS JOIN LATERAL unnest(f.deliveries) AS d
     CROSS JOIN LATERAL unnest(d.refs) AS r (ref)
     WHERE f.tenant_id = ${own} AND ${hasDestination(schema, tenantId, raw(`l.source = '${source}'`))})
  )`
}

/** The keys of what destinations of the source still refer to. */
export const keysInUse = (schema: Statement, tenantId: string, { source }: Pick<PayloadSource, "source">): Statement => {
  const own = tenant(tenantId)
  const destinations = statement`FROM ${schema}.delivery_destinations AS l`
  const isOpen = statement`l.tenant_id = ${own} AND l.source = ${raw(`'${source}'`)} AND l.state <> 'closed'`
  return statement`
    SELECT e.key ${destinations} JOIN ${schema}.delivery_entries AS e ON e.tenant_id = ${own} AND e.destination_id = l.destination_id
    WHERE ${isOpen}
    UNION ALL
    SELECT k.key ${destinations}
    JOIN ${schema}.deliveries AS d ON d.tenant_id = ${own} AND d.destination_id = l.destination_id AND d.state IN ('sending', 'waiting', 'dead')
    CROSS JOIN LATERAL unnest(d.keys) AS k (key)
    WHERE ${isOpen}
    UNION ALL
    SELECT k.key FROM ${schema}.delivery_flights AS f
    CROSS JOIN LATERAL unnest(f.deliveries) AS d
    CROSS JOIN LATERAL unnest(d.keys) AS k (key)
    WHERE f.tenant_id = ${own} AND ${hasDestination(schema, tenantId, raw(`l.source = '${source}'`))}`
}

interface Pruning {
  /** Numbers that others still refer to, as queries; null where there is none. */
  readonly alsoNeeded?: ReadonlyArray<Statement>
  /** Maximum number that one statement reads. */
  readonly most: number
}

/**
 * Removes rows of a source. Numbers rise with time, and those below the oldest number in use are no longer needed. So only the lowest can be removed, and reading
 * further would read what is kept. Returns how many were removed.
 */
export const pruneLowest = (schema: Statement, tenantId: string, before: number, payloads: PayloadSource, { alsoNeeded = [], most }: Pruning): Statement => {
  const own = tenant(tenantId)
  const [table, number] = [raw(payloads.table), raw(payloads.ref)]
  const needed = alsoNeeded.reduce(
    (list, each) => statement`${list}, (${each})`,
    statement`coalesce(${oldestReference(schema, tenantId, payloads)}, 9223372036854775807)`
  )
  return statement`
WITH lowest AS (
  SELECT ${number}, recorded_at FROM ${schema}.${table} WHERE tenant_id = ${own} ORDER BY ${number} LIMIT ${raw(String(most))}
),
old AS MATERIALIZED (
  SELECT ${number} FROM lowest WHERE recorded_at < ${timestamptz(before)}
),
bound AS MATERIALIZED (
  SELECT CASE WHEN EXISTS (SELECT FROM old) THEN least(${needed}) END AS oldest
),
gone AS (
  DELETE FROM ${schema}.${table} AS t USING old AS o, bound AS b
  WHERE t.tenant_id = ${own} AND t.${number} = o.${number} AND t.${number} < b.oldest
  RETURNING 1
)
SELECT count(*) AS pruned FROM gone`
}
