/** SQL statements for shipment statuses. */
import type { RangeRequest, StatusHistoryEntry, StatusLookup, StatusNotice, StatusSearch, StatusWrite } from "@waybill/core/shipment-status"
import {
  bool,
  boolArray,
  bytea,
  byteaArray,
  int8,
  int8Array,
  optional,
  row,
  text,
  textArray,
  timestamptz,
  timestamptzArray
} from "../client/SqlRow.ts"
import { type Expression, raw, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { pruneLowest } from "../delivery/NoticeRetention.ts"
import type { PayloadSource } from "../delivery/PayloadSource.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"
import { given, textLists } from "../shared/GivenRows.ts"
import { clientSeesText, ofCarrier, viewers } from "../shared/ShipmentSql.ts"
import { pickedUpOfCarrier, type PickupRange } from "./CarrierShipmentSql.ts"

/** Where the delivery queue finds the bytes of an entry. */
export const shipmentStatusPayloads: PayloadSource = {
  source: "shipment-status",
  table: "shipment_status_notices",
  ref: "notice_no",
  orderId: "notice_id",
  key: "shipment_id",
  sequence: "sequence",
  judged: "by shipment",
  visible: clientSeesText
}

export const statusRow = row({ shipmentId: text, state: text, verified: bytea })

export const readStatuses = (schema: Statement, tenantId: string, shipmentIds: ReadonlyArray<string>) => statement`
SELECT ${statusRow.columns()}
FROM ${schema}.shipment_statuses
WHERE tenant_id = ${tenant(tenantId)} AND shipment_id = ANY (${textArray(shipmentIds)})
ORDER BY shipment_id`

const statusColumns = {
  shipmentId: textArray, state: textArray, verified: byteaArray, public: byteaArray,
  covered: boolArray, pickupAt: timestamptzArray, deliveredAt: timestamptzArray
}

/** Returns the shipments whose position in lookups changed: new ones, newly covered ones, those with another pickup time. */
export const putStatuses = (schema: Statement, tenantId: string, statuses: ReadonlyArray<StatusWrite>) => statement`
WITH given AS MATERIALIZED (
  SELECT g.*
  FROM ${given("g", statuses, statusColumns)}
),
moved AS MATERIALIZED (
  SELECT g.shipment_id
  FROM given AS g
  LEFT JOIN LATERAL (
    SELECT s.covered, s.pickup_at FROM ${schema}.shipment_statuses AS s
    WHERE s.tenant_id = ${tenant(tenantId)} AND s.shipment_id = g.shipment_id
    OFFSET 0
  ) AS s ON true
  WHERE (s.covered, s.pickup_at) IS DISTINCT FROM (g.covered, g.pickup_at)
),
stored AS (
  INSERT INTO ${schema}.shipment_statuses AS s
    (tenant_id, shipment_id, state, verified, public, covered, pickup_at, delivered_at)
  SELECT ${tenant(tenantId)}, g.* FROM given AS g
  ON CONFLICT (tenant_id, shipment_id) DO UPDATE
  SET state = EXCLUDED.state, verified = EXCLUDED.verified, public = EXCLUDED.public, covered = EXCLUDED.covered,
      pickup_at = EXCLUDED.pickup_at, delivered_at = EXCLUDED.delivered_at
)
SELECT shipment_id FROM moved`

/** Copies the position of statuses (pickup time, covered) to the keys and accounts of shipments. */
export const placeShipments = (schema: Statement, tenantId: string, ids: ReadonlyArray<string>) => {
  const own = tenant(tenantId)
  const shipmentIds = textArray(ids)
  return statement`
WITH moved AS MATERIALIZED (
  SELECT s.shipment_id, s.pickup_at, s.covered
  FROM ${schema}.shipment_statuses AS s WHERE s.tenant_id = ${own} AND s.shipment_id = ANY (${shipmentIds})
),
keyed AS (
  UPDATE ${schema}.shipment_keys AS k SET pickup_at = m.pickup_at, covered = m.covered
  FROM moved AS m
  WHERE k.tenant_id = ${own} AND k.shipment_id = m.shipment_id AND k.shipment_id = ANY (${shipmentIds}) AND (k.pickup_at, k.covered) IS DISTINCT FROM (m.pickup_at, m.covered)
)
UPDATE ${schema}.shipment_accounts AS a SET pickup_at = CASE WHEN m.covered THEN m.pickup_at END
FROM moved AS m
WHERE a.tenant_id = ${own} AND a.shipment_id = m.shipment_id AND a.shipment_id = ANY (${shipmentIds}) AND a.pickup_at IS DISTINCT FROM CASE WHEN m.covered THEN m.pickup_at END`
}

/** The texts that shipments have from now on. */
export interface ShipmentTexts {
  readonly shipmentId: string
  readonly texts: ReadonlyArray<string>
}

/** Replaces the keys (or references) of shipments, as `given (shipment_id, texts)`; unchanged rows are not written. */
const replaced = (tenantId: string, table: Statement, column: Statement, shipments: ReadonlyArray<ShipmentTexts>) => {
  const shipmentIds = textArray(shipments.map((each) => each.shipmentId))
  return statement`
WITH given AS MATERIALIZED (
  SELECT g.shipment_id, g.texts::text[] AS texts
  FROM ${given("g", shipments, { shipmentId: shipmentIds, texts: textLists })}
),
dropped AS (
  DELETE FROM ${table} AS t USING given AS g
  WHERE t.tenant_id = ${tenant(tenantId)} AND t.shipment_id = g.shipment_id AND t.shipment_id = ANY (${shipmentIds}) AND t.${column} <> ALL (g.texts)
)`
}

/** Needs the statuses to be stored first. */
export const replaceKeys = (schema: Statement, tenantId: string, keys: ReadonlyArray<ShipmentTexts>) => statement`${replaced(tenantId, statement`${schema}.shipment_keys`, raw("key"), keys)}
INSERT INTO ${schema}.shipment_keys (tenant_id, shipment_id, key, pickup_at, covered)
SELECT ${tenant(tenantId)}, g.shipment_id, text, s.pickup_at, s.covered
FROM given AS g
CROSS JOIN LATERAL (
  SELECT s.pickup_at, s.covered FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = ${tenant(tenantId)} AND s.shipment_id = g.shipment_id
  OFFSET 0
) AS s
CROSS JOIN unnest(g.texts) AS text
ON CONFLICT DO NOTHING`

export const replaceReferences = (schema: Statement, tenantId: string, references: ReadonlyArray<ShipmentTexts>) => statement`${replaced(tenantId, statement`${schema}.shipment_references`, raw("reference"), references)}
INSERT INTO ${schema}.shipment_references (tenant_id, shipment_id, reference)
SELECT ${tenant(tenantId)}, g.shipment_id, text FROM given AS g CROSS JOIN unnest(g.texts) AS text
ON CONFLICT DO NOTHING`

export const addHistory = (schema: Statement, tenantId: string, entries: ReadonlyArray<StatusHistoryEntry>) => statement`
INSERT INTO ${schema}.shipment_status_history (tenant_id, shipment_id, position, occurred_at, doc)
SELECT ${tenant(tenantId)}, g.* FROM ${given("g", entries, { shipmentId: textArray, position: int8Array, occurredAt: timestamptzArray, doc: textArray })}`

/** Stores notices and queues each for every subscription that follows one of its shipment's references, in one atomic statement. */
export const addNotices = (schema: Statement, tenantId: string, notices: ReadonlyArray<StatusNotice>, traceparent: string | undefined) => {
  const own = tenant(tenantId)
  return statement`
WITH stored AS (
  INSERT INTO ${schema}.shipment_status_notices (tenant_id, shipment_id, sequence, notice_id, body, traceparent)
  SELECT ${own}, g.shipment_id, g.sequence, g.notice_id, g.body, ${traceparent ?? null}
  FROM ${given("g", notices, { shipmentId: textArray, sequence: int8Array, noticeId: textArray, body: byteaArray })}
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
    WHERE f.tenant_id = ${own} AND f.shipment_id = s.shipment_id
    OFFSET 0
  ) AS f
  CROSS JOIN LATERAL (
    SELECT r.subscription_id, r.client FROM ${schema}.shipment_status_routes AS r
    WHERE r.tenant_id = ${own} AND r.reference = f.reference
    OFFSET 0
  ) AS r
),
${viewers(schema, own)},
queued AS (
  ${queueEntries(schema, entriesOfFollowed(own))}
)
${signalQueued(schema, own)}`
}

const entriesOfFollowed = (own: Expression) => statement`SELECT ${own}, f.subscription_id, n.shipment_id, n.sequence, n.notice_no, n.size
  FROM stored AS n
  JOIN followed AS f ON f.shipment_id = n.shipment_id
  JOIN viewers AS v ON v.shipment_id = f.shipment_id AND v.client = f.client`

/** Limits lookups of a key such as "N/A", which very many shipments may share. */
const maxOfOneKey = raw("1000")

export const resolvedRow = row({ place: int8, shipmentId: text })

/** Only shipments of the carrier with these numbers, if there are any. */
export const resolveKeys = (schema: Statement, tenantId: string, keys: ReadonlyArray<string>, numbers: ReadonlyArray<string> | undefined) => {
  const carrier = textArray(numbers)
  return statement`
SELECT g.place, k.shipment_id
FROM unnest(${textArray(keys)}) WITH ORDINALITY AS g (key, place)
CROSS JOIN LATERAL (
  SELECT k.shipment_id
  FROM (
    SELECT k.shipment_id, k.pickup_at
    FROM ${schema}.shipment_keys AS k
    WHERE k.tenant_id = ${tenant(tenantId)} AND k.key = g.key
    ORDER BY k.pickup_at DESC, k.shipment_id DESC
    LIMIT CASE WHEN ${carrier} IS NULL THEN 1 ELSE ${maxOfOneKey} END
  ) AS k
  WHERE ${carrier} IS NULL OR ${ofCarrier(schema, tenant(tenantId), raw("k.shipment_id"), carrier)}
  ORDER BY k.pickup_at DESC, k.shipment_id DESC
  LIMIT 1
) AS k`
}

/** No body: nothing was found. */
export const foundRow = row({ place: int8, own: bool, body: optional(bytea) })

/** The newest shipments of the key `g.key`. */
const newestOfKey = (schema: Statement, tenantId: string, most: Statement) => statement`
    SELECT k.shipment_id, k.pickup_at FROM ${schema}.shipment_keys AS k
    WHERE k.tenant_id = ${tenant(tenantId)} AND k.key = g.key AND k.covered
    ORDER BY k.pickup_at DESC, k.shipment_id DESC
    LIMIT ${most}`

/**
 * Null accounts are a carrier's, which owns everything. Reads only the view of a shipment that the caller may see.
 *
 * Every step is a subquery for one value: a join would copy each body into a cache (Memoize), and an order by ownership would sort. The list of accounts is
 * parsed once for each lookup, and not again for each shipment of its key.
 */
export const findStatuses = (schema: Statement, tenantId: string, lookups: ReadonlyArray<StatusLookup>) => statement`
SELECT g.place, f.own, (
  SELECT CASE WHEN f.own THEN s.verified ELSE s.public END FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = ${tenant(tenantId)} AND s.shipment_id = f.shipment_id
) AS body
FROM (
  SELECT g.place, g.key, g.accounts::text[] AS accounts
  FROM ${given("g", lookups.map(({ key, own }) => ({ key, accounts: own === "all" ? null : own })), { key: textArray, accounts: textLists }, "place")}
  OFFSET 0
) AS g
CROSS JOIN LATERAL (
  SELECT CASE WHEN g.accounts <> '{}' THEN (
    SELECT k.shipment_id
    FROM (${newestOfKey(schema, tenantId, maxOfOneKey)}
    ) AS k
    WHERE EXISTS (
      SELECT FROM ${schema}.shipment_accounts AS a
      WHERE a.tenant_id = ${tenant(tenantId)} AND a.shipment_id = k.shipment_id AND a.account = ANY (g.accounts)
      OFFSET 0
    )
    ORDER BY k.pickup_at DESC, k.shipment_id DESC
    LIMIT 1
  ) END AS shipment_id
  OFFSET 0
) AS o
CROSS JOIN LATERAL (
  SELECT g.accounts IS NULL OR o.shipment_id IS NOT NULL AS own, coalesce(o.shipment_id, (
    SELECT n.shipment_id
    FROM (${newestOfKey(schema, tenantId, raw("1"))}
    ) AS n
  )) AS shipment_id
  OFFSET 0
) AS f`

export const findPickedUp = (schema: Statement, tenantId: string, { bytes, carrier, ...range }: RangeRequest) => {
  const own = tenant(tenantId)
  const picked = carrier === undefined ? pickedUp(schema, tenantId, range) : pickedUpOfCarrier(schema, tenantId, range, carrier)
  return statement`
WITH RECURSIVE ${picked}
SELECT p.verified
FROM (
  SELECT a.pickup_at, a.shipment_id, s.verified,
         sum(octet_length(s.verified)) OVER (ORDER BY a.pickup_at, a.shipment_id) - octet_length(s.verified) AS bytes_before
  FROM picked AS a
  CROSS JOIN LATERAL (
    SELECT s.verified FROM ${schema}.shipment_statuses AS s
    WHERE s.tenant_id = ${own} AND s.shipment_id = a.shipment_id
    OFFSET 0
  ) AS s
) AS p
WHERE p.bytes_before < ${int8(bytes)}
ORDER BY p.pickup_at, p.shipment_id`
}

const pickedUp = (schema: Statement, tenantId: string, { account, from, limit, to }: PickupRange) => statement`picked AS (
  SELECT a.pickup_at, a.shipment_id FROM ${schema}.shipment_accounts AS a
  WHERE a.tenant_id = ${tenant(tenantId)} AND a.account = ${account} AND a.pickup_at >= ${timestamptz(from)} AND a.pickup_at <= ${timestamptz(to)}
  ORDER BY a.pickup_at, a.shipment_id
  LIMIT ${int8(limit)}
)`

export const accountKnown = (schema: Statement, tenantId: string, account: string) => {
  const named = value(account)
  return statement`
SELECT EXISTS (SELECT FROM ${schema}.client_accounts WHERE tenant_id = ${tenant(tenantId)} AND account = ${named})
    OR EXISTS (SELECT FROM ${schema}.shipment_accounts WHERE tenant_id = ${tenant(tenantId)} AND account = ${named}) AS known`
}

export const recordRow = row({ state: text, verified: bytea, covered: bool, accounts: textArray, carrier: textArray })

export const readRecord = (schema: Statement, tenantId: string, shipmentId: string) => statement`
SELECT s.state, s.verified, s.covered, coalesce(sh.accounts, '{}') AS accounts, coalesce(sh.carrier, '{}') AS carrier
FROM ${schema}.shipment_statuses AS s
LEFT JOIN ${schema}.shipments AS sh ON sh.tenant_id = ${tenant(tenantId)} AND sh.shipment_id = s.shipment_id
WHERE s.tenant_id = ${tenant(tenantId)} AND s.shipment_id = ${shipmentId}`

export const historyRow = row({ position: int8, occurredAt: timestamptz, doc: text })

/** The last entries, or all of them, oldest first; without those that are older than so many bytes of newer ones. */
export const readHistory = (schema: Statement, tenantId: string, shipmentId: string, most: { readonly entries: number | undefined; readonly bytes: number }) => statement`
SELECT ${historyRow.columns("h")}
FROM (
  SELECT h.*, sum(octet_length(h.doc)) OVER (ORDER BY h.position DESC) - octet_length(h.doc) AS newer_bytes
  FROM (
    SELECT h.position, h.occurred_at, h.doc
    FROM ${schema}.shipment_status_history AS h
    WHERE h.tenant_id = ${tenant(tenantId)} AND h.shipment_id = ${shipmentId}
    ORDER BY h.position DESC
    LIMIT ${int8(most.entries)}
  ) AS h
) AS h
WHERE h.newer_bytes <= ${int8(most.bytes)}
ORDER BY h.position`

/** Shipments with a prefix that are read, at most: no index has them by pickup. */
const mostOfPrefix = raw("1000")

/** Prefixes end in a blank, and `!` is the next character. The limit also applies to each key and prefix. */
export const searchStatuses = (schema: Statement, tenantId: string, { keys, prefixes, shipmentId }: StatusSearch, limit: number) => {
  const own = tenant(tenantId)
  const most = int8(limit)
  return statement`
WITH found AS (
  SELECT ${text(shipmentId)} AS shipment_id
  UNION
  SELECT k.shipment_id FROM unnest(${textArray(keys)}) AS g (key)
  CROSS JOIN LATERAL (
    SELECT k.shipment_id FROM ${schema}.shipment_keys AS k
    WHERE k.tenant_id = ${own} AND k.key = g.key
    ORDER BY k.pickup_at DESC, k.shipment_id DESC
    LIMIT ${most}
  ) AS k
  UNION
  SELECT k.shipment_id FROM unnest(${textArray(prefixes)}) AS g (prefix)
  CROSS JOIN LATERAL (
    SELECT k.shipment_id FROM (
      SELECT k.shipment_id, k.pickup_at FROM ${schema}.shipment_keys AS k
      WHERE k.tenant_id = ${own} AND k.key >= g.prefix AND k.key < left(g.prefix, -1) || '!'
      ORDER BY k.key, k.pickup_at DESC, k.shipment_id DESC
      LIMIT ${mostOfPrefix}
    ) AS k
    ORDER BY k.pickup_at DESC, k.shipment_id DESC
    LIMIT ${most}
  ) AS k
)
SELECT ${statusRow.columns("s")}
FROM found AS f
CROSS JOIN LATERAL (
  SELECT s.shipment_id, s.state, s.verified, s.pickup_at FROM ${schema}.shipment_statuses AS s
  WHERE s.tenant_id = ${own} AND s.shipment_id = f.shipment_id
  OFFSET 0
) AS s
ORDER BY s.pickup_at DESC, s.shipment_id DESC
LIMIT ${most}`
}

const pruneSize = 1000

/**
 * A separate statement before `pruneShipments`, which then sees the writes of transactions that held the locks. It skips shipments
 * that are being written, because every writer takes this lock first; the next run removes them.
 */
export const lockOldShipments = (schema: Statement, tenantId: string, deliveredBefore: number) => statement`
SELECT h.shipment_id FROM ${schema}.shipments AS h
WHERE h.tenant_id = ${tenant(tenantId)} AND h.shipment_id = ANY (ARRAY(
  SELECT shipment_id FROM ${schema}.shipment_statuses
  WHERE tenant_id = ${tenant(tenantId)} AND delivered_at < ${timestamptz(deliveredBefore)}
  ORDER BY delivered_at
  LIMIT ${raw(String(pruneSize))}
))
FOR UPDATE SKIP LOCKED`

export const pruneShipments = (schema: Statement, tenantId: string, deliveredBefore: number, locked: ReadonlyArray<string>) => {
  const own = tenant(tenantId)
  return statement`
WITH old AS MATERIALIZED (
  SELECT shipment_id FROM ${schema}.shipment_statuses
  WHERE tenant_id = ${own} AND shipment_id = ANY (${textArray(locked)}) AND delivered_at < ${timestamptz(deliveredBefore)}
),
unplaced AS (
  UPDATE ${schema}.shipment_accounts AS t SET pickup_at = NULL
  WHERE t.tenant_id = ${own} AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old)) AND t.pickup_at IS NOT NULL
),
keys AS (
  DELETE FROM ${schema}.shipment_keys AS t WHERE t.tenant_id = ${own} AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old))
),
named AS (
  DELETE FROM ${schema}.shipment_references AS t WHERE t.tenant_id = ${own} AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old))
),
history AS (
  DELETE FROM ${schema}.shipment_status_history AS t WHERE t.tenant_id = ${own} AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old))
),
gone AS (
  DELETE FROM ${schema}.shipment_statuses AS t WHERE t.tenant_id = ${own} AND t.shipment_id = ANY (ARRAY(SELECT shipment_id FROM old))
  RETURNING 1
)
SELECT count(*) AS pruned FROM gone`
}

export const pruneNotices = (schema: Statement, tenantId: string, before: number) =>
  pruneLowest(schema, tenantId, before, shipmentStatusPayloads, { most: pruneSize * 5 })
