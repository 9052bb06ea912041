/** SQL statements for freight bills. */
import { pruneLowest } from "../delivery/NoticeRetention.ts"
import type { PayloadSource } from "../delivery/PayloadSource.ts"
import { partitionOfSql, signalEntries } from "../delivery/SignalSql.ts"

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
  table: "freight_charge_window_payloads",
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
  remainder: (schema) => splitWindows(schema)
}

/** If a client may see only part of a window, a new window with that part is sent instead. */
const splitWindows = (schema: string) => `
WITH kept AS MATERIALIZED (
  SELECT g.destination_id, w.closed_at, (
    SELECT array_agg(c.notice_no ORDER BY c.place) FROM unnest(w.notices) WITH ORDINALITY AS c (notice_no, place)
    WHERE ${freightChargePayloads.visible(schema, "l.client", "''", "c.notice_no")}
  ) AS notices
  FROM unnest($2::uuid[], $3::int8[]) AS g (destination_id, window_no)
  CROSS JOIN LATERAL (
    SELECT l.client FROM ${schema}.delivery_destinations AS l
    WHERE l.tenant_id = $1 AND l.destination_id = g.destination_id AND l.source = '${freightChargeWindowPayloads.source}'
    OFFSET 0
  ) AS l
  CROSS JOIN LATERAL (
    SELECT w.closed_at, w.notices FROM ${schema}.freight_charge_windows AS w WHERE w.tenant_id = $1 AND w.window_no = g.window_no
    OFFSET 0
  ) AS w
),
made AS (
  INSERT INTO ${schema}.freight_charge_windows (tenant_id, subscription_id, closed_at, notices, first_notice)
  SELECT $1, k.destination_id, k.closed_at, k.notices, (SELECT min(n) FROM unnest(k.notices) AS n) FROM kept AS k WHERE k.notices IS NOT NULL
  RETURNING window_no, subscription_id, closed_at, notices
),
queued AS (
  INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  SELECT $1, m.subscription_id, 'window', floor(extract(epoch FROM m.closed_at) * 1000)::int8, m.window_no, least(z.size, 2147483647)::int4
  FROM made AS m
  CROSS JOIN LATERAL (
    SELECT sum(octet_length(n.body) + 1) - 1 AS size
    FROM unnest(m.notices) AS c (notice_no)
    CROSS JOIN LATERAL (
      SELECT n.body FROM ${schema}.freight_charge_notices AS n WHERE n.tenant_id = $1 AND n.notice_no = c.notice_no
      OFFSET 0
    ) AS n
  ) AS z
  RETURNING destination_id, key
)
${signalEntries(schema, "queued")}`

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

export const gateRow = row({ held: int8, now: int8 })

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
SELECT (SELECT count(held) FROM held) AS held, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now`

/**
 * Locks the client's accounts until the transaction ends, for every origin. Otherwise a client that gets an account
 * while it subscribes to all its accounts would miss bills of that account, in the list and in notifications, until the subscription is stored.
 */
export const holdAccess = (schema: Statement, tenantId: string, client: string) => statement`
INSERT INTO ${schema}.clients AS c (tenant_id, client, origin, sees_all, live_until)
SELECT ${tenant(tenantId)}, ${client}, origin, false, '-infinity' FROM unnest(ARRAY['token', 'key']) AS origin
ON CONFLICT (tenant_id, client, origin) DO UPDATE SET sees_all = c.sees_all`

export const viewerRow = row({ subscriptionId: uuid, doc: text, accounts: textArray })

/** Only the client's own accounts count, not access to all freight of the tenant. `grants`: with the account of each. */
export const viewers = (schema: Statement, tenantId: string, grants: ReadonlyArray<{ readonly grant: string; readonly account: string | undefined }>) => {
  const own = tenant(tenantId)
  return statement`
