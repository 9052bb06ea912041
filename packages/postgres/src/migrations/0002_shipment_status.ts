/** Shipment statuses with their lookup keys and subscriptions, and destinations that need no secret or pause at a dead letter. */
import type { Migration } from "./Migrations.ts"

export const shipmentStatus: Migration = {
  id: 2,
  name: "shipment_status",
  // an older program would claim destinations of sources that it does not know
  breaking: true,
  up: (schema) => `
ALTER TABLE ${schema}.delivery_destinations
  ADD COLUMN signing text NOT NULL DEFAULT 'required' CHECK (signing IN ('required', 'whenRegistered')),
  ADD COLUMN when_dead text NOT NULL DEFAULT 'continue' CHECK (when_dead IN ('continue', 'pause'));

-- verified and public: the responses of lookups, byte for byte. Every lookup reads them, so rows up to 4 KB are not moved to TOAST
CREATE TABLE ${schema}.shipment_statuses (
  tenant_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  verified bytea NOT NULL,
  public bytea NOT NULL,
  covered boolean NOT NULL,
  pickup_at timestamptz NOT NULL,
  delivered_at timestamptz,
  PRIMARY KEY (tenant_id, shipment_id)
) WITH (fillfactor = 70, toast_tuple_target = 4080);
CREATE INDEX shipment_statuses_delivered ON ${schema}.shipment_statuses (tenant_id, delivered_at) WHERE delivered_at IS NOT NULL;

-- keys and accounts repeat the pickup time of their shipments, so that one index finds the newest shipment of a key, and another a
-- range of an account
CREATE TABLE ${schema}.shipment_keys (
  tenant_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  pickup_at timestamptz NOT NULL,
  covered boolean NOT NULL,
  PRIMARY KEY (tenant_id, shipment_id, key)
);
CREATE INDEX shipment_keys_newest ON ${schema}.shipment_keys (tenant_id, key, pickup_at DESC, shipment_id DESC) INCLUDE (covered);

-- null if lookups do not find the shipment
ALTER TABLE ${schema}.shipment_accounts ADD COLUMN pickup_at timestamptz;
CREATE INDEX shipment_accounts_pickup ON ${schema}.shipment_accounts (tenant_id, account, pickup_at, shipment_id) WHERE pickup_at IS NOT NULL;

CREATE TABLE ${schema}.shipment_references (
  tenant_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  reference text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, shipment_id, reference)
);

CREATE TABLE ${schema}.shipment_status_history (
  tenant_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  occurred_at timestamptz NOT NULL,
  doc text NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, shipment_id, position)
);

CREATE TABLE ${schema}.shipment_status_notices (
  tenant_id text COLLATE "C" NOT NULL,
  notice_no bigint GENERATED ALWAYS AS IDENTITY,
  notice_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  traceparent text,
  body bytea NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, notice_no)
);

CREATE TABLE ${schema}.shipment_status_subscriptions (
  tenant_id text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  client text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

-- a reference may belong to no shipment yet
CREATE TABLE ${schema}.shipment_status_routes (
  tenant_id text COLLATE "C" NOT NULL,
  reference text COLLATE "C" NOT NULL,
  subscription_id uuid NOT NULL,
  client text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, reference, subscription_id)
);
CREATE INDEX shipment_status_routes_subscription ON ${schema}.shipment_status_routes (tenant_id, subscription_id);
`
}
