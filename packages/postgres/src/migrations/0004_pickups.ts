/** Pickups with their PRO numbers and history, the carrier's work list, and the responses of idempotent requests. */
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
  status text NOT NULL,
  waits boolean NOT NULL,
  doc text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, pickup_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX pickups_number ON ${schema}.pickups (tenant_id, number, is_test) WHERE number IS NOT NULL;
-- the pickups that wait for a decision; few at any time
CREATE INDEX pickups_waiting ON ${schema}.pickups (tenant_id, pickup_id) WHERE waits;
-- for pruning. The tenant comes last, so that no lookup of a tenant uses it while the table has no statistics: old rows are removed soon
CREATE INDEX pickups_created ON ${schema}.pickups (created_at, tenant_id);

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

-- the last number of pickup_changes. Its row lock lasts until commit, so that the numbers are in commit order
CREATE TABLE ${schema}.pickup_feeds (
  tenant_id text COLLATE "C" PRIMARY KEY,
  last bigint NOT NULL,
  last_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- body: the JSON as it is listed and sent, byte for byte. at: never before that of an earlier number
CREATE TABLE ${schema}.pickup_changes (
  tenant_id text COLLATE "C" NOT NULL,
  change_no bigint NOT NULL,
  pickup_id uuid NOT NULL,
  at timestamptz NOT NULL,
  traceparent text,
  body bytea NOT NULL,
  PRIMARY KEY (tenant_id, change_no)
);
CREATE INDEX pickup_changes_at ON ${schema}.pickup_changes (tenant_id, at, change_no);
-- for pruning; the tenant comes last as above
CREATE INDEX pickup_changes_pickup ON ${schema}.pickup_changes (pickup_id, tenant_id);

CREATE TABLE ${schema}.pickup_subscriptions (
  tenant_id text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  client text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  matched boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX pickup_subscriptions_client ON ${schema}.pickup_subscriptions (tenant_id, client, id) WHERE deleted_at IS NULL;
CREATE INDEX pickup_subscriptions_deleted ON ${schema}.pickup_subscriptions (tenant_id, deleted_at) WHERE deleted_at IS NOT NULL;
-- a change of a pickup concerns all of them, and only carriers have any
CREATE INDEX pickup_subscriptions_matched ON ${schema}.pickup_subscriptions (tenant_id) WHERE matched AND deleted_at IS NULL;

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

-- bytes of the rows of pickup_history and pickup_changes, by the client of their pickup. One row for each transaction that was open at the same time
CREATE TABLE ${schema}.pickup_usage (
  tenant_id text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  part bigint GENERATED ALWAYS AS IDENTITY,
  bytes bigint NOT NULL,
  PRIMARY KEY (tenant_id, client, part)
) WITH (fillfactor = 50);

CREATE TABLE ${schema}.pickup_counters (
  tenant_id text COLLATE "C" NOT NULL,
  is_test boolean NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (tenant_id, is_test)
) WITH (fillfactor = 50);
`
}