WITH seen AS (
  SELECT r.subscription_id, a.held AS account
  FROM unnest(
    ${textArray(grants.map(({ grant }) => grant))},
    ${textArray(grants.map(({ account }) => account ?? null))}
  ) AS a (held, account)
  CROSS JOIN LATERAL (
    SELECT DISTINCT ca.client FROM ${schema}.client_accounts AS ca
    WHERE ca.tenant_id = ${own} AND ca.account = a.held
    OFFSET 0
  ) AS ca
  CROSS JOIN LATERAL (
    SELECT r.subscription_id FROM ${schema}.freight_charge_routes AS r
    WHERE r.tenant_id = ${own} AND r.route = 'a:' || a.account AND r.client = ca.client
    UNION ALL
    SELECT r.subscription_id FROM ${schema}.freight_charge_routes AS r
    WHERE r.tenant_id = ${own} AND r.route = 'c:' || ca.client
  ) AS r
)
SELECT s.id, s.doc, array_agg(DISTINCT seen.account) AS accounts
FROM seen
CROSS JOIN LATERAL (
  SELECT s.id, s.doc FROM ${schema}.freight_charge_subscriptions AS s
  WHERE s.tenant_id = ${own} AND s.id = seen.subscription_id AND ${isLive}
  OFFSET 0
) AS s
GROUP BY s.id, s.doc
ORDER BY s.id`
}

export const putBills = (schema: Statement, tenantId: string, bills: ReadonlyArray<BillRow>) => {
  const billIds = textArray(bills.map((each) => each.billId))
  return statement`
WITH given AS MATERIALIZED (
  SELECT g.bill_id, g.version, g.state, g.accounts::text[] AS accounts, g.doc
  FROM unnest(
    ${billIds},
    ${int4Array(bills.map((each) => each.version))},
    ${textArray(bills.map((each) => each.state))},
    ${textArray(bills.map((each) => arrayLiteral(each.accounts)))},
    ${textArray(bills.map((each) => each.doc))}
  ) AS g (bill_id, version, state, accounts, doc)
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
SELECT DISTINCT ${tenant(tenantId)}, account, g.bill_id FROM given AS g CROSS JOIN unnest(g.accounts) AS account WHERE g.state = 'open'
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
  const later = notified.filter((each) => each.window !== undefined)
  const liveIds = uuidArray(live.map((each) => each.subscriptionId))
  return statement`
WITH added AS (
  INSERT INTO ${schema}.freight_charge_notices (tenant_id, notice_id, bill_id, version, body, accounts, traceparent)
  SELECT ${own}, g.notice_id, g.bill_id, g.version, g.body, g.accounts::text[], ${traceparent ?? null}
  FROM unnest(
    ${textArray(notices.map((each) => each.noticeId))},
    ${textArray(notices.map((each) => each.billId))},
    ${int4Array(notices.map((each) => each.version))},
    ${byteaArray(notices.map((each) => each.body))},
    ${textArray(notices.map((each) => arrayLiteral(each.accounts)))}
  ) AS g (notice_id, bill_id, version, body, accounts)
  RETURNING notice_no, notice_id, bill_id, version, octet_length(body) AS size
),
live AS MATERIALIZED (
  SELECT s.id FROM ${schema}.freight_charge_subscriptions AS s
  WHERE s.tenant_id = ${own} AND s.id = ANY (${liveIds}) AND ${isLive}
  FOR SHARE
),
queued AS (
  INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  SELECT $1, t.subscription_id, n.bill_id, n.version, n.notice_no, n.size
  FROM unnest($7::uuid[], $8::text[]) AS t (subscription_id, notice_id)
  JOIN live AS s ON s.id = t.subscription_id
  JOIN added AS n ON n.notice_id = t.notice_id
  RETURNING destination_id, key
),
signalled AS (${signalEntries(schema, "queued")}
),
${collectNotices(schema, own, later)}`
}

const entriesOfNotices = (own: Parameter, subscriptionIds: PgArray, noticeIds: PgArray) => statement`SELECT ${own}, t.subscription_id, n.bill_id, n.version, n.notice_no, n.size
  FROM unnest(${subscriptionIds}, ${noticeIds}) AS t (subscription_id, notice_id)
  JOIN live AS s ON s.id = t.subscription_id
  JOIN added AS n ON n.notice_id = t.notice_id`

interface Notified {
  readonly subscriptionId: string
  readonly noticeId: string
  readonly window: WindowTimes | undefined
}

