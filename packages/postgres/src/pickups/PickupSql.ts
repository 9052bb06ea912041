/** SQL statements for pickups. */
import {
  changesPerRead,
  type PickupChange,
  type PickupChangeRange,
  type PickupHistoryEntry,
  type PickupListRange,
  type PickupRow,
  type PickupViewer
} from "@waybill/core/pickups"
import { bool, bytea, int8, nullable, optional, row, text, textArray, timestamptz, uuid, uuidArray } from "../client/SqlRow.ts"
import { type Expression, nothing, type Parameter, raw, type Statement, statement, type StatementPart, tenant, value } from "../client/SqlStatement.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"
import { addBytes, type ByteCount, sumBytes } from "../shared/ByteCountSql.ts"
import { keysInUse } from "../delivery/NoticeRetention.ts"
import { clientSeesAccounts, pickupPayloads } from "./PickupPayloads.ts"

/** Serialises requests of a client with the same idempotency key. */
export const lockAnswer = (tenantId: string, client: string, key: string) => statement`
SELECT pg_advisory_xact_lock(hashtext('waybill pickup ' || ${tenant(tenantId)} || ' ' || ${client}), hashtext(${key}))::text AS held`

export const answerRow = row({ fingerprint: text, answer: text })

export const selectAnswer = (schema: Statement, tenantId: string, client: string, key: string) => statement`
SELECT ${answerRow.columns()} FROM ${schema}.pickup_answers WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} AND key = ${key}`

export const insertAnswer = (
  schema: Statement,
  tenantId: string,
  client: string,
  key: string,
  { answer, fingerprint }: { readonly answer: string; readonly fingerprint: string }
) => statement`
INSERT INTO ${schema}.pickup_answers (tenant_id, client, key, fingerprint, answer)
VALUES (${tenant(tenantId)}, ${client}, ${key}, ${fingerprint}, ${answer})
ON CONFLICT (tenant_id, client, key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint, answer = EXCLUDED.answer`

export const nextNumber = (schema: Statement, tenantId: string, isTest: boolean) => statement`
INSERT INTO ${schema}.pickup_counters AS c (tenant_id, is_test, last) VALUES (${tenant(tenantId)}, ${isTest}, 1)
ON CONFLICT (tenant_id, is_test) DO UPDATE SET last = c.last + 1
RETURNING last`

/** Column `accounts` also has the carrier's numbers, which start with a blank (` dot 123`). */
const accountsOf = ({ accounts, carrier = [] }: PickupRow) => textArray([...accounts, ...carrier])

/** Numbers a new entry of the work list, stores it, and queues it for the subscriptions of carriers that see the pickup. */
const listed = (
  schema: Statement,
  tenantId: string,
  { accounts, pickupId }: { readonly pickupId: Parameter; readonly accounts: Expression },
  at: number,
  change: PickupChange | undefined
): Statement =>
  change === undefined ? nothing : statement`,
numbered AS (
  INSERT INTO ${schema}.pickup_feeds AS f (tenant_id, last, last_at) VALUES (${tenant(tenantId)}, 1, ${timestamptz(at)})
  ON CONFLICT (tenant_id) DO UPDATE SET last = f.last + 1, last_at = greatest(f.last_at, EXCLUDED.last_at)
  RETURNING last, last_at
),
listed AS (
  INSERT INTO ${schema}.pickup_changes (tenant_id, change_no, pickup_id, at, traceparent, body)
  SELECT ${tenant(tenantId)}, last, ${pickupId}, last_at, ${text(change.traceparent)}, ${bytea(change.body)} FROM numbered
),
queued AS (
  ${queueEntries(
    schema,
    statement`SELECT ${tenant(tenantId)}::text, s.id, ${pickupId}::text, n.last, n.last, ${int8(change.body.length)}::int4
  FROM numbered AS n
  CROSS JOIN ${schema}.pickup_subscriptions AS s
  WHERE s.tenant_id = ${tenant(tenantId)} AND s.matched AND s.deleted_at IS NULL
    AND ${clientSeesAccounts(schema, tenant(tenantId), statement`s.client`, accounts)}`
  )}
),
signalled AS (
  ${signalQueued(schema, tenant(tenantId))}
)`

