/** Events that were published from SQL and have not changed the status of their shipment yet. */
import type { Migration } from "./Migrations.ts"

export const eventsAwaitingStatus: Migration = {
  id: 8,
  name: "events_awaiting_status",
  breaking: false,
  up: (schema) => `
CREATE TABLE ${schema}.transit_events_awaiting_status (
  tenant_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  event_no bigint NOT NULL,
  PRIMARY KEY (tenant_id, shipment_id, event_no)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
`
}