/** Collects notices of `added` for windows: in each window the last one of a bill. */
const collectNotices = (schema: Statement, own: Parameter, later: ReadonlyArray<Notified>) => {
  const laterIds = uuidArray(later.map((each) => each.subscriptionId))
  return statement`later AS MATERIALIZED (
  SELECT DISTINCT ON (t.subscription_id, w.closes_at, n.bill_id) t.subscription_id, w.closes_at, n.bill_id, n.notice_no
  FROM unnest(
    ${laterIds},
    ${textArray(later.map((each) => each.noticeId))},
    ${timestamptzArray(later.map((each) => each.window?.closesAt ?? null))},
    ${timestamptzArray(later.map((each) => each.window?.following ?? null))}
  ) AS t (subscription_id, notice_id, closes_at, following)
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

export const openBills = (schema: Statement, tenantId: string, accounts: ReadonlyArray<string>, { after = "", limit }: { readonly after?: string | undefined; readonly limit: number }) => {
  const own = tenant(tenantId)
  const most = int8(limit)
  return statement`
SELECT ${billRow.columns("b")}
FROM (
  SELECT DISTINCT o.bill_id
  FROM unnest(${textArray(accounts)}) AS held (account)
  CROSS JOIN LATERAL (
    SELECT a.bill_id
    FROM ${schema}.freight_bill_accounts AS a
    CROSS JOIN LATERAL (
      SELECT 1 AS found FROM ${schema}.freight_bills AS b
      WHERE b.tenant_id = ${own} AND b.bill_id = a.bill_id AND b.state = 'open' AND b.version > 0
      OFFSET 0
    ) AS b
    WHERE a.tenant_id = ${own} AND a.account = held.account AND a.bill_id > ${after}
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

export const nextClosing = (schema: string) => `
SELECT (extract(epoch FROM min(closes_at) - now()) * 1000)::float8 AS millis
FROM ${schema}.freight_charge_subscriptions
WHERE closes_at IS NOT NULL AND closes_at > now()`

/** $2: the subscription; $3: bills. Windows are few: a subscription has one an hour at most. */
export const windowsWith = (schema: string) => `
WITH refs AS MATERIALIZED (
  (SELECT e.ref FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = $1 AND e.destination_id = $2::uuid LIMIT 100)
  UNION
  (SELECT d.ref FROM ${schema}.delivery_drops AS d WHERE d.tenant_id = $1 AND d.destination_id = $2::uuid ORDER BY d.drop_no DESC LIMIT 100)
  UNION
  (SELECT unnest(d.refs) FROM ${schema}.deliveries_in_flight AS d WHERE d.tenant_id = $1 AND d.partition = ${partitionOfSql("$2::uuid")} AND d.destination_id = $2::uuid LIMIT 100)
  ${["IN ('sending', 'waiting')", "= 'dead'", "IN ('delivered', 'cancelled', 'dismissed')"].map((states) => `UNION
  (
    SELECT unnest(d.refs) FROM (
      SELECT d.refs FROM ${schema}.deliveries AS d
      WHERE d.tenant_id = $1 AND d.destination_id = $2::uuid AND d.state ${states}
      ${states.includes("sending") ? "" : "ORDER BY d.delivery_id DESC"}
      LIMIT 100
    ) AS d
  )`).join("\n  ")}
)
SELECT (
         SELECT min(c.closes_at) FROM ${schema}.freight_charge_collected AS c
         WHERE c.tenant_id = $1 AND c.subscription_id = $2::uuid AND c.bill_id = ANY ($3::text[])
       ) AS closes_at,
       ARRAY(
         SELECT w.window_no::text FROM refs AS r
         CROSS JOIN LATERAL (
           SELECT w.window_no, w.notices FROM ${schema}.freight_charge_windows AS w
           WHERE w.tenant_id = $1 AND w.window_no = r.ref AND w.subscription_id = $2::uuid
           OFFSET 0
         ) AS w
         WHERE EXISTS (
           SELECT FROM unnest(w.notices) AS c (notice_no)
           CROSS JOIN LATERAL (
             SELECT n.bill_id FROM ${schema}.freight_charge_notices AS n WHERE n.tenant_id = $1 AND n.notice_no = c.notice_no
             OFFSET 0
           ) AS n
           WHERE n.bill_id = ANY ($3::text[])
         )
       ) AS order_ids`

const closedAtOnce = 200

/** Each call closes a limited number, even if many windows close at the same midnight. */
export const dueWindows = (schema: string) => `
SELECT id
FROM ${schema}.freight_charge_subscriptions
WHERE tenant_id = $1 AND closes_at <= now()
ORDER BY closes_at
LIMIT ${closedAtOnce}`

/** Locks in the common order, and skips windows that another process closed meanwhile. */
export const lockDueWindows = (schema: string) => `
SELECT id
FROM ${schema}.freight_charge_subscriptions
WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) AND closes_at <= now()
ORDER BY id
FOR UPDATE`

/**
 * Closes the due windows of these subscriptions: several of one subscription, if the first was not closed in time. A separate
 * statement after the locks, so that it sees what the transactions that the locks waited for collected.
 */
export const closeWindows = (schema: string) => `
WITH due AS MATERIALIZED (
  SELECT unnest($2::uuid[]) AS id
),
collected AS (
  DELETE FROM ${schema}.freight_charge_collected AS c USING due
  WHERE c.tenant_id = $1 AND c.subscription_id = due.id AND c.closes_at <= now()
  RETURNING c.subscription_id, c.closes_at, c.bill_id, c.notice_no
),
closed AS (
  UPDATE ${schema}.freight_charge_subscriptions AS s
  SET closed_until = greatest(s.closed_until, (SELECT max(c.closes_at) FROM collected AS c WHERE c.subscription_id = s.id)),
      closes_at = (
        SELECT min(c.closes_at) FROM ${schema}.freight_charge_collected AS c
        WHERE c.tenant_id = $1 AND c.subscription_id = s.id AND c.closes_at > now()
      )
  FROM due
  WHERE s.tenant_id = $1 AND s.id = due.id AND s.id = ANY ($2::uuid[])
),
windows AS (
  INSERT INTO ${schema}.freight_charge_windows (tenant_id, subscription_id, closed_at, notices, first_notice)
  SELECT $1, subscription_id, closes_at, array_agg(notice_no ORDER BY bill_id), min(notice_no)
  FROM collected
  GROUP BY subscription_id, closes_at
  RETURNING window_no, subscription_id, closed_at
),
sizes AS (
  SELECT c.subscription_id, c.closes_at, sum(octet_length(n.body) + 1) - 1 AS size
  FROM collected AS c
  CROSS JOIN LATERAL (
    SELECT n.body FROM ${schema}.freight_charge_notices AS n WHERE n.tenant_id = $1 AND n.notice_no = c.notice_no
    OFFSET 0
  ) AS n
  GROUP BY c.subscription_id, c.closes_at
),
queued AS (
  INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  SELECT $1, w.subscription_id, 'window', floor(extract(epoch FROM w.closed_at) * 1000)::int8, w.window_no, least(z.size, 2147483647)::int4
  FROM windows AS w JOIN sizes AS z ON z.subscription_id = w.subscription_id AND z.closes_at = w.closed_at
  RETURNING destination_id, key
),
signalled AS (${signalEntries(schema, "queued")}
)
SELECT count(*) AS closed FROM windows`

const pruneSize = 1000

export const pruneBills = (schema: string) => `
WITH old AS (
  SELECT bill_id FROM ${schema}.freight_bills
  WHERE tenant_id = ${own} AND ended_at < ${timestamptz(endedBefore)}
  ORDER BY ended_at
  LIMIT ${pruneSize}
  FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM ${schema}.freight_bills AS b USING old WHERE b.tenant_id = ${own} AND b.bill_id = old.bill_id
  RETURNING b.version
)
SELECT count(*) FILTER (WHERE version > 0) AS pruned FROM gone`
}

/** In-flight lists of subscriptions that were cancelled long ago. */
export const pruneLists = (schema: Statement, tenantId: string, cancelledBefore: number) => {
  const own = tenant(tenantId)
  return statement`
WITH old AS MATERIALIZED (
  SELECT id FROM ${schema}.freight_charge_subscriptions
  WHERE tenant_id = ${own} AND cancelled_at < ${timestamptz(cancelledBefore)} AND listed
  ORDER BY cancelled_at
  LIMIT 10
  FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM ${schema}.freight_charge_in_flight AS i USING old AS o WHERE i.tenant_id = ${own} AND i.subscription_id = o.id
),
marked AS (
  UPDATE ${schema}.freight_charge_subscriptions AS s SET listed = false WHERE s.tenant_id = ${own} AND s.id = ANY (ARRAY(SELECT id FROM old))
)
SELECT count(*) AS pruned FROM old`
}
