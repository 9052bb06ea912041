/** SQL that finds one row for each row before it. LIMIT and OFFSET: one lookup in the primary key for each, whatever the planner expects. */
import { nothing, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"

/** `l`: the destination of a row. */
export const destinationOf = (schema: Statement, tenantId: string, destinationId: string, condition: Statement = nothing): Statement => statement`CROSS JOIN LATERAL (
  SELECT l.* FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id = ${raw(destinationId)} ${condition}
  LIMIT 1
) AS l`

/** Whether the destination `l` of a row `d` is there and fulfils a condition. */
export const hasDestination = (schema: Statement, tenantId: string, condition: Statement): Statement => statement`EXISTS (
  SELECT FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id = d.destination_id AND ${condition}
  OFFSET 0
)`

/** `d`: a delivery in this state, by an id `g.delivery_id`. */
export const deliveryIn = (schema: Statement, tenantId: string, state: "sending" | "waiting"): Statement => statement`CROSS JOIN LATERAL (
  SELECT d.* FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = g.delivery_id AND coalesce(d.state, '') = ${raw(`'${state}'`)}
  LIMIT 1
) AS d`

/** `f` and `u`: a flight, by `g.partition` and `g.flight`, and each of its deliveries. */
export const flownIn = (schema: Statement, tenantId: string): Statement => statement`CROSS JOIN LATERAL (
  SELECT f.* FROM ${schema}.delivery_flights AS f WHERE f.tenant_id = ${tenant(tenantId)} AND f.partition = g.partition AND f.flight = g.flight
  LIMIT 1
) AS f
CROSS JOIN LATERAL unnest(f.deliveries) AS u`
