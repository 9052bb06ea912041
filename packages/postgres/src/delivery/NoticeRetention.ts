/** Which notices of a source can be removed, and their removal: bytes that no waiting entry, no flight and no delivery that may be sent again refers to. */
import type { PayloadSource } from "./PayloadSource.ts"

/**
 * The oldest number that a destination of the source still refers to, as an expression; null when there is none. Numbers rise, so
 * everything below it is no longer needed. It reads what waits, is in flight or is not settled, so ask only when there is something old.
 */
const oldestReference = (schema: string, { source }: Pick<PayloadSource, "source">) => `least(
    (SELECT min(e.ref)
     FROM ${schema}.delivery_destinations AS l
     JOIN ${schema}.delivery_entries AS e ON e.tenant_id = $1 AND e.destination_id = l.destination_id
     WHERE l.tenant_id = $1 AND l.source = '${source}' AND l.state <> 'closed'),
    (SELECT min(r.ref)
     FROM ${schema}.delivery_destinations AS l
     JOIN ${schema}.deliveries AS d ON d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.state IN ('sending', 'waiting', 'dead')
     CROSS JOIN LATERAL unnest(d.refs) AS r (ref)
     WHERE l.tenant_id = $1 AND l.source = '${source}' AND l.state <> 'closed'),
    (SELECT min(r.ref)
     FROM ${schema}.delivery_flights AS f
     CROSS JOIN LATERAL unnest(f.deliveries) AS d
     CROSS JOIN LATERAL unnest(d.refs) AS r (ref)
     WHERE f.tenant_id = $1 AND EXISTS (
       SELECT FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = $1 AND l.destination_id = d.destination_id AND l.source = '${source}'
       OFFSET 0
     ))
  )`

/** What is stored under rising numbers, and until when its oldest is needed. */
interface Numbered {
  readonly table: string
  readonly number: string
  readonly payloads: Pick<PayloadSource, "source">
  /** Numbers that others still refer to, as expressions; null where there is none. */
  readonly alsoNeeded?: ReadonlyArray<string>
  /** How many are looked at in one statement. */
  readonly most: number
}

/**
 * Numbers rise with time, and whatever is below the oldest number in use is done with: so only the lowest can go, and looking
 * further would cost what is kept.
 */
export const pruneLowest = (schema: string, { alsoNeeded = [], most, number, payloads, table }: Numbered) => `
WITH lowest AS (
  SELECT ${number}, recorded_at FROM ${schema}.${table} WHERE tenant_id = $1 ORDER BY ${number} LIMIT ${most}
),
old AS MATERIALIZED (
  SELECT ${number} FROM lowest WHERE recorded_at < ($2::timestamptz[])[1]
),
bound AS MATERIALIZED (
  SELECT CASE WHEN EXISTS (SELECT FROM old) THEN least(
    coalesce(${oldestReference(schema, payloads)}, 9223372036854775807)${alsoNeeded.map((needed) => `,\n    (${needed})`).join("")}
  ) END AS oldest
),
gone AS (
  DELETE FROM ${schema}.${table} AS t USING old AS o, bound AS b
  WHERE t.tenant_id = $1 AND t.${number} = o.${number} AND t.${number} < b.oldest
  RETURNING 1
)
SELECT count(*) AS pruned FROM gone`
