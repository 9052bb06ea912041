/** SQL statements for what operators do to destinations, and for what they ask about them. */
import { type DeliveryState, type EndedPauses, healthCount, type Pause, purgeReason, traceDeliveries, type TraceSubject } from "@waybill/core/delivery"
import { bool, float8, int4, int8, int8Array, only, optional, row, text, textArray, timestamptz, uuid, uuidArray } from "../../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { firstIdAt, inPartitionOf, isInTrouble, stateGroups } from "./DeliveryLogSql.ts"
import { signalChanged } from "../DeliveryEntrySql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { payloadRows } from "../PayloadSql.ts"
import { inFlight } from "../../shared/InFlightSql.ts"

/** Whether the destination was changed; no row if there is none. The condition is checked on the row that is written, so a pause that commits meanwhile counts. */
const change = (schema: Statement, tenantId: string, destinationId: string, values: Statement, condition: Statement) => statement`
WITH changed AS (
  UPDATE ${schema}.delivery_destinations SET version = version + 1, ${values}
  FROM (SELECT now() AS now) AS clock
  WHERE tenant_id = ${tenant(tenantId)} AND destination_id = ${uuid(destinationId)} AND ${condition}
  RETURNING destination_id
),
signalled AS (${signalChanged(schema, tenant(tenantId))})
SELECT EXISTS (SELECT FROM changed) AS changed FROM ${schema}.delivery_destinations
WHERE tenant_id = ${tenant(tenantId)} AND destination_id = ${uuid(destinationId)} AND state <> 'closed'`

/** A subscription that its client had made inactive becomes that again when it is resumed. A take that began before keeps what it took. */
export const pauseDestination = (schema: Statement, tenantId: string, destinationId: string, { by, onlyActive, reason }: Pause) =>
  change(schema, tenantId, destinationId, statement`
      resumes_as = CASE WHEN state = 'inactive' THEN 'inactive' ELSE resumes_as END,
      state_since = CASE WHEN state = 'paused' THEN state_since ELSE clock.now END,
      state = 'paused', state_reason = ${text(reason)}, paused_by = ${text(by)}`, raw(onlyActive ? "state = 'active'" : "state <> 'closed'"))

const isEnded = {
  all: raw("state = 'paused'"),
  "not by operator": raw("state = 'paused' AND paused_by IS DISTINCT FROM 'operator'"),
  purge: statement`state = 'paused' AND state_reason = ${text(purgeReason)}`
} as const satisfies Record<EndedPauses, Statement>

export const resumeDestination = (schema: Statement, tenantId: string, destinationId: string, pauses: EndedPauses) =>
  change(schema, tenantId, destinationId, raw("state = coalesce(resumes_as, 'active'), state_reason = NULL, paused_by = NULL, resumes_as = NULL, state_since = clock.now"), isEnded[pauses])

export const dismissDeadLetters = (schema: Statement, tenantId: string, deliveryIds: ReadonlyArray<string>) => statement`
WITH dismissed AS (
  UPDATE ${schema}.deliveries AS d SET state = 'dismissed'
  WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ANY (${uuidArray(deliveryIds)}) AND d.state = 'dead'
  RETURNING 1
)
SELECT count(*) AS dismissed FROM dismissed`

export const traceRow = row({ now: float8, waiting: bool, behind: bool, dropReason: optional(text), droppedAt: optional(timestamptz), refs: optional(int8Array) })

/** Waiting and dropped entries. `refs`: the numbers of the requested ids in the destination's source. */
export const traceEntries = (schema: Statement, tenantId: string, destinationId: string, { key, orderIds }: TraceSubject, sources: ReadonlyArray<PayloadSource>) => {
  const [own, subject] = [tenant(tenantId), text(key)]
  const refs = raw(sources.map((each) => `(
    SELECT x.${each.ref} AS ref FROM ${payloadRows(schema.text, each)} AS x
    WHERE x.tenant_id = $1 AND ${each.found?.("a.order_ids") ?? "false"} AND a.source = '${each.source}' AND a.order_ids IS NOT NULL
    OFFSET 0
  )`).join(" UNION ALL "))
  const entries = statement`FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = ${own} AND e.destination_id = l.destination_id AND e.key = ${subject}`
  return statement`
WITH asked AS MATERIALIZED (
  SELECT l.destination_id, l.source, ${textArray(orderIds)} AS order_ids FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${own} AND l.destination_id = ${uuid(destinationId)} AND l.state <> 'closed'
),
destination AS MATERIALIZED (
  SELECT a.destination_id, CASE WHEN a.order_ids IS NOT NULL THEN (SELECT coalesce(array_agg(x.ref), '{}') FROM (${refs}) AS x) END AS refs FROM asked AS a
),
waiting AS MATERIALIZED (
  SELECT e.sequence, e.ref FROM destination AS l
  CROSS JOIN LATERAL (
    SELECT e.sequence, e.ref ${entries} AND (l.refs IS NULL OR e.ref = ANY (l.refs)) ORDER BY e.sequence, e.ref LIMIT 1
  ) AS e
),
dropped AS MATERIALIZED (
  SELECT d.reason, d.dropped_at FROM destination AS l
  CROSS JOIN LATERAL (
    SELECT d.reason, d.dropped_at, d.drop_no FROM ${schema}.delivery_drops AS d
    WHERE d.tenant_id = ${own} AND d.destination_id = l.destination_id AND d.key = ${subject} AND (l.refs IS NULL OR d.ref = ANY (l.refs))
  ) AS d
  ORDER BY d.drop_no DESC
  LIMIT 1
)
SELECT (extract(epoch FROM now()) * 1000)::float8 AS now,
       EXISTS (SELECT FROM waiting) AS waiting,
       EXISTS (
         SELECT FROM waiting AS w
         CROSS JOIN destination AS l
         CROSS JOIN LATERAL (SELECT 1 ${entries} AND (e.sequence, e.ref) < (w.sequence, w.ref) LIMIT 1) AS e
       ) AS behind,
       (SELECT d.reason FROM dropped AS d) AS drop_reason, (SELECT d.dropped_at FROM dropped AS d) AS dropped_at,
       (SELECT l.refs FROM destination AS l) AS refs`
}

