/** SQL statements for shipment statuses. */
import { pruneLowest } from "../delivery/NoticeRetention.ts"
import type { PayloadSource } from "../delivery/PayloadSource.ts"
import { accountsSee, clientSees, ofCarrier, viewers } from "../shared/ShipmentSql.ts"

/** Where the delivery queue finds the bytes of an entry. */
export const shipmentStatusPayloads: PayloadSource = {
  source: "shipment-status",
  table: "shipment_status_notices",
  ref: "notice_no",
  orderId: "notice_id",
  key: "shipment_id",
  sequence: "sequence",
  judged: "by key",
  visible: clientSees,
  visibleByAccounts: accountsSee
}

export const readStatuses = (schema: string) => `
SELECT shipment_id, state, verified
FROM ${schema}.shipment_statuses
WHERE tenant_id = $1 AND shipment_id = ANY ($2::text[])
ORDER BY shipment_id`

/** Returns the shipments whose position in lookups changed: new ones, newly covered ones, those with another pickup time. */
export const putStatuses = (schema: string) => `
WITH given AS MATERIALIZED (
  SELECT g.*
  FROM unnest($2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::bool[], $7::timestamptz[], $8::timestamptz[])
    AS g (shipment_id, state, verified, public, covered, pickup_at, delivered_at)
),
moved AS MATERIALIZED (
  SELECT g.shipment_id
  FROM given AS g
  LEFT JOIN LATERAL (
    SELECT s.covered, s.pickup_at FROM ${schema}.shipment_statuses AS s
    WHERE s.tenant_id = $1 AND s.shipment_id = g.shipment_id
    OFFSET 0
  ) AS s ON true
  WHERE (s.covered, s.pickup_at) IS DISTINCT FROM (g.covered, g.pickup_at)
),
stored AS (
  INSERT INTO ${schema}.shipment_statuses AS s
    (tenant_id, shipment_id, state, verified, public, covered, pickup_at, delivered_at)
  SELECT $1, g.* FROM given AS g
  ON CONFLICT (tenant_id, shipment_id) DO UPDATE
  SET state = EXCLUDED.state, verified = EXCLUDED.verified, public = EXCLUDED.public, covered = EXCLUDED.covered,
      pickup_at = EXCLUDED.pickup_at, delivered_at = EXCLUDED.delivered_at
)
SELECT shipment_id FROM moved`

/** Copies the position of statuses (pickup time, covered) to the keys and accounts of shipments. */
export const placeShipments = (schema: string) => `
WITH moved AS MATERIALIZED (
  SELECT s.shipment_id, s.pickup_at, s.covered
  FROM ${schema}.shipment_statuses AS s WHERE s.tenant_id = $1 AND s.shipment_id = ANY ($2::text[])
),
keyed AS (
  UPDATE ${schema}.shipment_keys AS k SET pickup_at = m.pickup_at, covered = m.covered
  FROM moved AS m
  WHERE k.tenant_id = $1 AND k.shipment_id = m.shipment_id AND k.shipment_id = ANY ($2::text[]) AND (k.pickup_at, k.covered) IS DISTINCT FROM (m.pickup_at, m.covered)
)
UPDATE ${schema}.shipment_accounts AS a SET pickup_at = CASE WHEN m.covered THEN m.pickup_at END
FROM moved AS m
WHERE a.tenant_id = $1 AND a.shipment_id = m.shipment_id AND a.shipment_id = ANY ($2::text[]) AND a.pickup_at IS DISTINCT FROM CASE WHEN m.covered THEN m.pickup_at END`

/** Replaces the keys (or references) of shipments; unchanged rows are not written. */
const replaced = (table: string, column: string) => `
WITH given AS MATERIALIZED (
  SELECT g.shipment_id, g.texts::text[] AS texts FROM unnest($2::text[], $3::text[]) AS g (shipment_id, texts)
),
dropped AS (
  DELETE FROM ${table} AS t USING given AS g
  WHERE t.tenant_id = $1 AND t.shipment_id = g.shipment_id AND t.shipment_id = ANY ($2::text[]) AND t.${column} <> ALL (g.texts)
)`

