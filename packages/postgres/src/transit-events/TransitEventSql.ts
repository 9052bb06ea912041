/** SQL statements for the event log. */
import type { PayloadSource } from "../delivery/PayloadSource.ts"
import { accountsSee, clientSees, viewers, withStatus } from "../shared/ShipmentSql.ts"

/** Where the delivery queue finds the bytes of an entry. */
export const transitEventPayloads: PayloadSource = {
  source: "transit-events",
  table: "transit_events",
  ref: "event_no",
  orderId: "event_id",
  found: "x.event_id = ANY ($4::text[])",
  key: "shipment_id",
  sequence: "sequence",
  judged: "by key",
  visible: clientSees,
  visibleByAccounts: accountsSee
}

export const findEvents = (schema: string) => `
SELECT event_id, shipment_id, sequence, body
FROM ${schema}.transit_events
WHERE tenant_id = $1 AND event_id = ANY ($2::text[])`

/** The last events of one shipment, with the shipment's accounts. */
export const recentEvents = (schema: string) => `
SELECT e.event_id, e.shipment_id, e.sequence, e.body, s.accounts
FROM (
  SELECT (SELECT s.accounts FROM ${schema}.shipments AS s WHERE s.tenant_id = $1 AND s.shipment_id = $2) AS accounts
) AS s
LEFT JOIN LATERAL (
  SELECT e.*
  FROM (
    SELECT e.*, sum(octet_length(e.body)) OVER (ORDER BY e.sequence DESC, e.event_id DESC) - octet_length(e.body) AS newer_bytes
    FROM (
      SELECT e.event_id, e.shipment_id, e.sequence, e.body FROM ${schema}.transit_events AS e
      WHERE e.tenant_id = $1 AND e.shipment_id = $2
      ORDER BY e.sequence DESC, e.event_id DESC
      LIMIT $3::int8
    ) AS e
  ) AS e
  WHERE e.newer_bytes <= $4::int8
) AS e ON true
ORDER BY e.sequence DESC, e.event_id DESC`

/**
 * Subscriptions that match the shipments in a relation `ships (shipment_id)`, as `matched (shipment_id,
 * subscription_id, type_mask)`. Each step is a lookup per shipment, account or client (OFFSET 0 keeps the planner from
 * choosing a full scan), so subscriptions to other freight cost nothing.
 */
export const matchShipments = (schema: string) => `
${viewers(schema)},
wishes AS MATERIALIZED (
  SELECT v.client, r.subscription_id, r.type_mask
  FROM (SELECT DISTINCT client FROM viewers) AS v
  CROSS JOIN LATERAL (
    SELECT r.subscription_id, r.type_mask FROM ${schema}.transit_routes AS r
    WHERE r.tenant_id = $1 AND r.route = 'c:' || v.client
    OFFSET 0
  ) AS r
),
matched AS MATERIALIZED (
  SELECT v.shipment_id, w.subscription_id, w.type_mask
  FROM viewers AS v
  JOIN wishes AS w ON w.client = v.client
  UNION ALL
  SELECT s.shipment_id, r.subscription_id, r.type_mask
  FROM ships AS s
  CROSS JOIN LATERAL (
    SELECT r.subscription_id, r.type_mask, r.client FROM ${schema}.transit_routes AS r
    WHERE r.tenant_id = $1 AND r.route = 's:' || s.shipment_id
    OFFSET 0
  ) AS r
  JOIN viewers AS v ON v.shipment_id = s.shipment_id AND v.client = r.client
)`

/**
 * Stores the events and queues each for every matching subscription, in one atomic statement. Returns the shipments
 * that have a status, so that only these are read afterwards.
 *
 * The arrays go through a subquery (`given`), so that the planner does not see their length. Otherwise it would make a custom plan
 * for every single event, which takes three times as long as running it.
 */
export const append = (schema: string) => `
WITH stored AS (
  INSERT INTO ${schema}.transit_events (tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, body, traceparent)
  SELECT $1, e.event_id, e.shipment_id, e.sequence, e.type_bit, e.occurred_at, e.body, $8
  FROM (SELECT $2::text[] AS a, $3::text[] AS b, $4::int8[] AS c, $5::int4[] AS d, $6::timestamptz[] AS e, $7::bytea[] AS f OFFSET 0) AS given
  CROSS JOIN LATERAL unnest(given.a, given.b, given.c, given.d, given.e, given.f)
    AS e (event_id, shipment_id, sequence, type_bit, occurred_at, body)
  RETURNING event_no, shipment_id, sequence, type_bit, octet_length(body) AS size
),
ships AS MATERIALIZED (
  SELECT DISTINCT shipment_id FROM stored
),
${matchShipments(schema)},
queued AS (
  INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  SELECT $1, m.subscription_id, e.shipment_id, e.sequence, e.event_no, e.size
  FROM stored AS e
  JOIN matched AS m ON m.shipment_id = e.shipment_id AND m.type_mask & e.type_bit <> 0
  RETURNING destination_id
),
arrived AS (
  INSERT INTO ${schema}.delivery_arrivals (tenant_id, destination_id)
  SELECT DISTINCT $1::text, destination_id FROM queued
)
${withStatus(schema)}`
