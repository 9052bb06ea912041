/** SQL statements for the windows of hourly and daily subscriptions. */
import type { ListRange } from "@waybill/core"
import { partitionOf } from "@waybill/core/delivery"
import { int4, int8, optional, row, textArray, timestamptz, uuid, uuidArray } from "../client/SqlRow.ts"
import { nothing, type Parameter, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"
import { inFlight } from "../shared/InFlightSql.ts"

/** Which tenants have windows to close. */
export const windowsDue = (schema: Statement, { after = "", limit }: ListRange) => statement`
SELECT s.tenant_id
FROM ${schema}.freight_charge_subscriptions AS s
WHERE s.closes_at IS NOT NULL AND s.closes_at <= now() AND s.tenant_id > ${after}
GROUP BY s.tenant_id
ORDER BY s.tenant_id
LIMIT ${int8(limit)}`

/** Milliseconds until the next window closes; null if there is none. */
export const nextClosing = (schema: Statement) => statement`
SELECT (extract(epoch FROM min(closes_at) - now()) * 1000)::float8 AS millis
FROM ${schema}.freight_charge_subscriptions
WHERE closes_at IS NOT NULL AND closes_at > now()`

/** References of the last deliveries in some states. Deliveries in progress are few. */
const refsIn = (schema: Statement, own: Parameter, subscriptionId: Parameter, states: Statement, newestFirst: Statement) => statement`(
    SELECT unnest(d.refs) FROM (
      SELECT d.refs FROM ${schema}.deliveries AS d
      WHERE d.tenant_id = ${own} AND d.destination_id = ${subscriptionId} AND d.state ${states}
      ${newestFirst}
      LIMIT 100
    ) AS d
  )`

const newestFirst = raw("ORDER BY d.delivery_id DESC")

export const windowsRow = row({ closesAt: optional(timestamptz), orderIds: textArray })

/** The windows of a subscription that hold one of the bills. Windows are few: a subscription has one an hour at most. */
export const windowsWith = (schema: Statement, tenantId: string, subscription: string, bills: ReadonlyArray<string>) => {
  const own = tenant(tenantId)
  const [subscriptionId, billIds] = [uuid(subscription), textArray(bills)]
  return statement`
WITH refs AS MATERIALIZED (
  (SELECT e.ref FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = ${own} AND e.destination_id = ${subscriptionId} LIMIT 100)
  UNION
  (SELECT d.ref FROM ${schema}.delivery_drops AS d WHERE d.tenant_id = ${own} AND d.destination_id = ${subscriptionId} ORDER BY d.drop_no DESC LIMIT 100)
  UNION
  (
    SELECT unnest(d.refs) FROM ${inFlight(schema, tenantId)} AS d
    WHERE d.tenant_id = ${own} AND d.partition = ${int4(partitionOf(subscription))} AND d.destination_id = ${subscriptionId}
    LIMIT 100
  )
  UNION
  ${refsIn(schema, own, subscriptionId, statement`IN ('sending', 'waiting')`, nothing)}
  UNION
  ${refsIn(schema, own, subscriptionId, statement`= 'dead'`, newestFirst)}
  UNION
  ${refsIn(schema, own, subscriptionId, statement`IN ('delivered', 'cancelled', 'dismissed')`, newestFirst)}
)
SELECT (
         SELECT min(c.closes_at) FROM ${schema}.freight_charge_collected AS c
         WHERE c.tenant_id = ${own} AND c.subscription_id = ${subscriptionId} AND c.bill_id = ANY (${billIds})
       ) AS closes_at,
       ARRAY(
         SELECT w.window_no::text FROM refs AS r
         CROSS JOIN LATERAL (
           SELECT w.window_no, w.notices FROM ${schema}.freight_charge_windows AS w
           WHERE w.tenant_id = ${own} AND w.window_no = r.ref AND w.subscription_id = ${subscriptionId}
           OFFSET 0
         ) AS w
         WHERE EXISTS (
           SELECT FROM unnest(w.notices) AS c
           WHERE (SELECT n.bill_id FROM ${schema}.freight_charge_notices AS n WHERE n.tenant_id = ${own} AND n.notice_no = c) = ANY (${billIds})
         )
       ) AS order_ids`
}

const closedAtOnce = raw("200")

/** Bills after which no further subscription is taken: publishers to all that are taken wait for the statement that closes their windows. */
const billsAtOnce = raw("5000")

/** Subscriptions with a window to close. A limited number, even if many windows close at the same midnight. */
export const dueWindows = (schema: Statement, tenantId: string) => statement`
SELECT id
FROM ${schema}.freight_charge_subscriptions
WHERE tenant_id = ${tenant(tenantId)} AND closes_at <= now()
ORDER BY closes_at
LIMIT ${closedAtOnce}`

/** Locks those of them that no other transaction has locked, and returns the first, with about so many bills together. */
export const lockDueWindows = (schema: Statement, tenantId: string) => {
  const own = tenant(tenantId)
  return statement`
WITH due AS MATERIALIZED (${dueWindows(schema, tenantId)}
FOR UPDATE SKIP LOCKED
)
SELECT DISTINCT b.id
FROM (
  SELECT d.id FROM due AS d
  LEFT JOIN LATERAL (
    SELECT 1 AS one FROM ${schema}.freight_charge_collected AS c WHERE c.tenant_id = ${own} AND c.subscription_id = d.id AND c.closes_at <= now()
    OFFSET 0
  ) AS c ON true
  LIMIT ${billsAtOnce}
) AS b`
}

/** Waits for one of them. Another process may have closed its window meanwhile. */
export const lockDueWindow = (schema: Statement, tenantId: string, id: string) => statement`
SELECT id
FROM ${schema}.freight_charge_subscriptions
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)} AND closes_at <= now()
FOR UPDATE`

/**
 * Closes the due windows of these subscriptions: several of one subscription, if the first was not closed in time. A separate
 * statement after the locks, so that it sees what the transactions that the locks waited for collected. Later windows lose older versions of
 * the bills: they were collected before the database's clock was set back, and would be sent after newer ones.
 */
export const closeWindows = (schema: Statement, tenantId: string, locked: ReadonlyArray<string>) => {
  const own = tenant(tenantId)
  const ids = uuidArray(locked)
  return statement`
WITH due AS MATERIALIZED (
  SELECT unnest(${ids}) AS id
),
collected AS (
  DELETE FROM ${schema}.freight_charge_collected AS c USING due
  WHERE c.tenant_id = ${own} AND c.subscription_id = due.id AND c.closes_at <= now()
  RETURNING c.subscription_id, c.closes_at, c.bill_id, c.notice_no
),
newest AS (
  SELECT subscription_id, closes_at, bill_id, notice_no
  FROM (SELECT c.*, max(c.notice_no) OVER (PARTITION BY c.subscription_id, c.bill_id ORDER BY c.closes_at) AS newest FROM collected AS c) AS c
  WHERE notice_no = newest
),
superseded AS (
  DELETE FROM ${schema}.freight_charge_collected AS c USING collected AS n
  WHERE c.tenant_id = ${own} AND c.subscription_id = n.subscription_id AND c.subscription_id = ANY (${ids}) AND c.closes_at > now()
    AND c.bill_id = n.bill_id AND c.notice_no < n.notice_no
),
closed AS (
  UPDATE ${schema}.freight_charge_subscriptions AS s
  SET closed_until = greatest(s.closed_until, (SELECT max(c.closes_at) FROM collected AS c WHERE c.subscription_id = s.id)),
      closes_at = (
        SELECT min(c.closes_at) FROM ${schema}.freight_charge_collected AS c
        WHERE c.tenant_id = ${own} AND c.subscription_id = s.id AND c.closes_at > now()
      )
  FROM due
  WHERE s.tenant_id = ${own} AND s.id = due.id AND s.id = ANY (${ids})
),
windows AS (
  INSERT INTO ${schema}.freight_charge_windows (tenant_id, subscription_id, closed_at, notices, first_notice)
  SELECT ${own}, subscription_id, closes_at, array_agg(notice_no ORDER BY bill_id), min(notice_no)
  FROM newest
  GROUP BY subscription_id, closes_at
  RETURNING window_no, subscription_id, closed_at
),
sizes AS (
  SELECT c.subscription_id, c.closes_at, sum(octet_length(n.body) + 1) - 1 AS size
  FROM newest AS c
  CROSS JOIN LATERAL (
    SELECT n.body FROM ${schema}.freight_charge_notices AS n WHERE n.tenant_id = ${own} AND n.notice_no = c.notice_no
    OFFSET 0
  ) AS n
  GROUP BY c.subscription_id, c.closes_at
),
queued AS (
  ${queueEntries(schema, entriesOfWindows(own))}
),
notified AS (
  ${signalQueued(schema, own)}
)
SELECT count(*) AS closed FROM windows`
}

const entriesOfWindows = (own: Parameter) => statement`SELECT ${own}, w.subscription_id, 'window', floor(extract(epoch FROM w.closed_at) * 1000)::int8, w.window_no, least(z.size, 2147483647)::int4
  FROM windows AS w JOIN sizes AS z ON z.subscription_id = w.subscription_id AND z.closes_at = w.closed_at`
