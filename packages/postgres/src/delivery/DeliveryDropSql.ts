/** The statements for what may not be sent any more, and for what waits beyond its tenant's quotas. */
import { backlogStep } from "@waybill/core"
import { mayBeSent } from "./DeliveryGateSql.ts"
import { lockedInOrder } from "./DeliveryQueueSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"

/** Drops that are kept for each destination. */
const keptDrops = 1000

/** Entries of one key that one statement drops. */
const droppedAtOnce = 1000

/** Removes entries, counts them and remembers why. \`chosen (destination_id, key, sequence, ref, spot)\` comes before it. $2 says why. */
const dropChosen = (schema: string) => `
gone AS (
  DELETE FROM ${schema}.delivery_entries AS e USING chosen AS c
  WHERE e.tenant_id = $1 AND e.ctid = c.spot
    AND e.destination_id = c.destination_id AND e.key = c.key AND e.sequence = c.sequence AND e.ref = c.ref
  RETURNING e.destination_id, e.key, e.sequence, e.ref
),
noted AS (
  INSERT INTO ${schema}.delivery_drops (tenant_id, destination_id, key, sequence, ref, reason)
  SELECT $1, g.destination_id, g.key, g.sequence, g.ref, $2
  FROM (SELECT g.*, row_number() OVER (PARTITION BY g.destination_id ORDER BY g.ref DESC) AS place FROM gone AS g) AS g
  WHERE g.place <= ${keptDrops}
  ORDER BY g.destination_id, g.ref
),
counted AS (
  UPDATE ${schema}.delivery_destinations AS l
  SET dropped = l.dropped + g.count
  FROM (SELECT g.destination_id, count(*) AS count FROM gone AS g GROUP BY g.destination_id) AS g
  WHERE l.tenant_id = $1 AND l.destination_id = g.destination_id AND l.destination_id = ANY (ARRAY(SELECT destination_id FROM chosen))
)`

/**
 * Drops what the clients of some leased destinations may no longer see, of the keys that are named. Judged anew: what was given back to a client
 * meanwhile stays.
 */
export const dropUnseen = (schema: string, sources: ReadonlyArray<PayloadSource>) => `
WITH ${lockedInOrder(schema, "$3")},
ours AS MATERIALIZED (
  SELECT DISTINCT k.destination_id, g.key
  FROM unnest($3::uuid[], $4::int8[], $5::text[]) AS g (destination_id, token, key)
  JOIN locked AS k ON k.destination_id = g.destination_id AND k.lease_token = g.token AND k.leased_until IS NOT NULL
),
chosen AS MATERIALIZED (
  SELECT o.destination_id, e.key, e.sequence, e.ref, e.spot
  FROM ours AS o
  CROSS JOIN LATERAL (
    SELECT l.source, l.client FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = $1 AND l.destination_id = o.destination_id
    OFFSET 0
  ) AS l
  CROSS JOIN LATERAL (
    SELECT e.key, e.sequence, e.ref, e.ctid AS spot FROM ${schema}.delivery_entries AS e
    WHERE e.tenant_id = $1 AND e.destination_id = o.destination_id AND e.key = o.key
    ORDER BY e.sequence, e.ref
    LIMIT ${droppedAtOnce}
  ) AS e
  WHERE ${mayBeSent(schema, sources, { source: "l.source", client: "l.client", entry: "e" })} IS FALSE
),${dropChosen(schema)}
SELECT destination_id, ref FROM gone`

/** $2: width of a stretch of time in milliseconds; $3 to $6: the entry to begin after. One row without a destination where nothing is left. */
export const countBacklog = (schema: string) => `
WITH stretch AS MATERIALIZED (
  SELECT e.destination_id, e.key, e.sequence, e.ref, floor(extract(epoch FROM e.queued_at) * 1000 / $2::float8)::int8 AS place
  FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = $1 AND (e.destination_id, e.key, e.sequence, e.ref) > ($3::uuid, $4, $5::int8, $6::int8)
  ORDER BY e.destination_id, e.key, e.sequence, e.ref
  LIMIT ${backlogStep}
),
last AS MATERIALIZED (
  SELECT s.destination_id, s.key, s.sequence, s.ref FROM stretch AS s ORDER BY s.destination_id DESC, s.key DESC, s.sequence DESC, s.ref DESC LIMIT 1
),
grouped AS MATERIALIZED (
  SELECT s.destination_id, s.place, count(*) AS entries FROM stretch AS s GROUP BY s.destination_id, s.place
),
losses AS MATERIALIZED (
  SELECT g.destination_id, l.dropped
  FROM (SELECT DISTINCT destination_id FROM grouped) AS g
  CROSS JOIN LATERAL (
    SELECT l.dropped FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = $1 AND l.destination_id = g.destination_id AND l.state <> 'closed'
    OFFSET 0
  ) AS l
)
SELECT (extract(epoch FROM now()) * 1000)::float8 AS now,
       (SELECT count(*) FROM stretch) = ${backlogStep} AS more,
       t.destination_id AS last_destination_id, t.key, t.sequence, t.ref, g.destination_id, g.place, g.entries, g.dropped
FROM (SELECT 1 AS one) AS o
LEFT JOIN last AS t ON true
LEFT JOIN (
  SELECT g.destination_id, g.place, g.entries, s.dropped FROM grouped AS g JOIN losses AS s ON s.destination_id = g.destination_id
) AS g ON true
ORDER BY g.destination_id`

