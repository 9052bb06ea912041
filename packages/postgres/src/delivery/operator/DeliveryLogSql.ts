/**
 * SQL statements for what operators see of destinations and deliveries. A delivery that is sent for the first time is stored in its flight
 * only; `inFlight` has it with the columns of `deliveries`.
 */
import {
  type DeliveryState,
  type DestinationMatch,
  type DestinationQuery,
  type DestinationState,
  type EntryKeys,
  flightOf,
  overviewAttempts,
  overviewCount,
  partitionOf,
  partitionsPerTenant,
  type PausedBy,
  totalCount
} from "@waybill/core/delivery"
import { bool, bytea, float8, int4, int8, only, optional, row, text, textArray, timestamptz, uuid, uuidArray } from "../../client/SqlRow.ts"
import { concat, nothing, type Parameter, raw, type Statement, statement, type StatementPart, tenant } from "../../client/SqlStatement.ts"
import { clientIsLive, tenantIsActive } from "../DeliveryGateSql.ts"
import { destinationOf } from "../LookupSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { bodyOf } from "../PayloadSql.ts"
import { endpointHostSql } from "./FilterSql.ts"
import { partitionOfSql } from "../DeliveryEntrySql.ts"
import { destinationsWith, settingsColumns, settingsRow } from "../DestinationSql.ts"
import { inFlight } from "../../shared/InFlightSql.ts"

