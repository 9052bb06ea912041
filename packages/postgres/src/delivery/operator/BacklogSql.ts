/**
 * SQL statements that remove entries for operators: purges, and what waits beyond a tenant's quotas. Each step has a bound, and runs after
 * the lock of the destination. A take beside it removes entries too, so what counts is what a DELETE returned.
 */
import { type BacklogExcess, type BacklogPosition, backlogStep, type DropReason, type PurgePosition, purgeStep } from "@waybill/core/delivery"
import { bool, float8, int8, optional, row, text, uuid } from "../../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { cancelRetries } from "../DestinationSql.ts"
import { countDrops, recordDrops } from "../DropRecordsSql.ts"
import { destinationOf } from "../LookupSql.ts"

export const stepRow = row({ dropped: int8, more: bool, key: optional(text), sequence: optional(int8), ref: optional(int8) })

/** Which entries a step reads, in the order of their keys, and removes. */
interface Step {
  readonly after: PurgePosition
  readonly most: number
  /** On the destination. */
  readonly condition: Statement
  readonly reason: DropReason
  /** Condition on the entries `s` that it reads. */
  readonly chosen: Statement
  /** On an entry `e` up to the last chosen one. */
  readonly isChosen: Statement
  readonly cancelsRetries: boolean
}

/**
 * What a publisher adds between the first and the last chosen entry goes with them, so that a step is one range of the primary key. A take locks the entries of a
 * destination in the order of their keys, and a DELETE in the order of its plan, so they are locked before.
 */
const removeNext = (schema: Statement, tenantId: string, destination: string, { after, cancelsRetries, chosen, condition, isChosen, most, reason }: Step) => {
  const [own, destinationId, limit] = [tenant(tenantId), uuid(destination), raw(String(most))]
  const entries = statement`FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = ${own} AND e.destination_id = (SELECT destination_id FROM destination) AND (e.key, e.sequence, e.ref) > (${text(after.key)}, ${int8(after.sequence)}, ${int8(after.ref)})`
  const upTo = (lastRow: Statement) => statement`${entries} AND (e.key, e.sequence, e.ref) <= (SELECT l.key, l.sequence, l.ref FROM ${lastRow} AS l) ${isChosen}`
  const last = (rows: Statement) => statement`SELECT s.key, s.sequence, s.ref FROM ${rows} AS s ORDER BY s.key DESC, s.sequence DESC, s.ref DESC LIMIT 1`
  return statement`
WITH destination AS MATERIALIZED (
  SELECT destination_id FROM ${schema}.delivery_destinations WHERE tenant_id = ${own} AND destination_id = ${destinationId} AND ${condition}
),
stretch AS MATERIALIZED (
  SELECT e.key, e.sequence, e.ref, e.queued_at ${entries} ORDER BY e.key, e.sequence, e.ref LIMIT ${limit}
),
last AS MATERIALIZED (${last(statement`(SELECT s.key, s.sequence, s.ref FROM stretch AS s ${chosen})`)}),
locked AS MATERIALIZED (
  SELECT e.key, e.sequence, e.ref ${upTo(raw("last"))} ORDER BY e.key, e.sequence, e.ref FOR UPDATE
),
gone AS (
  DELETE ${upTo(statement`(${last(raw("locked"))})`)}
  RETURNING e.destination_id, e.key, e.sequence, e.ref
),
${cancelsRetries ? statement`${cancelRetries(schema, tenantId, raw("(SELECT destination_id FROM destination)"), statement`LIMIT ${limit}`)},` : nothing}
recorded AS (${recordDrops(schema, tenantId, reason)}),
removed AS (
  SELECT ${destinationId} AS destination_id, (SELECT count(*) FROM gone) ${cancelsRetries ? raw("+ (SELECT coalesce(sum(entries), 0) FROM cancelled)::int8") : nothing} AS entries
),
counted AS (${countDrops(schema, tenantId)})
SELECT (SELECT entries FROM removed) AS dropped,
       (SELECT count(*) FROM stretch) = ${limit} ${cancelsRetries ? statement`OR (SELECT count(*) FROM retried) = ${limit}` : nothing} AS more, s.key, s.sequence, s.ref
FROM (SELECT 1 AS one) AS o LEFT JOIN (${last(raw("stretch"))}) AS s ON true`
}

/** Cancels retries, and removes the next entries. */
export const purgeNext = (schema: Statement, tenantId: string, purged: string, after: PurgePosition) =>
  removeNext(schema, tenantId, purged, { after, most: purgeStep, condition: raw("state IN ('paused', 'inactive')"), reason: "purged", chosen: nothing, isChosen: nothing, cancelsRetries: true })

/** Nothing is removed where the destination has lost more than the caller knows. */
export const dropExcess = (schema: Statement, tenantId: string, excessive: string, { dropped, limit, queuedBefore, reason }: BacklogExcess, after: PurgePosition) => {
  const before = statement`to_timestamp(${float8(queuedBefore)} / 1000)`
  return removeNext(schema, tenantId, excessive, {
    after,
    most: backlogStep,
    condition: statement`state <> 'closed' AND dropped = ${int8(dropped)}`,
    reason,
    chosen: statement`WHERE s.queued_at < ${before} ORDER BY s.key, s.sequence, s.ref LIMIT ${int8(limit)}`,
    isChosen: statement`AND e.queued_at < ${before}`,
    cancelsRetries: false
  })
}

const lookedAtOnce = raw(String(backlogStep))

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
  ${destinationOf(schema, tenantId, "g.destination_id", raw("AND l.state <> 'closed'"))}
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