const usageOf = (schema: Statement, tenantId: string, of: string): ByteCount => {
  const [own, client] = [tenant(tenantId), value(of)]
  return {
    table: statement`${schema}.pickup_usage`,
    columns: statement`tenant_id, client`,
    values: statement`${own}, ${client}`,
    condition: statement`u.tenant_id = ${own} AND u.client = ${client}`
  }
}

/** Stores a pickup with `stored`, replaces its PRO numbers, and adds its entries to its history and to the work list. */
const withHistory = (
  schema: Statement,
  tenantId: string,
  pickup: PickupRow,
  { at, doc, position }: PickupHistoryEntry,
  change: PickupChange | undefined,
  stored: (pickupId: Parameter, accounts: Expression) => Statement
) => {
  const pickupId = uuid(pickup.pickupId)
  const accounts = accountsOf(pickup)
  const pros = textArray(pickup.pros)
  const bytes = int8(Buffer.byteLength(doc) + (change?.body.length ?? 0))
  return statement`
WITH stored AS (${stored(pickupId, accounts)}
),
dropped AS (
  DELETE FROM ${schema}.pickup_pros WHERE tenant_id = ${tenant(tenantId)} AND pickup_id = ${pickupId} AND pro <> ALL (${pros})
),
named AS (
  INSERT INTO ${schema}.pickup_pros (tenant_id, pro, pickup_id)
  SELECT ${tenant(tenantId)}::text, pro, ${pickupId} FROM unnest(${pros}) AS pro
  ON CONFLICT DO NOTHING
)${listed(schema, tenantId, { pickupId, accounts }, at, change)},
${addBytes(usageOf(schema, tenantId, pickup.client), bytes)}
INSERT INTO ${schema}.pickup_history (tenant_id, pickup_id, position, doc, at)
SELECT ${tenant(tenantId)}, ${pickupId}, ${int8(position)}, ${doc}, ${timestamptz(at)}`
}

export const insertPickup = (schema: Statement, tenantId: string, pickup: PickupRow, entry: PickupHistoryEntry, change: PickupChange | undefined) =>
  withHistory(schema, tenantId, pickup, entry, change, (pickupId, accounts) => statement`
  INSERT INTO ${schema}.pickups (tenant_id, pickup_id, number, accounts, status, waits, doc, is_test, client, created_at)
  VALUES (${tenant(tenantId)}, ${pickupId}, ${text(pickup.number)}, ${accounts}, ${pickup.status}, ${pickup.waits}, ${pickup.doc},
    ${pickup.isTest}, ${pickup.client}, ${timestamptz(pickup.createdAt)})`)

export const updatePickup = (schema: Statement, tenantId: string, pickup: PickupRow, entry: PickupHistoryEntry, change: PickupChange | undefined) =>
  withHistory(schema, tenantId, pickup, entry, change, (pickupId, accounts) => statement`
  UPDATE ${schema}.pickups SET number = ${text(pickup.number)}, accounts = ${accounts}, status = ${pickup.status},
    waits = ${pickup.waits}, doc = ${pickup.doc}
  WHERE tenant_id = ${tenant(tenantId)} AND pickup_id = ${pickupId}`)

export const pickupRow = row({
  pickupId: uuid,
  number: optional(text),
  isTest: bool,
  client: text,
  accounts: textArray,
  status: text,
  waits: bool,
  doc: text,
  createdAt: timestamptz,
  pros: textArray
})

