/** SQL statements for charge subscriptions and their in-flight lists. */

export const insertSubscription = (schema: string) => `
WITH stored AS (
  INSERT INTO ${schema}.freight_charge_subscriptions (tenant_id, id, client, doc, webhook_url, accounts, created_at)
  VALUES ($1, $2::uuid, $3, $4, $5, $6::text[], ($7::timestamptz[])[1])
)
INSERT INTO ${schema}.freight_charge_routes (tenant_id, route, subscription_id, client)
SELECT DISTINCT $1::text, route, $2::uuid, $3::text FROM unnest($8::text[]) AS route`

export const addInFlight = (schema: string) => `
INSERT INTO ${schema}.freight_charge_in_flight (tenant_id, subscription_id, bill_id, body, accounts)
SELECT $1, $2::uuid, g.bill_id, g.body, g.accounts::text[]
FROM unnest($3::text[], $4::bytea[], $5::text[]) AS g (bill_id, body, accounts)`

/** A separate statement after the lock, so that it sees entries of the transactions that the lock waited for. */
export const cancelSubscription = (schema: string) => `
WITH gone AS (
  UPDATE ${schema}.freight_charge_subscriptions
  SET cancelled_at = now(), closes_at = NULL
  WHERE tenant_id = $1 AND client = $2 AND id = $3::uuid AND cancelled_at IS NULL
  RETURNING id
),
routes AS (
  DELETE FROM ${schema}.freight_charge_routes AS r USING gone WHERE r.tenant_id = $1 AND r.subscription_id = gone.id
),
collected AS (
  DELETE FROM ${schema}.freight_charge_collected AS c USING gone WHERE c.tenant_id = $1 AND c.subscription_id = gone.id
)
SELECT count(*) AS cancelled FROM gone`

export const selectSubscriptions = (schema: string) => `
SELECT s.id, s.client, s.doc, s.created_at, s.cancelled_at, l.state, l.state_reason, l.state_since, l.paused_by
FROM ${schema}.freight_charge_subscriptions AS s
LEFT JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = s.tenant_id AND l.destination_id = s.id AND l.state <> 'closed'
WHERE s.tenant_id = $1`

export const inFlight = (schema: string) => `
SELECT i.bill_id, i.body
FROM ${schema}.freight_charge_subscriptions AS s
JOIN ${schema}.freight_charge_in_flight AS i ON i.tenant_id = $1 AND i.subscription_id = s.id
WHERE s.tenant_id = $1 AND s.client = $2 AND s.id = $3::uuid
  AND i.bill_id > $4
  AND EXISTS (
    SELECT FROM ${schema}.client_accounts AS ca
    WHERE ca.tenant_id = $1 AND ca.client = $2 AND ca.account = ANY (i.accounts)
  )
ORDER BY i.bill_id
LIMIT $5::int8`
