/** SQL statements for clients' access. */

/** Stores one source's view of a client; a token also updates `last_seen_at`. Returns whether the client was held before. */
export const putClient = (schema: string) => `
WITH before AS (
  SELECT NOT bool_or(live_until > now()) AS held FROM ${schema}.clients WHERE tenant_id = $1 AND client = $2
)
INSERT INTO ${schema}.clients (tenant_id, client, origin, sees_all, roles, live_until, last_seen_at, review_at)
SELECT $1, $2, $3::text, $4::bool, $5::text[], l.live_until,
  CASE WHEN $3::text = 'token' THEN now() END, coalesce(($8::timestamptz[])[1], nullif(l.live_until, 'infinity'))
FROM (SELECT coalesce(($6::timestamptz[])[1], now() + $7::float8 * interval '1 millisecond', 'infinity') AS live_until) AS l
ON CONFLICT (tenant_id, client, origin) DO UPDATE
SET sees_all = EXCLUDED.sees_all, roles = EXCLUDED.roles, live_until = EXCLUDED.live_until, review_at = EXCLUDED.review_at,
    last_seen_at = coalesce(EXCLUDED.last_seen_at, clients.last_seen_at)
RETURNING coalesce((SELECT held FROM before), false) AS held`

export const takeAccounts = (schema: string) => `
DELETE FROM ${schema}.client_accounts
WHERE tenant_id = $1 AND client = $2 AND origin = $3 AND account <> ALL ($4::text[])`

export const giveAccounts = (schema: string) => `
INSERT INTO ${schema}.client_accounts (tenant_id, account, client, origin)
SELECT $1, account, $2, $3 FROM unnest($4::text[]) AS given (account)
ON CONFLICT DO NOTHING`

/** Locks and returns the rows of one client. Drivers that read infinity as an invalid date cannot tell its sign. */
export const clientRows = (schema: string) => `
SELECT origin, greatest(live_until, 'epoch') AS live_until, ending_through, now() AS now
FROM ${schema}.clients WHERE tenant_id = $1 AND client = $2 ORDER BY origin FOR UPDATE`

export const holdClient = (schema: string) => `
UPDATE ${schema}.clients SET live_until = ($4::timestamptz[])[1], review_at = ($4::timestamptz[])[2]
WHERE tenant_id = $1 AND client = $2 AND origin = $3`

/** An unknown client gets a row, so that its removal can continue after a crash. */
export const markEnding = (schema: string) => `
WITH marked AS (
  UPDATE ${schema}.clients
  SET ending_through = $3::uuid, live_until = least(live_until, now()), review_at = now()
  WHERE tenant_id = $1 AND client = $2
  RETURNING 1 AS marked
)
INSERT INTO ${schema}.clients (tenant_id, client, origin, sees_all, live_until, review_at, ending_through)
SELECT $1, $2, 'key', false, '-infinity', now(), $3::uuid WHERE NOT EXISTS (SELECT FROM marked)`

export const unmarkEnding = (schema: string) => `
UPDATE ${schema}.clients SET ending_through = NULL, review_at = nullif(live_until, 'infinity') WHERE tenant_id = $1 AND client = $2`

/** Reads across tenants: ids only, a limited number. */
export const clientsDue = (schema: string) => `
SELECT c.tenant_id, c.client, c.review_at FROM ${schema}.clients AS c
WHERE c.review_at <= now() ORDER BY c.review_at LIMIT $1::int8`

/** A page of clients, combined from their sources. Keys and subscriptions are read only for the clients of the page. */
export const pageClients = (schema: string) => `
WITH page AS MATERIALIZED (
  SELECT c.client,
    max(c.last_seen_at) AS last_seen_at,
    bool_or(c.live_until > now()) AS live,
    (SELECT array_agg(DISTINCT role ORDER BY role) FROM ${schema}.clients AS r CROSS JOIN unnest(r.roles) AS role
     WHERE r.tenant_id = $1 AND r.client = c.client) AS roles
  FROM ${schema}.clients AS c
  WHERE c.tenant_id = $1 AND c.client > $2
  GROUP BY c.client ORDER BY c.client LIMIT $3::int8
)
SELECT p.client, coalesce(p.roles, '{}') AS roles,
  ARRAY(SELECT DISTINCT ca.account FROM ${schema}.client_accounts AS ca
        WHERE ca.tenant_id = $1 AND ca.client = p.client ORDER BY ca.account) AS accounts,
  (SELECT count(*) FROM ${schema}.api_keys AS k
   WHERE k.tenant_id = $1 AND k.name = substr(p.client, 5) AND p.client LIKE 'key:%' AND k.revoked_at IS NULL AND k.expires_at > now())::int4 AS keys,
  (SELECT coalesce(sum(n.live), 0) FROM ${schema}.delivery_destination_counts AS n
   WHERE n.tenant_id = $1 AND n.client = p.client)::int4 AS subscriptions,
  p.last_seen_at, p.live
FROM page AS p ORDER BY p.client`

/** Keys and the rows of their clients, locked in key order so that two processes cannot deadlock. */
export const touchKeys = (schema: string) => `
UPDATE ${schema}.api_keys AS k SET last_used_at = u.at
FROM unnest($2::uuid[], $3::timestamptz[]) AS u (id, at)
WHERE k.tenant_id = $1 AND k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`

export const touchClients = (schema: string) => `
UPDATE ${schema}.clients AS c SET last_seen_at = u.at
FROM (SELECT client, max(at) AS at FROM unnest($2::text[], $3::timestamptz[]) AS u (client, at) GROUP BY client) AS u
WHERE c.tenant_id = $1 AND c.client = u.client AND c.origin = 'key' AND (c.last_seen_at IS NULL OR c.last_seen_at < u.at)`
