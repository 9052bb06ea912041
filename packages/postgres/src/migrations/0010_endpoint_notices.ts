/** Where customers want to be told of failing endpoints, and what they were told. */
import type { Migration } from "./Migrations.ts"

export const endpointNotices: Migration = {
  id: 10,
  name: "endpoint_notices",
  breaking: false,
  up: (schema) => `
CREATE TABLE ${schema}.notice_contacts (
  tenant_id text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  email text NOT NULL,
  PRIMARY KEY (tenant_id, client)
);
CREATE TABLE ${schema}.endpoint_notices (
  tenant_id text COLLATE "C" NOT NULL,
  destination_id uuid NOT NULL,
  kind text NOT NULL,
  day integer NOT NULL,
  PRIMARY KEY (tenant_id, destination_id, kind, day)
);
CREATE INDEX endpoint_notices_age ON ${schema}.endpoint_notices (tenant_id, day);
`
}