const selectPickups = (schema: Statement, tenantId: string) => statement`
SELECT p.pickup_id, p.number, p.is_test, p.client, p.accounts, p.status, p.waits, p.doc, p.created_at,
       ARRAY(SELECT r.pro FROM ${schema}.pickup_pros AS r WHERE r.tenant_id = ${tenant(tenantId)} AND r.pickup_id = p.pickup_id ORDER BY r.pro) AS pros
FROM ${schema}.pickups AS p
WHERE p.tenant_id = ${tenant(tenantId)}`

/** The condition that a viewer sees pickup `p`. A carrier also sees pickups that no carrier has decided. */
const seenBy = (viewer: PickupViewer): Statement => {
  if (viewer === "all") return nothing
  return "carrier" in viewer
    ? statement`AND (p.accounts && ${textArray(viewer.carrier)} OR NOT EXISTS (SELECT FROM unnest(p.accounts) AS account WHERE account LIKE ' %'))`
    : statement`AND (p.client = ${viewer.client} OR p.accounts && ${textArray(viewer.accounts)})`
}

export const pickupOfNumber = (
  schema: Statement,
  tenantId: string,
  viewer: PickupViewer,
  { isTest, number }: { readonly isTest: boolean; readonly number: string },
  forUpdate: boolean
) => statement`${selectPickups(schema, tenantId)} AND p.number = ${number} AND p.is_test = ${isTest} ${seenBy(viewer)}
${forUpdate ? lockedPickup : nothing}`

export const pickupOfId = (schema: Statement, tenantId: string, viewer: PickupViewer, pickupId: string, forUpdate: boolean) =>
  statement`${selectPickups(schema, tenantId)} AND p.pickup_id = ${uuid(pickupId)} ${seenBy(viewer)}
${forUpdate ? lockedPickup : nothing}`

const lockedPickup = statement`FOR UPDATE OF p`

/**
 * The ids of the newest pickups of the PRO `g.pro` that fulfil a condition. Ids are in the order of time, so the search ends with the last of them, however many pickups share
 * a PRO such as "N/A".
 */
const newestOfPro = (schema: Statement, tenantId: string, condition: Statement, most: StatementPart): Statement => statement`
  SELECT r.pickup_id FROM ${schema}.pickup_pros AS r
  CROSS JOIN LATERAL (
    SELECT FROM ${schema}.pickups AS p WHERE p.tenant_id = ${tenant(tenantId)} AND p.pickup_id = r.pickup_id AND ${condition}
    OFFSET 0
  ) AS p
  WHERE r.tenant_id = ${tenant(tenantId)} AND r.pro = g.pro
  ORDER BY r.pickup_id DESC
  LIMIT ${most}`

const ofPros = (schema: Statement, tenantId: string, pros: ReadonlyArray<string>, condition: Statement, most: StatementPart) => statement`${selectPickups(schema, tenantId)} AND p.pickup_id = ANY (ARRAY(
  SELECT r.pickup_id FROM unnest(${textArray(pros)}) AS g (pro) CROSS JOIN LATERAL (${newestOfPro(schema, tenantId, condition, most)}) AS r
))
ORDER BY p.created_at DESC, p.pickup_id DESC
LIMIT ${most}`

export const pickupOfPro = (schema: Statement, tenantId: string, viewer: PickupViewer, { isTest, pro }: { readonly isTest: boolean; readonly pro: string }) =>
  ofPros(schema, tenantId, [pro], statement`p.is_test = ${isTest} AND p.number IS NOT NULL ${seenBy(viewer)}`, raw("1"))

/** Pickups that are not tests, by several PROs. */
export const pickupsOfPros = (schema: Statement, tenantId: string, pros: ReadonlyArray<string>, limit: number) =>
  ofPros(schema, tenantId, pros, raw("NOT p.is_test"), int8(limit))

export const listedPickups = (schema: Statement, tenantId: string, { after, limit, waiting }: PickupListRange) =>
  waiting
    ? statement`${selectPickups(schema, tenantId)} AND p.waits ${after === undefined ? nothing : statement`AND p.pickup_id > ${uuid(after)}`}
ORDER BY p.pickup_id
LIMIT ${int8(limit)}`
    : statement`${selectPickups(schema, tenantId)} ${after === undefined ? nothing : statement`AND p.pickup_id < ${uuid(after)}`}
ORDER BY p.pickup_id DESC
LIMIT ${int8(limit)}`

