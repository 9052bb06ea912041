/** Addresses for notices of failing endpoints, the notices that were sent, and e-mails that wait to be sent. */
import type { Migration } from "./Migrations.ts"

export const endpointNotices: Migration = {
  id: 10,
  name: "endpoint_notices",
  breaking: false,
  up: (schema) => `
CREATE TABLE ${schema}.notice_contacts (
  tenant_id text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  email text,
  webhook_id uuid,
  -- null: notices of every kind
  email_kinds text[],
  webhook_kinds text[],
  PRIMARY KEY (tenant_id, client)
);

-- bodies of webhooks
CREATE TABLE ${schema}.webhook_notices (
  tenant_id text COLLATE "C" NOT NULL,
  notice_no bigint GENERATED ALWAYS AS IDENTITY,
  notice_id text COLLATE "C" NOT NULL,
  subject_id uuid NOT NULL,
  traceparent text,
  body bytea NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, notice_no)
);

CREATE TABLE ${schema}.endpoint_notices (
  tenant_id text COLLATE "C" NOT NULL,
  destination_id uuid NOT NULL,
  kind text NOT NULL,
  day integer NOT NULL,
  PRIMARY KEY (tenant_id, destination_id, kind, day)
);
CREATE INDEX endpoint_notices_age ON ${schema}.endpoint_notices (tenant_id, day);

-- a mail is removed when a mail server has accepted it. scheduled_at: when due_at was set; ahead of the clock once the clock was set back
CREATE TABLE ${schema}.mails (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  scheduled_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX mails_due ON ${schema}.mails (tenant_id, due_at);
CREATE INDEX mails_scheduled ON ${schema}.mails (tenant_id, scheduled_at);
CREATE INDEX mails_lag ON ${schema}.mails (due_at);
`
}
