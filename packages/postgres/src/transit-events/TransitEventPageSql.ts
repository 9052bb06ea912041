/** SQL statements for pages of the event log, and for the cursors of the next pages. */
import type { Visibility } from "@waybill/core"
import { countLimit, cursorMillis, type EventFilter, type PageCursor, type PageRequest, typeMask } from "@waybill/core/transit-events"
import { bytea, float8, int4, int8, nullable, row, text, textArray, timestamptz } from "../client/SqlRow.ts"
import { concat, type Expression, nothing, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { type Between, isBetween } from "../shared/StoredSince.ts"
import { eventRow } from "./TransitEventSql.ts"

/** Callers with more accounts are looked up by all of them at once, and sorted. A carrier has a DOT and an MC number, most customers one account. */
const fewGrants = 4

/**
 * The shipments of some accounts, in the order of the page. Few accounts are read one by one, each in the order of its index: of an array the plan for all values
 * does not know how long it is, and sorts all shipments of the caller for a page. `gate`: whether they are read at all.
 */
const shipmentsOf = (schema: Statement, { after, filter, tenantId }: PageRequest, grants: ReadonlyArray<string>, gate: Statement): Statement => {
  const [direction, beyond] = filter.order === "desc" ? [raw("DESC"), raw("<=")] : [raw("ASC"), raw(">=")]
  const more = concat([
    gate,
    filter.shipmentId === undefined ? nothing : statement`AND sa.shipment_id = ${filter.shipmentId}`,
    after === undefined ? nothing : statement`AND sa.shipment_id ${beyond} ${after.shipmentId}`
  ])
  const of = (accounts: Statement) =>
    statement`SELECT sa.shipment_id FROM ${schema}.shipment_accounts AS sa WHERE sa.tenant_id = ${tenant(tenantId)} AND sa.account ${accounts} ${more}`
  const [first, ...others] = grants.length <= fewGrants ? grants.map((grant) => of(statement`= ${text(grant)}`)) : [of(statement`= ANY (${textArray(grants)})`)]
  return statement`SELECT DISTINCT sa.shipment_id FROM (${others.reduce((union, each) => statement`${union} UNION ALL ${each}`, first ?? of(raw("= ANY ('{}')")))}) AS sa ORDER BY sa.shipment_id ${direction}`
}

/**
 * The events `e` that the caller may see, with further conditions: the whole log, or the log of the shipments of some accounts or of one carrier. These
 * shipments are read one after the other in the order of the page, from the one on at which the page before ended; a join could read the events of all others, or sort all
 * of the caller's.
 */
const visibleEvents = (schema: Statement, request: PageRequest, more: Statement, gate: Statement): Statement => {
  const { tenantId, visibility } = request
  const own = tenant(tenantId)
  if (visibility._tag === "All") return statement`${schema}.transit_events AS e WHERE e.tenant_id = ${own} ${gate} ${more}`
  return statement`(${shipmentsOf(schema, request, visibility.grants, gate)}) AS mine
  CROSS JOIN LATERAL (
    SELECT e.* FROM ${schema}.transit_events AS e WHERE e.tenant_id = ${own} AND e.shipment_id = mine.shipment_id ${more}
    OFFSET 0
  ) AS e`
}

const isOfTypes = ({ eventTypes }: EventFilter): Statement => eventTypes === undefined ? raw("true") : statement`e.type_bit & ${int4(typeMask(eventTypes))} <> 0`

/** The time, for an index or with IS TRUE hidden from it: a page in its order must not be sorted from an index of times. */
const within = ({ filter: { occurredFrom, occurredTo } }: PageRequest, isTrue: Statement = nothing): Statement => concat([
  occurredFrom === undefined ? nothing : statement`AND (e.occurred_at >= ${timestamptz(occurredFrom)}) ${isTrue}`,
  occurredTo === undefined ? nothing : statement`AND (e.occurred_at < ${timestamptz(occurredTo)}) ${isTrue}`
])

/** One lookup for each event `e`: whether its shipment is on one of the accounts. */
const seenBy = (schema: Statement, own: Expression, grants: ReadonlyArray<string>): Statement => statement`AND EXISTS (
    SELECT FROM ${schema}.shipment_accounts AS sa
    WHERE sa.tenant_id = ${own} AND sa.shipment_id = e.shipment_id AND sa.account = ANY (${textArray(grants)})
    OFFSET 0
  )`

/** All but the types. */
const conditions = (request: PageRequest, snapshot: string | undefined): Statement =>
  concat([
    ...(request.filter.shipmentId === undefined ? [] : [statement`AND e.shipment_id = ${request.filter.shipmentId}`]),
    within(request, raw("IS TRUE")),
    ...(snapshot === undefined ? [] : [statement`AND pg_visible_in_snapshot(e.xid, ${snapshot}::pg_snapshot)`])
  ])

export const pageRow = row({ eventId: text, shipmentId: text, sequence: int8, body: bytea, snapshot: text })

/**
 * Citus runs the statement of a page on the node of the tenant, whose snapshots do not know the transaction ids of events: the coordinator
 * assigned these. So the snapshot is a statement of its own there. A publication that was answered before is committed on both nodes, so its
 * events are on the pages. One that commits at this moment may be in the snapshot and not yet on the node, so its events may be missing in a
 * first page and shown on later ones.
 */
export const coordinatorSnapshot = statement`SELECT pg_current_snapshot()::text AS snapshot`

/** Whether events of a time are asked for. */
const isOfTime = ({ occurredFrom, occurredTo }: EventFilter): boolean => occurredFrom !== undefined || occurredTo !== undefined

/** Events of a time that are read by their time, at most. Where the tenant has more, a page in its order ends soon. */
const mostOfTime = raw("10000")

/**
 * `timed`: the tenant's events of the time, up to one more than are read by it. `few`: whether these are all. What uses them has one branch for each case, of which Postgres runs one: a plan for all
 * times cannot know which of them is cheap.
 */
const ofTime = (schema: Statement, request: PageRequest) => statement`
WITH timed AS MATERIALIZED (
  SELECT e.event_no FROM ${schema}.transit_events AS e WHERE e.tenant_id = ${tenant(request.tenantId)} ${within(request)} LIMIT ${mostOfTime} + 1
),
few AS MATERIALIZED (
  SELECT count(*) <= ${mostOfTime} AS few FROM timed
)`

const isFew = raw("(SELECT f.few FROM few AS f)")

/** The events `e` of `timed` that the caller may see. */
const timedEvents = (schema: Statement, { tenantId, visibility }: PageRequest, more: Statement) => {
  const own = tenant(tenantId)
  const visible = visibility._tag === "All" ? nothing : seenBy(schema, own, visibility.grants)
  return statement`timed AS t
  CROSS JOIN LATERAL (
    SELECT e.* FROM ${schema}.transit_events AS e WHERE e.tenant_id = ${own} AND e.event_no = t.event_no ${more} ${visible}
    OFFSET 0
  ) AS e`
}

export const page = (schema: Statement, request: PageRequest) => {
  const { after, filter, limit, skip, snapshot } = request
  const isDescending = filter.order === "desc"
  const direction = isDescending ? statement`DESC` : statement`ASC`
  const beyond = after === undefined
    ? nothing
    : statement`AND (e.shipment_id, e.sequence, e.event_id) ${isDescending ? statement`<` : statement`>`} (${after.shipmentId}, ${int8(after.sequence)}, ${after.eventId})`
  const wanted = statement`AND ${isOfTypes(filter)} ${conditions(request, snapshot)} ${beyond}`
  const order = (shipmentId: string) => statement`ORDER BY ${raw(shipmentId)} ${direction}, e.sequence ${direction}, e.event_id ${direction}`
  const range = statement`LIMIT ${int8(limit)} OFFSET ${int8(skip)}`
  const columns = raw("e.event_id, e.shipment_id, e.sequence, e.body")
  const inOrder = (gate: Statement) => statement`SELECT ${columns} FROM ${visibleEvents(schema, request, wanted, gate)}
${order(request.visibility._tag === "All" ? "e.shipment_id" : "mine.shipment_id")}`
  if (!isOfTime(filter) || filter.shipmentId !== undefined) return statement`
SELECT e.*, pg_current_snapshot()::text AS snapshot FROM (${inOrder(nothing)} ${range}) AS e`
  return statement`${ofTime(schema, request)}
SELECT e.*, pg_current_snapshot()::text AS snapshot FROM (
  (SELECT ${columns} FROM ${timedEvents(schema, request, wanted)} WHERE ${isFew})
  UNION ALL
  (${inOrder(statement`AND NOT ${isFew}`)} LIMIT ${int8(limit + skip)})
) AS e
${order("e.shipment_id")}
${range}`
}

export const countedRow = row({ total: int8, looked: int8 })

/** Looks at up to one event more than the limit: events of other types count as looked at. */
export const count = (schema: Statement, request: PageRequest, snapshot: string | undefined) => {
  const { filter } = request
  const [wanted, most] = [isOfTypes(filter), int8(countLimit + 1)]
  const inOrder = (gate: Statement) => statement`(SELECT ${wanted} AS wanted FROM ${visibleEvents(schema, request, conditions(request, snapshot), gate)} LIMIT ${most})`
  const counted = raw("SELECT count(*) FILTER (WHERE counted.wanted) AS total, count(*) AS looked FROM")
  if (!isOfTime(filter) || filter.shipmentId !== undefined) return statement`${counted} ${inOrder(nothing)} AS counted`
  return statement`${ofTime(schema, request)}
${counted} (
  (SELECT ${wanted} AS wanted FROM ${timedEvents(schema, request, conditions(request, snapshot))} WHERE ${isFew} LIMIT ${most})
  UNION ALL
  ${inOrder(statement`AND NOT ${isFew}`)}
) AS counted`
}

/**
 * Starts with what was written lately, so its cost does not depend on the shipments that the caller may see. OFFSET 0: in the order of the page, an index would
 * give all events of the tenant.
 */
export const since = (schema: Statement, tenantId: string, visibility: Visibility, between: Between) => {
  const { after, limit } = between
  const own = tenant(tenantId)
  const visible = visibility._tag === "All" ? nothing : seenBy(schema, own, visibility.grants)
  const beyond = after === undefined ? nothing : statement`AND (e.shipment_id, e.sequence, e.event_id) > (${after[0]!}, ${int8(Number(after[1]))}, ${after[2]!})`
  return statement`
SELECT ${eventRow.columns("e")} FROM (
  SELECT e.* FROM ${schema}.transit_events AS e
  WHERE e.tenant_id = ${own} AND ${isBetween(raw("e.xid"), raw("e.recorded_at"), between)} ${visible} ${beyond}
  OFFSET 0
) AS e
ORDER BY e.shipment_id, e.sequence, e.event_id
LIMIT ${int8(limit)}`
}

export const deleteCursors = (schema: Statement, tenantId: string, queryKey: string) =>
  statement`DELETE FROM ${schema}.transit_cursors WHERE tenant_id = ${tenant(tenantId)} AND query_key = ${queryKey}`

/** Expired cursors that one call removes. Few: they are those of all clients of the tenant. */
const pruneSize = raw("50")

/** A list may have any number of pages, so each is looked up by key and page. */
export const pruneCursors = (schema: Statement, tenantId: string) => statement`
WITH old AS (
  SELECT query_key, page, ctid AS place FROM ${schema}.transit_cursors
  WHERE tenant_id = ${tenant(tenantId)} AND created_at < now() - ${float8(cursorMillis)} * interval '1 millisecond'
  ORDER BY created_at
  LIMIT ${pruneSize}
  FOR UPDATE SKIP LOCKED
)
DELETE FROM ${schema}.transit_cursors
WHERE tenant_id = ${tenant(tenantId)} AND query_key = ANY (ARRAY(SELECT query_key FROM old)) AND page = ANY (ARRAY(SELECT page FROM old))
  AND ctid = ANY (ARRAY(SELECT place FROM old))`

export const putCursor = (schema: Statement, tenantId: string, queryKey: string, { after, page, snapshot, totalCount }: PageCursor) => statement`
INSERT INTO ${schema}.transit_cursors
  (tenant_id, query_key, page, snapshot, after_shipment, after_sequence, after_event, total_count)
VALUES (${tenant(tenantId)}, ${queryKey}, ${int8(page)}, ${snapshot}, ${after.shipmentId}, ${int8(after.sequence)}, ${after.eventId}, ${int8(totalCount)})
ON CONFLICT (tenant_id, query_key, page) DO UPDATE
SET snapshot = EXCLUDED.snapshot, after_shipment = EXCLUDED.after_shipment, after_sequence = EXCLUDED.after_sequence,
    after_event = EXCLUDED.after_event, total_count = EXCLUDED.total_count, created_at = EXCLUDED.created_at`

export const cursorRow = row({ page: int8, snapshot: text, afterShipment: text, afterSequence: int8, afterEvent: text, totalCount: nullable(int8) })

/** The last cursor of the query up to a page. */
export const findCursor = (schema: Statement, tenantId: string, queryKey: string, page: number) => statement`
SELECT ${cursorRow.columns()}
FROM ${schema}.transit_cursors
WHERE tenant_id = ${tenant(tenantId)} AND query_key = ${queryKey} AND page <= ${int8(page)}
  AND created_at >= now() - ${float8(cursorMillis)} * interval '1 millisecond'
ORDER BY page DESC
LIMIT 1`
