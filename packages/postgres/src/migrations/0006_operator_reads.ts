/** What operators look at: the subscriptions of a tenant by state, and what a subscription was sent. */
import type { Migration } from "./Migrations.ts"

/**
 * `deliveries_settled` leaves out what may still be sent: workers look for that by an index that must stay small, and no plan may
 * mistake the one for the other. Where millions of deliveries are kept, it may be built beforehand with CONCURRENTLY.
 */
export const operatorReads: Migration = {
  id: 6,
  name: "operator_reads",
  breaking: false,
  up: (schema) => `
CREATE INDEX IF NOT EXISTS delivery_lanes_state ON ${schema}.delivery_lanes (tenant_id, state, lane_id) WHERE state <> 'closed';
CREATE INDEX IF NOT EXISTS deliveries_settled ON ${schema}.deliveries (tenant_id, lane_id, delivery_id) WHERE state IN ('delivered', 'cancelled', 'dismissed');
`
}
