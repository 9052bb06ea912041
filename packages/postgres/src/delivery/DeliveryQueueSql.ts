/** The statements of the delivery queue. Every one names its tenant; the database's clock decides what is due. */
import { accessOf, clientIsLive, holdsUnseen, seenOnce, tenantIsActive } from "./DeliveryGateSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { secretUsableBy } from "./SecretSql.ts"

const millis = (parameter: string) => `${parameter}::float8 * interval '1 millisecond'`

const epoch = (instant: string) => `(extract(epoch FROM ${instant}) * 1000)::float8`

/**
 * The index key that finds a destination whose due time becomes \`due\`: never later than it, and left alone while it is less than
 * a minute off, so that the row of a busy destination updates in place. Every claim reads what stands there too early, so a destination that
 * is \`quiet\`, that nobody will claim before it is due, gets a key that is right.
 */
export const wakeFor = (due: string, quiet: string) => `CASE
        WHEN ${due} IS NULL THEN NULL
        WHEN l.wake_at IS NULL OR ${due} < l.wake_at OR ${due} > l.wake_at + interval '1 minute'
          OR ${quiet} AND l.wake_at <= now() AND ${due} > now() + interval '1 second' THEN ${due}
        ELSE l.wake_at
      END`

export const destinationColumns = `destination_id, source, endpoint_url, hmac_secret_id, max_attempts, initial_backoff_seconds,
  max_backoff_seconds, batch_max_size, rate_limit_per_minute, envelope_open, envelope_close, signing, when_dead, state, client`

export const openDestination = (schema: string) => `
WITH destination AS (
  INSERT INTO ${schema}.delivery_destinations (tenant_id, ${destinationColumns}, paused_by)
  VALUES ($1, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, CASE WHEN $15 = 'paused' THEN 'client' END)
)
INSERT INTO ${schema}.delivery_destination_counts AS c (tenant_id, client, source, live)
VALUES ($1, $16, $3, 1)
ON CONFLICT (tenant_id, client, source) DO UPDATE SET live = c.live + 1
RETURNING live`

export const countDestinations = (schema: string) => `
SELECT coalesce(sum(live), 0)::int8 AS live FROM ${schema}.delivery_destination_counts WHERE tenant_id = $1`

/** The tenant's own row of the counts has no client and counts nothing: it is the lock of calls that are near the tenant's quota. */
export const lockDestinationCounts = (schema: string) => `
INSERT INTO ${schema}.delivery_destination_counts AS c (tenant_id, client, source, live)
VALUES ($1, '', '', 0)
ON CONFLICT (tenant_id, client, source) DO UPDATE SET live = 0
RETURNING live`

/** An activated destination is due at once, unless a worker holds it: then it is when the worker gives it back. */
export const changeDestination = (schema: string) => `
UPDATE ${schema}.delivery_destinations
SET endpoint_url = $3, hmac_secret_id = $4, max_attempts = $5, initial_backoff_seconds = $6, max_backoff_seconds = $7,
    batch_max_size = $8, rate_limit_per_minute = $9,
    state_since = CASE WHEN state = $10 THEN state_since ELSE now() END,
    state_reason = CASE WHEN state = $10 THEN state_reason END,
    paused_by = CASE WHEN state = $10 THEN paused_by WHEN $10 = 'paused' THEN 'client' END,
    resumes_as = CASE WHEN state = $10 THEN resumes_as END,
    due_at = CASE WHEN state <> $10 AND $10 = 'active' AND coalesce(leased_until, '-infinity') <= now() THEN now() ELSE due_at END,
    wake_at = CASE WHEN state <> $10 AND $10 = 'active' THEN now() ELSE wake_at END,
    arrivals = arrivals + CASE WHEN state <> $10 THEN 1 ELSE 0 END,
    breaker_failures = CASE WHEN endpoint_url = $3 THEN breaker_failures ELSE 0 END,
    breaker_open_until = CASE WHEN endpoint_url = $3 THEN breaker_open_until END,
    state = $10
WHERE tenant_id = $1 AND destination_id = $2::uuid AND state <> 'closed'`

