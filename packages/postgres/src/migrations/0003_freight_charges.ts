/** Freight bills, their notifications and subscriptions, and the windows of hourly and daily frequencies. */
import type { Migration } from "./Migrations.ts"

export const freightCharges: Migration = {
  id: 3,
  name: "freight_charges",
  breaking: true,
  up: (schema) => `
-- version 0: a bill that does not exist yet; its first publisher locks this row
CREATE TABLE ${schema}.freight_bills (
  tenant_id text COLLATE "C" NOT NULL,
  bill_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'removed', 'final')),
  accounts text[] NOT NULL,
  doc text NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (tenant_id, bill_id)
) WITH (fillfactor = 70);
CREATE INDEX freight_bills_ended ON ${schema}.freight_bills (tenant_id, ended_at) WHERE ended_at IS NOT NULL;

-- open bills only
CREATE TABLE ${schema}.freight_bill_accounts (
  tenant_id text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  bill_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, account, bill_id)
);
CREATE INDEX freight_bill_accounts_bill ON ${schema}.freight_bill_accounts (tenant_id, bill_id);

CREATE TABLE ${schema}.freight_charge_notices (
  tenant_id text COLLATE "C" NOT NULL,
  notice_no bigint GENERATED ALWAYS AS IDENTITY,
  notice_id text COLLATE "C" NOT NULL,
  bill_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  accounts text[] NOT NULL,
  traceparent text,
  body bytea NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, notice_no)
);

-- closes_at: when the first open window closes; closed_until: the end of the last closed window
CREATE TABLE ${schema}.freight_charge_subscriptions (
  tenant_id text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  client text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  webhook_url text NOT NULL,
  accounts text[],
  created_at timestamptz NOT NULL,
  cancelled_at timestamptz,
  closes_at timestamptz,
  closed_until timestamptz,
  PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 80);
CREATE INDEX freight_charge_subscriptions_client ON ${schema}.freight_charge_subscriptions (tenant_id, client) WHERE cancelled_at IS NULL;
CREATE INDEX freight_charge_subscriptions_closing ON ${schema}.freight_charge_subscriptions (tenant_id, closes_at) WHERE closes_at IS NOT NULL;
CREATE INDEX freight_charge_subscriptions_next ON ${schema}.freight_charge_subscriptions (closes_at) WHERE closes_at IS NOT NULL;
CREATE INDEX freight_charge_subscriptions_cancelled ON ${schema}.freight_charge_subscriptions (tenant_id, cancelled_at) WHERE cancelled_at IS NOT NULL;

-- route: a:<account>, or c:<client> for a subscription to all accounts of its client. The key has the client before the
-- subscription, so that one client's subscriptions to an account that many clients share are found directly
CREATE TABLE ${schema}.freight_charge_routes (
  tenant_id text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  subscription_id uuid NOT NULL,
  client text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, route, client, subscription_id)
);
CREATE INDEX freight_charge_routes_subscription ON ${schema}.freight_charge_routes (tenant_id, subscription_id);

-- a list is kept as long as its subscription, so it stores its own bodies. As notices, they would be scanned by each search for old
-- notices
CREATE TABLE ${schema}.freight_charge_in_flight (
  tenant_id text COLLATE "C" NOT NULL,
  subscription_id uuid NOT NULL,
  bill_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  accounts text[] NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (tenant_id, subscription_id, bill_id)
);

-- the latest notice of each bill in each open window
CREATE TABLE ${schema}.freight_charge_collected (
  tenant_id text COLLATE "C" NOT NULL,
  subscription_id uuid NOT NULL,
  closes_at timestamptz NOT NULL,
  bill_id text COLLATE "C" NOT NULL,
  notice_no bigint NOT NULL,
  PRIMARY KEY (tenant_id, subscription_id, closes_at, bill_id)
);
CREATE INDEX freight_charge_collected_notice ON ${schema}.freight_charge_collected (tenant_id, notice_no);

CREATE TABLE ${schema}.freight_charge_windows (
  tenant_id text COLLATE "C" NOT NULL,
  window_no bigint GENERATED ALWAYS AS IDENTITY,
  subscription_id uuid NOT NULL,
  closed_at timestamptz NOT NULL,
  notices bigint[] NOT NULL,
  first_notice bigint NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, window_no)
);

CREATE INDEX freight_charge_windows_first ON ${schema}.freight_charge_windows (tenant_id, first_notice);
`
}
