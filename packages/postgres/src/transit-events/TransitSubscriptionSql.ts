/** SQL statements for subscriptions to transit events. */
import type { ColumnHint } from "../client/PgTypes.ts"
import { clientSees } from "../shared/ShipmentSql.ts"

/** Locks the rows of shipments in the common order, inserts missing ones, and returns which were inserted. */
export const lockShipments = (schema: string) => `
INSERT INTO ${schema}.shipments AS s (tenant_id, shipment_id)
SELECT $1, id FROM unnest($2::text[]) AS id
ORDER BY id COLLATE "C"
ON CONFLICT (tenant_id, shipment_id) DO UPDATE SET last_sequence = s.last_sequence
RETURNING shipment_id, (xmax = 0) AS inserted`

export const insertSubscription = (schema: string) => `
INSERT INTO ${schema}.transit_subscriptions (tenant_id, id, client, doc, type_mask, shipment_ids, created_at, updated_at)
VALUES ($1, $2::uuid, $3, $4, $5::int4, $6::text[], ($7::timestamptz[])[1], ($7::timestamptz[])[2])`

export const updateSubscription = (schema: string) => `
UPDATE ${schema}.transit_subscriptions
SET doc = $3, type_mask = $4::int4, shipment_ids = $5::text[], updated_at = ($6::timestamptz[])[1]
WHERE tenant_id = $1 AND id = $2::uuid AND deleted_at IS NULL`

export const selectSubscriptions = (schema: string) => `
SELECT s.id, s.client, s.doc, s.created_at, s.updated_at, l.state, l.state_reason, l.state_since, l.paused_by
FROM ${schema}.transit_subscriptions AS s
JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = s.tenant_id AND l.destination_id = s.id
WHERE s.tenant_id = $1 AND s.deleted_at IS NULL`

/**
 * Locks the destination as well. After waiting for a row lock, Postgres re-reads only the locked rows; with a lock on the subscription alone the caller
 * would write back the old state of its destination, over a pause that was committed meanwhile.
 */
export const lockedWithDestination = "FOR UPDATE OF s FOR NO KEY UPDATE OF l"

export const subscriptionColumns: ReadonlyArray<ColumnHint> = ["uuid", "text", "text", "timestamptz", "timestamptz", "text", "text", "timestamptz", "text"]

export const countSubscriptions = (schema: string) => `
SELECT count(*) AS total
FROM ${schema}.transit_subscriptions AS s
JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = s.tenant_id AND l.destination_id = s.id
WHERE s.tenant_id = $1 AND s.deleted_at IS NULL AND s.client = $2 AND l.state = $3`

export const seesShipment = (schema: string) => `
SELECT ${clientSees(schema, "$2", "$3")} AS sees`

/** Queues the stored events of the named shipments before new ones. */
export const queueHistory = (schema: string) => `
WITH queued AS (
  INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  SELECT $1, $2::uuid, e.shipment_id, e.sequence, e.event_no, octet_length(e.body)
  FROM ${schema}.transit_events AS e
  WHERE e.tenant_id = $1
    AND e.shipment_id = ANY ($5::text[])
    AND e.type_bit & $4::int4 <> 0
    AND ${clientSees(schema, "$3", "e.shipment_id")}
  ON CONFLICT DO NOTHING
  RETURNING destination_id
)
INSERT INTO ${schema}.delivery_arrivals (tenant_id, destination_id)
SELECT DISTINCT $1::text, destination_id FROM queued`

/** Returns whether the subscription exists, and how many events were queued again. */
export const replay = (schema: string) => `
WITH wanted AS (
  SELECT s.id, s.client, s.type_mask, s.shipment_ids
  FROM ${schema}.transit_subscriptions AS s
  WHERE s.tenant_id = $1 AND s.id = $2::uuid AND s.deleted_at IS NULL
),
queued AS (
  INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  SELECT $1, w.id, e.shipment_id, e.sequence, e.event_no, octet_length(e.body)
  FROM wanted AS w
  JOIN ${schema}.transit_events AS e ON e.tenant_id = $1
  WHERE e.recorded_at >= ($3::timestamptz[])[1] AND e.recorded_at < ($3::timestamptz[])[2]
    AND ($4::text[] IS NULL OR e.shipment_id = ANY ($4::text[]))
    AND (w.shipment_ids IS NULL OR e.shipment_id = ANY (w.shipment_ids))
    AND e.type_bit & w.type_mask <> 0
    AND ${clientSees(schema, "w.client", "e.shipment_id")}
  ON CONFLICT DO NOTHING
  RETURNING destination_id
),
told AS (
  INSERT INTO ${schema}.delivery_arrivals (tenant_id, destination_id)
  SELECT DISTINCT $1::text, destination_id FROM queued
)
SELECT EXISTS (SELECT FROM wanted) AS found, (SELECT count(*) FROM queued) AS queued`
