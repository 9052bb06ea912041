/** The statement that takes: it consumes signals, freezes what waits as deliveries in flight, and answers their bytes. */
import { flightOf, partitionOf, type TakeRequest } from "@waybill/core"
import { bool, bytea, float8, int4, int4Array, int8, optional, row, text, textArray, timestamptz, uuid, uuidArray } from "../client/SqlRow.ts"
import { type Parameter, raw, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { accessOf, holdsUnseen, seenOnce } from "./DeliveryGateSql.ts"
import { fenced } from "./PartitionSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { bodyOf, payloadOf } from "./PayloadSql.ts"
import { partitionOfSql } from "./SignalSql.ts"

const columns = {
  /** What the row tells of. */
  kind: int4,
  now: optional(float8),
  owned: optional(int4Array),
  signalled: optional(uuidArray),
  signalKeys: optional(textArray),
  more: optional(bool),
  destinationId: optional(uuid),
  version: optional(int8),
  sends: optional(bool),
  lastKey: optional(text),
  blocked: optional(bool),
  unseenKeys: optional(textArray),
  ordinal: optional(int4),
  deliveryId: optional(uuid),
  sentAt: optional(float8),
  attempt: optional(int4),
  tries: optional(int4),
  events: optional(int4),
  traceparent: optional(text),
  body: optional(bytea)
}

export const takenRow = row(columns)

export const kinds = { take: 0, destination: 1, fresh: 2, again: 3, unseen: 4 } as const

const names = Object.keys(columns) as ReadonlyArray<keyof typeof columns>

/** A SELECT list with all columns of the answer; those that a kind of rows does not have are NULL. */
const answer = (kind: keyof typeof kinds, given: Partial<Record<keyof typeof columns, string>>): Statement =>
  raw(names.map((name) => {
    const { hints: [type] } = columns[name]
    return `${name === "kind" ? kinds[kind] : given[name] ?? `NULL::${type}`} AS ${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
  }).join(", "))

const epoch = (instant: string) => `floor(extract(epoch FROM ${instant}) * 1000)::float8`
const epochNow = raw(epoch("now()"))

const takeAnswer = answer("take", {
  now: epoch("now()"),
  owned: "ARRAY(SELECT f.partition FROM fence AS f)",
  signalled: "ARRAY(SELECT h.destination_id FROM heard AS h)",
  signalKeys: "ARRAY(SELECT h.key FROM heard AS h)",
  more: "(SELECT count(*) FROM signals) > (SELECT count(*) FROM heard)"
})

const destinationAnswer = answer("destination", {
  destinationId: "g.destination_id",
  version: "g.version",
  sends: "g.sends",
  lastKey: "g.last_key",
  more: "g.more",
  blocked: "g.torn OR coalesce(g.next_key = g.key, false) OR coalesce(g.blocked, false)",
  unseenKeys: "g.unseen_keys"
})

const freshAnswer = answer("fresh", {
  destinationId: "f.destination_id",
  ordinal: "f.ordinal",
  lastKey: "f.last_key",
  events: "cardinality(f.refs)",
  traceparent: "f.traceparent",
  body: "f.body"
})

const againAnswer = answer("again", {
  destinationId: "d.destination_id",
  deliveryId: "d.delivery_id",
  sentAt: epoch("d.sent_at"),
  attempt: "d.attempt",
  tries: "d.tries",
  lastKey: "(SELECT max(k.key) FROM unnest(d.keys) AS k (key))",
  events: "cardinality(d.refs)",
  traceparent: "d.traceparent",
  body: "x.body"
})

const unseenAnswer = answer("unseen", { destinationId: "r.destination_id", deliveryId: "r.delivery_id" })

export const take = (schema: Statement, sources: ReadonlyArray<PayloadSource>) => {
  const access = raw(accessOf(schema.text, "d.client"))
  const seen = raw(seenOnce(schema.text, sources, "f"))
  const unseen = raw(holdsUnseen(schema.text, sources))
  const payload = raw(payloadOf(schema.text, sources, "g.source", "g.ref"))
  const body = raw(bodyOf(schema.text, sources))
  return (request: TakeRequest): Statement => {
    const from = request.from
    const tenantId = tenant(request.tenantId)
    const destinations = uuidArray(from.map(({ destinationId }) => destinationId))
    const lookAt = value(request.lookAt)
    const maxBytes = float8(request.maxBatchBytes)
    const signals = value(request.signals)
    const flown = from.flatMap(({ destinationId, inFlight }) => inFlight.map((id) => ({ partition: partitionOf(destinationId), id })))
    return statement`
WITH ${fenced(schema, request.tenantId, request.owned)},
${consumed(schema, tenantId, signals)},
wanted AS MATERIALIZED (
  SELECT g.place, g.destination_id, g.after, g.batches, g.again::uuid[] AS again, true AS asked
  FROM unnest(${destinations}, ${textArray(from.map(({ after }) => after ?? null))}, ${int4Array(from.map(({ batches }) => batches))},
    ${textArray(from.map(({ again }) => again.length === 0 ? null : `{${again.join(",")}}`))})
    WITH ORDINALITY AS g (destination_id, after, batches, again, place)
  UNION ALL
  SELECT cardinality(${destinations}) + row_number() OVER (), h.destination_id, NULL, 1, NULL, false
  FROM (SELECT DISTINCT h.destination_id FROM heard AS h) AS h
  WHERE h.destination_id NOT IN (SELECT unnest(${destinations}) UNION ALL SELECT unnest(${uuidArray(request.skip)}))
),
flown AS MATERIALIZED (
  SELECT jsonb_object_agg(u.destination_id, u.keys) AS keys
  FROM (
    SELECT u.destination_id, jsonb_object_agg(k.key, '') AS keys
    FROM (
      SELECT DISTINCT g.partition, g.flight
      FROM unnest(${int4Array(flown.map(({ partition }) => partition))}, ${uuidArray(flown.map(({ id }) => flightOf(id)))}) AS g (partition, flight)
    ) AS g
    CROSS JOIN LATERAL (
      SELECT f.flight, f.deliveries FROM ${schema}.delivery_flights AS f WHERE f.tenant_id = ${tenantId} AND f.partition = g.partition AND f.flight = g.flight
      OFFSET 0
    ) AS f
    CROSS JOIN LATERAL unnest(f.deliveries) AS u
    CROSS JOIN LATERAL unnest(u.keys) AS k (key)
    WHERE u.delivery_id IS NULL AND (f.flight, u.ordinal) IN (
      SELECT * FROM unnest(${uuidArray(flown.map(({ id }) => flightOf(id)))}, ${int4Array(flown.map(({ id }) => Number.parseInt(id.slice(-4), 16)))})
    )
    GROUP BY u.destination_id
  ) AS u
),
found AS MATERIALIZED (
  SELECT w.place, w.destination_id, w.after, w.batches, w.again, d.version, d.source, d.client, a.sees_all, d.batch_max_size,
         d.state = 'active' AND a.admitted AS sends,
         coalesce(h.unsettled || h.flown, h.unsettled, h.flown) AS held
  FROM wanted AS w
  CROSS JOIN LATERAL (
    SELECT d.* FROM ${schema}.delivery_destinations AS d
    WHERE d.tenant_id = ${tenantId} AND d.destination_id = w.destination_id AND d.state <> 'closed' AND (w.asked OR d.breaker_open_until IS NULL AND coalesce(d.rate_mark <= ${epochNow}, true))
    OFFSET 0
  ) AS d
  CROSS JOIN LATERAL (${access}) AS a
  CROSS JOIN LATERAL (
    SELECT (
             SELECT jsonb_object_agg(k.key, u.delivery_id ORDER BY u.state = 'sending', u.delivery_id DESC)
             FROM ${schema}.deliveries AS u CROSS JOIN LATERAL unnest(u.keys) AS k (key)
             WHERE u.tenant_id = ${tenantId} AND u.destination_id = w.destination_id AND u.state IN ('sending', 'waiting')
           ) AS unsettled,
           (SELECT f.keys FROM flown AS f) -> w.destination_id::text AS flown
    OFFSET 0
  ) AS h
  WHERE ${raw(partitionOfSql("w.destination_id"))} IN (SELECT f.partition FROM fence AS f)
  ORDER BY w.place
  LIMIT cardinality(${destinations}) + ${request.unasked}::int4
),
repeated AS MATERIALIZED (
  SELECT l.destination_id, d.delivery_id, ${unseen} AS unseen
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
),
picked AS MATERIALIZED (
  SELECT f.place, f.destination_id, f.version, f.source, f.sends, f.after, f.batches, CASE WHEN coalesce(e.n, 1) = 1 THEN f.held END AS held,
         e.key, e.sequence, e.ref, e.spot, e.n, e.batch, e.torn, e.kept, e.seen
  FROM found AS f
  LEFT JOIN LATERAL (
    SELECT q.key, q.sequence, q.ref, q.spot, q.n, floor(q.before / q.room) AS batch, f.batch_max_size = 1 AND q.followed AS kept,
           NOT q.opens AND floor(q.before / q.room) > floor((q.before - q.previous) / q.room) AS torn, ${seen} AS seen
    FROM (
      SELECT e.*, row_number() OVER o AS n, sum(e.weight) OVER o - e.weight AS before, lag(e.weight) OVER o AS previous
      FROM (
        SELECT e.*, ${maxBytes} * f.batch_max_size AS room, greatest(2 * f.batch_max_size * e.size::float8, ${maxBytes}) AS weight
        FROM (
          SELECT e.*, lag(e.key) OVER o IS DISTINCT FROM e.key AS opens, lead(e.key) OVER o IS NOT DISTINCT FROM e.key AS followed
          FROM (
            SELECT e.key, e.sequence, e.ref, e.size, e.ctid AS spot FROM ${schema}.delivery_entries AS e
            WHERE e.tenant_id = ${tenantId} AND e.destination_id = f.destination_id AND e.key > coalesce(f.after, '')
            ORDER BY e.key, e.sequence, e.ref
            LIMIT ${lookAt}::int4
          ) AS e
          WINDOW o AS (ROWS UNBOUNDED PRECEDING)
        ) AS e
        WHERE (f.held IS NULL OR NOT f.held ? e.key) AND (e.opens OR f.batch_max_size > 1)
        LIMIT CASE WHEN f.sends AND f.batches > 0 THEN f.batches * f.batch_max_size + 1 ELSE 0 END
      ) AS e
      WINDOW o AS (ROWS UNBOUNDED PRECEDING)
    ) AS q
  ) AS e ON true
),
gone AS (
  DELETE FROM ${schema}.delivery_entries AS e
  USING picked AS p
  WHERE e.tenant_id = ${tenantId} AND e.ctid = p.spot AND e.destination_id = p.destination_id AND e.key = p.key AND e.sequence = p.sequence AND e.ref = p.ref
    AND p.batch < p.batches
    AND (p.place, p.key, p.batch) NOT IN (SELECT t.place, t.key, t.batch FROM picked AS t WHERE t.torn)
    AND (p.place, p.key) NOT IN (SELECT u.place, u.key FROM picked AS u WHERE u.seen IS FALSE)
  RETURNING p.place, p.destination_id, p.source, p.batch, e.key, e.sequence, e.ref
),
fresh AS MATERIALIZED (
  SELECT (row_number() OVER (ORDER BY g.place, g.batch) - 1)::int4 AS ordinal, g.destination_id, array_agg(g.ref) AS refs,
         array_agg(g.key) FILTER (WHERE g.opens) AS keys, max(g.key) AS last_key, (array_agg(g.traceparent) FILTER (WHERE g.traceparent IS NOT NULL))[1] AS traceparent,
         string_agg(g.body, ',') AS body
  FROM (
    SELECT g.*, x.traceparent, x.body, lag(g.key) OVER o IS DISTINCT FROM g.key AS opens
    FROM (SELECT g.* FROM gone AS g ORDER BY g.place, g.batch, g.key, g.sequence OFFSET 0) AS g
    CROSS JOIN LATERAL (${payload}) AS x
    WINDOW o AS (PARTITION BY g.place, g.batch ORDER BY g.key, g.sequence, x.order_id)
  ) AS g
  GROUP BY g.place, g.batch, g.destination_id
),
flights AS (
  INSERT INTO ${schema}.delivery_flights (tenant_id, partition, flight, sent_at, deliveries)
  SELECT ${tenantId}, d.partition, ${request.flight}::uuid, ${timestamptz(request.sentAt)}, array_agg(d.delivery)
  FROM (
    SELECT ${raw(partitionOfSql("f.destination_id"))} AS partition,
           (f.ordinal, f.destination_id, NULL, f.refs, f.keys, 1, 1, f.traceparent)::${schema}.flown_delivery AS delivery
    FROM fresh AS f
    UNION ALL
    SELECT ${raw(partitionOfSql("a.destination_id"))},
           (NULL, a.destination_id, a.delivery_id, a.refs, a.keys, a.attempt, a.tries, a.traceparent)::${schema}.flown_delivery
    FROM again AS a
  ) AS d
  GROUP BY d.partition
)
SELECT ${takeAnswer}
UNION ALL
SELECT ${destinationAnswer}
FROM (
  SELECT g.*, e.blocked, l.last_key,
         CASE
           WHEN g.next_key > l.last_key THEN true
           WHEN g.next_key IS NULL AND g.batches > 0 AND coalesce(e.looked, g.looked) < ${lookAt}::int4 OR NOT g.sends THEN false
           ELSE EXISTS (
             SELECT FROM ${schema}.delivery_entries AS e
             WHERE e.tenant_id = ${tenantId} AND e.destination_id = g.destination_id AND e.key > coalesce(l.last_key, '')
             OFFSET 0
           )
         END AS more
  FROM (
    SELECT p.place, p.destination_id, p.version, p.sends, p.after, p.batches,
           max(p.key) FILTER (WHERE p.batch < p.batches) AS key, min(p.key) FILTER (WHERE p.batch >= p.batches) AS next_key,
           count(p.key) AS looked, coalesce(bool_or((p.torn OR p.kept) AND p.batch < p.batches), false) AS torn,
           array_agg(p.key) FILTER (WHERE p.seen IS FALSE) AS unseen_keys, (array_agg(p.held) FILTER (WHERE p.held IS NOT NULL))[1] AS held
    FROM picked AS p
    GROUP BY p.place, p.destination_id, p.version, p.sends, p.after, p.batches
  ) AS g
  LEFT JOIN LATERAL (
    SELECT count(*) AS looked, max(e.key) AS key, bool_or(g.held ? e.key AND (g.next_key IS NULL OR e.key <= g.key)) AS blocked
    FROM (
      SELECT e.key FROM ${schema}.delivery_entries AS e
      WHERE e.tenant_id = ${tenantId} AND e.destination_id = g.destination_id AND e.key > coalesce(g.after, '')
      ORDER BY e.key, e.sequence, e.ref
      LIMIT CASE WHEN g.held IS NOT NULL AND g.batches > 0 AND g.sends THEN ${lookAt}::int4 ELSE 0 END
    ) AS e
    HAVING count(*) > 0
  ) AS e ON true
  CROSS JOIN LATERAL (SELECT coalesce(CASE WHEN g.next_key IS NULL THEN e.key END, g.key, g.after) AS last_key) AS l
) AS g
UNION ALL
SELECT ${freshAnswer} FROM fresh AS f
UNION ALL
SELECT ${againAnswer} FROM again AS d
CROSS JOIN LATERAL (
  SELECT l.source FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${tenantId} AND l.destination_id = d.destination_id
  OFFSET 0
) AS l
CROSS JOIN LATERAL (${body}) AS x
UNION ALL
SELECT ${unseenAnswer} FROM repeated AS r WHERE r.unseen`
  }
}

/**
 * `heard (destination_id, key)`: the signals that this statement consumes, and `signals`, one more of them than it may. The delete names rows by
 * where they are: every other way depends on what the planner believes of a table that is empty whenever it is analysed.
 */
const consumed = (schema: Statement, tenantId: Parameter, limit: Parameter) => statement`signals AS MATERIALIZED (
  SELECT s.signal_no, s.spot, row_number() OVER () AS n
  FROM fence AS f
  CROSS JOIN LATERAL (
    SELECT s.signal_no, s.ctid AS spot FROM ${schema}.delivery_signals AS s
    WHERE s.tenant_id = ${tenantId} AND s.partition = f.partition
    ORDER BY s.signal_no
    LIMIT ${limit}::int4 + 1
  ) AS s
  LIMIT ${limit}::int4 + 1
),
heard AS (
  DELETE FROM ${schema}.delivery_signals AS s
  USING signals AS w
  WHERE s.tenant_id = ${tenantId} AND s.ctid = w.spot AND s.signal_no = w.signal_no AND w.n <= ${limit}::int4
  RETURNING s.destination_id, s.key
)`