/**
 * Writes every destination of the client, or of the tenant, held or not: a claim that is about to hold a destination is waited for, or finds that the row is no longer the
 * one it saw.
 */
export const accessRestored = (schema: string, whose: "client" | "tenant") => `
WITH locked AS MATERIALIZED (
  SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = $1${whose === "client" ? " AND l.client = $2" : ""} AND l.state <> 'closed'
  ORDER BY l.destination_id
  FOR NO KEY UPDATE
)
UPDATE ${schema}.delivery_destinations AS l
SET held = false,
    due_at = CASE WHEN l.held AND coalesce(l.leased_until, '-infinity') <= now() THEN now() ELSE l.due_at END,
    wake_at = CASE WHEN l.held THEN now() ELSE l.wake_at END,
    arrivals = l.arrivals + CASE WHEN l.held THEN 1 ELSE 0 END
WHERE l.tenant_id = $1 AND l.destination_id = ANY (ARRAY(SELECT destination_id FROM locked))`

/** A statement of its own in front of what ends a destination: it waits for whoever freezes or settles, so that what follows sees what they wrote. */
export const lockDestination = (schema: string) => `
SELECT destination_id FROM ${schema}.delivery_destinations WHERE tenant_id = $1 AND destination_id = $2::uuid FOR UPDATE`

/** The row stays, closed, for the deliveries that operators still look at. What publishers that matched it before still bring is dropped by the next claim. */
export const closeDestination = (schema: string) => `
WITH destination AS (
  UPDATE ${schema}.delivery_destinations
  SET state = 'closed', state_since = now(), due_at = NULL, wake_at = NULL, leased_until = NULL, lease_token = lease_token + 1
  WHERE tenant_id = $1 AND destination_id = $2::uuid AND state <> 'closed'
  RETURNING client, source
),
uncounted AS (
  UPDATE ${schema}.delivery_destination_counts AS c SET live = c.live - 1
  FROM destination WHERE c.tenant_id = $1 AND c.client = destination.client AND c.source = destination.source
),
entries AS (
  DELETE FROM ${schema}.delivery_entries WHERE tenant_id = $1 AND destination_id = $2::uuid
),
arrivals AS (
  DELETE FROM ${schema}.delivery_arrivals WHERE tenant_id = $1 AND destination_id = $2::uuid
),
unsettled AS MATERIALIZED (
  SELECT delivery_id FROM ${schema}.deliveries
  WHERE tenant_id = $1 AND destination_id = $2::uuid AND state IN ('sending', 'waiting')
  ORDER BY delivery_id
  FOR UPDATE
)
UPDATE ${schema}.deliveries
SET state = 'cancelled', due_at = NULL, settled_at = now()
WHERE tenant_id = $1 AND destination_id = $2::uuid AND state IN ('sending', 'waiting') AND delivery_id = ANY (ARRAY(SELECT delivery_id FROM unsettled))`

/** The one question across tenants: whose turn it is. It reads ids and due times, nothing that belongs to a customer. */
export const tenantsDue = (schema: string) => `
(
  SELECT tenant_id, false AS arrived FROM ${schema}.delivery_destinations
  WHERE wake_at <= now() AND due_at <= now() AND state = 'active'
  GROUP BY tenant_id
  ORDER BY min(due_at)
  LIMIT $1::int8
)
UNION ALL
(SELECT tenant_id, true FROM ${schema}.delivery_arrivals GROUP BY tenant_id ORDER BY min(arrival) LIMIT $1::int8)`

export const nextDue = (schema: string) => `
SELECT ${epoch("min(due_at) - now()")} AS millis
FROM ${schema}.delivery_destinations
WHERE wake_at IS NOT NULL AND due_at > now() AND state = 'active'`

/**
 * Microseconds since 1970: no token is ever given out twice, not even when a crash of the database undid a claim whose
 * commit was not waited for.
 */
const freshToken = "(extract(epoch FROM clock_timestamp()) * 1000000)::int8"

/** Up to so many entries are read without a guess at their bytes. */
const unestimated = 64

