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

/**
 * The keys of a destination's unfinished deliveries, each with the one that goes first: one that is sent, else the oldest; and whether it holds back others. Rows come by the
 * order of their index, or the planner may look for them among all deliveries of the tenant.
 */
export const unfinishedKeys = (schema: Statement, tenantId: string, destinationId: string): Statement => statement`
    SELECT jsonb_object_agg(k.key, u.delivery_id ORDER BY u.state = 'sending', u.delivery_id DESC) AS keys, count(*) > count(DISTINCT k.key) AS holds_back
    FROM (
      SELECT u.delivery_id, u.state, u.keys FROM ${schema}.deliveries AS u
      WHERE u.tenant_id = ${tenant(tenantId)} AND u.destination_id = ${raw(destinationId)} AND u.state IN ('sending', 'waiting')
      ORDER BY u.due_at
      OFFSET 0
    ) AS u
    CROSS JOIN LATERAL unnest(u.keys) AS k (key)`

/** Whether an unfinished delivery `u` goes first by such keys. */
export const goesFirst = (held: string): string => `NOT EXISTS (SELECT FROM unnest(u.keys) AS k (key) WHERE ${held} ->> k.key <> u.delivery_id::text)`

/** `f` and `u`: a flight, by `g.partition` and `g.flight`, and each of its deliveries. */
export const flownIn = (schema: Statement, tenantId: string): Statement => statement`CROSS JOIN LATERAL (
  SELECT f.* FROM ${schema}.delivery_flights AS f WHERE f.tenant_id = ${tenant(tenantId)} AND f.partition = g.partition AND f.flight = g.flight
  LIMIT 1
) AS f
CROSS JOIN LATERAL unnest(f.deliveries) AS u`
