/** The second half of a take: moves selected entries from destinations into flights. */
import { timestamptz, uuid } from "../client/SqlRow.ts"
import { nothing, raw, type Statement, statement } from "../client/SqlStatement.ts"
import { holdsUnseen } from "./DeliveryGateSql.ts"
import { payloadOf } from "./PayloadSql.ts"
import type { Taking } from "./PickSql.ts"
import { partitionOfSql } from "../shared/DeliveryEntrySql.ts"

/**
 * `repeated`: deliveries that wait and that no other holds back, with whether their client may no longer see all that is in them. `again`: those that are
 * sent; they stand in their row too.
 */
export const sentAgain = ({ schema, sources, tenantId }: Taking) => statement`
repeated AS MATERIALIZED (
  SELECT l.destination_id, d.delivery_id, ${raw(holdsUnseen(schema.text, sources))} AS unseen
  FROM found AS l
  CROSS JOIN LATERAL unnest(l.again) AS g (delivery_id)
  CROSS JOIN LATERAL (
    SELECT d.* FROM ${schema}.deliveries AS d
    WHERE d.tenant_id = ${tenantId} AND d.delivery_id = g.delivery_id AND d.destination_id = l.destination_id AND coalesce(d.state, '') = 'waiting'
    LIMIT 1
  ) AS d
  WHERE l.sends AND NOT EXISTS (SELECT FROM unnest(d.keys) AS k (key) WHERE l.held ->> k.key <> d.delivery_id::text)
),
again AS (
  UPDATE ${schema}.deliveries AS d
  SET state = 'sending', attempt = d.attempt + 1, tries = d.tries + 1, due_at = NULL
  WHERE d.tenant_id = ${tenantId} AND d.delivery_id = ANY (ARRAY(SELECT r.delivery_id FROM repeated AS r WHERE NOT r.unseen))
    AND coalesce(d.state, '') = 'waiting'
  RETURNING d.destination_id, d.delivery_id, d.refs, d.keys, d.attempt, d.tries, d.sent_at, d.traceparent
)`

/**
 * `gone`: the entries that leave: what somebody else removes at the same moment is not among them. `fresh`: the deliveries made of them, their bodies
 * joined in the order of key, sequence and id. Keys of which something may not be seen stay, and keys that are in an earlier batch.
 */
export const frozenBatches = ({ schema, sources, tenantId }: Taking) => statement`
gone AS (
  DELETE FROM ${schema}.delivery_entries AS e
  USING picked AS p
  WHERE e.tenant_id = ${tenantId} AND e.ctid = p.row_location AND p.within = 1
    AND (p.place, p.key, p.batch) NOT IN (SELECT t.place, t.key, t.batch FROM picked AS t WHERE t.torn)
    AND (p.place, p.key) NOT IN (SELECT u.place, u.key FROM picked AS u WHERE u.seen IS FALSE)
  RETURNING p.place, p.destination_id, p.source, p.batch, e.key, e.sequence, e.ref
),
fresh AS MATERIALIZED (
  SELECT min(g.ordinal)::int4 AS ordinal, g.destination_id,
         array_agg(g.ref) AS refs, array_agg(g.key) FILTER (WHERE g.opens) AS keys, max(g.key) AS last_key,
         (array_agg(g.traceparent) FILTER (WHERE g.traceparent IS NOT NULL))[1] AS traceparent, string_agg(g.body, ',') AS body
  FROM (
    SELECT g.ordinal, g.place, g.destination_id, g.batch, g.key, g.ref, g.opens, x.traceparent, x.body
    FROM (
      -- numbered before the bodies are there, which would be copied once more
      SELECT g.*, lag(g.key) OVER o IS DISTINCT FROM g.key AS opens, dense_rank() OVER (ORDER BY g.place, g.destination_id, g.batch) - 1 AS ordinal
      FROM gone AS g
      WINDOW o AS (PARTITION BY g.place, g.destination_id, g.batch ORDER BY g.key, g.sequence)
      OFFSET 0
    ) AS g
    CROSS JOIN LATERAL (${raw(payloadOf(schema.text, sources, "g.source", "g.ref"))}) AS x
    ORDER BY g.place, g.destination_id, g.batch, g.key, g.sequence, x.order_id
  ) AS g
  GROUP BY g.place, g.destination_id, g.batch
)`

/** `flights`: one row for each partition with everything that is in flight from now on. */
export const newFlights = ({ again, request, schema, tenantId }: Taking) => {
  const delivery = (columns: string): Statement => statement`(${raw(columns)})::${schema}.flown_delivery`
  const repeated = statement`
    UNION ALL
    SELECT ${raw(partitionOfSql("a.destination_id"))},
           ${delivery("NULL, a.destination_id, a.delivery_id, a.refs, a.keys, a.attempt, a.tries, a.traceparent")}
    FROM again AS a`
  return statement`
flights AS (
  INSERT INTO ${schema}.delivery_flights (tenant_id, partition, flight, sent_at, deliveries)
  SELECT ${tenantId}, d.partition, ${uuid(request.flight)}, ${timestamptz(request.sentAt)}, array_agg(d.delivery)
  FROM (
    SELECT ${raw(partitionOfSql("f.destination_id"))} AS partition,
           ${delivery("f.ordinal, f.destination_id, NULL, f.refs, f.keys, 1, 1, f.traceparent")} AS delivery
    FROM fresh AS f ${again ? repeated : nothing}
  ) AS d
  GROUP BY d.partition
)`
}