/** How many deliveries a claim hands out of a destination: where the breaker is not closed, only the next one goes out, as the probe. */
const deliveriesOf = (destination: string, most: string) => `CASE WHEN ${destination}.breaker_open_until IS NULL THEN ${most}::int8 ELSE 1 END`

/** What a claim answers in the place of a destination, where it passed over one that somebody was writing to. */
export const crossedPlace = 0

/**
 * Leases what is due and hands out what waits, in one round trip.
 *
 * - \`wanted\`: destinations due, destinations that something arrived for, and destinations the worker already holds.
 * - \`locked\`: those of them nobody else is writing, as they are now.
 * - \`known\`: those of them that still are what this statement sees. Where somebody gave a destination back after it began to look, it
 *   would go by what was under way before, find nothing to send, and what arrived would be forgotten. These, and those that are
 *   not locked, come next time; their arrivals stay, and a row of its own says so.
 * - \`gone\`: destinations that were closed while somebody published to them; what came for them is dropped.
 * - \`marked\`: what is known of each, and whether it is \`admitted\`: its tenant is active and its client has access. One that is not
 *   is set aside: it is not due until \`accessRestored\`.
 * - \`ranked\`: which of them this worker gets. A destination under somebody's lease only learns of its arrival.
 * - \`reach\`: how many entries of a destination to look at. Bytes run out before deliveries do where batches are large; the next few
 *   entries tell how soon, so that thousands are not read to hand out hundreds.
 *
 * The commit does not wait for the disk: a lease that a crash undoes is nobody's, and freezing waits for everything before it.
 *
 * An expired lease needs no case of its own: a leased destination is due at the lease's end. Destination columns stand in the first
 * row of each destination only; every further row carries one entry. One entry more than asked for is looked at, to know whether
 * more wait. \`seen\` tells of the first entry of a shipment whether the client may still see it.
 */
