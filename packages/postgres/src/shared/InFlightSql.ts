/** SQL for deliveries of one tenant that are sent for the first time: they are stored in their flights only. */
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"

/**
 * The rows of the view `deliveries_in_flight` of one tenant, with the columns of `deliveries`. Citus reads the view on all nodes, because it does not
 * recognize there that its tables are of the same tenant. OFFSET 0: one lookup for each, regardless of the planner's statistics.
 */
export const inFlight = (schema: Statement, tenantId: string): Statement => statement`(
    SELECT f.tenant_id, f.partition, f.flight, u.delivery_id, u.destination_id, 'sending'::text AS state, u.attempt, u.tries, u.refs, u.keys, f.sent_at,
           NULL::timestamptz AS due_at, NULL::timestamptz AS settled_at, NULL::text AS reason, u.traceparent, '{}'::text[] AS attempts
    FROM ${schema}.delivery_flights AS f
    CROSS JOIN LATERAL (
      SELECT (left(f.flight::text, 32) || lpad(to_hex(u.ordinal), 4, '0'))::uuid AS delivery_id,
             u.destination_id, u.attempt, u.tries, u.refs, u.keys, u.traceparent
      FROM unnest(f.deliveries) AS u
      WHERE u.delivery_id IS NULL
      OFFSET 0
    ) AS u
    WHERE f.tenant_id = ${tenant(tenantId)}
      AND NOT EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = u.delivery_id OFFSET 0)
  )`