export const tracedRow = row({ deliveryId: uuid, state: only<DeliveryState>(text), attempt: int4, lastAttempt: optional(text), sentAt: timestamptz, own: bool })

const mostTraced = raw(String(traceDeliveries))

/** Deliveries of the destination in all states, each by an index of its own, in flight for the first time included. */
const deliveriesOf = (schema: Statement, tenantId: string, destinationId: string, condition: Statement): Statement => {
  const of = (relation: Statement, more: Statement) =>
    statement`(SELECT d.delivery_id, d.state, d.attempt, d.attempts, d.sent_at, d.keys, d.refs FROM ${relation} AS d
     WHERE d.tenant_id = ${tenant(tenantId)} AND d.destination_id = ${uuid(destinationId)} ${condition} ${more} LIMIT ${mostTraced})`
  const recorded = statement`${schema}.deliveries`
  return statement`${of(inFlight(schema, tenantId), inPartitionOf(destinationId))}
  UNION ALL ${of(recorded, statement`AND d.state ${stateGroups.inFlight}`)}
  UNION ALL ${of(recorded, statement`AND d.state ${stateGroups.dead} ORDER BY d.delivery_id DESC`)}
  UNION ALL ${of(recorded, statement`AND d.state ${stateGroups.settled} ORDER BY d.delivery_id DESC`)}`
}

/** Deliveries with the key, newest first. `own`: with one of `refs`, or of all where these are undefined; others only if they go out before. */
export const tracedDeliveries = (schema: Statement, tenantId: string, destinationId: string, key: string, refs: ReadonlyArray<number> | undefined) => statement`
SELECT ${tracedRow.columns("d")} FROM (
  SELECT d.delivery_id, d.state, d.attempt, d.attempts[cardinality(d.attempts)] AS last_attempt, d.sent_at, r.refs IS NULL OR d.refs && r.refs AS own
  FROM (${deliveriesOf(schema, tenantId, destinationId, nothing)}) AS d
  CROSS JOIN (SELECT ${int8Array(refs)} AS refs) AS r
  WHERE d.keys @> ARRAY[${text(key)}]
) AS d
WHERE d.own OR d.state ${stateGroups.inFlight}
ORDER BY d.delivery_id DESC
LIMIT 50`

/** When the destination's deliveries of the last minute were created. Ids are given out by instants, and an id may be a little older than its flight. */
export const recentDeliveries = (schema: Statement, tenantId: string, destinationId: string, now: number) => statement`
SELECT d.sent_at FROM (${deliveriesOf(schema, tenantId, destinationId, statement`AND d.delivery_id >= ${uuid(firstIdAt(now - recentMillis))}`)}) AS d
WHERE d.sent_at >= ${timestamptz(now - recentMillis)}
ORDER BY d.sent_at DESC
LIMIT ${mostTraced}`

const recentMillis = 60_000

export const healthRow = row({ subscriptions: int8, inTrouble: int8, waiting: int8, oldestWaitingAt: optional(timestamptz), dead: int8 })

const mostCounted = raw(String(healthCount))

/** In the order of an index, or the rows of all tenants might be read to find so many of this one. */
export const tenantHealth = (schema: Statement, tenantId: string) => statement`
WITH destinations AS MATERIALIZED (
  SELECT l.destination_id, l.state, l.paused_by, l.breaker_open_until FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${tenant(tenantId)} AND l.state <> 'closed'
  ORDER BY l.destination_id
  LIMIT ${mostCounted}
),
dead AS MATERIALIZED (
  SELECT d.destination_id FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.state = 'dead' ORDER BY d.destination_id LIMIT ${mostCounted}
),
waiting AS MATERIALIZED (
  SELECT e.queued_at FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = ${tenant(tenantId)} ORDER BY e.destination_id LIMIT ${mostCounted}
)
SELECT (SELECT count(*) FROM destinations) AS subscriptions,
       (SELECT count(*) FROM destinations AS l
        WHERE ${isInTrouble(raw("l.destination_id IN (SELECT d.destination_id FROM dead AS d)"))}) AS in_trouble,
       (SELECT count(*) FROM waiting) AS waiting,
       (SELECT min(e.queued_at) FROM waiting AS e) AS oldest_waiting_at,
       (SELECT count(*) FROM dead) AS dead`
