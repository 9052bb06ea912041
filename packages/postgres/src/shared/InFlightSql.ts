/** SQL for deliveries that are sent for the first time: they are stored in their flights only. */
import { nothing, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"

/**
 * Those of one tenant, or of all, with the columns of `deliveries`. One that has an outcome has a row there. The tenant stands at each table, or Citus
 * reads all nodes. OFFSET 0: one lookup for each, regardless of the planner's statistics.
 */
export const inFlight = (schema: Statement, tenantId?: string): Statement => {
  const own = tenantId === undefined ? raw("f.tenant_id") : tenant(tenantId)
  return statement`(
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
    WHERE NOT EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${own} AND d.delivery_id = u.delivery_id OFFSET 0)
      ${tenantId === undefined ? nothing : statement`AND f.tenant_id = ${own}`}
  )`
}
