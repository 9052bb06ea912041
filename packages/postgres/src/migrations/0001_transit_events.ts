/** Tenants, keys, secrets, shipments, the event log, subscriptions, destinations and deliveries. */
import type { Migration } from "./Migrations.ts"

/**
 * Gives a table that is empty most of the time some fifty pages for good. A plan that is made while a table has no pages reads all of it, and is still
 * used when the table is full. With these pages the planner prefers an index, however old its statistics are.
 */
const withPages = (schema: string, table: string, rows: string): string => `
ALTER TABLE ${schema}.${table} SET (vacuum_truncate = off, fillfactor = 10);
INSERT INTO ${schema}.${table} ${rows} FROM generate_series(1, 512) AS n;
DELETE FROM ${schema}.${table};
ALTER TABLE ${schema}.${table} SET (fillfactor = 100);`

/**
 * Ids compare byte by byte (`COLLATE "C"`): the published order of events must not depend on the server's locale.
 * Every primary key starts with `tenant_id`, and no key refers to another tenant, so that the schema can be distributed by tenant.
 */
export const transitEvents: Migration = {
  id: 1,
  name: "transit_events",
  breaking: true,
  up: (schema) => `
-- in another one, a call with a character that it lacks would fail
DO $encoding$ BEGIN
  IF current_setting('server_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'Database % has the encoding %, and Waybill needs UTF8. Create one WITH ENCODING ''UTF8'' TEMPLATE template0, and use that', current_database(), current_setting('server_encoding');
  END IF;
END $encoding$;
CREATE TABLE ${schema}.tenants (
  tenant_id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  hosts text[] NOT NULL,
  limits text,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'deleted')),
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE INDEX tenants_deleted ON ${schema}.tenants (tenant_id) WHERE state = 'deleted';

CREATE TABLE ${schema}.api_keys (
  tenant_id text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  roles text[] NOT NULL,
  accounts text[] NOT NULL,
  dot text,
  mc text,
  hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT 'infinity',
  last_used_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX api_keys_client ON ${schema}.api_keys (tenant_id, name) WHERE revoked_at IS NULL;

-- one row per client and credential source (origin). Publishing joins these rows, so a change applies from the next event on.
-- A client has access while one of its rows has live_until > now(); a client without access keeps its last rows. review_at: when
-- its access has to be computed again. ending_through: the newest subscription id that the client's removal closes
CREATE TABLE ${schema}.clients (
  tenant_id text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  origin text NOT NULL CHECK (origin IN ('key', 'token')),
  sees_all boolean NOT NULL,
  roles text[] NOT NULL DEFAULT '{}',
  live_until timestamptz NOT NULL DEFAULT 'infinity',
  last_seen_at timestamptz,
  review_at timestamptz,
  ending_through uuid,
  PRIMARY KEY (tenant_id, client, origin)
);
CREATE INDEX clients_review ON ${schema}.clients (review_at) WHERE review_at IS NOT NULL;
CREATE INDEX clients_seeing_all ON ${schema}.clients (tenant_id, client) WHERE sees_all;

-- account: an account number; " dot 123" or " mc 123" for all freight of that carrier; " dot 123 A" for charges of account A of that carrier
CREATE TABLE ${schema}.client_accounts (
  tenant_id text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  origin text NOT NULL,
  PRIMARY KEY (tenant_id, account, client, origin)
);
CREATE INDEX client_accounts_client ON ${schema}.client_accounts (tenant_id, client, origin, account);

-- versions are newest first: sealed[n] signs until signs_until[n], the first without end. The owner is a client, all clients with
-- one of the accounts, or any client. A row without versions reserves the id while a secret is being registered
CREATE TABLE ${schema}.secrets (
  tenant_id text COLLATE "C" NOT NULL,
  hmac_secret_id text COLLATE "C" NOT NULL,
  sealed bytea[] NOT NULL,
  signs_until timestamptz[] NOT NULL,
  client text COLLATE "C",
  accounts text[] NOT NULL,
  any_client boolean NOT NULL,
  body_signature boolean NOT NULL,
  created_at timestamptz NOT NULL,
  rotated_at timestamptz,
  PRIMARY KEY (tenant_id, hmac_secret_id),
  CHECK (cardinality(sealed) = cardinality(signs_until)),
  CHECK (cardinality(sealed) = 0 OR (client IS NOT NULL)::int + (cardinality(accounts) > 0)::int + any_client::int = 1)
);

-- a customer lists its own secrets
CREATE INDEX secrets_by_client ON ${schema}.secrets (tenant_id, client, hmac_secret_id) WHERE client IS NOT NULL;

-- the row lock orders a shipment's events. allocated: how many numbers the last call took; reassigned: whether it changed the
-- accounts or the carrier; carrier: the carrier's numbers in the format of client_accounts; written: whether any write was ever
-- accepted. Before that, any carrier may write the shipment and then owns it
CREATE TABLE ${schema}.shipments (
  tenant_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  accounts text[],
  carrier text[],
  written boolean NOT NULL DEFAULT false,
  last_sequence bigint NOT NULL DEFAULT 0,
  allocated integer NOT NULL DEFAULT 0,
  reassigned boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, shipment_id)
) WITH (fillfactor = 70);

-- both accounts and carrier numbers, so that one join finds the shipments that a client may see
CREATE TABLE ${schema}.shipment_accounts (
  tenant_id text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, account, shipment_id)
);
CREATE INDEX shipment_accounts_shipment ON ${schema}.shipment_accounts (tenant_id, shipment_id);

-- body: the JSON as it is sent, byte for byte. xid: decides which snapshots see the event, so that the pages of one list do not change
CREATE TABLE ${schema}.transit_events (
  tenant_id text COLLATE "C" NOT NULL,
  event_no bigint GENERATED ALWAYS AS IDENTITY,
  event_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  type_bit integer NOT NULL,
  occurred_at timestamptz NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  traceparent text,
  body bytea NOT NULL,
  PRIMARY KEY (tenant_id, event_no)
);
CREATE UNIQUE INDEX transit_events_id ON ${schema}.transit_events (tenant_id, event_id, shipment_id);
CREATE INDEX transit_events_order ON ${schema}.transit_events (tenant_id, shipment_id, sequence, event_id);
CREATE INDEX transit_events_occurred ON ${schema}.transit_events USING brin (occurred_at);
CREATE INDEX transit_events_recorded ON ${schema}.transit_events USING brin (recorded_at);

-- the Postgres cluster that assigned the xids above: after a restore into another cluster they are invalid and are reset
CREATE TABLE ${schema}.cluster (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  system_identifier text NOT NULL
);

CREATE TABLE ${schema}.transit_cursors (
  tenant_id text COLLATE "C" NOT NULL,
  query_key text COLLATE "C" NOT NULL,
  page bigint NOT NULL,
  snapshot text NOT NULL,
  after_shipment text COLLATE "C" NOT NULL,
  after_sequence bigint NOT NULL,
  after_event text COLLATE "C" NOT NULL,
  total_count bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, query_key, page)
);
CREATE INDEX transit_cursors_age ON ${schema}.transit_cursors (tenant_id, created_at);

CREATE TABLE ${schema}.transit_subscriptions (
  tenant_id text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  client text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  type_mask integer NOT NULL,
  shipment_ids text[],
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX transit_subscriptions_client ON ${schema}.transit_subscriptions (tenant_id, client, id) WHERE deleted_at IS NULL;
CREATE INDEX transit_subscriptions_deleted ON ${schema}.transit_subscriptions (tenant_id, deleted_at) WHERE deleted_at IS NOT NULL;

-- the inverted index of all filters. route: s:<shipmentId>, or c:<client> for a subscription to all shipments that its client sees
CREATE TABLE ${schema}.transit_routes (
  tenant_id text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  subscription_id uuid NOT NULL,
  client text COLLATE "C" NOT NULL,
  type_mask integer NOT NULL,
  PRIMARY KEY (tenant_id, route, subscription_id)
);
CREATE INDEX transit_routes_subscription ON ${schema}.transit_routes (tenant_id, subscription_id);

-- version: grows with every change of settings, secret or state, so that the owner of the destination's partition loads it again; the breaker
-- and dropped do not count. rate_mark: when the allowance of its rate is used up to, written when a partition is given back. dropped: how
-- many entries were removed without being sent. resumes_as: the state to restore when an operator's pause ends, if it is not active
CREATE TABLE ${schema}.delivery_destinations (
  tenant_id text COLLATE "C" NOT NULL,
  destination_id uuid NOT NULL,
  client text COLLATE "C" NOT NULL,
  source text NOT NULL,
  endpoint_url text NOT NULL,
  hmac_secret_id text COLLATE "C" NOT NULL,
  max_attempts integer NOT NULL,
  initial_backoff_seconds integer NOT NULL,
  max_backoff_seconds integer NOT NULL,
  batch_max_size integer NOT NULL,
  rate_limit_per_minute integer NOT NULL,
  envelope_open text NOT NULL,
  envelope_close text NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'paused', 'inactive', 'closed')),
  state_reason text,
  state_since timestamptz NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 0,
  rate_mark float8,
  breaker_failures integer NOT NULL DEFAULT 0,
  breaker_open_until float8,
  paused_by text CHECK (paused_by IN ('client', 'service', 'operator')),
  resumes_as text CHECK (resumes_as = 'inactive'),
  dropped bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, destination_id)
) WITH (fillfactor = 80);
CREATE INDEX delivery_destinations_client ON ${schema}.delivery_destinations (tenant_id, client, destination_id) WHERE state <> 'closed';
CREATE INDEX delivery_destinations_secret ON ${schema}.delivery_destinations (tenant_id, hmac_secret_id) WHERE state <> 'closed';
-- for retention
CREATE INDEX delivery_destinations_closed ON ${schema}.delivery_destinations (tenant_id, state_since) WHERE state = 'closed';

-- how many open destinations a client has of each source, so that quotas are checked without counting rows
CREATE TABLE ${schema}.delivery_destination_counts (
  tenant_id text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  live bigint NOT NULL,
  PRIMARY KEY (tenant_id, client, source)
) WITH (fillfactor = 70);

CREATE TABLE ${schema}.delivery_entries (
  tenant_id text COLLATE "C" NOT NULL,
  destination_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  ref bigint NOT NULL,
  size integer NOT NULL,
  queued_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, destination_id, key, sequence, ref)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
${withPages(schema, "delivery_entries", "(tenant_id, destination_id, key, sequence, ref, size) SELECT '', gen_random_uuid(), '', n, n, 1")}

-- entries that were removed without being sent, with the reason: the newest thousand of each destination
CREATE TABLE ${schema}.delivery_drops (
  tenant_id text COLLATE "C" NOT NULL,
  destination_id uuid NOT NULL,
  drop_no bigint GENERATED ALWAYS AS IDENTITY,
  key text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  ref bigint NOT NULL,
  reason text NOT NULL,
  dropped_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, destination_id, drop_no)
);

-- one row for each destination and statement that changes the owner's state. key: the smallest published key; null when
-- anything may have changed. The owner of the partition deletes the rows that it has read, so a publisher that commits late is never missed
CREATE TABLE ${schema}.delivery_signals (
  tenant_id text COLLATE "C" NOT NULL,
  partition smallint NOT NULL,
  signal_no bigint GENERATED ALWAYS AS IDENTITY,
  destination_id uuid NOT NULL,
  key text COLLATE "C",
  signalled_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, partition, signal_no)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
${withPages(schema, "delivery_signals", "(tenant_id, partition, destination_id, key) SELECT '', 0, gen_random_uuid(), ''")}

-- partition: the last byte of a destination's id modulo 8. epoch: fences the writes of its owner, which lock the row FOR SHARE and compare.
-- others_until: milliseconds since 1970; the last time at which a previous owner may have sent, if this was within a minute of the handover
CREATE TABLE ${schema}.delivery_partitions (
  tenant_id text COLLATE "C" NOT NULL,
  partition smallint NOT NULL,
  epoch bigint NOT NULL,
  others_until float8,
  PRIMARY KEY (tenant_id, partition)
);

-- who owns a partition; a table of its own, so that renewals do not wait for the owner's writes. A row is there as long as the partition has
-- work. leased_until: -infinity when its owner has given it back. lease: how long it lasts from a renewal
CREATE TABLE ${schema}.delivery_leases (
  tenant_id text COLLATE "C" NOT NULL,
  partition smallint NOT NULL,
  worker_id text COLLATE "C" NOT NULL,
  leased_until timestamptz NOT NULL,
  lease interval NOT NULL,
  PRIMARY KEY (tenant_id, partition)
) WITH (fillfactor = 50);
CREATE INDEX delivery_leases_worker ON ${schema}.delivery_leases (worker_id);

CREATE TABLE ${schema}.delivery_workers (
  worker_id text COLLATE "C" PRIMARY KEY,
  alive_until timestamptz NOT NULL,
  lease interval NOT NULL
) WITH (fillfactor = 50);

-- delivery_id: null for a new delivery, whose id is its flight's with the ordinal in the last two bytes
CREATE TYPE ${schema}.flown_delivery AS (
  ordinal integer,
  destination_id uuid,
  delivery_id uuid,
  refs bigint[],
  keys text[],
  attempt integer,
  tries integer,
  traceparent text
);

-- the deliveries of one take in one partition, from before the first byte is sent until every outcome is written. entries: in its new deliveries
CREATE TABLE ${schema}.delivery_flights (
  tenant_id text COLLATE "C" NOT NULL,
  partition smallint NOT NULL,
  flight uuid NOT NULL,
  sent_at timestamptz NOT NULL,
  entries integer NOT NULL,
  deliveries ${schema}.flown_delivery[] NOT NULL,
  PRIMARY KEY (tenant_id, partition, flight)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
-- gone within seconds: not worth compressing
ALTER TABLE ${schema}.delivery_flights ALTER COLUMN deliveries SET STORAGE EXTERNAL;
${withPages(schema, "delivery_flights", "(tenant_id, partition, flight, sent_at, entries, deliveries) SELECT '', 0, gen_random_uuid(), now(), 0, '{}'")}

-- a row exists when a delivery has ended, waits, or is sent again; while it is sent for the first time it is stored in its flight only.
-- refs: the stored payloads of the frozen body, in order; the body joins them, so it is not stored twice. attempts: one JSON text
-- for each attempt, read only by core. reason: why a delivery was cancelled, unless its subscription was deleted
CREATE TABLE ${schema}.deliveries (
  tenant_id text COLLATE "C" NOT NULL,
  delivery_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('sending', 'waiting', 'delivered', 'dead', 'dismissed', 'cancelled')),
  attempt integer NOT NULL,
  tries integer NOT NULL,
  refs bigint[] NOT NULL,
  keys text[] NOT NULL,
  sent_at timestamptz NOT NULL,
  due_at timestamptz,
  settled_at timestamptz,
  reason text,
  traceparent text,
  attempts text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (tenant_id, delivery_id)
);
${withPages(schema, "deliveries", "(tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at) SELECT '', gen_random_uuid(), gen_random_uuid(), 'cancelled', 1, 1, '{}', '{}', now()")}
CREATE INDEX deliveries_unsettled ON ${schema}.deliveries (tenant_id, destination_id, due_at) WHERE state IN ('sending', 'waiting');
CREATE INDEX deliveries_dead ON ${schema}.deliveries (tenant_id, destination_id, delivery_id) WHERE state = 'dead';
`
}