/** Needs the statuses to be stored first. */
export const replaceKeys = (schema: string) => `${replaced(`${schema}.shipment_keys`, "key")}
INSERT INTO ${schema}.shipment_keys (tenant_id, shipment_id, key, pickup_at, covered)
SELECT $1, g.shipment_id, text, s.pickup_at, s.covered
FROM given AS g
CROSS JOIN LATERAL (
  SELECT s.pickup_at, s.covered FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = $1 AND s.shipment_id = g.shipment_id
  OFFSET 0
) AS s
CROSS JOIN unnest(g.texts) AS text
ON CONFLICT DO NOTHING`

export const replaceReferences = (schema: string) => `${replaced(`${schema}.shipment_references`, "reference")}
INSERT INTO ${schema}.shipment_references (tenant_id, shipment_id, reference)
SELECT $1, g.shipment_id, text FROM given AS g CROSS JOIN unnest(g.texts) AS text
ON CONFLICT DO NOTHING`

export const addHistory = (schema: string) => `
INSERT INTO ${schema}.shipment_status_history (tenant_id, shipment_id, position, occurred_at, doc)
SELECT $1, g.* FROM unnest($2::text[], $3::int8[], $4::timestamptz[], $5::text[]) AS g (shipment_id, position, occurred_at, doc)`

/** Stores notices and queues each for every subscription that follows one of its shipment's references, in one atomic statement. */
export const addNotices = (schema: string) => `
WITH stored AS (
  INSERT INTO ${schema}.shipment_status_notices (tenant_id, shipment_id, sequence, notice_id, body, traceparent)
  SELECT $1, g.shipment_id, g.sequence, g.notice_id, g.body, $6
  FROM unnest($2::text[], $3::int8[], $4::text[], $5::bytea[]) AS g (shipment_id, sequence, notice_id, body)
  RETURNING notice_no, shipment_id, sequence, octet_length(body) AS size
),
ships AS MATERIALIZED (
  SELECT DISTINCT shipment_id FROM stored
),
followed AS MATERIALIZED (
  SELECT DISTINCT s.shipment_id, r.subscription_id, r.client
  FROM ships AS s
  CROSS JOIN LATERAL (
    SELECT f.reference FROM ${schema}.shipment_references AS f
    WHERE f.tenant_id = $1 AND f.shipment_id = s.shipment_id
    OFFSET 0
  ) AS f
  CROSS JOIN LATERAL (
    SELECT r.subscription_id, r.client FROM ${schema}.shipment_status_routes AS r
    WHERE r.tenant_id = $1 AND r.reference = f.reference
    OFFSET 0
  ) AS r
),
${viewers(schema)},
queued AS (
  INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  SELECT $1, f.subscription_id, n.shipment_id, n.sequence, n.notice_no, n.size
  FROM stored AS n
  JOIN followed AS f ON f.shipment_id = n.shipment_id
  JOIN viewers AS v ON v.shipment_id = f.shipment_id AND v.client = f.client
  RETURNING destination_id
)
INSERT INTO ${schema}.delivery_arrivals (tenant_id, destination_id)
SELECT DISTINCT $1::text, destination_id FROM queued`

/** Limits lookups of a key such as "N/A", which very many shipments may share. */
const maxOfOneKey = 1000

/** $3: only this carrier's shipments, if not null. */
export const resolveKeys = (schema: string) => `
SELECT g.place, k.shipment_id
FROM unnest($2::text[]) WITH ORDINALITY AS g (key, place)
CROSS JOIN LATERAL (
  SELECT k.shipment_id
  FROM (
    SELECT k.shipment_id, k.pickup_at
    FROM ${schema}.shipment_keys AS k
    WHERE k.tenant_id = $1 AND k.key = g.key
    ORDER BY k.pickup_at DESC, k.shipment_id DESC
    LIMIT CASE WHEN $3::text[] IS NULL THEN 1 ELSE ${maxOfOneKey} END
  ) AS k
  WHERE $3::text[] IS NULL OR ${ofCarrier(schema, "k.shipment_id", "$3")}
  ORDER BY k.pickup_at DESC, k.shipment_id DESC
  LIMIT 1
) AS k`

