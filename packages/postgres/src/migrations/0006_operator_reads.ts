/** Indexes for operator pages: the subscriptions of a tenant by state, those that do not send, and the finished deliveries of a subscription. */
import type { Migration } from "./Migrations.ts"

/**
 * `deliveries_settled` excludes deliveries that may still be sent: workers find these by an index that must stay small, and no plan may
 * use one index for the other. With millions of stored deliveries, build it beforehand with CONCURRENTLY.
 */
export const operatorReads: Migration = {
  id: 6,
  name: "operator_reads",
  breaking: false,
  up: (schema) => `
CREATE INDEX IF NOT EXISTS delivery_destinations_state ON ${schema}.delivery_destinations (tenant_id, state, destination_id) WHERE state <> 'closed';
CREATE INDEX IF NOT EXISTS delivery_destinations_stopped ON ${schema}.delivery_destinations (tenant_id, destination_id) WHERE state = 'paused' OR breaker_open_until IS NOT NULL;
CREATE INDEX IF NOT EXISTS deliveries_settled ON ${schema}.deliveries (tenant_id, destination_id, delivery_id) WHERE state IN ('delivered', 'cancelled', 'dismissed');
`
}
