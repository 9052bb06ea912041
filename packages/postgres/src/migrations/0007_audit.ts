/** The audit log. */
import type { Migration } from "./Migrations.ts"

/** `entry_id` is a UUID of version 7, so it orders by time. `tenant_id` is empty for calls without a tenant; entries outlive their tenant. */
export const audit: Migration = {
  id: 7,
  name: "audit",
  breaking: false,
  up: (schema) => `
CREATE TABLE ${schema}.audit_entries (
  tenant_id text COLLATE "C" NOT NULL,
  entry_id uuid NOT NULL,
  at timestamptz NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('operator', 'client')),
  actor_name text COLLATE "C" NOT NULL,
  address text,
  action text NOT NULL,
  object_kind text NOT NULL,
  object_id text NOT NULL,
  result text NOT NULL CHECK (result IN ('ok', 'refused')),
  status integer NOT NULL,
  request_id text NOT NULL,
  PRIMARY KEY (tenant_id, entry_id)
);
CREATE INDEX audit_entries_newest ON ${schema}.audit_entries (entry_id);
CREATE INDEX audit_entries_actor ON ${schema}.audit_entries (actor_name, entry_id);
CREATE INDEX audit_entries_tenant_actor ON ${schema}.audit_entries (tenant_id, actor_name, entry_id);
`
}
