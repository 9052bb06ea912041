/** SQL statements for destinations in trouble, across tenants, for metrics. */
import { lateWaitingMillis, mostTroubled, recentDeadMillis } from "@waybill/core"
import { bool, float8, int8, optional, row, text, uuid } from "../client/SqlRow.ts"
import { raw, type Statement, statement } from "../client/SqlStatement.ts"

/** Rows of each kind that are read, at most: a scrape must not cost more the worse things are. */
const mostRead = raw("50000")

const millisOf = (age: string): Statement => raw(`(extract(epoch FROM ${age}) * 1000)::float8`)

/** Every destination that the engine paused, with an open breaker, a recent dead letter or a waiting entry. */
const troubled = (schema: Statement) => statement`
WITH stopped AS MATERIALIZED (
  SELECT l.tenant_id, l.destination_id FROM ${schema}.delivery_destinations AS l
  WHERE l.state <> 'closed' AND (l.state = 'paused' OR l.breaker_open_until IS NOT NULL)
  LIMIT ${mostRead}
),
dead AS MATERIALIZED (
  SELECT d.tenant_id, d.destination_id, count(*) AS dead
  FROM (SELECT d.tenant_id, d.destination_id, d.settled_at FROM ${schema}.deliveries AS d WHERE d.state = 'dead' LIMIT ${mostRead}) AS d
  WHERE d.settled_at > now() - ${raw(`interval '${recentDeadMillis} ms'`)}
  GROUP BY d.tenant_id, d.destination_id
),
waiting AS MATERIALIZED (
  SELECT e.tenant_id, e.destination_id, min(e.queued_at) AS oldest
  FROM (SELECT e.tenant_id, e.destination_id, e.queued_at FROM ${schema}.delivery_entries AS e LIMIT ${mostRead}) AS e
  GROUP BY e.tenant_id, e.destination_id
),
troubled AS MATERIALIZED (
  SELECT l.tenant_id, l.destination_id, l.source,
         l.state = 'paused' AND coalesce(l.paused_by, 'engine') = 'engine' AS paused,
         l.state = 'active' AND l.breaker_open_until IS NOT NULL AS breaker_open,
         coalesce(d.dead, 0) AS dead,
         CASE WHEN l.state = 'active' OR l.state = 'paused' AND coalesce(l.paused_by, 'engine') = 'engine' THEN w.oldest END AS oldest
  FROM (
    SELECT tenant_id, destination_id FROM stopped
    UNION SELECT tenant_id, destination_id FROM dead
    UNION SELECT tenant_id, destination_id FROM waiting
  ) AS t
  JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = t.tenant_id AND l.destination_id = t.destination_id
  LEFT JOIN dead AS d ON d.tenant_id = t.tenant_id AND d.destination_id = t.destination_id
  LEFT JOIN waiting AS w ON w.tenant_id = t.tenant_id AND w.destination_id = t.destination_id
  WHERE l.state <> 'closed'
)`

export const sourceRow = row({ source: text, paused: int8, breakersOpen: int8, dead: int8, waitingMillis: optional(float8) })

export const troubleOfSources = (schema: Statement) => statement`${troubled(schema)}
SELECT source, count(*) FILTER (WHERE paused) AS paused, count(*) FILTER (WHERE breaker_open) AS breakers_open, sum(dead)::int8 AS dead,
       ${millisOf("now() - min(oldest)")} AS waiting_millis
FROM troubled GROUP BY source`

export const destinationRow = row({ tenantId: text, destinationId: uuid, source: text, paused: bool, breakerOpen: bool, dead: int8, waitingMillis: optional(float8) })

export const troubledDestinations = (schema: Statement) => statement`${troubled(schema)}
SELECT tenant_id, destination_id, source, paused, breaker_open, dead, ${millisOf("now() - oldest")} AS waiting_millis
FROM troubled
WHERE paused OR breaker_open OR dead > 0 OR oldest < now() - ${raw(`interval '${lateWaitingMillis} ms'`)}
ORDER BY dead DESC, oldest NULLS LAST, tenant_id, destination_id
LIMIT ${raw(String(mostTroubled))}`