export const claim = (schema: string, sources: ReadonlyArray<PayloadSource>, only?: "arrived" | "due") => `
WITH wanted AS MATERIALIZED (
  ${only === "arrived" ? "" : `(
    SELECT destination_id FROM ${schema}.delivery_destinations
    WHERE tenant_id = $1 AND state = 'active' AND wake_at <= now() AND due_at <= now()
    ORDER BY due_at
    LIMIT $2::int8 * 2
  )
  UNION`}
  ${only === "due" ? "" : `(SELECT destination_id FROM ${schema}.delivery_arrivals WHERE tenant_id = $1 LIMIT 1000)
  UNION`}
  SELECT unnest($3::uuid[])
),
seen AS MATERIALIZED (
  SELECT l.destination_id, l.state, l.ctid AS version FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = $1 AND l.destination_id = ANY (ARRAY(SELECT destination_id FROM wanted))
),
gone AS MATERIALIZED (
  SELECT s.destination_id FROM seen AS s WHERE s.state = 'closed'
),
locked AS MATERIALIZED (
  SELECT l.destination_id, l.client, l.state, l.due_at, l.lease_token, coalesce(l.leased_until <= now(), true) AS free, l.ctid AS version
  FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = $1 AND l.destination_id = ANY (ARRAY(SELECT destination_id FROM wanted)) AND l.state <> 'closed'
  FOR UPDATE SKIP LOCKED
),
known AS MATERIALIZED (
  SELECT k.* FROM (SELECT k.*, k.version IN (SELECT s.version FROM seen AS s) AS unchanged FROM locked AS k OFFSET 0) AS k
  WHERE k.unchanged
),
dropped AS (
  DELETE FROM ${schema}.delivery_entries AS e WHERE e.tenant_id = $1 AND e.destination_id = ANY (ARRAY(SELECT destination_id FROM gone))
),
arrived AS (
  DELETE FROM ${schema}.delivery_arrivals AS a
  WHERE a.tenant_id = $1 AND a.destination_id = ANY (ARRAY(SELECT destination_id FROM known UNION ALL SELECT destination_id FROM gone))
  RETURNING a.destination_id
),
marked AS (
  SELECT k.destination_id, k.state, k.due_at, k.free,
         EXISTS (SELECT FROM arrived AS a WHERE a.destination_id = k.destination_id) AS arrived,
         EXISTS (SELECT FROM unnest($3::uuid[], $4::int8[]) AS h (destination_id, token)
                 WHERE h.destination_id = k.destination_id AND h.token = k.lease_token AND NOT k.free) AS held,
         a.admitted, a.sees_all
  FROM known AS k
  CROSS JOIN LATERAL (${accessOf(schema, "k.client")}) AS a
),
ranked AS MATERIALIZED (
  SELECT m.destination_id, m.due_at, m.arrived, m.held, m.free, m.sees_all,
         m.state = 'active' AND m.free AND m.admitted AND (m.due_at <= now() OR m.arrived) AS claimable,
         row_number() OVER (
           PARTITION BY m.state = 'active' AND m.free AND m.admitted AND (m.due_at <= now() OR m.arrived)
           ORDER BY m.due_at NULLS LAST, m.destination_id
         ) AS turn,
         m.state = 'active' AND m.held AND m.admitted AS refilled,
         m.state = 'active' AND m.free AND NOT m.admitted AND (m.due_at <= now() OR m.arrived) AS withheld
  FROM marked AS m
),
leased AS (
  UPDATE ${schema}.delivery_destinations AS l
  SET lease_token = CASE WHEN r.claimable AND r.turn <= $2::int8 THEN greatest(l.lease_token + 1, ${freshToken}) ELSE l.lease_token END,
      leased_until = CASE WHEN r.refilled OR r.claimable AND r.turn <= $2::int8 THEN now() + ${millis("$5")} ELSE l.leased_until END,
      due_at = n.due,
      wake_at = ${wakeFor("n.due", "l.breaker_open_until IS NOT NULL")},
      arrivals = l.arrivals + CASE WHEN r.arrived THEN 1 ELSE 0 END,
      held = r.withheld
  FROM ranked AS r
  CROSS JOIN LATERAL (
    SELECT CASE
      WHEN r.withheld THEN NULL
      WHEN r.refilled OR r.claimable AND r.turn <= $2::int8 THEN now() + ${millis("$5")}
      WHEN r.arrived AND r.free THEN least(r.due_at, now())
      ELSE r.due_at
    END AS due
  ) AS n
  WHERE l.tenant_id = $1 AND l.destination_id = r.destination_id AND l.destination_id = ANY (ARRAY(SELECT destination_id FROM ranked))
    AND (r.arrived OR r.refilled OR r.withheld OR r.claimable AND r.turn <= $2::int8)
  RETURNING l.*, r.sees_all, r.refilled OR r.claimable AND r.turn <= $2::int8 AS ours
),
ours AS MATERIALIZED (
  SELECT l.*, (row_number() OVER ())::int4 AS place,
         (SELECT jsonb_object_agg(k, 0)
          FROM ${schema}.deliveries AS d CROSS JOIN unnest(d.keys) AS k
          WHERE d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.state IN ('sending', 'waiting')) AS held_keys
  FROM leased AS l
  WHERE l.ours
)
SELECT o.place AS destination,
       CASE WHEN coalesce(e.place, 1) = 1 THEN ARRAY[
         o.destination_id::text, o.endpoint_url, o.hmac_secret_id, o.envelope_open, o.envelope_close, o.signing, o.when_dead, o.client
       ] END AS texts,
       CASE WHEN coalesce(e.place, 1) = 1 THEN ARRAY[
         o.lease_token, o.arrivals, o.max_attempts, o.initial_backoff_seconds, o.max_backoff_seconds, o.batch_max_size,
         o.rate_limit_per_minute, o.breaker_failures
       ]::int8[] END AS numbers,
       CASE WHEN coalesce(e.place, 1) = 1 THEN ARRAY[o.rate_mark, o.breaker_open_until, floor(${epoch("now()")})] END AS instants,
       CASE WHEN coalesce(e.place, 1) = 1 THEN s.sealed END AS sealed,
       CASE WHEN coalesce(e.place, 1) = 1 THEN s.signs_until END AS signs_until,
       CASE WHEN coalesce(e.place, 1) = 1 THEN s.body_signature END AS body_signature,
       o.held_keys IS NOT NULL AS unsettled,
       e.key, e.sequence, e.ref, e.size, e.waiting, e.order_id, e.traceparent, e.body, e.spot::text, e.seen,
       CASE WHEN coalesce(e.place, 1) = 1 THEN s.refused END AS refused
FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unwaited
CROSS JOIN ours AS o
LEFT JOIN LATERAL (
  SELECT s.sealed, s.signs_until, s.body_signature, cardinality(s.sealed) > 0 AND ${secretUsableBy(schema, "s", "o.client")} IS NOT TRUE AS refused
  FROM ${schema}.secrets AS s
  WHERE s.tenant_id = $1 AND s.hmac_secret_id = o.hmac_secret_id
  OFFSET 0
) AS s ON true
CROSS JOIN LATERAL (
  SELECT ${deliveriesOf("o", "$6")} * o.batch_max_size AS entries
  OFFSET 0
) AS room
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN room.entries <= ${unestimated} THEN room.entries
    ELSE (
      SELECT coalesce(least(room.entries, 1 + $7::int8 / avg(e.size)), room.entries)::int8
      FROM (
        SELECT e.size FROM ${schema}.delivery_entries AS e
        WHERE e.tenant_id = $1 AND e.destination_id = o.destination_id AND e.key > coalesce(o.cursor, '')
        ORDER BY e.key, e.sequence, e.ref
        LIMIT 16
      ) AS e
    )
  END AS most
  OFFSET 0
) AS reach
LEFT JOIN LATERAL (
  SELECT q.*, ${seenOnce(schema, sources, "o")} AS seen
  FROM (
  SELECT w.key, w.sequence, w.ref, w.size, w.place, w.waiting, w.spot, p.order_id, p.traceparent, p.body,
         lag(w.key) OVER (ORDER BY w.place) IS DISTINCT FROM w.key AS opens
  FROM (
    SELECT t.key, t.sequence, t.ref, t.size, t.spot, row_number() OVER t_order AS place,
           count(*) OVER () AS waiting, sum(t.size) OVER t_order - t.size AS before
    FROM (
      SELECT t.*, row_number() OVER () AS taken FROM (
        (
          SELECT e.key, e.sequence, e.ref, e.size, e.ctid AS spot FROM ${schema}.delivery_entries AS e
          WHERE e.tenant_id = $1 AND e.destination_id = o.destination_id AND e.key > coalesce(o.cursor, '')
            AND (o.held_keys IS NULL OR NOT o.held_keys ? e.key)
          ORDER BY e.key, e.sequence, e.ref
          LIMIT reach.most + 1
        )
        UNION ALL
        (
          SELECT e.key, e.sequence, e.ref, e.size, e.ctid AS spot FROM ${schema}.delivery_entries AS e
          WHERE e.tenant_id = $1 AND e.destination_id = o.destination_id AND e.key <= coalesce(o.cursor, '')
            AND (o.held_keys IS NULL OR NOT o.held_keys ? e.key)
          ORDER BY e.key, e.sequence, e.ref
          LIMIT reach.most + 1
        )
      ) AS t
      LIMIT reach.most + 1
    ) AS t
    WINDOW t_order AS (ORDER BY t.taken ROWS UNBOUNDED PRECEDING)
  ) AS w
  CROSS JOIN LATERAL (
    ${sources.map((each) => `(
      SELECT x.${each.orderId} AS order_id, x.traceparent, x.body
      FROM ${schema}.${each.table} AS x
      WHERE x.tenant_id = $1 AND x.${each.ref} = w.ref AND o.source = '${each.source}'
      OFFSET 0
    )`).join(" UNION ALL ")}
  ) AS p
  WHERE w.place <= reach.most AND w.before < $7::int8
  ) AS q
  ORDER BY q.place
) AS e ON true
UNION ALL
SELECT ${crossedPlace}, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
WHERE (SELECT count(*) FROM seen WHERE state <> 'closed') > (SELECT count(*) FROM known)`