/**
 * $3: the destination; $4 to $6: the entry to begin after; $7: queued before, in milliseconds; $8: how many at most; $9: what the destination has lost. A
 * statement of its own behind the lock of the destination, so that it sees what was frozen, settled and dropped before.
 */
export const dropExcess = (schema: string) => `
WITH destination AS MATERIALIZED (
  SELECT destination_id FROM ${schema}.delivery_destinations WHERE tenant_id = $1 AND destination_id = $3::uuid AND state <> 'closed' AND dropped = $9::int8
),
stretch AS MATERIALIZED (
  SELECT e.destination_id, e.key, e.sequence, e.ref, e.ctid AS spot, e.queued_at FROM ${schema}.delivery_entries AS e
  WHERE e.tenant_id = $1 AND e.destination_id = (SELECT destination_id FROM destination) AND (e.key, e.sequence, e.ref) > ($4, $5::int8, $6::int8)
  ORDER BY e.key, e.sequence, e.ref
  LIMIT ${backlogStep}
),
chosen AS MATERIALIZED (
  SELECT s.destination_id, s.key, s.sequence, s.ref, s.spot FROM stretch AS s
  WHERE s.queued_at < to_timestamp($7::float8 / 1000)
  ORDER BY s.key, s.sequence, s.ref
  LIMIT $8::int8
),${dropChosen(schema)}
SELECT (SELECT count(*) FROM gone) AS dropped, (SELECT count(*) FROM stretch) = ${backlogStep} AS more, s.key, s.sequence, s.ref
FROM (SELECT 1 AS one) AS o
LEFT JOIN (SELECT s.key, s.sequence, s.ref FROM stretch AS s ORDER BY s.key DESC, s.sequence DESC, s.ref DESC LIMIT 1) AS s ON true`

/** Forgets all but the newest drops of some destinations. */
export const forgetDrops = (schema: string) => `
DELETE FROM ${schema}.delivery_drops AS d
USING (
  SELECT g.destination_id, o.drop_no
  FROM unnest($2::uuid[]) AS g (destination_id)
  CROSS JOIN LATERAL (
    SELECT d.drop_no FROM ${schema}.delivery_drops AS d
    WHERE d.tenant_id = $1 AND d.destination_id = g.destination_id
    ORDER BY d.drop_no DESC
    LIMIT 1 OFFSET ${keptDrops}
  ) AS o
) AS o
WHERE d.tenant_id = $1 AND d.destination_id = o.destination_id AND d.drop_no <= o.drop_no AND d.destination_id = ANY ($2::uuid[])`

/** What operators read of a delivery that ended because of what was in it. */
export const withdrawnReason =
  "Its client may no longer see everything in it. What the client may still see goes out in another delivery."

/**
 * Ends frozen deliveries without sending them, and lets what is in them wait again as entries: the next claim drops those that may not
 * be sent. Their places are still free, for an unsettled delivery holds back what comes behind it.
 */
export const withdraw = (schema: string, sources: ReadonlyArray<PayloadSource>) => `
WITH ${lockedInOrder(schema, "$2")},
ended AS (
  UPDATE ${schema}.deliveries AS d
  SET state = 'cancelled', due_at = NULL, settled_at = now(), reason = $5
  FROM unnest($2::uuid[], $3::int8[], $4::uuid[]) AS g (destination_id, token, delivery_id)
  JOIN locked AS k ON k.destination_id = g.destination_id AND k.lease_token = g.token AND k.leased_until IS NOT NULL
  WHERE d.tenant_id = $1 AND d.delivery_id = g.delivery_id AND d.delivery_id = ANY ($4::uuid[]) AND d.destination_id = g.destination_id
    AND (d.state = 'waiting' OR d.state = 'sending' AND d.token <> g.token)
  RETURNING d.delivery_id, d.destination_id, d.refs
)
INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
SELECT $1, e.destination_id, p.key, p.sequence, r.ref, p.size
FROM ended AS e
CROSS JOIN LATERAL (
  SELECT l.source FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = $1 AND l.destination_id = e.destination_id
  OFFSET 0
) AS l
CROSS JOIN LATERAL unnest(e.refs) AS r (ref)
CROSS JOIN LATERAL (
  ${
  sources.map((each) => `(
    SELECT x.${each.key} AS key, x.${each.sequence} AS sequence, octet_length(x.body) AS size
    FROM ${schema}.${each.table} AS x
    WHERE x.tenant_id = $1 AND x.${each.ref} = r.ref AND l.source = '${each.source}'
    OFFSET 0
  )`).join(" UNION ALL ")
}
) AS p
ON CONFLICT DO NOTHING`
