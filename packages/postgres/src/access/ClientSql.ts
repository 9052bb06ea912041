/** SQL statements for clients' access. */
import type { ClientAccess, ClientRow, ListedClient, ListRange } from "@waybill/core"
import { bool, float8, int4, int8, only, optional, row, text, textArray, timestamptz, uuid } from "../client/SqlRow.ts"
import { type Statement, statement, tenant, value } from "../client/SqlStatement.ts"

type Origin = ClientAccess["origin"]

/** Whether a known client has no live source, or may have none before the transaction ends: a worker may find it without access until then. */
export const clientIsHeld = (schema: Statement, tenantId: string, client: string) => statement`
SELECT coalesce(NOT bool_or(live_until > now() + interval '10 minutes'), false) AS held FROM ${schema}.clients WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}`

/** Stores one source's view of a client; a token also updates `last_seen_at`. */
export const putClient = (schema: Statement, tenantId: string, { live, reviewAt, roles = [], seesAll, ...access }: ClientAccess) => {
  const [client, origin] = [value(access.client), text(access.origin)]
  const until = live !== undefined && "until" in live ? live.until : undefined
  const millis = live !== undefined && "forMillis" in live ? live.forMillis : undefined
  return statement`
INSERT INTO ${schema}.clients (tenant_id, client, origin, sees_all, roles, live_until, last_seen_at, review_at)
SELECT ${tenant(tenantId)}, ${client}, ${origin}, ${bool(seesAll)}, ${textArray(roles)}, l.live_until,
  CASE WHEN ${origin} = 'token' THEN now() END, coalesce(${timestamptz(reviewAt)}, nullif(l.live_until, 'infinity'))
FROM (SELECT coalesce(${timestamptz(until)}, now() + ${float8(millis)} * interval '1 millisecond', 'infinity') AS live_until) AS l
ON CONFLICT (tenant_id, client, origin) DO UPDATE
SET sees_all = EXCLUDED.sees_all, roles = EXCLUDED.roles, live_until = EXCLUDED.live_until, review_at = EXCLUDED.review_at,
    last_seen_at = coalesce(EXCLUDED.last_seen_at, clients.last_seen_at)`
}

export const takeAccounts = (schema: Statement, tenantId: string, { accounts, client, origin }: ClientAccess) => statement`
DELETE FROM ${schema}.client_accounts
WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} AND origin = ${origin} AND account <> ALL (${textArray(accounts)})
RETURNING account`

export const giveAccounts = (schema: Statement, tenantId: string, { accounts, client, origin }: ClientAccess) => statement`
INSERT INTO ${schema}.client_accounts (tenant_id, account, client, origin)
SELECT ${tenant(tenantId)}, account, ${client}, ${origin} FROM unnest(${textArray(accounts)}) AS given (account)
ON CONFLICT DO NOTHING
RETURNING account`

export const clientRow = row({ origin: only<ClientRow["origin"]>(text), liveUntil: optional(timestamptz), endingThrough: optional(uuid), now: timestamptz })

/** Locks and returns the rows of one client. Without infinity, which parsers of hosts fail on, or read as an invalid date without a sign. */
export const clientRows = (schema: Statement, tenantId: string, client: string) => statement`
SELECT origin, nullif(greatest(live_until, 'epoch'), 'infinity') AS live_until, ending_through, now() AS now
FROM ${schema}.clients WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} ORDER BY origin FOR UPDATE`

/** Whether clients have a carrier number, and none of them one of `own` as well. */
export const isOthersNumber = (schema: Statement, tenantId: string, grant: string, own: ReadonlyArray<string>) => {
  const [id, numbers] = [tenant(tenantId), textArray(own)]
  return statement`
SELECT count(*) > 0 AND NOT bool_or(EXISTS (
  SELECT FROM ${schema}.client_accounts AS same WHERE same.tenant_id = ${id} AND same.account = ANY (${numbers}) AND same.client = other.client
)) AS others
FROM ${schema}.client_accounts AS other WHERE other.tenant_id = ${id} AND other.account = ${grant}`
}

/** No row for an unknown client. */
export const clientIsLive = (schema: Statement, tenantId: string, client: string) => statement`
SELECT bool_or(live_until > now()) AS live FROM ${schema}.clients WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}
HAVING count(*) > 0`

export const currentTime = statement`SELECT now() AS now`

export const holdClient = (
  schema: Statement,
  tenantId: string,
  { client, origin, reviewAt, until }: { readonly client: string; readonly origin: Origin; readonly until: number; readonly reviewAt: number }
) => statement`
UPDATE ${schema}.clients SET live_until = ${timestamptz(until)}, review_at = ${timestamptz(reviewAt)}
WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} AND origin = ${origin}`

