/** The statements behind what operators do to destinations and deliveries. Every one names its tenant. */
import { healthCount, purgeReason, purgeStep, traceDeliveries } from "@waybill/core"
import { stateGroups } from "./DeliveryLogSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"

/** What paused it before is remembered where it was its owner's choice to receive nothing at all. */
export const pauseDestination = (schema: string) => `
UPDATE ${schema}.delivery_destinations
SET resumes_as = CASE WHEN state = 'inactive' THEN 'inactive' ELSE resumes_as END,
    state_since = CASE WHEN state = 'paused' THEN state_since ELSE now() END,
    arrivals = arrivals + CASE WHEN state <> 'paused' THEN 1 ELSE 0 END,
    state = 'paused', state_reason = $3, paused_by = 'operator'
WHERE tenant_id = $1 AND destination_id = $2::uuid AND state <> 'closed'
RETURNING destination_id`

/** Due at once, unless a worker holds it: then it is when the worker gives it back. */
const goesOn = `state = coalesce(resumes_as, 'active'), state_reason = NULL, paused_by = NULL, resumes_as = NULL, state_since = now(),
    due_at = CASE WHEN resumes_as IS NULL AND coalesce(leased_until, '-infinity') <= now() THEN now() ELSE due_at END,
    wake_at = CASE WHEN resumes_as IS NULL THEN now() ELSE wake_at END,
    arrivals = arrivals + 1`

export const resumeDestination = (schema: string) => `
WITH resumed AS (
  UPDATE ${schema}.delivery_destinations SET ${goesOn} WHERE tenant_id = $1 AND destination_id = $2::uuid AND state = 'paused'
)
SELECT destination_id FROM ${schema}.delivery_destinations WHERE tenant_id = $1 AND destination_id = $2::uuid AND state <> 'closed'`

/** Judged where the row is written: an operator's pause that commits meanwhile stays. */
export const resumeOwnDestination = (schema: string) => `
UPDATE ${schema}.delivery_destinations SET ${goesOn}
WHERE tenant_id = $1 AND destination_id = $2::uuid AND state = 'paused' AND paused_by IS DISTINCT FROM 'operator'
RETURNING destination_id`

const reasonText = `'${purgeReason.replaceAll("'", "''")}'`

/** A worker that claimed the destination before freezes nothing of it any more, and what it sent is settled as ever. */
export const beginPurge = (schema: string) => `
WITH held AS (
  UPDATE ${schema}.delivery_destinations
  SET state = 'paused', state_since = now(), state_reason = ${reasonText}, paused_by = 'operator', arrivals = arrivals + 1
  WHERE tenant_id = $1 AND destination_id = $2::uuid AND state = 'active'
)
SELECT destination_id FROM ${schema}.delivery_destinations WHERE tenant_id = $1 AND destination_id = $2::uuid AND state <> 'closed'`

export const endPurge = (schema: string) => `
UPDATE ${schema}.delivery_destinations SET ${goesOn}
WHERE tenant_id = $1 AND destination_id = $2::uuid AND state = 'paused' AND state_reason = ${reasonText}`

/** How many drops are kept of each destination. */
const keptDrops = 1000

/**
 * $3 to $5: the entry to begin after. A statement of its own behind the lock of the destination, so that it sees what was frozen and settled
 * before. Whatever lies between two entries goes with them, so that each step is one stretch of the primary key.
 */