/** Null accounts are a carrier's, which owns everything. Reads only the view of a shipment that the caller may see. */
export const findStatuses = (schema: string) => `
SELECT g.place, c.own, CASE WHEN c.own THEN s.verified ELSE s.public END AS body
FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS g (key, accounts, place)
CROSS JOIN LATERAL (
  SELECT k.shipment_id, o.own
  FROM (
    SELECT k.shipment_id, k.pickup_at
    FROM ${schema}.shipment_keys AS k
    WHERE k.tenant_id = $1 AND k.key = g.key AND k.covered
    ORDER BY k.pickup_at DESC, k.shipment_id DESC
    LIMIT CASE WHEN g.accounts IS NULL OR g.accounts = '{}' THEN 1 ELSE ${maxOfOneKey} END
  ) AS k
  CROSS JOIN LATERAL (
    SELECT CASE
      WHEN g.accounts IS NULL THEN true
      WHEN g.accounts = '{}' THEN false
      ELSE EXISTS (
        SELECT FROM ${schema}.shipment_accounts AS a
        WHERE a.tenant_id = $1 AND a.shipment_id = k.shipment_id AND a.account = ANY (g.accounts::text[])
      )
    END AS own
  ) AS o
  ORDER BY o.own DESC, k.pickup_at DESC, k.shipment_id DESC
  LIMIT 1
) AS c
CROSS JOIN LATERAL (
  SELECT s.verified, s.public FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = $1 AND s.shipment_id = c.shipment_id
  OFFSET 0
) AS s`

export const findPickedUp = (schema: string) => `
SELECT s.verified
FROM (
  SELECT a.shipment_id, a.pickup_at
  FROM ${schema}.shipment_accounts AS a
  WHERE a.tenant_id = $1 AND a.account = $2
    AND a.pickup_at >= ($3::timestamptz[])[1] AND a.pickup_at <= ($3::timestamptz[])[2]
    AND ($5::text[] IS NULL OR ${ofCarrier(schema, "a.shipment_id", "$5")})
  ORDER BY a.pickup_at, a.shipment_id
  LIMIT $4::int8
) AS a
CROSS JOIN LATERAL (
  SELECT s.verified FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = $1 AND s.shipment_id = a.shipment_id
  OFFSET 0
) AS s
ORDER BY a.pickup_at, a.shipment_id`

export const accountKnown = (schema: string) => `
SELECT EXISTS (SELECT FROM ${schema}.client_accounts WHERE tenant_id = $1 AND account = $2)
    OR EXISTS (SELECT FROM ${schema}.shipment_accounts WHERE tenant_id = $1 AND account = $2) AS known`

/** The same, but only by a carrier's own shipments. */
export const accountKnownTo = (schema: string) => `
SELECT EXISTS (
  SELECT FROM ${schema}.shipment_accounts AS a
  WHERE a.tenant_id = $1 AND a.account = $2 AND ${ofCarrier(schema, "a.shipment_id", "$3")}
) AS known`

export const readRecord = (schema: string) => `
SELECT s.state, s.verified, s.covered, coalesce(sh.accounts, '{}') AS accounts, coalesce(sh.carrier, '{}') AS carrier
FROM ${schema}.shipment_statuses AS s
LEFT JOIN ${schema}.shipments AS sh ON sh.tenant_id = $1 AND sh.shipment_id = s.shipment_id
WHERE s.tenant_id = $1 AND s.shipment_id = $2`

