/**
 * SQL statements that remove entries for operators: purges, and what waits beyond a tenant's quotas. Each step has a bound, and runs after
 * the lock of the destination. A take beside it removes entries too, so what counts is what a DELETE returned.
 */
import { type BacklogExcess, type BacklogPosition, backlogStep, type PurgePosition, purgeStep } from "@waybill/core/delivery"
import { bool, float8, int8, optional, row, text, uuid } from "../../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { cancelRetries } from "../DestinationSql.ts"
import { countDrops, recordDrops } from "../DropRecordsSql.ts"

export const stepRow = row({ dropped: int8, more: bool, key: optional(text), sequence: optional(int8), ref: optional(int8) })

const [purgedAtOnce, lookedAtOnce] = [raw(String(purgeStep)), raw(String(backlogStep))]

/**
 * Cancels retries, and removes the next entries. What a publisher adds between the first and the last of them goes with them, so that a
 * step is one range of the primary key.
 */
export const purgeNext = (schema: Statement, tenantId: string, purged: string, after: PurgePosition) => {
  const [own, destinationId] = [tenant(tenantId), uuid(purged)]
  const entries = statement`FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = ${own} AND e.destination_id = (SELECT destination_id FROM destination) AND (e.key, e.sequence, e.ref) > (${text(after.key)}, ${int8(after.sequence)}, ${int8(after.ref)})`
  return statement`
WITH destination AS MATERIALIZED (
  SELECT destination_id FROM ${schema}.delivery_destinations WHERE tenant_id = ${own} AND destination_id = ${destinationId} AND state IN ('paused', 'inactive')
),
stretch AS MATERIALIZED (
  SELECT e.key, e.sequence, e.ref ${entries} ORDER BY e.key, e.sequence, e.ref LIMIT ${purgedAtOnce}
),
last AS MATERIALIZED (
  SELECT s.key, s.sequence, s.ref FROM stretch AS s ORDER BY s.key DESC, s.sequence DESC, s.ref DESC LIMIT 1
),
gone AS (
  DELETE ${entries} AND (e.key, e.sequence, e.ref) <= (SELECT l.key, l.sequence, l.ref FROM last AS l)
  RETURNING e.destination_id, e.key, e.sequence, e.ref
),
${cancelRetries(schema, tenantId, raw("(SELECT destination_id FROM destination)"), statement`LIMIT ${purgedAtOnce}`)},
recorded AS (${recordDrops(schema, tenantId, "purged")}),
removed AS (
  SELECT ${destinationId} AS destination_id, (SELECT count(*) FROM gone) + (SELECT coalesce(sum(entries), 0) FROM cancelled)::int8 AS entries
),
counted AS (${countDrops(schema, tenantId)})
SELECT (SELECT entries FROM removed) AS dropped,
       (SELECT count(*) FROM stretch) = ${purgedAtOnce} OR (SELECT count(*) FROM retried) = ${purgedAtOnce} AS more,
       l.key, l.sequence, l.ref
FROM (SELECT 1 AS one) AS o LEFT JOIN last AS l ON true`
}

export const countedRow = row({
  now: float8,
  more: bool,
  lastDestinationId: optional(uuid),
  key: optional(text),
  sequence: optional(int8),
  ref: optional(int8),
  destinationId: optional(uuid),
  place: optional(int8),
  entries: optional(int8),
  client: optional(text),
  dropped: optional(int8)
})

