/** SQL statements for the event log. */
import type { EventKey, NewEvent } from "@waybill/core/transit-events"
import { bytea, byteaArray, int4Array, int8, int8Array, optional, row, text, textArray, timestamptzArray } from "../client/SqlRow.ts"
import { type Expression, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import type { PayloadSource } from "../delivery/PayloadSource.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"
import { clientSeesText, withStatus } from "../shared/ShipmentSql.ts"

/** Where the delivery queue finds the bytes of an entry. */
export const transitEventPayloads: PayloadSource = {
  source: "transit-events",
  table: "transit_events",
  ref: "event_no",
  orderId: "event_id",
  found: (orderIds) => `x.event_id = ANY (${orderIds})`,
  key: "shipment_id",
  sequence: "sequence",
  judged: "by shipment",
  visible: clientSeesText
}

export const eventRow = row({ eventId: text, shipmentId: text, sequence: int8, body: bytea })

/** Each key is one lookup by index: events of other shipments may have the same ids, any number of them. */
export const findEvents = (schema: Statement, tenant: Expression, keys: { readonly eventIds: Expression; readonly shipmentIds: Expression }) => statement`
SELECT ${eventRow.columns()}
FROM (SELECT ${keys.eventIds} AS a, ${keys.shipmentIds} AS b OFFSET 0) AS given
CROSS JOIN LATERAL unnest(given.a, given.b) AS k (id, shipment)
CROSS JOIN LATERAL (
  SELECT e.event_id, e.shipment_id, e.sequence, e.body FROM ${schema}.transit_events AS e
  WHERE e.tenant_id = ${tenant} AND e.event_id = k.id AND e.shipment_id = k.shipment
  OFFSET 0
) AS e`

export const eventsWithId = (schema: Statement, tenantId: string, eventId: string, limit: number) => statement`
SELECT ${eventRow.columns()} FROM ${schema}.transit_events
WHERE tenant_id = ${tenant(tenantId)} AND event_id = ${eventId}
ORDER BY shipment_id
LIMIT ${int8(limit)}`

export const eventsOfShipments = (schema: Statement, tenantId: string, shipmentIds: ReadonlyArray<string>) => statement`
SELECT ${eventRow.columns()} FROM ${schema}.transit_events
WHERE tenant_id = ${tenant(tenantId)} AND shipment_id = ANY (${textArray(shipmentIds)})
ORDER BY shipment_id, sequence, event_id`

export const recordedAt = (schema: Statement, tenantId: string, { eventId, shipmentId }: EventKey) => statement`
SELECT recorded_at FROM ${schema}.transit_events
WHERE tenant_id = ${tenant(tenantId)} AND event_id = ${eventId} AND shipment_id = ${shipmentId}`

/** A shipment without events has one row, with only its accounts. */
export const recentRow = row({ eventId: optional(text), shipmentId: optional(text), sequence: optional(int8), body: optional(bytea), accounts: optional(textArray) })

/** The last events of one shipment, with the shipment's accounts. */
export const recentEvents = (
  schema: Statement,
  tenantId: string,
  id: string,
  most: { readonly events: number; readonly bytes: number }
) => {
  const shipmentId = value(id)
  return statement`
SELECT e.event_id, e.shipment_id, e.sequence, e.body, s.accounts
FROM (
  SELECT (SELECT s.accounts FROM ${schema}.shipments AS s WHERE s.tenant_id = ${tenant(tenantId)} AND s.shipment_id = ${shipmentId}) AS accounts
) AS s
LEFT JOIN LATERAL (
  SELECT e.*
  FROM (
    SELECT e.*, sum(octet_length(e.body)) OVER (ORDER BY e.sequence DESC, e.event_id DESC) - octet_length(e.body) AS newer_bytes
    FROM (
      SELECT e.event_id, e.shipment_id, e.sequence, e.body FROM ${schema}.transit_events AS e
      WHERE e.tenant_id = ${tenant(tenantId)} AND e.shipment_id = ${shipmentId}
      ORDER BY e.sequence DESC, e.event_id DESC
      LIMIT ${int8(most.events)}
    ) AS e
  ) AS e
  WHERE e.newer_bytes <= ${int8(most.bytes)}
) AS e ON true
ORDER BY e.sequence DESC, e.event_id DESC`
}

/**
 * Subscriptions that match the shipments in a relation `ships (shipment_id)`, as `matched (shipment_id,
 * subscription_id, type_mask)`. Each step is a lookup by an array of keys, or by the key of each account or client (OFFSET 0 keeps the
 * planner from choosing a full scan), so subscriptions to other freight cost nothing. Most shipments of a call have the same accounts and
 * carrier as others, so their clients are looked up once for each such set (`grants`).
 */
export const matchShipments = (schema: Statement, tenant: Expression) => statement`
granted AS MATERIALIZED (
  SELECT sh.shipment_id, coalesce(sh.accounts || sh.carrier, '{}') AS grants
  FROM ${schema}.shipments AS sh
  WHERE sh.tenant_id = ${tenant} AND sh.shipment_id = ANY (ARRAY(SELECT shipment_id FROM ships))
),
viewers AS MATERIALIZED (
  SELECT a.grants, ca.client
  FROM (
    SELECT g.grants, unnest(g.grants) AS account FROM (SELECT DISTINCT grants FROM granted) AS g
    OFFSET 0
  ) AS a
  CROSS JOIN LATERAL (
    SELECT ca.client FROM ${schema}.client_accounts AS ca
    WHERE ca.tenant_id = ${tenant} AND ca.account = a.account
    OFFSET 0
  ) AS ca
  UNION
  SELECT g.grants, c.client
  FROM granted AS g CROSS JOIN ${schema}.clients AS c
  WHERE c.tenant_id = ${tenant} AND c.sees_all
),
wishes AS MATERIALIZED (
  SELECT v.client, r.subscription_id, r.type_mask
  FROM (SELECT DISTINCT client FROM viewers) AS v
  CROSS JOIN LATERAL (
    SELECT r.subscription_id, r.type_mask FROM ${schema}.transit_routes AS r
    WHERE r.tenant_id = ${tenant} AND r.route = 'c:' || v.client
    OFFSET 0
  ) AS r
),
named AS MATERIALIZED (
  SELECT substr(r.route, 3) AS shipment_id, r.subscription_id, r.type_mask, r.client FROM ${schema}.transit_routes AS r
  WHERE r.tenant_id = ${tenant} AND r.route = ANY (ARRAY(SELECT 's:' || s.shipment_id FROM ships AS s))
),
matched AS MATERIALIZED (
  SELECT g.shipment_id, w.subscription_id, w.type_mask
  FROM granted AS g
  JOIN viewers AS v ON v.grants = g.grants
  JOIN wishes AS w ON w.client = v.client
  UNION ALL
  SELECT n.shipment_id, n.subscription_id, n.type_mask
  FROM named AS n
  JOIN granted AS g ON g.shipment_id = n.shipment_id
  JOIN viewers AS v ON v.grants = g.grants AND v.client = n.client
)`

/** One element for each event, but for the tenant and the trace. */
export type AppendedEvents = Readonly<Record<"tenant" | "eventIds" | "shipmentIds" | "sequences" | "typeBits" | "occurredAt" | "bodies" | "traceparent", Expression>>

/**
 * Stores the events and queues each for every matching subscription, in one atomic statement. Returns the shipments
 * that have a status, so that only these are read afterwards.
 *
 * The arrays go through a subquery (`given`), so that the planner does not see their length. Otherwise it would make a custom plan
 * for every single event, which takes three times as long as running it.
 */
export const append = (schema: Statement, { bodies, eventIds, occurredAt, sequences, shipmentIds, tenant, traceparent, typeBits }: AppendedEvents) => statement`
WITH stored AS (
  INSERT INTO ${schema}.transit_events (tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, body, traceparent)
  SELECT ${tenant}, e.event_id, e.shipment_id, e.sequence, e.type_bit, e.occurred_at, e.body, ${traceparent}
  FROM (SELECT ${eventIds} AS a, ${shipmentIds} AS b, ${sequences} AS c, ${typeBits} AS d, ${occurredAt} AS e, ${bodies} AS f OFFSET 0) AS given
  CROSS JOIN LATERAL unnest(given.a, given.b, given.c, given.d, given.e, given.f)
    AS e (event_id, shipment_id, sequence, type_bit, occurred_at, body)
  RETURNING event_no, shipment_id, sequence, type_bit, octet_length(body) AS size
),
ships AS MATERIALIZED (
  SELECT DISTINCT shipment_id FROM stored
),
${matchShipments(schema, tenant)},
queued AS (
  ${queueEntries(schema, entriesOfStored(tenant))}
),
arrived AS (
  ${signalQueued(schema, tenant)}
)
${withStatus(schema, tenant)}`

const entriesOfStored = (tenant: Expression) => statement`SELECT ${tenant}, m.subscription_id, e.shipment_id, e.sequence, e.event_no, e.size
  FROM stored AS e
  JOIN matched AS m ON m.shipment_id = e.shipment_id AND m.type_mask & e.type_bit <> 0`

export const appendedEvents = (tenantId: string, events: ReadonlyArray<NewEvent>, traceparent: string | undefined): AppendedEvents => ({
  tenant: tenant(tenantId),
  eventIds: textArray(events.map((each) => each.eventId)),
  shipmentIds: textArray(events.map((each) => each.shipmentId)),
  sequences: int8Array(events.map((each) => each.sequence)),
  typeBits: int4Array(events.map((each) => each.typeBit)),
  occurredAt: timestamptzArray(events.map((each) => each.occurredAt)),
  bodies: byteaArray(events.map((each) => each.body)),
  traceparent: value(traceparent ?? null)
})
