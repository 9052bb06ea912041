/** The statement that writes outcomes and gives leases back. */
import { doubtMillis } from "@waybill/core"
import { isLocked, lockedInOrder, wakeFor } from "./DeliveryQueueSql.ts"

/** Written out wherever it is used: a row that moved meanwhile is judged by what it holds now. */
const dueAfterRelease = `CASE
        WHEN r.endpoint <> l.endpoint_url THEN now()
        WHEN l.arrivals <> r.arrivals OR r.progress AND n.sendable THEN greatest(now(), now() + r.not_before * interval '1 millisecond')
        ELSE greatest(
          least(n.retry, CASE WHEN n.sendable THEN now() + interval '${doubtMillis} milliseconds' END),
          CASE WHEN n.retry IS NOT NULL OR n.sendable THEN now() + r.not_before * interval '1 millisecond' END
        )
      END`

/** What an attempt says of an endpoint that its owner has replaced meanwhile is nothing that the new one did. A dead letter is one all the same. */
const pauses = `r.pause IS NOT NULL AND l.state = 'active'
        AND ((r.endpoint <> l.endpoint_url) IS NOT TRUE OR r.destination_id IN (SELECT g.destination_id FROM given AS g WHERE g.state = 'dead'))`

/** Of the attempt under way, by whoever made it: an outcome that is written once more takes nothing back of what happened since. */
const counts = "g.fenced AND d.state = 'sending' AND d.attempt = coalesce(g.attempt, d.attempt)"

/**
 * Writes outcomes, then gives leases back. Where the token is stale, an outcome is recorded and nothing else happens.
 *
 * Where a destination is written too, its lease is judged by the row that was locked: an outcome counts together with what it says of its destination,
 * or not at all.
 *
 * The commit does not wait for the disk: after a crash of the database some outcomes may be unknown, and their deliveries go
 * out again under the same ids.
 *
 * A destination given back is due: now, when something arrived that the worker had not been told of, or something waits that
 * may have become sendable; else when its next retry is, or in a moment where something could be sent that its worker did not
 * find; and never before rate and breaker allow.
 *
 * Deliveries come in the order of their ids, so that each row finds its outcome by bisection. A join would be at the mercy of
 * the planner, who knows neither how many outcomes come nor that each is of another row, and compares all with all on a
 * table that was not analysed yet: a thousand then take a third of a second, and what ends meanwhile makes the next write longer still.
 */