/** Waiting entries in stretches of time of this width. One row without a destination where nothing is left. */
export const countBacklog = (schema: Statement, tenantId: string, widthMillis: number, after: BacklogPosition) => {
  const own = tenant(tenantId)
  return statement`
WITH stretch AS MATERIALIZED (
  SELECT e.destination_id, e.key, e.sequence, e.ref, floor(extract(epoch FROM e.queued_at) * 1000 / ${float8(widthMillis)})::int8 AS place
  FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = ${own} AND (e.destination_id, e.key, e.sequence, e.ref) > (${uuid(after.destinationId)}, ${text(after.key)}, ${int8(after.sequence)}, ${int8(after.ref)})
  ORDER BY e.destination_id, e.key, e.sequence, e.ref
  LIMIT ${lookedAtOnce}
),
last AS MATERIALIZED (
  SELECT s.destination_id, s.key, s.sequence, s.ref FROM stretch AS s ORDER BY s.destination_id DESC, s.key DESC, s.sequence DESC, s.ref DESC LIMIT 1
),
grouped AS MATERIALIZED (
  SELECT s.destination_id, s.place, count(*) AS entries FROM stretch AS s GROUP BY s.destination_id, s.place
),
destinations AS MATERIALIZED (
  SELECT g.destination_id, l.client, l.dropped
  FROM (SELECT DISTINCT destination_id FROM grouped) AS g
  CROSS JOIN LATERAL (
    SELECT l.client, l.dropped FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${own} AND l.destination_id = g.destination_id AND l.state <> 'closed'
    OFFSET 0
  ) AS l
)
SELECT (extract(epoch FROM now()) * 1000)::float8 AS now, (SELECT count(*) FROM stretch) = ${lookedAtOnce} AS more,
       t.destination_id AS last_destination_id, t.key, t.sequence, t.ref, g.destination_id, g.place, g.entries, g.client, g.dropped
FROM (SELECT 1 AS one) AS o
LEFT JOIN last AS t ON true
LEFT JOIN (
  SELECT g.destination_id, g.place, g.entries, s.client, s.dropped FROM grouped AS g JOIN destinations AS s ON s.destination_id = g.destination_id
) AS g ON true
ORDER BY g.destination_id`
}

/** Nothing is removed where the destination has lost more than the caller knows. */
export const dropExcess = (schema: Statement, tenantId: string, excessive: string, excess: BacklogExcess, after: PurgePosition) => {
  const [own, destinationId] = [tenant(tenantId), uuid(excessive)]
  const queuedBefore = statement`to_timestamp(${float8(excess.queuedBefore)} / 1000)`
  const entries = statement`FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = ${own} AND e.destination_id = (SELECT destination_id FROM destination)
    AND (e.key, e.sequence, e.ref) > (${text(after.key)}, ${int8(after.sequence)}, ${int8(after.ref)})`
  return statement`
WITH destination AS MATERIALIZED (
  SELECT destination_id FROM ${schema}.delivery_destinations
  WHERE tenant_id = ${own} AND destination_id = ${destinationId} AND state <> 'closed' AND dropped = ${int8(excess.dropped)}
),
stretch AS MATERIALIZED (
  SELECT e.key, e.sequence, e.ref, e.queued_at ${entries}
  ORDER BY e.key, e.sequence, e.ref
  LIMIT ${lookedAtOnce}
),
last AS MATERIALIZED (
  SELECT c.key, c.sequence, c.ref
  FROM (SELECT s.key, s.sequence, s.ref FROM stretch AS s WHERE s.queued_at < ${queuedBefore} ORDER BY s.key, s.sequence, s.ref LIMIT ${int8(excess.limit)}) AS c
  ORDER BY c.key DESC, c.sequence DESC, c.ref DESC
  LIMIT 1
),
gone AS (
  DELETE ${entries} AND (e.key, e.sequence, e.ref) <= (SELECT l.key, l.sequence, l.ref FROM last AS l) AND e.queued_at < ${queuedBefore}
  RETURNING e.destination_id, e.key, e.sequence, e.ref
),
recorded AS (${recordDrops(schema, tenantId, excess.reason)}),
removed AS (
  SELECT ${destinationId} AS destination_id, (SELECT count(*) FROM gone) AS entries
),
counted AS (${countDrops(schema, tenantId)})
SELECT (SELECT entries FROM removed) AS dropped, (SELECT count(*) FROM stretch) = ${lookedAtOnce} AS more, s.key, s.sequence, s.ref
FROM (SELECT 1 AS one) AS o
LEFT JOIN (SELECT s.key, s.sequence, s.ref FROM stretch AS s ORDER BY s.key DESC, s.sequence DESC, s.ref DESC LIMIT 1) AS s ON true`
}
