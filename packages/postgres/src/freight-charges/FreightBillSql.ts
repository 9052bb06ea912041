/** SQL statements for freight bills. */
import type { BillChanges, BillRow, BillState, WindowTimes } from "@waybill/core/freight-charges"
import type { PgArray } from "../client/PgBulk.ts"
import { byteaArray, int4, int4Array, int8, only, row, text, textArray, timestamptz, timestamptzArray, uuid, uuidArray } from "../client/SqlRow.ts"
import { nothing, type Parameter, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"
import { given, textLists } from "../shared/GivenRows.ts"
import { isolation } from "../shared/Isolation.ts"

/** The condition differs from that of the live index by client on purpose: with that index Postgres would read the whole tenant to find a few ids. */
const isLive = statement`coalesce(s.cancelled_at, 'infinity') = 'infinity'`

export const billRow = row({ billId: text, version: int4, state: only<BillState>(text), accounts: textArray, doc: text })

/** A bill that does not exist yet is locked by an invisible row of version 0. If nothing is stored and the row stays, it is old enough for retention. */
export const lockBills = (schema: Statement, tenantId: string, billIds: ReadonlyArray<string>) => statement`
INSERT INTO ${schema}.freight_bills AS b (tenant_id, bill_id, version, state, accounts, doc, ended_at)
SELECT ${tenant(tenantId)}, bill_id, 0, 'open', '{}', '', '-infinity' FROM unnest(${textArray(billIds)}) AS bill_id
ORDER BY bill_id COLLATE "C"
ON CONFLICT (tenant_id, bill_id) DO UPDATE SET version = b.version
RETURNING ${billRow.columns()}`

/** Accounts share 64 lock keys, so that a call with a thousand accounts takes few locks. */
const lastGate = raw("63")

const sharedLock = raw("pg_advisory_xact_lock_shared")
const exclusiveLock = raw("pg_advisory_xact_lock")

export const gateRow = row({ held: int8, now: int8, isolation: text })

/**
 * Takes advisory locks on the lock keys of the accounts, in order. Publishers take them shared and never wait for each other;
 * creating a subscription takes them exclusively. The clock is read after the locks are held.
 */
export const gate = (tenantId: string, accounts: ReadonlyArray<string>, mode: "shared" | "exclusive") => statement`
WITH held AS MATERIALIZED (
  SELECT ${mode === "shared" ? sharedLock : exclusiveLock}(hashtext('waybill freight charges ' || ${tenant(tenantId)}), gate)::text AS held
  FROM (
    SELECT DISTINCT hashtext(account) & ${lastGate} AS gate FROM unnest(${textArray(accounts)}) AS account ORDER BY gate
  ) AS g
)
SELECT (SELECT count(held) FROM held) AS held, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now, ${isolation}`

/** What a stricter transaction misses. */
export const charges = "charges and new subscriptions to them"

/**
 * Locks the client's accounts until the transaction ends, for every origin. Otherwise a client that gets an account
 * while it subscribes to all its accounts would miss bills of that account, in the list and in notifications, until the subscription is stored.
 */
export const holdAccess = (schema: Statement, tenantId: string, client: string) => statement`
INSERT INTO ${schema}.clients AS c (tenant_id, client, origin, sees_all, live_until)
SELECT ${tenant(tenantId)}, ${client}, origin, false, '-infinity' FROM unnest(ARRAY['token', 'key']) AS origin
ON CONFLICT (tenant_id, client, origin) DO UPDATE SET sees_all = c.sees_all`

export const viewerRow = row({ subscriptionId: uuid, doc: text, accounts: textArray })

interface Grant {
  readonly grant: string
  readonly account: string | undefined
}

/** Only the client's own accounts count, not access to all freight of the tenant. `grants`: with the account of each. */
export const viewers = (schema: Statement, tenantId: string, grants: ReadonlyArray<Grant>) => statement`
WITH seen AS (
  SELECT r.subscription_id, a.held AS account
  FROM ${given("a", grants.map(({ account, grant: held }) => ({ held, account })), { held: textArray, account: textArray })}
  CROSS JOIN LATERAL (
    SELECT DISTINCT ca.client FROM ${schema}.client_accounts AS ca
    WHERE ca.tenant_id = ${tenant(tenantId)} AND ca.account = a.held
    OFFSET 0
  ) AS ca
  CROSS JOIN LATERAL (
    SELECT r.subscription_id FROM ${schema}.freight_charge_routes AS r
    WHERE r.tenant_id = ${tenant(tenantId)} AND r.route = 'a:' || a.account AND r.client = ca.client
    UNION ALL
    SELECT r.subscription_id FROM ${schema}.freight_charge_routes AS r
    WHERE r.tenant_id = ${tenant(tenantId)} AND r.route = 'c:' || ca.client
  ) AS r
)
SELECT s.id, s.doc, array_agg(DISTINCT seen.account) AS accounts
FROM seen
CROSS JOIN LATERAL (
  SELECT s.id, s.doc FROM ${schema}.freight_charge_subscriptions AS s
  WHERE s.tenant_id = ${tenant(tenantId)} AND s.id = seen.subscription_id AND ${isLive}
  OFFSET 0
) AS s
GROUP BY s.id, s.doc
ORDER BY s.id`

export const putBills = (schema: Statement, tenantId: string, bills: ReadonlyArray<BillRow>) => {
  const billIds = textArray(bills.map((each) => each.billId))
  return statement`
WITH given AS MATERIALIZED (
  SELECT g.bill_id, g.version, g.state, g.accounts::text[] AS accounts, g.doc
  FROM ${given("g", bills, { billId: billIds, version: int4Array, state: textArray, accounts: textLists, doc: textArray })}
),
stored AS (
  INSERT INTO ${schema}.freight_bills AS b (tenant_id, bill_id, version, state, accounts, doc, ended_at)
  SELECT ${tenant(tenantId)}, bill_id, version, state, accounts, doc, CASE WHEN state <> 'open' THEN now() END FROM given
  ON CONFLICT (tenant_id, bill_id) DO UPDATE
  SET version = EXCLUDED.version, state = EXCLUDED.state, accounts = EXCLUDED.accounts, doc = EXCLUDED.doc, ended_at = EXCLUDED.ended_at
),
dropped AS (
  DELETE FROM ${schema}.freight_bill_accounts AS a USING given AS g
  WHERE a.tenant_id = ${tenant(tenantId)} AND a.bill_id = g.bill_id AND a.bill_id = ANY (${billIds}) AND (g.state <> 'open' OR a.account <> ALL (g.accounts))
)
INSERT INTO ${schema}.freight_bill_accounts (tenant_id, account, bill_id)
SELECT ${tenant(tenantId)}, account, g.bill_id FROM given AS g CROSS JOIN unnest(g.accounts) AS account WHERE g.state = 'open'
ON CONFLICT DO NOTHING`
}

/**
 * Stores notices, queues those of real-time subscriptions, and collects those of windows. Subscriptions with windows are already locked;
 * real-time subscriptions are locked in share mode with other publishers, so that a cancellation waits and finds the entries queued here when it closes the destination.
 */
export const storeNotices = (schema: Statement, tenantId: string, { notices, notifications, traceparent }: Omit<BillChanges, "bills">) => {
  const own = tenant(tenantId)
  const notified = notifications.map(({ notice, ...each }) => ({ ...each, noticeId: notices[notice]!.noticeId }))
  const live = notified.filter((each) => each.window === undefined)
  const later = notified.flatMap(({ window, ...each }) => window === undefined ? [] : [{ ...each, ...window }])
  const liveIds = uuidArray(live.map((each) => each.subscriptionId))
  return statement`
WITH added AS (
  INSERT INTO ${schema}.freight_charge_notices (tenant_id, notice_id, bill_id, version, body, accounts, traceparent)
  SELECT ${own}, g.notice_id, g.bill_id, g.version, g.body, g.accounts::text[], ${traceparent ?? null}
  FROM ${given("g", notices, { noticeId: textArray, billId: textArray, version: int4Array, body: byteaArray, accounts: textLists })}
  RETURNING notice_no, notice_id, bill_id, version, octet_length(body) AS size
),
live AS MATERIALIZED (
  SELECT s.id FROM ${schema}.freight_charge_subscriptions AS s
  WHERE s.tenant_id = ${own} AND s.id = ANY (${liveIds}) AND ${isLive}
  FOR SHARE
),
queued AS (
  ${queueEntries(schema, entriesOfNotices(own, liveIds, textArray(live.map((each) => each.noticeId))))}
),
notified AS (
  ${signalQueued(schema, own)}
),
${collectNotices(schema, own, later)}`
}

const entriesOfNotices = (own: Parameter, subscriptionIds: PgArray, noticeIds: PgArray) => statement`SELECT ${own}, t.subscription_id, n.bill_id, n.version, n.notice_no, n.size
  FROM unnest(${subscriptionIds}, ${noticeIds}) AS t (subscription_id, notice_id)
  JOIN live AS s ON s.id = t.subscription_id
  JOIN added AS n ON n.notice_id = t.notice_id`

interface Notified extends WindowTimes {
  readonly subscriptionId: string
  readonly noticeId: string
}

/** Collects notices of `added` for windows: in each window the last one of a bill. */
const collectNotices = (schema: Statement, own: Parameter, later: ReadonlyArray<Notified>) => {
  const laterIds = uuidArray(later.map((each) => each.subscriptionId))
  return statement`later AS MATERIALIZED (
  SELECT DISTINCT ON (t.subscription_id, w.closes_at, n.bill_id) t.subscription_id, w.closes_at, n.bill_id, n.notice_no
  FROM ${given("t", later, { subscriptionId: laterIds, noticeId: textArray, closesAt: timestamptzArray, following: timestamptzArray })}
  JOIN added AS n ON n.notice_id = t.notice_id
  CROSS JOIN LATERAL (
    SELECT s.closed_until FROM ${schema}.freight_charge_subscriptions AS s
    WHERE s.tenant_id = ${own} AND s.id = t.subscription_id AND ${isLive}
    OFFSET 0
  ) AS s
  CROSS JOIN LATERAL (
    SELECT CASE WHEN t.closes_at > coalesce(s.closed_until, '-infinity') THEN t.closes_at ELSE t.following END AS closes_at
  ) AS w
  ORDER BY t.subscription_id, w.closes_at, n.bill_id, n.version DESC
),
opened AS (
  UPDATE ${schema}.freight_charge_subscriptions AS s
  SET closes_at = least(s.closes_at, l.closes_at)
  FROM (SELECT subscription_id, min(closes_at) AS closes_at FROM later GROUP BY subscription_id) AS l
  WHERE s.tenant_id = ${own} AND s.id = l.subscription_id AND s.id = ANY (${laterIds})
)
INSERT INTO ${schema}.freight_charge_collected AS c (tenant_id, subscription_id, closes_at, bill_id, notice_no)
SELECT ${own}, subscription_id, closes_at, bill_id, notice_no FROM later
ON CONFLICT (tenant_id, subscription_id, closes_at, bill_id) DO UPDATE SET notice_no = EXCLUDED.notice_no`
}

/** Collecting for a window, closing it and cancelling lock the subscription's row, always in this order. */
export const lockSubscriptions = (schema: Statement, tenantId: string, ids: ReadonlyArray<string>) => statement`
SELECT id FROM ${schema}.freight_charge_subscriptions
WHERE tenant_id = ${tenant(tenantId)} AND id = ANY (${uuidArray(ids)})
ORDER BY id
FOR UPDATE`

/** Bills by prefixes of their ids, at most `limit` for each. Ids are capital letters and digits; `[` sorts after them. */
export const billsBeginning = (schema: Statement, tenantId: string, prefixes: ReadonlyArray<string>, limit: number) => statement`
SELECT DISTINCT ON (b.bill_id) ${billRow.columns("b")}
FROM unnest(${textArray(prefixes)}) AS g (prefix)
CROSS JOIN LATERAL (
  SELECT ${billRow.columns("b")} FROM ${schema}.freight_bills AS b
  WHERE b.tenant_id = ${tenant(tenantId)} AND b.bill_id >= g.prefix AND b.bill_id < g.prefix || '[' AND b.version > 0
  ORDER BY b.bill_id
  LIMIT ${int8(limit)}
) AS b
ORDER BY b.bill_id`

/** Only open bills have accounts in `freight_bill_accounts`. */
export const openBills = (
  schema: Statement,
  tenantId: string,
  accounts: ReadonlyArray<string>,
  { after = "", limit, unlistedBy }: { readonly after?: string | undefined; readonly limit: number; readonly unlistedBy?: string }
) => {
  const own = tenant(tenantId)
  const most = int8(limit)
  const unlisted = unlistedBy === undefined ? nothing : statement`AND NOT EXISTS (
      SELECT FROM ${schema}.freight_charge_in_flight AS i
      WHERE i.tenant_id = ${own} AND i.subscription_id = ${uuid(unlistedBy)} AND i.bill_id = a.bill_id
      OFFSET 0
    )`
  return statement`
SELECT ${billRow.columns("b")}
FROM (
  SELECT DISTINCT o.bill_id
  FROM unnest(${textArray(accounts)}) AS held (account)
  CROSS JOIN LATERAL (
    SELECT a.bill_id FROM ${schema}.freight_bill_accounts AS a
    WHERE a.tenant_id = ${own} AND a.account = held.account AND a.bill_id > ${after} ${unlisted}
    ORDER BY a.bill_id
    LIMIT ${most}
  ) AS o
  ORDER BY o.bill_id
  LIMIT ${most}
) AS a
CROSS JOIN LATERAL (
  SELECT b.* FROM ${schema}.freight_bills AS b WHERE b.tenant_id = ${own} AND b.bill_id = a.bill_id
  OFFSET 0
) AS b
ORDER BY b.bill_id`
}

const pruneSize = raw("1000")

export const pruneBills = (schema: Statement, tenantId: string, endedBefore: number) => statement`
WITH old AS (
  SELECT bill_id FROM ${schema}.freight_bills
  WHERE tenant_id = ${tenant(tenantId)} AND ended_at < ${timestamptz(endedBefore)}
  ORDER BY ended_at
  LIMIT ${pruneSize}
  FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM ${schema}.freight_bills AS b USING old WHERE b.tenant_id = ${tenant(tenantId)} AND b.bill_id = old.bill_id
  RETURNING b.version
)
SELECT count(*) FILTER (WHERE version > 0) AS pruned FROM gone`

/** Bills in flight that are removed in one statement. */
const pruneListSize = raw("5000")

/** Subscriptions that were cancelled long ago, once their in-flight lists are removed, which may be long. Returns how many rows were removed. */
export const pruneSubscriptions = (schema: Statement, tenantId: string, cancelledBefore: number) => {
  const own = tenant(tenantId)
  return statement`
WITH old AS MATERIALIZED (
  SELECT id FROM ${schema}.freight_charge_subscriptions
  WHERE tenant_id = ${own} AND cancelled_at < ${timestamptz(cancelledBefore)}
  ORDER BY cancelled_at
  LIMIT 10
  FOR UPDATE SKIP LOCKED
),
listed AS MATERIALIZED (
  SELECT i.bill_id FROM old AS o
  CROSS JOIN LATERAL (
    SELECT i.bill_id FROM ${schema}.freight_charge_in_flight AS i WHERE i.tenant_id = ${own} AND i.subscription_id = o.id
    LIMIT ${pruneListSize}
  ) AS i
  LIMIT ${pruneListSize}
),
dropped AS (
  DELETE FROM ${schema}.freight_charge_in_flight AS i
  WHERE i.tenant_id = ${own} AND i.subscription_id = ANY (ARRAY(SELECT id FROM old)) AND i.bill_id = ANY (ARRAY(SELECT bill_id FROM listed))
),
gone AS (
  DELETE FROM ${schema}.freight_charge_subscriptions AS s
  WHERE s.tenant_id = ${own} AND s.id = ANY (ARRAY(SELECT id FROM old)) AND (SELECT count(*) FROM listed) < ${pruneListSize}
  RETURNING 1
)
SELECT greatest((SELECT count(*) FROM gone), (SELECT count(*) FROM listed WHERE NOT EXISTS (SELECT FROM gone))) AS pruned`
}
