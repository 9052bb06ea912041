/** SQL statements for pages of the event log, and for the cursors of the next pages. */
import type { Visibility } from "@waybill/core"
import { countLimit, cursorMillis, type EventFilter, type PageCursor, type PageRequest, typeMask } from "@waybill/core/transit-events"
import { bytea, float8, int4, int8, nullable, row, text, textArray, timestamptz } from "../client/SqlRow.ts"
import { concat, nothing, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { type Between, isBetween } from "../shared/StoredSince.ts"
import { eventRow } from "./TransitEventSql.ts"

/**
 * The events `e` that the caller may see, with further conditions: the whole log, or the log of the shipments of some accounts or of one carrier. These
 * shipments are read one after the other in the order of the page, from the one on at which the page before ended; a join could read the events of all others, or sort all
 * of the caller's. Only events of a time may be found by their time instead, for they may be few.
 */
const visibleEvents = (schema: Statement, { after, filter, tenantId, visibility }: PageRequest, more: Statement): Statement => {
  const own = tenant(tenantId)
  const isOfTime = filter.occurredFrom !== undefined || filter.occurredTo !== undefined
  const [direction, beyond] = filter.order === "desc" ? [raw("DESC"), raw("<=")] : [raw("ASC"), raw(">=")]
  if (visibility._tag === "All") return statement`${schema}.transit_events AS e WHERE e.tenant_id = ${own} ${more}`
  return statement`(
    SELECT DISTINCT sa.shipment_id FROM ${schema}.shipment_accounts AS sa
    WHERE sa.tenant_id = ${own} AND sa.account = ANY (${textArray(visibility.grants)})
      ${filter.shipmentId === undefined ? nothing : statement`AND sa.shipment_id = ${filter.shipmentId}`}
      ${after === undefined ? nothing : statement`AND sa.shipment_id ${beyond} ${after.shipmentId}`}
    ORDER BY sa.shipment_id ${direction}
  ) AS mine
  CROSS JOIN LATERAL (
    SELECT e.* FROM ${schema}.transit_events AS e WHERE e.tenant_id = ${own} AND e.shipment_id = mine.shipment_id ${more}
    ${isOfTime ? nothing : raw("OFFSET 0")}
  ) AS e`
}

const isOfTypes = ({ eventTypes }: EventFilter): Statement => eventTypes === undefined ? raw("true") : statement`e.type_bit & ${int4(typeMask(eventTypes))} <> 0`

/** All but the types. */
const conditions = ({ filter: { occurredFrom, occurredTo, shipmentId } }: PageRequest, snapshot: string | undefined): Statement =>
  concat([
    ...(shipmentId === undefined ? [] : [statement`AND e.shipment_id = ${shipmentId}`]),
    ...(occurredFrom === undefined ? [] : [statement`AND e.occurred_at >= ${timestamptz(occurredFrom)}`]),
    ...(occurredTo === undefined ? [] : [statement`AND e.occurred_at < ${timestamptz(occurredTo)}`]),
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

export const page = (schema: Statement, request: PageRequest) => {
  const { after, filter, limit, skip, snapshot } = request
  const isDescending = filter.order === "desc"
  const direction = isDescending ? statement`DESC` : statement`ASC`
  const beyond = after === undefined
    ? nothing
    : statement`AND (e.shipment_id, e.sequence, e.event_id) ${isDescending ? statement`<` : statement`>`} (${after.shipmentId}, ${int8(after.sequence)}, ${after.eventId})`
  const wanted = statement`AND ${isOfTypes(filter)} ${conditions(request, snapshot)} ${beyond}`
  const shipmentId = raw(request.visibility._tag === "All" ? "e.shipment_id" : "mine.shipment_id")
  return statement`
SELECT e.event_id, e.shipment_id, e.sequence, e.body, pg_current_snapshot()::text AS snapshot
FROM ${visibleEvents(schema, request, wanted)}
ORDER BY ${shipmentId} ${direction}, e.sequence ${direction}, e.event_id ${direction}
LIMIT ${int8(limit)} OFFSET ${int8(skip)}`
}

export const countedRow = row({ total: int8, looked: int8 })

/** Looks at up to one event more than the limit: events of other types count as looked at. */
export const count = (schema: Statement, request: PageRequest, snapshot: string | undefined) => statement`
SELECT count(*) FILTER (WHERE counted.wanted) AS total, count(*) AS looked
FROM (SELECT ${isOfTypes(request.filter)} AS wanted FROM ${visibleEvents(schema, request, conditions(request, snapshot))} LIMIT ${int8(countLimit + 1)}) AS counted`

/**
 * Starts with what was written lately, so its cost does not depend on the shipments that the caller may see. OFFSET 0: in the order of the page, an index would
 * give all events of the tenant.
 */
export const since = (schema: Statement, tenantId: string, visibility: Visibility, between: Between) => {
  const { after, limit } = between
  const own = tenant(tenantId)
  const visible = visibility._tag === "All" ? nothing : statement`AND EXISTS (
    SELECT FROM ${schema}.shipment_accounts AS sa
    WHERE sa.tenant_id = ${own} AND sa.shipment_id = e.shipment_id AND sa.account = ANY (${textArray(visibility.grants)})
    OFFSET 0
  )`
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