export const purgeNext = (schema: string) => `
WITH destination AS MATERIALIZED (
  SELECT destination_id FROM ${schema}.delivery_destinations WHERE tenant_id = $1 AND destination_id = $2::uuid AND state IN ('paused', 'inactive')
),
stretch AS MATERIALIZED (
  SELECT e.key, e.sequence, e.ref FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = $1 AND e.destination_id = (SELECT destination_id FROM destination) AND (e.key, e.sequence, e.ref) > ($3, $4::int8, $5::int8)
  ORDER BY e.key, e.sequence, e.ref
  LIMIT ${purgeStep}
),
last AS MATERIALIZED (
  SELECT s.key, s.sequence, s.ref FROM stretch AS s ORDER BY s.key DESC, s.sequence DESC, s.ref DESC LIMIT 1
),
gone AS (
  DELETE FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = $1 AND e.destination_id = (SELECT destination_id FROM destination) AND (e.key, e.sequence, e.ref) > ($3, $4::int8, $5::int8)
    AND (e.key, e.sequence, e.ref) <= (SELECT l.key, l.sequence, l.ref FROM last AS l)
  RETURNING e.key, e.sequence, e.ref
),
retried AS MATERIALIZED (
  SELECT d.delivery_id FROM ${schema}.deliveries AS d
  WHERE d.tenant_id = $1 AND d.delivery_id = ANY (ARRAY(
    SELECT w.delivery_id FROM ${schema}.deliveries AS w
    WHERE w.tenant_id = $1 AND w.destination_id = (SELECT destination_id FROM destination) AND w.state = 'waiting'
    LIMIT ${purgeStep}
  ))
  ORDER BY d.delivery_id
  FOR UPDATE
),
cancelled AS (
  UPDATE ${schema}.deliveries AS d
  SET state = 'cancelled', due_at = NULL, settled_at = now()
  WHERE d.tenant_id = $1 AND d.delivery_id = ANY (ARRAY(SELECT delivery_id FROM retried)) AND d.state = 'waiting'
  RETURNING cardinality(d.refs) AS entries
),
told AS (
  INSERT INTO ${schema}.delivery_drops (tenant_id, destination_id, key, sequence, ref, reason)
  SELECT $1, $2::uuid, g.key, g.sequence, g.ref, 'purged' FROM gone AS g LIMIT ${keptDrops}
),
summed AS (
  SELECT (SELECT count(*) FROM gone) + (SELECT coalesce(sum(entries), 0) FROM cancelled)::int8 AS dropped
),
counted AS (
  UPDATE ${schema}.delivery_destinations SET dropped = dropped + (SELECT dropped FROM summed)
  WHERE tenant_id = $1 AND destination_id = (SELECT destination_id FROM destination) AND (SELECT dropped FROM summed) > 0
)
SELECT (SELECT dropped FROM summed) AS dropped,
       (SELECT count(*) FROM stretch) = ${purgeStep} OR (SELECT count(*) FROM retried) = ${purgeStep} AS more,
       coalesce((SELECT key FROM last), $3) AS key, coalesce((SELECT sequence FROM last), $4::int8) AS sequence, coalesce((SELECT ref FROM last), $5::int8) AS ref`

export const trimDrops = (schema: string) => `
DELETE FROM ${schema}.delivery_drops
WHERE tenant_id = $1 AND destination_id = $2::uuid AND drop_no <= (
  SELECT drop_no FROM ${schema}.delivery_drops WHERE tenant_id = $1 AND destination_id = $2::uuid
  ORDER BY drop_no DESC OFFSET ${keptDrops} LIMIT 1
)`

export const dismiss = (schema: string) => `
WITH before AS MATERIALIZED (
  SELECT state FROM ${schema}.deliveries WHERE tenant_id = $1 AND delivery_id = $2::uuid FOR UPDATE
),
dismissed AS (
  UPDATE ${schema}.deliveries SET state = 'dismissed'
  WHERE tenant_id = $1 AND delivery_id = $2::uuid AND (SELECT state FROM before) = 'dead'
)
SELECT state FROM before`

/** The numbers that entries of the source have of some ids of their own; null where all entries of a key are meant. */
const refsOf = (schema: string, sources: ReadonlyArray<PayloadSource>): string => `(
  SELECT CASE WHEN $4::text[] IS NULL THEN NULL ELSE coalesce(array_agg(x.ref), '{}') END
  FROM (${sources.map((each) => `(
    SELECT x.${each.ref} AS ref FROM ${schema}.${each.table} AS x
    WHERE x.tenant_id = $1 AND ${each.found ?? "false"} AND l.source = '${each.source}' AND $4::text[] IS NOT NULL
    OFFSET 0
  )`).join(" UNION ALL ")}) AS x
)`

