/** Attempts and waiting entries by minute and by hour, for charts. */
import type { Migration } from "./Migrations.ts"

/**
 * `destination_id` has no foreign key: some ids represent all destinations of a partition, and rows outlive their destination. `client` is
 * empty but in the totals of a client. The index by time is for retention.
 */
const table = (schema: string, name: string): string => `
CREATE TABLE ${schema}.${name} (
  tenant_id text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  destination_id uuid NOT NULL,
  at timestamptz NOT NULL,
  deliveries bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  latency_millis bigint NOT NULL DEFAULT 0,
  max_latency_millis bigint NOT NULL DEFAULT 0,
  waiting bigint,
  PRIMARY KEY (tenant_id, client, destination_id, at)
) WITH (fillfactor = 80);
CREATE INDEX ${name}_age ON ${schema}.${name} (tenant_id, at);
`

export const deliveryStatistics: Migration = {
  id: 9,
  name: "delivery_statistics",
  breaking: false,
  up: (schema) => table(schema, "delivery_minutes") + table(schema, "delivery_hours")
}