export const settle = (schema: string) => `
WITH ${lockedInOrder(schema, "$9")},
fence AS MATERIALIZED (
  SELECT g.place, g.destination_id,
         CASE
           WHEN g.destination_id IN (SELECT k.destination_id FROM locked AS k)
             THEN (g.destination_id, g.token) IN (SELECT k.destination_id, k.lease_token FROM locked AS k WHERE k.leased_until IS NOT NULL AND k.state <> 'closed')
           ELSE coalesce(l.lease_token = g.token AND l.leased_until IS NOT NULL, false)
         END AS fenced
  FROM unnest($2::uuid[], $3::int8[]) WITH ORDINALITY AS g (destination_id, token, place)
  LEFT JOIN LATERAL (
    SELECT l.lease_token, l.leased_until FROM ${schema}.delivery_destinations AS l
    WHERE l.tenant_id = $1 AND l.destination_id = g.destination_id AND l.state <> 'closed'
    OFFSET 0
  ) AS l ON true
),
given AS MATERIALIZED (
  SELECT g.delivery_id, g.state, g.due_in, f.destination_id
  FROM unnest($18::int4[], $4::uuid[], $5::text[], $6::float8[]) AS g (place, delivery_id, state, due_in)
  JOIN fence AS f ON f.place = g.place
),
outcomes AS (
  UPDATE ${schema}.deliveries AS d
  SET (attempts, state, due_at, settled_at, tries) = (
    SELECT CASE WHEN g.record IS NULL OR g.record = ANY (d.attempts) THEN d.attempts ELSE d.attempts || g.record END,
           CASE WHEN ${counts} THEN g.state ELSE d.state END,
           CASE
             WHEN NOT (${counts}) THEN d.due_at
             WHEN g.state = 'waiting' THEN now() + g.due_in * interval '1 millisecond'
           END,
           CASE
             WHEN NOT (${counts}) THEN d.settled_at
             WHEN g.state <> 'waiting' THEN now()
           END,
           d.tries - CASE WHEN ${counts} AND g.uncount THEN 1 ELSE 0 END
    FROM (
      SELECT ($5::text[])[i] AS state, ($6::float8[])[i] AS due_in, ($7::bool[])[i] AS uncount, ($8::text[])[i] AS record, ($19::int4[])[i] AS attempt,
             (ARRAY(SELECT f.fenced FROM fence AS f ORDER BY f.place))[($18::int4[])[i]] AS fenced
      FROM width_bucket(d.delivery_id, $4::uuid[]) AS i
      OFFSET 0
    ) AS g
  )
  WHERE d.tenant_id = $1 AND d.delivery_id = ANY ($4::uuid[])
),
returned AS (
  UPDATE ${schema}.delivery_destinations AS l
  SET breaker_failures = CASE WHEN r.endpoint <> l.endpoint_url THEN l.breaker_failures ELSE r.failures END,
      breaker_open_until = CASE WHEN r.endpoint <> l.endpoint_url THEN l.breaker_open_until ELSE r.open_until END,
      state = CASE WHEN ${pauses} THEN 'paused' ELSE l.state END,
      state_reason = CASE WHEN ${pauses} THEN r.pause ELSE l.state_reason END,
      paused_by = CASE WHEN ${pauses} THEN 'engine' ELSE l.paused_by END,
      state_since = CASE WHEN ${pauses} THEN now() ELSE l.state_since END,
      leased_until = CASE WHEN r.release THEN NULL ELSE l.leased_until END,
      due_at = CASE WHEN r.release THEN ${dueAfterRelease} ELSE l.due_at END,
      wake_at = CASE WHEN r.release THEN ${wakeFor(dueAfterRelease, "true")} ELSE l.wake_at END
  FROM unnest($9::uuid[], $10::int8[], $11::int4[], $12::float8[], $13::text[], $14::bool[], $15::int8[], $16::bool[], $17::float8[],
    $20::text[]) AS r (destination_id, token, failures, open_until, pause, release, arrivals, progress, not_before, endpoint)
  CROSS JOIN LATERAL (
    WITH unended AS MATERIALIZED (
      SELECT d.delivery_id, d.keys, CASE WHEN d.state = 'waiting' THEN d.due_at ELSE now() END AS due
      FROM ${schema}.deliveries AS d
      WHERE d.tenant_id = $1 AND d.destination_id = r.destination_id AND d.state IN ('sending', 'waiting')
        AND d.delivery_id <> ALL (ARRAY(SELECT g.delivery_id FROM given AS g WHERE g.destination_id = r.destination_id))
      UNION ALL
      SELECT g.delivery_id, d.keys, now() + g.due_in * interval '1 millisecond'
      FROM given AS g
      CROSS JOIN LATERAL (
        SELECT d.keys FROM ${schema}.deliveries AS d WHERE d.tenant_id = $1 AND d.delivery_id = g.delivery_id OFFSET 0
      ) AS d
      WHERE g.destination_id = r.destination_id AND g.state = 'waiting'
    )
    SELECT CASE
             WHEN r.progress THEN EXISTS (SELECT FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = $1 AND e.destination_id = r.destination_id)
             ELSE (
               SELECT EXISTS (
                 SELECT FROM ${schema}.delivery_entries AS e
                 WHERE e.tenant_id = $1 AND e.destination_id = r.destination_id AND (h.keys IS NULL OR NOT h.keys ? e.key)
               )
               FROM (SELECT jsonb_object_agg(k, 0) AS keys FROM unended AS u CROSS JOIN unnest(u.keys) AS k) AS h
             )
           END AS sendable,
           (
             SELECT u.due FROM (SELECT u.* FROM unended AS u ORDER BY u.due OFFSET 0) AS u
             WHERE NOT EXISTS (SELECT FROM unended AS o WHERE o.delivery_id < u.delivery_id AND o.keys && u.keys)
             LIMIT 1
           ) AS retry
    OFFSET 0
  ) AS n
  WHERE l.tenant_id = $1 AND l.destination_id = r.destination_id AND l.lease_token = r.token AND l.leased_until IS NOT NULL AND l.state <> 'closed'
    AND ${isLocked}
  RETURNING r.release AND l.state = 'active' AND l.due_at <= now() AS due
)
SELECT coalesce(bool_or(due), false) AS due, set_config('synchronous_commit', 'off', true) AS commit FROM returned`
