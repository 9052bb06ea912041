/** SQL statements for pickups. */

/** Serialises requests of a client with the same idempotency key. */
export const lockAnswer = "SELECT pg_advisory_xact_lock(hashtext('waybill pickup ' || $1 || ' ' || $2), hashtext($3))::text AS held"

/** Replaces the PRO numbers of the pickup and adds its history entry. */
const found = (schema: string) => `
dropped AS (
  DELETE FROM ${schema}.pickup_pros WHERE tenant_id = $1 AND pickup_id = $2::uuid AND pro <> ALL ($6::text[])
),
named AS (
  INSERT INTO ${schema}.pickup_pros (tenant_id, pro, pickup_id)
  SELECT DISTINCT $1::text, pro, $2::uuid FROM unnest($6::text[]) AS pro
  ON CONFLICT DO NOTHING
)
INSERT INTO ${schema}.pickup_history (tenant_id, pickup_id, position, doc, at)
SELECT $1, $2::uuid, $7::int8, $8, ($9::timestamptz[])[1]`

export const insertPickup = (schema: string) => `
WITH stored AS (
  INSERT INTO ${schema}.pickups (tenant_id, pickup_id, number, accounts, doc, is_test, client, created_at)
  VALUES ($1, $2::uuid, $3, $4::text[], $5, $10, $11, ($12::timestamptz[])[1])
),
${found(schema)}`

export const updatePickup = (schema: string) => `
WITH stored AS (
  UPDATE ${schema}.pickups SET number = $3, accounts = $4::text[], doc = $5 WHERE tenant_id = $1 AND pickup_id = $2::uuid
),
${found(schema)}`

export const selectPickups = (schema: string) => `
SELECT p.pickup_id, p.number, p.is_test, p.client, p.accounts, p.doc, p.created_at,
       ARRAY(SELECT r.pro FROM ${schema}.pickup_pros AS r WHERE r.tenant_id = p.tenant_id AND r.pickup_id = p.pickup_id ORDER BY r.pro) AS pros
FROM ${schema}.pickups AS p
WHERE p.tenant_id = $1`

/** Pickups that are not tests, by several PROs. $3: limit. */
export const pickupsOfPros = (schema: string) => `${selectPickups(schema)}
AND p.pickup_id IN (SELECT r.pickup_id FROM ${schema}.pickup_pros AS r WHERE r.tenant_id = $1 AND r.pro = ANY ($2::text[])) AND NOT p.is_test
ORDER BY p.created_at DESC, p.pickup_id DESC
LIMIT $3::int8`

export const historiesOf = (schema: string) => `
SELECT h.pickup_id, h.position, h.at, h.doc FROM ${schema}.pickup_history AS h
WHERE h.tenant_id = $1 AND h.pickup_id = ANY ($2::uuid[])
ORDER BY h.pickup_id, h.position`

const pruneSize = 1000

/**
 * A pickup that was changed after this statement started stays until the next call: otherwise the pickup would be removed and
 * the rows written with the change would stay forever.
 */
export const prunePickups = (schema: string) => `
WITH seen AS MATERIALIZED (
  SELECT pickup_id, ctid AS version FROM ${schema}.pickups
  WHERE tenant_id = $1 AND created_at < ($2::timestamptz[])[1]
  ORDER BY created_at
  LIMIT ${pruneSize}
),
locked AS MATERIALIZED (
  SELECT p.pickup_id, p.ctid AS version FROM ${schema}.pickups AS p
  WHERE p.tenant_id = $1 AND p.pickup_id = ANY (ARRAY(SELECT pickup_id FROM seen))
  FOR UPDATE SKIP LOCKED
),
old AS MATERIALIZED (
  SELECT l.pickup_id FROM locked AS l WHERE l.version IN (SELECT version FROM seen)
),
pros AS (
  DELETE FROM ${schema}.pickup_pros AS t USING old WHERE t.tenant_id = $1 AND t.pickup_id = old.pickup_id
),
history AS (
  DELETE FROM ${schema}.pickup_history AS t USING old WHERE t.tenant_id = $1 AND t.pickup_id = old.pickup_id
),
gone AS (
  DELETE FROM ${schema}.pickups AS t USING old WHERE t.tenant_id = $1 AND t.pickup_id = old.pickup_id RETURNING 1
),
stale AS (
  SELECT client, key FROM ${schema}.pickup_answers
  WHERE tenant_id = $1 AND answered_at < ($2::timestamptz[])[2]
  ORDER BY answered_at
  LIMIT ${pruneSize}
  FOR UPDATE SKIP LOCKED
),
forgotten AS (
  DELETE FROM ${schema}.pickup_answers AS a USING stale
  WHERE a.tenant_id = $1 AND a.client = stale.client AND a.key = stale.key
  RETURNING 1
)
SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM forgotten) AS pruned`