/**
 * Frozen deliveries of leased destinations whose attempt is due, or whose sender is gone, with their bytes joined. Operators may send one again
 * that shares a shipment with a later one: the older goes first, and never both side by side. Each is looked at in its order, and no more than
 * are handed out: a destination of which thousands of dead letters were recovered has as many unsettled ones.
 */
export const dueDeliveries = (schema: string, sources: ReadonlyArray<PayloadSource>) => `
SELECT l.destination_id, d.delivery_id, d.sent_at, d.attempt, d.tries, d.state = 'sending' AS orphaned, cardinality(d.refs) AS events,
       d.traceparent, p.body, d.keys, ${holdsUnseen(schema, sources)} AS unseen
FROM unnest($2::uuid[], $3::int8[]) AS g (destination_id, token)
CROSS JOIN LATERAL (
  SELECT l.* FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = $1 AND l.destination_id = g.destination_id
  OFFSET 0
) AS l
CROSS JOIN LATERAL (
  WITH unsettled AS MATERIALIZED (
    SELECT d.* FROM ${schema}.deliveries AS d
    WHERE d.tenant_id = $1 AND d.destination_id = l.destination_id AND d.state IN ('sending', 'waiting')
  )
  SELECT d.* FROM (
    SELECT d.* FROM unsettled AS d
    WHERE d.state = 'waiting' AND d.due_at <= now() OR d.state = 'sending' AND d.token <> g.token
    ORDER BY d.delivery_id
    OFFSET 0
  ) AS d
  WHERE NOT EXISTS (
    SELECT FROM unsettled AS o
    WHERE (o.delivery_id < d.delivery_id OR o.delivery_id <> d.delivery_id AND o.state = 'sending' AND o.token = g.token) AND o.keys && d.keys
  )
  LIMIT ${deliveriesOf("l", "$4")}
) AS d
CROSS JOIN LATERAL (
  ${joinedBody(schema, sources)}
) AS p
WHERE p.body IS NOT NULL
ORDER BY l.destination_id, d.delivery_id`

