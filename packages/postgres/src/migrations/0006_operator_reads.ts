/**
 * Indexes for pages of operators and customers: the subscriptions of a tenant by client, state and endpoint, those that do not send, the finished deliveries of a subscription,
 * the deliveries of a tenant in each state but delivered, in order, and its dead letters by error.
 */
import { endpointHostSql, lastOutcomeSql, ofAllDestinationsSql } from "../delivery/operator/FilterSql.ts"
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
CREATE INDEX IF NOT EXISTS delivery_destinations_client_state ON ${schema}.delivery_destinations (tenant_id, client, state, destination_id) INCLUDE (source) WHERE state <> 'closed';
CREATE INDEX IF NOT EXISTS delivery_destinations_state ON ${schema}.delivery_destinations (tenant_id, state, destination_id) WHERE state <> 'closed';
CREATE INDEX IF NOT EXISTS delivery_destinations_endpoint ON ${schema}.delivery_destinations (tenant_id, ${endpointHostSql("endpoint_url")}, destination_id) WHERE state <> 'closed';
CREATE INDEX IF NOT EXISTS delivery_destinations_stopped ON ${schema}.delivery_destinations (tenant_id, destination_id) WHERE state = 'paused' OR breaker_open_until IS NOT NULL;
CREATE INDEX IF NOT EXISTS deliveries_settled ON ${schema}.deliveries (tenant_id, destination_id, delivery_id) WHERE state IN ('delivered', 'cancelled', 'dismissed');
CREATE INDEX IF NOT EXISTS deliveries_by_state ON ${schema}.deliveries (tenant_id, state, delivery_id) WHERE state <> 'delivered' AND ${ofAllDestinationsSql("attempts")};
CREATE INDEX IF NOT EXISTS deliveries_dead_error ON ${schema}.deliveries (tenant_id, ${lastOutcomeSql("attempts")}, delivery_id) WHERE state = 'dead' AND ${ofAllDestinationsSql("attempts")};
`
}
