/** The bytes that the delivery queue sends, and how long they are kept. Conditions of access are texts with the tenant as `$1`, like those of the queue. */
import { int8Array, uuidArray } from "../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { pruneLowest } from "../delivery/NoticeRetention.ts"
import { destinationOf } from "../delivery/LookupSql.ts"
import type { PayloadSource } from "../delivery/PayloadSource.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"

/** Where the delivery queue finds the bytes of entries: single notices and closed windows. */
export const freightChargePayloads: PayloadSource = {
  source: "freight-charges",
  table: "freight_charge_notices",
  ref: "notice_no",
  orderId: "notice_id",
  key: "bill_id",
  sequence: "version",
  judged: "one by one",
  visible: (schema, client, _key, ref) => `EXISTS (
    SELECT FROM (
      SELECT unnest(n.accounts) AS account FROM ${schema}.freight_charge_notices AS n WHERE n.tenant_id = $1 AND n.notice_no = ${ref}
      OFFSET 0
    ) AS a
    CROSS JOIN LATERAL (
      SELECT FROM ${schema}.client_accounts AS ca WHERE ca.tenant_id = $1 AND ca.account = a.account AND ca.client = ${client}
      OFFSET 0
    ) AS ca
    OFFSET 0
  )`
}

export const freightChargeWindowPayloads: PayloadSource = {
  source: "freight-charge-windows",
  table: "freight_charge_windows",
  // the joined bodies of its notices
  rows: (schema) => `
    SELECT w.tenant_id, w.window_no, w.window_no::text AS window_id, NULL::text AS traceparent,
           'window'::text COLLATE "C" AS key, floor(extract(epoch FROM w.closed_at) * 1000)::bigint AS sequence,
           (SELECT string_agg(n.body, ',' ORDER BY c.place)
            FROM unnest(w.notices) WITH ORDINALITY AS c (notice_no, place)
            CROSS JOIN LATERAL (
              SELECT n.body FROM ${schema}.freight_charge_notices AS n WHERE n.tenant_id = $1 AND n.notice_no = c.notice_no
              OFFSET 0
            ) AS n) AS body
    FROM ${schema}.freight_charge_windows AS w WHERE w.tenant_id = $1`,
  ref: "window_no",
  orderId: "window_id",
  found: (orderIds) => `x.window_no = ANY (ARRAY(SELECT g::int8 FROM unnest(${orderIds}) AS g WHERE g ~ '^[0-9]{1,18}$'))`,
  key: "key",
  sequence: "sequence",
  judged: "one by one",
  visible: (schema, client, _key, ref) => `NOT EXISTS (
    SELECT FROM (
      SELECT unnest(w.notices) AS notice_no FROM ${schema}.freight_charge_windows AS w WHERE w.tenant_id = $1 AND w.window_no = ${ref}
      OFFSET 0
    ) AS c
    WHERE NOT ${freightChargePayloads.visible(schema, client, "''", "c.notice_no")}
    OFFSET 0
  )`,
  remainder: (schema, tenantId, dropped) => splitWindows(schema, tenantId, dropped)
}

/** If a client may see only part of a window, a new window with that part is sent instead. */
const splitWindows = (schema: Statement, tenantId: string, windows: ReadonlyArray<{ readonly destinationId: string; readonly ref: number }>) => {
  const own = tenant(tenantId)
  const sees = raw(freightChargePayloads.visible(schema.text, "l.client", "''", "c.notice_no"))
  return statement`
WITH kept AS MATERIALIZED (
  SELECT g.destination_id, w.closed_at, (
    SELECT array_agg(c.notice_no ORDER BY c.place) FROM unnest(w.notices) WITH ORDINALITY AS c (notice_no, place) WHERE ${sees}
  ) AS notices
  FROM unnest(${uuidArray(windows.map(({ destinationId }) => destinationId))}, ${int8Array(windows.map(({ ref }) => ref))}) AS g (destination_id, window_no)
  ${destinationOf(schema, tenantId, "g.destination_id", raw(`AND l.source = '${freightChargeWindowPayloads.source}'`))}
  CROSS JOIN LATERAL (
    SELECT w.closed_at, w.notices FROM ${schema}.freight_charge_windows AS w WHERE w.tenant_id = ${own} AND w.window_no = g.window_no
    OFFSET 0
  ) AS w
),
made AS (
  INSERT INTO ${schema}.freight_charge_windows (tenant_id, subscription_id, closed_at, notices, first_notice)
  SELECT ${own}, k.destination_id, k.closed_at, k.notices, (SELECT min(n) FROM unnest(k.notices) AS n) FROM kept AS k WHERE k.notices IS NOT NULL
  RETURNING window_no, subscription_id, closed_at, notices
),
queued AS (${
    queueEntries(
      schema,
      statement`SELECT ${own}, m.subscription_id, 'window', floor(extract(epoch FROM m.closed_at) * 1000)::int8, m.window_no, least(z.size, 2147483647)::int4
  FROM made AS m
  CROSS JOIN LATERAL (
    SELECT sum(octet_length(n.body) + 1) - 1 AS size
    FROM unnest(m.notices) AS c (notice_no)
    CROSS JOIN LATERAL (
      SELECT n.body FROM ${schema}.freight_charge_notices AS n WHERE n.tenant_id = ${own} AND n.notice_no = c.notice_no
      OFFSET 0
    ) AS n
  ) AS z`
    )
  })
${signalQueued(schema, own)}`
}

const pruneSize = 1000

/** Removed before their notices, which a window needs while it exists. */
export const pruneWindows = (schema: Statement, tenantId: string, before: number) =>
  pruneLowest(schema, tenantId, before, freightChargeWindowPayloads, { most: pruneSize })

export const pruneNotices = (schema: Statement, tenantId: string, before: number) =>
  pruneLowest(schema, tenantId, before, freightChargePayloads, {
    alsoNeeded: [
      statement`SELECT min(first_notice) FROM ${schema}.freight_charge_windows WHERE tenant_id = ${tenant(tenantId)}`,
      statement`SELECT min(notice_no) FROM ${schema}.freight_charge_collected WHERE tenant_id = ${tenant(tenantId)}`
    ],
    most: pruneSize * 5
  })