export const changeRow = row({ changeNo: nullable(int8), body: optional(bytea), through: int8, scanned: int8 })

/** Where a list begins: after the cursor, and not before the first entry of `since`. */
const startOf = (schema: Statement, tenantId: string, since: number | undefined): Statement =>
  since === undefined ? nothing : statement`
  AND c.change_no >= (
    SELECT s.change_no FROM ${schema}.pickup_changes AS s WHERE s.tenant_id = ${tenant(tenantId)} AND s.at >= ${timestamptz(since)}
    ORDER BY s.at, s.change_no
    LIMIT 1
  )`

/**
 * One row for each entry, or one row without entry. OFFSET 0: one lookup for each, regardless of the planner's statistics. `through` is the last entry that
 * was compared; at the end of the list its last.
 */
export const changes = (schema: Statement, tenantId: string, { after, bytes, limit, since, status, viewer }: PickupChangeRange) => {
  const own = tenant(tenantId)
  return statement`
WITH scanned AS MATERIALIZED (
  SELECT c.change_no, c.pickup_id FROM ${schema}.pickup_changes AS c
  WHERE c.tenant_id = ${own} AND c.change_no > ${int8(after)} ${startOf(schema, tenantId, since)}
  ORDER BY c.change_no
  LIMIT ${int8(changesPerRead)}
),
matching AS MATERIALIZED (
  SELECT s.change_no FROM scanned AS s
  CROSS JOIN LATERAL (
    SELECT FROM ${schema}.pickups AS p
    WHERE p.tenant_id = ${own} AND p.pickup_id = s.pickup_id ${status === undefined ? nothing : statement`AND p.status = ${status}`} ${seenBy(viewer)}
    OFFSET 0
  ) AS p
  ORDER BY s.change_no
  LIMIT ${int8(limit)}
),
measured AS (
  SELECT m.change_no, c.body, sum(octet_length(c.body)) OVER (ORDER BY m.change_no) AS bytes
  FROM matching AS m
  CROSS JOIN LATERAL (SELECT c.body FROM ${schema}.pickup_changes AS c WHERE c.tenant_id = ${own} AND c.change_no = m.change_no OFFSET 0) AS c
),
entries AS (
  SELECT m.change_no, m.body FROM measured AS m
  WHERE m.bytes <= ${int8(bytes)} OR m.change_no = (SELECT min(change_no) FROM matching)
)
SELECT e.change_no, e.body,
       COALESCE(r.last, (SELECT f.last FROM ${schema}.pickup_feeds AS f WHERE f.tenant_id = ${own}), 0) AS through,
       r.scanned
FROM (SELECT count(*) AS scanned, max(change_no) AS last FROM scanned) AS r
LEFT JOIN entries AS e ON true
ORDER BY e.change_no`
}

export const historyRow = row({ pickupId: uuid, position: int8, at: timestamptz, doc: text })

/** Oldest first; without the entries that are older than so many bytes of newer ones. */
export const historiesOf = (schema: Statement, tenantId: string, pickupIds: ReadonlyArray<string>, bytes: number) => statement`
SELECT ${historyRow.columns("h")}
FROM (
  SELECT h.*, sum(octet_length(h.doc)) OVER (ORDER BY h.at DESC, h.pickup_id DESC, h.position DESC) - octet_length(h.doc) AS newer_bytes
  FROM ${schema}.pickup_history AS h
  WHERE h.tenant_id = ${tenant(tenantId)} AND h.pickup_id = ANY (${uuidArray(pickupIds)})
) AS h
WHERE h.newer_bytes <= ${int8(bytes)}
ORDER BY h.position`

