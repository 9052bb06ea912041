/** SQL statements for subscriptions to transit events. */
import type { DestinationState } from "@waybill/core/delivery"
import { type ReplayRequest, type SubscriptionRecord, transitEventSource } from "@waybill/core/transit-events"
import { bool, int4, int8, row, text, textArray, timestamptz, uuid } from "../client/SqlRow.ts"
import { type Expression, nothing, raw, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"
import { type ReplayedLog, selectSubscriptions } from "../subscriptions/SubscriptionSql.ts"
import { clientSees } from "../shared/ShipmentSql.ts"

export const lockedRow = row({ shipmentId: text, isInserted: bool })

/** Locks the rows of shipments in the common order, inserts missing ones, and returns which were inserted. */
export const lockShipments = (schema: Statement, tenantId: string, shipmentIds: ReadonlyArray<string>) => statement`
INSERT INTO ${schema}.shipments AS s (tenant_id, shipment_id)
SELECT ${tenant(tenantId)}, id FROM unnest(${textArray(shipmentIds)}) AS id
ORDER BY id COLLATE "C"
ON CONFLICT (tenant_id, shipment_id) DO UPDATE SET last_sequence = s.last_sequence
RETURNING shipment_id, (xmax = 0) AS inserted`

export const deleteShipments = (schema: Statement, tenantId: string, shipmentIds: ReadonlyArray<string>) =>
  statement`DELETE FROM ${schema}.shipments WHERE tenant_id = ${tenant(tenantId)} AND shipment_id = ANY (${textArray(shipmentIds)})`

export const insertSubscription = (
  schema: Statement,
  tenantId: string,
  { client, createdAt, doc, id, shipmentIds, typeMask, updatedAt }: SubscriptionRecord
) => statement`
INSERT INTO ${schema}.transit_subscriptions (tenant_id, id, client, doc, type_mask, shipment_ids, created_at, updated_at)
VALUES (${tenant(tenantId)}, ${uuid(id)}, ${client}, ${doc}, ${int4(typeMask)}, ${textArray(shipmentIds)}, ${timestamptz(createdAt)}, ${timestamptz(updatedAt)})`

export const updateSubscription = (
  schema: Statement,
  tenantId: string,
  { doc, id, shipmentIds, typeMask, updatedAt }: SubscriptionRecord
) => statement`
UPDATE ${schema}.transit_subscriptions
SET doc = ${doc}, type_mask = ${int4(typeMask)}, shipment_ids = ${textArray(shipmentIds)}, updated_at = ${timestamptz(updatedAt)}
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)}`

export const deleteRoutes = (schema: Statement, tenantId: string, id: string) =>
  statement`DELETE FROM ${schema}.transit_routes WHERE tenant_id = ${tenant(tenantId)} AND subscription_id = ${uuid(id)}`

export const insertRoutes = (
  schema: Statement,
  tenantId: string,
  { client, id, typeMask }: SubscriptionRecord,
  routes: ReadonlyArray<string>
) => statement`
INSERT INTO ${schema}.transit_routes (tenant_id, route, subscription_id, client, type_mask)
SELECT ${tenant(tenantId)}, route, ${uuid(id)}, ${client}, ${int4(typeMask)} FROM unnest(${textArray(routes)}) AS route`

export const transitSubscriptions = (schema: Statement) => statement`${schema}.transit_subscriptions`

/** Of the client's destinations alone, which an index has by state: a subscription and its destination have one id, and end together. */
const destinationsIn = (schema: Statement, tenantId: string, client: string, state: DestinationState) => statement`
FROM ${schema}.delivery_destinations AS l
WHERE l.tenant_id = ${tenant(tenantId)} AND l.client = ${text(client)} AND l.state = ${text(state)} AND l.state <> 'closed' AND l.source = ${transitEventSource}`

export const pageSubscriptions = (
  schema: Statement,
  tenantId: string,
  client: string,
  state: DestinationState,
  { limit, skip }: { readonly skip: number; readonly limit: number }
) => statement`
${selectSubscriptions(schema, transitSubscriptions(schema), tenantId, client)} AND s.id = ANY (ARRAY(
  SELECT l.destination_id${destinationsIn(schema, tenantId, client, state)} ORDER BY l.destination_id LIMIT ${int8(limit)} OFFSET ${int8(skip)}
))
ORDER BY s.id`

export const countSubscriptions = (schema: Statement, tenantId: string, client: string, state: DestinationState) => statement`
SELECT count(*) AS total${destinationsIn(schema, tenantId, client, state)}`

export const emptySubscription = (schema: Statement, tenantId: string, id: string) => statement`
UPDATE ${schema}.transit_subscriptions SET deleted_at = now(), doc = '{}', shipment_ids = NULL
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)}`

export const seesShipment = (schema: Statement, tenantId: string, client: string, shipmentId: string) =>
  statement`SELECT ${clientSees(schema, tenant(tenantId), value(client), value(shipmentId))} AS sees`

/** Entries of stored events `e` for a destination. */
const storedEvents = (tenantId: string, destinationId: Expression) =>
  statement`SELECT ${tenant(tenantId)}, ${destinationId}, e.shipment_id, e.sequence, e.event_no, octet_length(e.body)`

/** Queues the stored events of the named shipments before new ones; entries that wait already stay. */
export const queueHistory = (schema: Statement, tenantId: string, { client, id, typeMask }: SubscriptionRecord, shipmentIds: ReadonlyArray<string>) => {
  const stored = statement`${storedEvents(tenantId, uuid(id))}
  FROM ${schema}.transit_events AS e
  WHERE e.tenant_id = ${tenant(tenantId)}
    AND e.shipment_id = ANY (${textArray(shipmentIds)})
    AND e.type_bit & ${int4(typeMask)} <> 0
    AND ${clientSees(schema, tenant(tenantId), value(client), statement`e.shipment_id`)}
  ON CONFLICT DO NOTHING`
  return statement`
WITH queued AS (
  ${queueEntries(schema, stored)}
)
${signalQueued(schema, tenant(tenantId))}`
}

/** The stored events of a request. Its times have an index in no order of numbers, which IS TRUE hides from the statements of a step. */
export const replayedEvents = (schema: Statement, tenantId: string, { from, to = Infinity, shipmentIds }: ReplayRequest): ReplayedLog => {
  const isWithin = statement`e.recorded_at >= ${timestamptz(from)} AND e.recorded_at < ${timestamptz(to)}`
  const ofShipments = shipmentIds === undefined ? nothing : statement`AND e.shipment_id = ANY (${textArray(shipmentIds)})`
  return {
    rows: statement`${schema}.transit_events AS e WHERE e.tenant_id = ${tenant(tenantId)} ${ofShipments}`,
    number: raw("e.event_no"),
    isWithin,
    entries: (condition) => statement`${storedEvents(tenantId, statement`w.id`)}
  FROM wanted AS w
  JOIN ${schema}.transit_events AS e ON e.tenant_id = ${tenant(tenantId)}
  WHERE ${condition} AND (${isWithin}) IS TRUE ${ofShipments}
    AND (w.shipment_ids IS NULL OR e.shipment_id = ANY (w.shipment_ids))
    AND e.type_bit & w.type_mask <> 0
    AND ${clientSees(schema, tenant(tenantId), statement`w.client`, statement`e.shipment_id`)}`
  }
}
