/** Pickups with their PRO numbers and history, and the responses of idempotent requests. */
import type { Migration } from "./Migrations.ts"

export const pickups: Migration = {
  id: 4,
  name: "pickups",
  breaking: false,
  up: (schema) => `
-- accounts: the accounts in the request, and after a carrier with a number has decided, its numbers in the format of client_accounts
CREATE TABLE ${schema}.pickups (
  tenant_id text COLLATE "C" NOT NULL,
  pickup_id uuid NOT NULL,
  number text COLLATE "C",
  is_test boolean NOT NULL,
  client text COLLATE "C" NOT NULL,
  accounts text[] NOT NULL,
  doc text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, pickup_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX pickups_number ON ${schema}.pickups (tenant_id, number, is_test) WHERE number IS NOT NULL;
CREATE INDEX pickups_created ON ${schema}.pickups (tenant_id, created_at);

CREATE TABLE ${schema}.pickup_pros (
  tenant_id text COLLATE "C" NOT NULL,
  pro text COLLATE "C" NOT NULL,
  pickup_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, pro, pickup_id)
);
CREATE INDEX pickup_pros_pickup ON ${schema}.pickup_pros (tenant_id, pickup_id);

CREATE TABLE ${schema}.pickup_history (
  tenant_id text COLLATE "C" NOT NULL,
  pickup_id uuid NOT NULL,
  position bigint NOT NULL,
  at timestamptz NOT NULL,
  doc text NOT NULL,
  PRIMARY KEY (tenant_id, pickup_id, position)
);

CREATE TABLE ${schema}.pickup_answers (
  tenant_id text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  answer text NOT NULL,
  answered_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, client, key)
);
CREATE INDEX pickup_answers_age ON ${schema}.pickup_answers (tenant_id, answered_at);

CREATE TABLE ${schema}.pickup_counters (
  tenant_id text COLLATE "C" NOT NULL,
  is_test boolean NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (tenant_id, is_test)
) WITH (fillfactor = 50);
`
}
