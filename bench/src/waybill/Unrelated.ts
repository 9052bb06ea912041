/** Subscriptions that never match: other clients' accounts, other shipments. */
import { query } from "../machine/PostgresServer.ts"
import { tenantId } from "./Tenant.ts"

/** Adds `count` of them: half name a shipment, half select everything that a client sees. Their rows are like real ones. */
export const addUnrelated = async (database: string, schema: string, count: number): Promise<void> => {
  await query(
    database,
    `WITH subs AS MATERIALIZED (
       SELECT uuidv7() AS id, n, n % 2 = 0 AS named, 'other-' || n AS client FROM generate_series(1, $2::int8) AS n
     ),
     stored AS (
       INSERT INTO ${schema}.transit_subscriptions (tenant_id, id, client, doc, type_mask, shipment_ids, created_at, updated_at)
       SELECT $1, id, client, '{"endpointUrl":"https://receiver.example/hook","hmacSecretId":"secret"}', 16777215,
              CASE WHEN named THEN ARRAY['OTHER' || n] END, now(), now()
       FROM subs
     ),
     destinations AS (
       INSERT INTO ${schema}.delivery_destinations
         (tenant_id, destination_id, client, source, endpoint_url, hmac_secret_id, max_attempts, initial_backoff_seconds, max_backoff_seconds,
          batch_max_size, rate_limit_per_minute, envelope_open, envelope_close, state)
       SELECT $1, id, client, 'transit-events', 'https://receiver.example/hook', 'secret', 12, 5, 3600, 200, 600, '{"events":[', ']}', 'active'
       FROM subs
     ),
     accounts AS (
       INSERT INTO ${schema}.client_accounts (tenant_id, account, client, origin) SELECT $1, 'OTHER' || n, client, 'token' FROM subs
     ),
     seen AS (
       INSERT INTO ${schema}.clients (tenant_id, client, origin, sees_all) SELECT $1, client, 'token', false FROM subs
     )
     INSERT INTO ${schema}.transit_routes (tenant_id, route, subscription_id, client, type_mask)
     SELECT $1, CASE WHEN named THEN 's:OTHER' || n ELSE 'c:' || client END, id, client, 16777215 FROM subs`,
    [tenantId, count]
  )
}