/** $3: the key; $4: ids within it, or null for all. */
export const traceDestination = (schema: string, sources: ReadonlyArray<PayloadSource>) => `
WITH destination AS MATERIALIZED (
  SELECT l.destination_id, ${refsOf(schema, sources)} AS refs
  FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = $1 AND l.destination_id = $2::uuid AND l.state <> 'closed'
),
waiting AS MATERIALIZED (
  SELECT e.sequence, e.ref FROM destination AS l
  CROSS JOIN LATERAL (
    SELECT e.sequence, e.ref FROM ${schema}.delivery_entries AS e
    WHERE e.tenant_id = $1 AND e.destination_id = l.destination_id AND e.key = $3 AND (l.refs IS NULL OR e.ref = ANY (l.refs))
    ORDER BY e.sequence, e.ref
    LIMIT 1
  ) AS e
)
SELECT (extract(epoch FROM now()) * 1000)::float8 AS now,
       EXISTS (SELECT FROM waiting) AS waiting,
       EXISTS (
         SELECT FROM waiting AS w
         CROSS JOIN destination AS l
         CROSS JOIN LATERAL (
           SELECT 1 FROM ${schema}.delivery_entries AS e
           WHERE e.tenant_id = $1 AND e.destination_id = l.destination_id AND e.key = $3 AND (e.sequence, e.ref) < (w.sequence, w.ref)
           LIMIT 1
         ) AS e
       ) AS behind,
       (
         SELECT ARRAY[d.reason, (extract(epoch FROM d.dropped_at) * 1000)::float8::text]
         FROM destination AS l
         CROSS JOIN LATERAL (
           SELECT d.reason, d.dropped_at, d.drop_no FROM ${schema}.delivery_drops AS d
           WHERE d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.key = $3 AND (l.refs IS NULL OR d.ref = ANY (l.refs))
         ) AS d
         ORDER BY d.drop_no DESC
         LIMIT 1
       ) AS dropped,
       (SELECT l.refs FROM destination AS l) AS refs`

/** Deliveries of the destination that hold the key; $4: numbers one of which they must hold, or null. Newest first. */
export const traceDeliveriesOf = (schema: string) => `
SELECT d.delivery_id, d.state, d.attempt, d.attempts[cardinality(d.attempts)] AS last_attempt, d.sent_at, ($4::int8[] IS NULL OR d.refs && $4::int8[]) AS own
FROM (
  ${[stateGroups.inFlight, stateGroups.dead, stateGroups.settled].map((states, n) => `(
    SELECT d.* FROM ${schema}.deliveries AS d
    WHERE d.tenant_id = $1 AND d.destination_id = $2::uuid AND d.state ${states}
    ${n === 0 ? "" : "ORDER BY d.delivery_id DESC"}
    LIMIT ${traceDeliveries}
  )`).join(" UNION ALL ")}
) AS d
WHERE d.keys @> ARRAY[$3::text] AND (d.state IN ('sending', 'waiting') OR $4::int8[] IS NULL OR d.refs && $4::int8[])
ORDER BY d.delivery_id DESC
LIMIT 50`

const counted = (rows: string): string => `(SELECT count(*) FROM (SELECT ${rows} LIMIT ${healthCount}) AS counted)`

/** A destination whose client paused it is as its client wants it. */
export const health = (schema: string) => `
WITH destinations AS MATERIALIZED (
  SELECT l.destination_id, l.state, l.paused_by, l.breaker_open_until
  FROM (
    SELECT l.destination_id, l.state, l.paused_by, l.breaker_open_until FROM ${schema}.delivery_destinations AS l
    WHERE l.tenant_id = $1 AND l.state <> 'closed'
    LIMIT ${healthCount}
  ) AS l
),
dead AS MATERIALIZED (
  SELECT d.destination_id FROM ${schema}.deliveries AS d WHERE d.tenant_id = $1 AND d.state = 'dead' LIMIT ${healthCount}
)
SELECT (SELECT count(*) FROM destinations) AS subscriptions,
       (SELECT count(*) FROM destinations AS l
        WHERE l.state = 'paused' AND coalesce(l.paused_by, 'engine') <> 'client' OR l.state = 'active' AND l.breaker_open_until IS NOT NULL
          OR l.destination_id IN (SELECT d.destination_id FROM dead AS d)) AS in_trouble,
       ${counted(`FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = $1`)} AS waiting,
       (SELECT min(e.queued_at) FROM (
          SELECT e.queued_at FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = $1 LIMIT ${healthCount}
        ) AS e) AS oldest,
       (SELECT count(*) FROM dead) AS dead`
