/** Fills the log and the destinations by SQL, with the same rows as publishing. */
import { query } from "../machine/PostgresServer.ts"
import { bodySql } from "./SampleEvent.ts"
import { tenantId } from "./Tenant.ts"

const shipmentSql = (n: string) => `'S' || lpad((${n})::text, 11, '0')`

/** Events `from` up to, not including, `to`, `perShipment` of them to a shipment. Two shipments apart belong to two customers. */
export const storeEvents = (database: string, range: { readonly from: number; readonly to: number; readonly perShipment: number }) =>
  query(
    database,
    `INSERT INTO waybill.transit_events (tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, body)
     SELECT $1, e.id, e.shipment, e.sequence, 8, now(), ${bodySql("e.id", "e.sequence::text", "e.shipment")}
     FROM (
       SELECT gen_random_uuid()::text AS id, ${shipmentSql("n / $4::int8")} AS shipment, n % $4::int8 + 1 AS sequence
       FROM generate_series($2::int8, $3::int8 - 1) AS n
     ) AS e`,
    [tenantId, range.from, range.to, range.perShipment]
  )

/**
 * Assigns `events`, a query over the event log, to the subscriptions `which` in turn, gives their clients access to the shipments, because other entries are dropped
 * at sending, and leaves signals.
 */
const assignSql = ({ events, which }: { readonly events: string; readonly which: string }): string => `
WITH destinations AS (
  SELECT id AS destination_id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS destinations,
         (SELECT min(a.account) FROM waybill.client_accounts AS a WHERE a.tenant_id = s.tenant_id AND a.client = s.client) AS account
  FROM waybill.transit_subscriptions AS s WHERE tenant_id = $1 AND ${which}
),
assigned AS MATERIALIZED (
  SELECT e.*, l.destination_id, l.account
  FROM (${events}) AS e
  JOIN destinations AS l ON l.place = substr(e.shipment_id, 2)::int8 % l.destinations
),
known AS (
  INSERT INTO waybill.shipments (tenant_id, shipment_id, accounts) SELECT DISTINCT $1::text, shipment_id, ARRAY[account] FROM assigned ON CONFLICT DO NOTHING
),
seen AS (
  INSERT INTO waybill.shipment_accounts (tenant_id, account, shipment_id) SELECT DISTINCT $1::text, account, shipment_id FROM assigned ON CONFLICT DO NOTHING
),
queued AS (
  INSERT INTO waybill.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  SELECT $1, e.destination_id, e.shipment_id, e.sequence, e.event_no, octet_length(e.body)
  FROM assigned AS e
  ORDER BY e.event_no
  RETURNING destination_id, key
)
INSERT INTO waybill.delivery_signals (tenant_id, partition, destination_id, key)
SELECT $1::text, get_byte(uuid_send(destination_id), 15) % 8, destination_id, min(key) FROM queued GROUP BY destination_id`

/** Queues the last `count` events: all for one client's subscription, or shipments in turn to all but unrelated ones. */
export const queueEvents = (database: string, { client, count }: { readonly count: number; readonly client?: string }) =>
  query(
    database,
    assignSql({
      events: "SELECT * FROM waybill.transit_events WHERE tenant_id = $1 ORDER BY event_no DESC LIMIT $2",
      which: "client = coalesce($3, client) AND client NOT LIKE 'other-%'"
    }),
    [tenantId, count, client ?? null]
  )

/** Queues the shipments from `first` on for these subscriptions. */
export const queueShipments = (database: string, { destinationIds, first }: { readonly first: string; readonly destinationIds: ReadonlyArray<string> }) =>
  query(
    database,
    assignSql({ events: "SELECT * FROM waybill.transit_events WHERE tenant_id = $1 AND shipment_id >= $2", which: "id = ANY($3)" }),
    [tenantId, first, destinationIds]
  )