/** Bytes of \`d.refs\` in order, joined by commas, from the source of the destination \`l\`: the same number means something else in another. */
export function joinedBody(schema: string, sources: ReadonlyArray<PayloadSource>): string {
  return `
  SELECT string_agg(x.body, ',' ORDER BY r.place) AS body
  FROM unnest(d.refs) WITH ORDINALITY AS r (ref, place)
  CROSS JOIN LATERAL (
    ${sources.map((each) => `(
      SELECT x.body FROM ${schema}.${each.table} AS x
      WHERE x.tenant_id = $1 AND x.${each.ref} = r.ref AND l.source = '${each.source}'
      OFFSET 0
    )`).join(" UNION ALL ")}
  ) AS x`
}

/**
 * Locks the destinations of a statement by their ids, before it writes to any: statements of one worker run side by side over the same
 * destinations, and in different orders they would end in a deadlock.
 */
export const lockedInOrder = (schema: string, destinationIds: string): string => `locked AS MATERIALIZED (
  SELECT l.destination_id, l.lease_token, l.leased_until, l.state FROM ${schema}.delivery_destinations AS l
  WHERE l.tenant_id = $1 AND l.destination_id = ANY (${destinationIds}::uuid[])
  ORDER BY l.destination_id
  FOR NO KEY UPDATE
)`

export const isLocked = "l.destination_id = ANY (ARRAY(SELECT destination_id FROM locked))"

/** Not in the words of the index of what is unsettled: by that, every unsettled delivery of the tenant would be read to find a few by their ids. */
const isUnsettledById = "coalesce(d.state, '') IN ('sending', 'waiting')"

/**
 * Freezes batches and counts attempts, where the lease still holds, the destination still sends and its client has access. Destinations are named once, then by their place.
 *
 * Entries are found where the claim saw them, and only if they are still those. Every other way depends on what the planner believes of a
 * table that is empty whenever it is analysed: then each entry is looked for among all of a tenant.
 *
 * Fails as a division by zero, and changes nothing, where an entry is no longer there: a claim that looked while another worker's
 * last freeze was being written, or a freeze whose answer got lost and that came through after all. Nothing is frozen twice. So it does
 * where a delivery has ended meanwhile, by an outcome of the worker before that was still being written: nothing of it is under way then.
 */
