/** An index for events of a time. */
import type { Migration } from "./Migrations.ts"

/** With millions of stored events, build it beforehand with CONCURRENTLY. The one of `0001_transit_events` by block ranges finds few events only where all are stored in the order of their times. */
export const eventsByTime: Migration = {
  id: 11,
  name: "events_by_time",
  breaking: false,
  up: (schema) => `
CREATE INDEX IF NOT EXISTS transit_events_time ON ${schema}.transit_events (tenant_id, occurred_at);
`
}