export const storedBytes = (schema: Statement, tenantId: string, client: string) => sumBytes(usageOf(schema, tenantId, client))

const pruneSize = raw("1000")

/**
 * A pickup stays while one of its changes waits to be sent, is in flight or dead. One that was changed after this statement started stays until the next call: otherwise
 * the pickup would be removed and the rows written with the change would stay forever.
 */
export const prunePickups = (schema: Statement, tenantId: string, before: { readonly ordered: number; readonly answered: number }) => {
  const own = tenant(tenantId)
  return statement`
WITH needed AS MATERIALIZED (
  SELECT u.key FROM (SELECT FROM ${schema}.pickups WHERE tenant_id = ${own} AND created_at < ${timestamptz(before.ordered)} ORDER BY created_at LIMIT 1) AS any_old
  CROSS JOIN LATERAL (${keysInUse(schema, tenantId, pickupPayloads)}) AS u
),
seen AS MATERIALIZED (
  SELECT pickup_id, client, ctid AS version FROM ${schema}.pickups
  WHERE tenant_id = ${own} AND created_at < ${timestamptz(before.ordered)} AND pickup_id::text COLLATE "C" NOT IN (SELECT n.key FROM needed AS n)
  ORDER BY created_at
  LIMIT ${pruneSize}
),
counted AS MATERIALIZED (
  SELECT u.client, u.part FROM ${schema}.pickup_usage AS u
  WHERE u.tenant_id = ${own} AND u.client = ANY (ARRAY(SELECT client FROM seen))
  FOR UPDATE SKIP LOCKED
),
locked AS MATERIALIZED (
  SELECT p.pickup_id, p.client, p.ctid AS version FROM ${schema}.pickups AS p
  WHERE p.tenant_id = ${own} AND p.pickup_id = ANY (ARRAY(SELECT pickup_id FROM seen)) AND p.client = ANY (ARRAY(SELECT client FROM counted))
  FOR UPDATE SKIP LOCKED
),
old AS MATERIALIZED (
  SELECT l.pickup_id, l.client FROM locked AS l WHERE l.version IN (SELECT version FROM seen)
),
pros AS (
  DELETE FROM ${schema}.pickup_pros AS t USING old WHERE t.tenant_id = ${own} AND t.pickup_id = old.pickup_id
),
history AS (
  DELETE FROM ${schema}.pickup_history AS t USING old WHERE t.tenant_id = ${own} AND t.pickup_id = old.pickup_id
  RETURNING old.client, octet_length(t.doc) AS bytes
),
changes AS (
  DELETE FROM ${schema}.pickup_changes AS t USING old WHERE t.tenant_id = ${own} AND t.pickup_id = old.pickup_id
  RETURNING old.client, octet_length(t.body) AS bytes
),
released AS (
  UPDATE ${schema}.pickup_usage AS u SET bytes = u.bytes - f.bytes
  FROM (SELECT client, sum(bytes)::int8 AS bytes FROM (SELECT * FROM history UNION ALL SELECT * FROM changes) AS r GROUP BY client) AS f
  WHERE u.tenant_id = ${own} AND u.client = f.client AND u.part = (SELECT min(c.part) FROM counted AS c WHERE c.client = f.client)
),
gone AS (
  DELETE FROM ${schema}.pickups AS t USING old WHERE t.tenant_id = ${own} AND t.pickup_id = old.pickup_id RETURNING 1
),
stale AS (
  SELECT client, key FROM ${schema}.pickup_answers
  WHERE tenant_id = ${own} AND answered_at < ${timestamptz(before.answered)}
  ORDER BY answered_at
  LIMIT ${pruneSize}
  FOR UPDATE SKIP LOCKED
),
forgotten AS (
  DELETE FROM ${schema}.pickup_answers AS a USING stale
  WHERE a.tenant_id = ${own} AND a.client = stale.client AND a.key = stale.key
  RETURNING 1
)
SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM forgotten) AS pruned`
}