export const freeze = (schema: string) => `
WITH ${lockedInOrder(schema, "$2")},
ours AS (
  UPDATE ${schema}.delivery_destinations AS l
  SET rate_mark = g.rate_mark, cursor = coalesce(g.cursor, l.cursor)
  FROM unnest($2::uuid[], $3::int8[], $4::float8[], $5::text[]) WITH ORDINALITY AS g (destination_id, token, rate_mark, cursor, place)
  WHERE l.tenant_id = $1 AND l.destination_id = g.destination_id AND l.lease_token = g.token AND l.leased_until IS NOT NULL AND l.state = 'active'
    AND ${isLocked} AND ${tenantIsActive(schema)} AND ${clientIsLive(schema, "l.client")}
  RETURNING l.destination_id, l.lease_token, g.place
),
taken AS (
  DELETE FROM ${schema}.delivery_entries AS e
  USING (
    SELECT o.destination_id, g.key, g.sequence, g.ref, g.spot::tid
    FROM unnest($6::int4[], $7::text[], $8::int8[], $9::int8[], $10::text[]) AS g (place, key, sequence, ref, spot)
    JOIN ours AS o ON o.place = g.place
    LIMIT cardinality($6::int4[])
  ) AS g
  WHERE e.tenant_id = $1 AND e.ctid = g.spot
    AND e.destination_id = g.destination_id AND e.key = g.key AND e.sequence = g.sequence AND e.ref = g.ref
  RETURNING 1
),
made AS (
  INSERT INTO ${schema}.deliveries
    (tenant_id, delivery_id, destination_id, state, token, attempt, tries, refs, keys, sent_at, traceparent)
  SELECT $1, g.delivery_id, o.destination_id, 'sending', o.lease_token, 1, 1, g.refs::bigint[], g.keys::text[], g.sent_at, g.traceparent
  FROM unnest($11::int4[], $12::uuid[], $13::text[], $14::text[], $15::timestamptz[], $16::text[])
    AS g (place, delivery_id, refs, keys, sent_at, traceparent)
  JOIN ours AS o ON o.place = g.place
),
again AS (
  UPDATE ${schema}.deliveries AS d
  SET state = 'sending', token = o.lease_token, attempt = d.attempt + 1, tries = d.tries + 1, due_at = NULL
  FROM unnest($17::int4[], $18::uuid[], $19::int4[]) AS g (place, delivery_id, tries)
  JOIN ours AS o ON o.place = g.place
  WHERE d.tenant_id = $1 AND d.delivery_id = g.delivery_id AND d.delivery_id = ANY ($18::uuid[]) AND ${isUnsettledById}
    AND d.tries = coalesce(g.tries, d.tries)
  RETURNING 1
)
SELECT o.destination_id
FROM ours AS o
CROSS JOIN (
  SELECT 1 / (
    (SELECT count(*) FROM taken) = (SELECT count(*) FROM unnest($6::int4[]) AS g (place) JOIN ours AS o ON o.place = g.place)
    AND (SELECT count(*) FROM again) = (SELECT count(*) FROM unnest($17::int4[]) AS g (place) JOIN ours AS o ON o.place = g.place)
  )::int4 AS whole
) AS taking
WHERE taking.whole = 1`

/** Keeps leases alive, and answers those that are still held. */
export const heartbeat = (schema: string) => `
WITH ${lockedInOrder(schema, "$2")}
UPDATE ${schema}.delivery_destinations AS l
SET leased_until = now() + ${millis("$4")}, due_at = now() + ${millis("$4")},
    wake_at = ${wakeFor(`(now() + ${millis("$4")})`, "true")}
FROM unnest($2::uuid[], $3::int8[]) AS g (destination_id, token)
WHERE l.tenant_id = $1 AND l.destination_id = g.destination_id AND l.lease_token = g.token AND l.state <> 'closed' AND l.leased_until IS NOT NULL
  AND ${isLocked}
RETURNING l.destination_id`