/** $3: how many of the last entries; null for all. */
export const readHistory = (schema: string) => `
SELECT h.position, h.occurred_at, h.doc
FROM (
  SELECT h.position, h.occurred_at, h.doc
  FROM ${schema}.shipment_status_history AS h
  WHERE h.tenant_id = $1 AND h.shipment_id = $2
  ORDER BY h.position DESC
  LIMIT $3::int8
) AS h
ORDER BY h.position`

/** $2: an id, $3: full keys, $4: key prefixes that end in a blank (`!` is the next character); $5: limit, also for each key and prefix. */
export const searchStatuses = (schema: string) => `
WITH found AS (
  SELECT $2::text AS shipment_id
  UNION
  SELECT k.shipment_id FROM unnest($3::text[]) AS g (key)
  CROSS JOIN LATERAL (
    SELECT k.shipment_id FROM ${schema}.shipment_keys AS k
    WHERE k.tenant_id = $1 AND k.key = g.key
    ORDER BY k.pickup_at DESC, k.shipment_id DESC
    LIMIT $5::int8
  ) AS k
  UNION
  SELECT k.shipment_id FROM unnest($4::text[]) AS g (prefix)
  CROSS JOIN LATERAL (
    SELECT k.shipment_id FROM ${schema}.shipment_keys AS k
    WHERE k.tenant_id = $1 AND k.key >= g.prefix AND k.key < left(g.prefix, -1) || '!'
    ORDER BY k.key, k.pickup_at DESC, k.shipment_id DESC
    LIMIT $5::int8
  ) AS k
)
SELECT s.shipment_id, s.state, s.verified
FROM found AS f
CROSS JOIN LATERAL (
  SELECT s.shipment_id, s.state, s.verified, s.pickup_at FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = $1 AND s.shipment_id = f.shipment_id
  OFFSET 0
) AS s
ORDER BY s.pickup_at DESC, s.shipment_id DESC
LIMIT $5::int8`

const pruneSize = 1000

/**
 * A separate statement before `pruneShipments`, which then sees the writes of transactions that held the locks. It skips shipments
 * that are being written, because every writer takes this lock first; the next run removes them.
 */
export const lockOldShipments = (schema: string) => `
SELECT h.shipment_id FROM ${schema}.shipments AS h
WHERE h.tenant_id = $1 AND h.shipment_id = ANY (ARRAY(
  SELECT shipment_id FROM ${schema}.shipment_statuses
  WHERE tenant_id = $1 AND delivered_at < ($2::timestamptz[])[1]
  ORDER BY delivered_at
  LIMIT ${pruneSize}
))
FOR UPDATE SKIP LOCKED`

/** $3: locked shipments. */
export const pruneShipments = (schema: string) => `
WITH old AS MATERIALIZED (
  SELECT shipment_id FROM ${schema}.shipment_statuses
  WHERE tenant_id = $1 AND shipment_id = ANY ($3::text[]) AND delivered_at < ($2::timestamptz[])[1]
),
unplaced AS (
  UPDATE ${schema}.shipment_accounts AS t SET pickup_at = NULL
  WHERE t.tenant_id = $1 AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old)) AND t.pickup_at IS NOT NULL
),
keys AS (
  DELETE FROM ${schema}.shipment_keys AS t WHERE t.tenant_id = $1 AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old))
),
named AS (
  DELETE FROM ${schema}.shipment_references AS t WHERE t.tenant_id = $1 AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old))
),
history AS (
  DELETE FROM ${schema}.shipment_status_history AS t WHERE t.tenant_id = $1 AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old))
),
gone AS (
  DELETE FROM ${schema}.shipment_statuses AS t WHERE t.tenant_id = $1 AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old))
  RETURNING 1
)
SELECT count(*) AS pruned FROM gone`

export const pruneNotices = (schema: string) =>
  pruneLowest(schema, { table: "shipment_status_notices", number: "notice_no", payloads: shipmentStatusPayloads, most: pruneSize * 5 })