/** The smallest id that can have been given out at an instant: UUID version 7 begins with its milliseconds. */
export const firstIdAt = (millis: number): string => {
  const hex = Math.max(0, Math.min(Math.floor(millis), 2 ** 48 - 1)).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** States by the index that finds the deliveries of a destination in them. */
export const stateGroups = {
  inFlight: raw("IN ('sending', 'waiting')"),
  dead: raw("= 'dead'"),
  settled: raw("IN ('delivered', 'cancelled', 'dismissed')")
} as const

/** Reads the flights of one partition; without it, the planner cannot know that the others hold nothing of a destination. */
export const inPartitionOf = (destinationId: string): Statement => raw(`AND d.partition = ${partitionOf(destinationId)}`)

/** The flight of one delivery: one lookup in each partition. */
export const inFlightOf = (deliveryId: string): Statement =>
  statement`AND d.partition = ANY (${allPartitions}) AND d.flight = ${uuid(flightOf(deliveryId))} AND d.delivery_id = ${uuid(deliveryId)}`

const allPartitions = raw(`'{${Array.from({ length: partitionsPerTenant }, (_, partition) => partition).join(",")}}'::int2[]`)

export const summaryColumns = {
  deliveryId: uuid,
  destinationId: uuid,
  state: only<DeliveryState>(text),
  sentAt: timestamptz,
  settledAt: optional(timestamptz),
  dueAt: optional(timestamptz),
  events: int4,
  tries: int4,
  attempts: textArray,
  reason: optional(text)
}

export const summaryRow = row(summaryColumns)

/** The columns of a `summaryRow`, of `d` with the columns of deliveries. */
export const summary = raw("d.delivery_id, d.destination_id, d.state, d.sent_at, d.settled_at, d.due_at, cardinality(d.refs) AS events, d.tries, d.attempts, d.reason")

export const overviewRow = row({
  ...settingsColumns,
  state: only<DestinationState>(text),
  stateReason: optional(text),
  stateSince: timestamptz,
  pausedBy: optional(only<PausedBy>(text)),
  breakerFailures: int4,
  breakerOpenUntil: optional(float8),
  dropped: int8,
  held: bool,
  waiting: int8,
  oldestWaitingAt: optional(timestamptz),
  inFlight: int8,
  dead: int8,
  dueAt: optional(timestamptz),
  lastAttempt: optional(text),
  now: float8
})

/** Counts rows, and never reads further than it counts. */
const counted = (rows: StatementPart): Statement => statement`(SELECT count(*) FROM (SELECT ${rows} LIMIT ${mostCounted}) AS counted)`

const mostCounted = raw(String(overviewCount))
const mostAttempts = raw(String(overviewAttempts))

const openStates: ReadonlyArray<DestinationState> = ["active", "paused", "inactive"]

/** Destinations of a client, with an endpoint, or with these ids. Each has an index; the first two exclude closed ones. */
export const destinationsOf = ({ client, destinationIds, endpoint }: Pick<DestinationMatch, "client" | "destinationIds" | "endpoint">): Statement => concat([
  destinationIds === undefined ? nothing : statement`AND l.destination_id = ANY (${uuidArray(destinationIds)})`,
  client === undefined ? nothing : statement`AND l.client = ${text(client)}`,
  endpoint === undefined ? nothing : statement`AND ${raw(endpointHostSql("l.endpoint_url"))} = ${text(endpoint.host)}`,
  endpoint?.url === undefined ? nothing : statement`AND l.endpoint_url = ${text(endpoint.url)}`
])

/** A destination that its client paused counts as healthy. */
const isStopped = raw("(l.state = 'paused' AND coalesce(l.paused_by, 'service') <> 'client' OR l.state = 'active' AND l.breaker_open_until IS NOT NULL)")

export const isInTrouble = (hasDead: Statement): Statement => statement`(${isStopped} OR ${hasDead})`

/** `dead (destination_id)`, part of a WITH RECURSIVE at the beginning of a statement: Citus refuses it further inside. */
const deadAfter = (schema: Statement, tenantId: string, after: Parameter): Statement =>
  destinationsWith("dead", statement`${schema}.deliveries AS r WHERE r.tenant_id = ${tenant(tenantId)} AND r.state = 'dead'`, after)

/**
 * `destination_id` of all that are in trouble after an id: by the index of stopped ones, and by one step in the index of dead letters for each
 * destination that has some (`deadAfter`). How many others the tenant has does not count; of one client, each is looked at instead.
 */
const allInTrouble = (schema: Statement, tenantId: string, after: Parameter, most: StatementPart): Statement => statement`
  SELECT l.destination_id FROM (
    (SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
    WHERE l.tenant_id = ${tenant(tenantId)} AND ${isStopped} AND l.destination_id > ${after} ORDER BY l.destination_id LIMIT ${most})
    UNION
    (SELECT l.destination_id FROM dead AS d CROSS JOIN LATERAL (
      SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
      WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id = d.destination_id AND l.state <> 'closed' OFFSET 0
    ) AS l LIMIT ${most})
  ) AS l
  ORDER BY l.destination_id
  LIMIT ${most}`

const isOnlyInTrouble = ({ inTrouble = false, ...others }: DestinationMatch): boolean => inTrouble && Object.values(others).every((value) => value === undefined)

const matching = (schema: Statement, tenantId: string, { inTrouble = false, ...match }: Omit<DestinationMatch, "state">): Statement => concat([
  destinationsOf(match),
  inTrouble ? statement`AND ${isInTrouble(statement`EXISTS (
    SELECT FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.destination_id = l.destination_id AND d.state = 'dead')`)}` : nothing
])

export const mostInTotal = raw(String(totalCount))

export const countDestinations = (schema: Statement, tenantId: string, { state, ...match }: DestinationMatch) => {
  const [isByTrouble, start] = [isOnlyInTrouble({ state, ...match }), uuid(firstIdAt(0))]
  const counted = isByTrouble ? allInTrouble(schema, tenantId, start, mostInTotal) : statement`
  SELECT FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${tenant(tenantId)} AND l.state <> 'closed' ${state === undefined ? nothing : statement`AND l.state = ${text(state)}`} ${matching(schema, tenantId, match)}
  LIMIT ${mostInTotal}`
  return statement`${isByTrouble ? statement`WITH RECURSIVE ${deadAfter(schema, tenantId, start)}` : nothing} SELECT count(*) AS count FROM (${counted}) AS counted`
}

/** What is in flight is read once for the page, of the destinations on it; everything else of each destination, up to a bound. */
export const destinationOverviews = (schema: Statement, tenantId: string, { after, limit, state, ...match }: DestinationQuery) => {
  const [own, most, start] = [tenant(tenantId), int8(limit), uuid(after ?? firstIdAt(0))]
  const chosen = matching(schema, tenantId, match)
  const deliveries = (group: keyof typeof stateGroups) =>
    statement`FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${own} AND d.destination_id = l.destination_id AND d.state ${stateGroups[group]}`
  const entries = statement`FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = ${own} AND e.destination_id = l.destination_id`
  /** The newest of a group. Those that are not settled are in no order and few: they are read first, or the planner might read all others. */
  const newest = (group: keyof typeof stateGroups) => statement`(
    SELECT d.delivery_id, d.attempts FROM (SELECT d.delivery_id, d.attempts ${deliveries(group)} ${group === "inFlight" ? statement`LIMIT ${mostCounted}` : nothing}) AS d
    ORDER BY d.delivery_id DESC LIMIT ${mostAttempts})`
  const inState = (state: Statement) => statement`
    SELECT l.* FROM ${schema}.delivery_destinations AS l
    WHERE l.tenant_id = ${own} ${state} AND l.state <> 'closed' AND l.destination_id > ${start} ${chosen}
    ORDER BY l.destination_id
    LIMIT ${most}`
  const isChosen = match.client !== undefined || match.endpoint !== undefined || match.destinationIds !== undefined
  // these have indexes; with none of them, each state has the one without closed destinations
  const isByTrouble = isOnlyInTrouble({ state, ...match })
  const page = isByTrouble ? statement`
  SELECT l.* FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${own} AND l.destination_id = ANY (ARRAY(${allInTrouble(schema, tenantId, start, most)}))` : state !== undefined ? inState(statement`AND l.state = ${text(state)}`) : isChosen ? inState(nothing) : statement`
  SELECT l.* FROM unnest(${textArray(openStates)}) AS s (state) CROSS JOIN LATERAL (${inState(raw("AND l.state = s.state"))}) AS l
  ORDER BY l.destination_id
  LIMIT ${most}`
  return statement`
WITH ${isByTrouble ? statement`RECURSIVE ${deadAfter(schema, tenantId, start)},` : nothing} page AS MATERIALIZED (${page}),
flying AS MATERIALIZED (
  SELECT d.destination_id, count(*) AS deliveries FROM ${inFlight(schema, tenantId)} AS d
  WHERE d.tenant_id = ${own} AND d.destination_id = ANY (ARRAY(SELECT destination_id FROM page))
  GROUP BY d.destination_id
)
SELECT ${settingsRow.columns("l")}, l.state, l.state_reason, l.state_since, l.paused_by, l.breaker_failures, l.breaker_open_until, l.dropped,
       l.state = 'active' AND NOT (${raw(tenantIsActive(schema.text))} AND ${raw(clientIsLive(schema.text, "l.client"))}) AS held,
       ${counted(entries)} AS waiting,
       (SELECT min(e.queued_at) FROM (SELECT e.queued_at ${entries} LIMIT ${mostCounted}) AS e) AS oldest_waiting_at,
       least(${counted(deliveries("inFlight"))} + coalesce((SELECT f.deliveries FROM flying AS f WHERE f.destination_id = l.destination_id), 0), ${mostCounted}) AS in_flight,
       ${counted(deliveries("dead"))} AS dead,
       CASE WHEN l.state = 'active' THEN (SELECT min(d.due_at) ${deliveries("inFlight")}) END AS due_at,
       (SELECT d.attempts[cardinality(d.attempts)]
        FROM (
          SELECT * FROM ${newest("inFlight")} AS d
          UNION ALL
          (SELECT * FROM (${newest("dead")} UNION ALL ${newest("settled")}) AS d WHERE cardinality(d.attempts) > 0 ORDER BY d.delivery_id DESC LIMIT 1)
        ) AS d
        WHERE cardinality(d.attempts) > 0
        ORDER BY (d.attempts[cardinality(d.attempts)]::json ->> 'at')::float8 DESC, d.delivery_id DESC
        LIMIT 1) AS last_attempt,
       (extract(epoch FROM now()) * 1000)::float8 AS now
FROM page AS l
ORDER BY l.destination_id`
}

export const boundRow = row({ deliveryId: uuid, sentAt: timestamptz })

/** The last of the tenant's newest deliveries, and, when there is an older one, that one after it. */
export const newestBound = (schema: Statement, tenantId: string, newest: number) => statement`
SELECT d.delivery_id, d.sent_at FROM (
  (SELECT d.delivery_id, d.sent_at FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} ORDER BY d.delivery_id DESC LIMIT ${int8(newest + 1)})
  UNION ALL
  SELECT d.delivery_id, d.sent_at FROM ${inFlight(schema, tenantId)} AS d WHERE d.tenant_id = ${tenant(tenantId)}
) AS d
ORDER BY d.delivery_id DESC
LIMIT 2 OFFSET ${int8(newest - 1)}`

export const carryingRow = row({ ...summaryColumns, source: text })

/** `oldest`: the oldest delivery to read. */
export const carryingDeliveries = (
  schema: Statement,
  tenantId: string,
  groups: ReadonlyArray<EntryKeys>,
  { limit, oldest }: { readonly oldest: string; readonly limit: number }
) => {
  const pairs = groups.flatMap(({ keys, sources }) => sources.flatMap((source) => keys.map((key) => ({ source, key }))))
  const [own, keys] = [tenant(tenantId), textArray(pairs.map((each) => each.key))]
  const among = (relation: Statement) =>
    statement`SELECT ${summary}, d.keys FROM ${relation} AS d WHERE d.tenant_id = ${own} AND d.delivery_id >= ${uuid(oldest)} AND d.keys && ${keys}`
  return statement`
SELECT ${summaryRow.columns("d")}, l.source
FROM (${among(statement`${schema}.deliveries`)} UNION ALL ${among(inFlight(schema, tenantId))}) AS d
${destinationOf(schema, tenantId, "d.destination_id")}
WHERE EXISTS (SELECT FROM unnest(${textArray(pairs.map((each) => each.source))}, ${keys}) AS g (source, key) WHERE g.source = l.source AND g.key = ANY (d.keys))
ORDER BY d.delivery_id DESC
LIMIT ${int8(limit)}`
}

export const detailRow = row({ ...summaryColumns, endpointUrl: text, envelopeOpen: text, envelopeClose: text, body: optional(bytea) })

/** Its bytes are joined from the source of its destination: the same number means something else in another. */
export const findDelivery = (schema: Statement, tenantId: string, deliveryId: string, sources: ReadonlyArray<PayloadSource>) => statement`
SELECT ${summaryRow.columns("d")}, l.endpoint_url, l.envelope_open, l.envelope_close,
       (${raw(bodyOf(schema.text, sources))}) AS body
FROM (
  SELECT ${summary}, d.refs FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ${uuid(deliveryId)}
  UNION ALL
  SELECT ${summary}, d.refs FROM ${inFlight(schema, tenantId)} AS d WHERE d.tenant_id = ${tenant(tenantId)} ${inFlightOf(deliveryId)}
) AS d
${destinationOf(schema, tenantId, "d.destination_id")}`

/** Rows that are removed in one statement. */
const pruneSize = raw("2000")

/**
 * A delivery whose flight still exists stays: without its row, its outcome would be unknown. Flights hold what is in flight, so few
 * deliveries wait for that.
 */
export const pruneDeliveries = (schema: Statement, tenantId: string, settledBefore: number) => {
  const own = tenant(tenantId)
  return statement`
WITH old AS (
  SELECT d.delivery_id FROM ${schema}.deliveries AS d
  WHERE d.tenant_id = ${own} AND d.delivery_id < ${uuid(firstIdAt(settledBefore))} AND d.state IN ('delivered', 'dead', 'dismissed', 'cancelled')
    AND d.settled_at < ${timestamptz(settledBefore)}
    AND NOT EXISTS (
      SELECT FROM ${schema}.delivery_flights AS f
      WHERE f.tenant_id = ${own} AND f.partition = ${raw(partitionOfSql("d.destination_id"))} AND f.flight = (left(d.delivery_id::text, 32) || '0000')::uuid
      OFFSET 0
    )
  ORDER BY d.delivery_id
  LIMIT ${pruneSize}
  FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${own} AND d.delivery_id = ANY (ARRAY(SELECT delivery_id FROM old))
  RETURNING 1
)
SELECT count(*) AS count FROM gone`
}

/** Deliveries are pruned before, so few destinations are passed over. What is sent for the first time is in its flight only. */
export const pruneDestinations = (schema: Statement, tenantId: string, closedBefore: number) => {
  const own = tenant(tenantId)
  const noDeliveries = Object.values(stateGroups).map((group) => statement`
    AND NOT EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${own} AND d.destination_id = l.destination_id AND d.state ${group} OFFSET 0)`)
  return statement`
WITH old AS (
  SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = ${own} AND l.state = 'closed' AND l.state_since < ${timestamptz(closedBefore)}
    AND NOT EXISTS (SELECT FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = ${own} AND e.destination_id = l.destination_id OFFSET 0)
    ${concat(noDeliveries)}
    AND l.destination_id NOT IN (
      SELECT u.destination_id FROM ${schema}.delivery_flights AS f CROSS JOIN LATERAL unnest(f.deliveries) AS u WHERE f.tenant_id = ${own}
    )
  ORDER BY l.state_since
  LIMIT ${pruneSize}
  FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${own} AND l.destination_id = ANY (ARRAY(SELECT destination_id FROM old))
  RETURNING 1
)
SELECT count(*) AS count FROM gone`
}

export const depthRow = row({ waitingEntries: int8, unsettled: int8, dead: int8, lagMillis: float8 })

/** Rows of a kind that are counted one by one; beyond that the planner's estimate of their table or index serves. */
const countedRows = raw("50000")

/** A scrape must not cost more the worse things are. */
const countedOrEstimated = (schema: Statement, rows: Statement, relation: string): Statement => statement`(
  SELECT CASE WHEN n < ${countedRows} THEN n ELSE greatest(n, (SELECT reltuples FROM pg_class WHERE oid = ${raw(`'${schema.text}.${relation}'::regclass`)})) END
  FROM (SELECT count(*) AS n FROM (SELECT 1 AS one FROM ${rows} LIMIT ${countedRows}) AS counted) AS few
)::int8`

/** Number of signals whose age is read: they are in order of time, except for the gaps of deleted ones. */
const lookedSignals = raw("10000")

/** Across tenants, for metrics. A retry of a partition with an owner waits for the rate, the breaker or its turn, not for a worker. */
export const depth = (schema: Statement) => statement`
SELECT ${countedOrEstimated(schema, statement`${schema}.delivery_entries`, "delivery_entries")} AS waiting_entries,
       ${countedOrEstimated(schema, statement`${schema}.deliveries WHERE state ${stateGroups.inFlight}`, "deliveries_unsettled")} + (SELECT count(*) FROM ${inFlight(schema)} AS flown) AS unsettled,
       ${countedOrEstimated(schema, statement`${schema}.deliveries WHERE state ${stateGroups.dead}`, "deliveries_dead")} AS dead,
       coalesce(extract(epoch FROM now() - least(
         (SELECT min(s.signalled_at) FROM (SELECT s.signalled_at FROM ${schema}.delivery_signals AS s LIMIT ${lookedSignals}) AS s),
         (SELECT min(d.due_at) FROM ${schema}.deliveries AS d
          JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = d.tenant_id AND l.destination_id = d.destination_id
          WHERE d.state ${stateGroups.inFlight} AND d.due_at <= now() AND l.state = 'active' AND NOT EXISTS (
            SELECT FROM ${schema}.delivery_leases AS o
            WHERE o.tenant_id = d.tenant_id AND o.partition = ${raw(partitionOfSql("d.destination_id"))} AND o.leased_until > now()
          ))
       )) * 1000, 0)::float8 AS lag_millis`
