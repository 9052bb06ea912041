/** SQL statement for destinations in trouble, across tenants, for metrics. */
import { lateWaitingMillis, mostTroubled, recentDeadMillis } from "@waybill/core/delivery"
import { float8, int8, optional, row, text, uuid } from "../../client/SqlRow.ts"
import { raw, type Statement, statement } from "../../client/SqlStatement.ts"

/** Rows of each kind that are read, at most: a scrape must not cost more the worse things are. */
const mostRead = raw("10000")

/** Entries of one destination that does not send among which the oldest is looked for. */
const entriesRead = raw("100")

const waitingMillis = (oldest: string): Statement => raw(`(extract(epoch FROM now() - ${oldest}) * 1000)::float8 AS waiting_millis`)

const now = raw("(extract(epoch FROM now()) * 1000)::float8 AS now")

const byService = raw("(l.state = 'paused' AND coalesce(l.paused_by, 'service') = 'service')")

/** Counts of a source where the destination is null. */
export const troubleRow = row({ tenantId: optional(text), destinationId: optional(uuid), source: text, paused: int8, breakersOpen: int8, dead: int8, waitingMillis: optional(float8), now: float8 })

/**
 * Destinations that do not send, have a recent dead letter or a waiting entry, summed by source and the worst by themselves. ANY: a lookup for
 * each of the few, where other conditions allow a join that reads every destination there is; OFFSET 0 would forbid that too, but not on Citus. The worst of each tenant come first, and of each of its clients, so that many
 * in trouble hide none of others.
 */
export const troubles = (schema: Statement) => statement`
WITH stopped AS MATERIALIZED (
  SELECT l.tenant_id, l.destination_id, e.oldest
  FROM ${schema}.delivery_destinations AS l CROSS JOIN LATERAL (
    SELECT min(e.queued_at) AS oldest FROM (
      SELECT e.queued_at FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = l.tenant_id AND e.destination_id = l.destination_id LIMIT ${entriesRead}
    ) AS e
  ) AS e
  WHERE l.state <> 'closed' AND (l.state = 'paused' OR l.breaker_open_until IS NOT NULL)
  LIMIT ${mostRead}
),
found AS MATERIALIZED (
  SELECT tenant_id, destination_id, sum(dead) AS dead, min(oldest) AS oldest
  FROM (
    SELECT s.tenant_id, s.destination_id, 0 AS dead, s.oldest FROM stopped AS s
    UNION ALL
    SELECT d.tenant_id, d.destination_id, 1, NULL
    FROM (SELECT d.tenant_id, d.destination_id, d.settled_at FROM ${schema}.deliveries AS d WHERE d.state = 'dead' LIMIT ${mostRead}) AS d
    WHERE d.settled_at > now() - ${raw(`interval '${recentDeadMillis} ms'`)}
    UNION ALL
    SELECT e.tenant_id, e.destination_id, 0, e.queued_at
    FROM (SELECT e.tenant_id, e.destination_id, e.queued_at FROM ${schema}.delivery_entries AS e LIMIT ${mostRead}) AS e
  ) AS f
  GROUP BY tenant_id, destination_id
),
troubled AS MATERIALIZED (
  SELECT f.tenant_id, f.destination_id, l.client, l.source, f.dead, ${byService} AS paused,
         l.state = 'active' AND l.breaker_open_until IS NOT NULL AS breaker_open,
         CASE WHEN l.state = 'active' OR ${byService} THEN f.oldest END AS oldest
  FROM found AS f
  JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = ANY (ARRAY[f.tenant_id]) AND l.destination_id = ANY (ARRAY[f.destination_id])
  WHERE l.state <> 'closed'
)
SELECT NULL AS tenant_id, NULL::uuid AS destination_id, source, count(*) FILTER (WHERE paused) AS paused, count(*) FILTER (WHERE breaker_open) AS breakers_open,
       sum(dead)::int8 AS dead, ${waitingMillis("min(oldest)")}, ${now}
FROM troubled GROUP BY source
UNION ALL (
  SELECT tenant_id, destination_id, source, paused::int::int8, breaker_open::int::int8, dead::int8, ${waitingMillis("oldest")}, ${now}
  FROM (
    SELECT t.*, row_number() OVER (PARTITION BY t.tenant_id ORDER BY t.of_client, t.dead DESC, t.oldest NULLS LAST, t.destination_id) AS of_tenant
    FROM (
      SELECT t.*, row_number() OVER (PARTITION BY t.tenant_id, t.client ORDER BY t.dead DESC, t.oldest NULLS LAST, t.destination_id) AS of_client
      FROM troubled AS t
      WHERE paused OR breaker_open OR dead > 0 OR oldest < now() - ${raw(`interval '${lateWaitingMillis} ms'`)}
    ) AS t
  ) AS t
  ORDER BY of_tenant, dead DESC, oldest NULLS LAST, tenant_id, destination_id
  LIMIT ${raw(String(mostTroubled))}
)`
