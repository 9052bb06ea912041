/** Which notices of a source may go: bytes that no waiting entry and no delivery that may still go out refers to. */
import type { PayloadSource } from "./DeliveryQueueSql.ts"

/**
 * The oldest number that a lane of the source still refers to, as an expression; null when there is none. Numbers rise, so
 * everything below it is done with. It reads what waits and what is not settled, so ask only when there is something old.
 */
export const oldestReference = (schema: string, { source }: Pick<PayloadSource, "source">) => `least(
    (SELECT min(e.ref)
     FROM ${schema}.delivery_lanes AS l
     JOIN ${schema}.delivery_entries AS e ON e.tenant_id = $1 AND e.lane_id = l.lane_id
     WHERE l.tenant_id = $1 AND l.source = '${source}' AND l.state <> 'closed'),
    (SELECT min(r.ref)
     FROM ${schema}.delivery_lanes AS l
     JOIN ${schema}.deliveries AS d ON d.tenant_id = $1 AND d.lane_id = l.lane_id AND d.state IN ('sending', 'waiting', 'dead')
     CROSS JOIN LATERAL unnest(d.refs) AS r (ref)
     WHERE l.tenant_id = $1 AND l.source = '${source}' AND l.state <> 'closed')
  )`