const accessFrom = (tenantId: string, client: string, from: Origin | undefined) => {
  const origin = text(from)
  return statement`tenant_id = ${tenant(tenantId)} AND client = ${client} AND (${origin} IS NULL OR origin = ${origin})`
}

export const dropAccounts = (schema: Statement, tenantId: string, client: string, origin: Origin | undefined) =>
  statement`DELETE FROM ${schema}.client_accounts WHERE ${accessFrom(tenantId, client, origin)} RETURNING account`

export const dropClient = (schema: Statement, tenantId: string, client: string, origin: Origin | undefined) =>
  statement`DELETE FROM ${schema}.clients WHERE ${accessFrom(tenantId, client, origin)}`

/** An unknown client gets a row, so that its removal can continue after a crash. */
export const markEnding = (schema: Statement, tenantId: string, name: string, subscriptionId: string) => {
  const [client, through] = [value(name), uuid(subscriptionId)]
  return statement`
WITH marked AS (
  UPDATE ${schema}.clients
  SET ending_through = ${through}, live_until = least(live_until, now()), review_at = now()
  WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}
  RETURNING 1 AS marked
)
INSERT INTO ${schema}.clients (tenant_id, client, origin, sees_all, live_until, review_at, ending_through)
SELECT ${tenant(tenantId)}, ${client}, 'key', false, '-infinity', now(), ${through} WHERE NOT EXISTS (SELECT FROM marked)`
}

export const unmarkEnding = (schema: Statement, tenantId: string, client: string) => statement`
UPDATE ${schema}.clients SET ending_through = NULL, review_at = nullif(live_until, 'infinity')
WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}`

/** Reads across tenants: ids only, a limited number. */
export const tenantsWithClientsDue = (schema: Statement, { after = "", limit }: ListRange) => statement`
SELECT c.tenant_id FROM ${schema}.clients AS c
WHERE c.review_at <= now() AND c.tenant_id > ${after} GROUP BY c.tenant_id ORDER BY c.tenant_id LIMIT ${int8(limit)}`

export const clientsDue = (schema: Statement, tenantId: string, { after = "", limit }: ListRange) => statement`
SELECT c.client FROM ${schema}.clients AS c
WHERE c.tenant_id = ${tenant(tenantId)} AND c.review_at <= now() AND c.client > ${after} GROUP BY c.client ORDER BY c.client LIMIT ${int8(limit)}`

export const listedClientRow = row({
  client: text,
  roles: only<ListedClient["roles"]>(textArray),
  accounts: textArray,
  keys: int4,
  subscriptions: int4,
  lastSeenAt: optional(timestamptz),
  live: bool
})

/** A page of clients, combined from their sources. Keys and subscriptions are read only for the clients of the page. */
export const pageClients = (schema: Statement, tenantId: string, { after = "", limit }: ListRange) => {
  const own = tenant(tenantId)
  return statement`
WITH page AS MATERIALIZED (
  SELECT c.client,
    max(c.last_seen_at) AS last_seen_at,
    bool_or(c.live_until > now()) AS live,
    (SELECT array_agg(DISTINCT role ORDER BY role) FROM ${schema}.clients AS r CROSS JOIN unnest(r.roles) AS role
     WHERE r.tenant_id = ${own} AND r.client = c.client) AS roles
  FROM ${schema}.clients AS c
  WHERE c.tenant_id = ${own} AND c.client > ${after}
  GROUP BY c.client ORDER BY c.client LIMIT ${int8(limit)}
)
SELECT p.client, coalesce(p.roles, '{}') AS roles,
  ARRAY(SELECT DISTINCT ca.account FROM ${schema}.client_accounts AS ca
        WHERE ca.tenant_id = ${own} AND ca.client = p.client ORDER BY ca.account) AS accounts,
  (SELECT count(*) FROM ${schema}.api_keys AS k
   WHERE k.tenant_id = ${own} AND k.name = substr(p.client, 5) AND p.client LIKE 'key:%' AND k.revoked_at IS NULL AND k.expires_at > now())::int4 AS keys,
  (SELECT coalesce(sum(n.live), 0) FROM ${schema}.delivery_destination_counts AS n
   WHERE n.tenant_id = ${own} AND n.client = p.client)::int4 AS subscriptions,
  p.last_seen_at, p.live
FROM page AS p ORDER BY p.client`
}
