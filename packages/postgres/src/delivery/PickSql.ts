/** The first half of a take: selects destinations and entries. */
import { flightOf, partitionOf, type TakeRequest } from "@waybill/core"
import { float8, int4Array, textArray, uuidArray } from "../client/SqlRow.ts"
import { nothing, ofAnyLength, type Parameter, raw, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { accessOf, seenOnce } from "./DeliveryGateSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { partitionOfSql } from "../shared/DeliveryEntrySql.ts"
import { fewAccountsOf } from "../shared/ShipmentSql.ts"

/** The input of a take's parts. Unused parts are left out, because a smaller statement starts sooner. */
export interface Taking {
  readonly schema: Statement
  /** Those of the request: the statement reads no other tables. */
  readonly sources: ReadonlyArray<PayloadSource>
  readonly request: TakeRequest
  readonly tenantId: Parameter
  readonly lookAt: Parameter
  /** Whether signals are consumed. */
  readonly hears: boolean
  /** Whether anything may be taken; else only signals are consumed. */
  readonly anything: boolean
  /** Whether deliveries that waited are sent again. */
  readonly again: boolean
  /** Whether keys in flight are skipped. */
  readonly flown: boolean
}

export const takingOf = (schema: Statement, sources: ReadonlyArray<PayloadSource>, request: TakeRequest): Taking => ({
  schema,
  sources: sources.filter(({ source }) => request.sources.includes(source)),
  request,
  tenantId: tenant(request.tenantId),
  lookAt: value(request.lookAt),
  hears: request.signals > 0,
  anything: request.from.length + (request.signals > 0 ? request.unrequested : 0) > 0 && request.sources.length > 0,
  again: request.from.some(({ again }) => again.length > 0),
  flown: request.from.some(({ inFlight }) => inFlight.length > 0)
})

/**
 * `heard (destination_id, key)`: the signals that are consumed, and `signals`: one more of them than may be. Those that another statement consumes are
 * passed over, or this one would wait for all that the other one takes. The delete names rows by where they
 * are: nothing moves them within a statement, and every other way depends on what the planner believes of a table that is empty whenever it is
 * analysed. By `one = 1` it believes that they are few, and looks at each of them instead of at all signals.
 */
export const heardSignals = ({ request, schema, tenantId }: Taking) => {
  const limit = value(request.signals)
  return statement`
signals AS MATERIALIZED (
  SELECT s.row_location, 1 AS one
  FROM fence AS f
  CROSS JOIN LATERAL (
    SELECT s.ctid AS row_location FROM ${schema}.delivery_signals AS s
    WHERE s.tenant_id = ${tenantId} AND s.partition = f.partition
    ORDER BY s.signal_no
    LIMIT ${limit}::int4 + 1
    FOR UPDATE SKIP LOCKED
  ) AS s
  LIMIT ${limit}::int4 + 1
),
heard AS (
  DELETE FROM ${schema}.delivery_signals AS s
  USING (SELECT w.row_location FROM signals AS w WHERE w.one = 1 LIMIT ${limit}::int4) AS w
  WHERE s.tenant_id = ${tenantId} AND s.ctid = w.row_location
  RETURNING s.destination_id, s.key
)`
}

/** `wanted`: the destinations that were named, and those with a signal that nobody named. */
export const wantedDestinations = ({ again, hears, request: { from, skip, unrequested } }: Taking) => {
  const named = uuidArray(from.map(({ destinationId }) => destinationId))
  const repeated = again ? textArray(from.map((each) => each.again.length === 0 ? null : `{${each.again.join(",")}}`)) : statement`ARRAY[NULL]`
  return statement`
wanted AS MATERIALIZED (
  SELECT g.place, g.destination_id, g.after, g.batches, g.again::uuid[] AS again, true AS asked
  FROM unnest(${ofAnyLength(named)}, ${textArray(from.map(({ after }) => after ?? null))}, ${int4Array(from.map(({ batches }) => batches))}, ${repeated})
    WITH ORDINALITY AS g (destination_id, after, batches, again, place)
  WHERE g.destination_id IS NOT NULL
  ${!hears || unrequested === 0 ? nothing : statement`UNION ALL
  (
    SELECT cardinality(${named}) + 1, h.destination_id, NULL, 1, NULL, false
    FROM (SELECT DISTINCT h.destination_id FROM heard AS h) AS h
    WHERE h.destination_id <> ALL (${named}) AND h.destination_id <> ALL (${uuidArray(skip)})
    LIMIT ${unrequested}::int4
  )`}
)`
}

/** `flown (keys)`: the keys of named deliveries in flight, by their destinations. Each flight is read once. */
export const keysInFlight = ({ request, schema, tenantId }: Taking) => {
  const flown = request.from.flatMap(({ destinationId, inFlight }) => inFlight.map((id) => ({ id, flight: flightOf(id), partition: partitionOf(destinationId) })))
  const flights = uuidArray(flown.map(({ flight }) => flight))
  return statement`
flown AS MATERIALIZED (
  SELECT jsonb_object_agg(u.destination_id, u.keys) AS keys
  FROM (
    SELECT u.destination_id, jsonb_object_agg(k.key, '') AS keys
    FROM (SELECT DISTINCT g.* FROM unnest(${ofAnyLength(int4Array(flown.map(({ partition }) => partition)))}, ${flights}) AS g (partition, flight)) AS g
    CROSS JOIN LATERAL (
      SELECT f.flight, f.deliveries FROM ${schema}.delivery_flights AS f
      WHERE f.tenant_id = ${tenantId} AND f.partition = g.partition AND f.flight = g.flight
      LIMIT 1
    ) AS f
    CROSS JOIN LATERAL unnest(f.deliveries) AS u
    CROSS JOIN LATERAL unnest(u.keys) AS k (key)
    WHERE u.delivery_id IS NULL
      AND (f.flight, u.ordinal) IN (SELECT * FROM unnest(${flights}, ${int4Array(flown.map(({ id }) => Number.parseInt(id.slice(-4), 16)))}))
    GROUP BY u.destination_id
  ) AS u
)`
}

/**
 * `found`: the destinations that are not closed, and whether anything is sent to them now. `held`: keys of deliveries that wait or are sent, with the
 * one that goes first: one that is sent, else the oldest. Keys of those that are sent for the first time come with no delivery.
 */
export const foundDestinations = ({ flown, schema, sources, tenantId }: Taking) => {
  const named = raw(sources.map(({ source }) => `'${source}'`).join(", "))
  return statement`
found AS MATERIALIZED (
  SELECT w.place, w.destination_id, w.after, w.batches, w.again, d.version, d.source, d.client, a.sees_all, b.accounts, d.batch_max_size,
         d.state = 'active' AND a.admitted AS sends, ${flown ? raw("coalesce(h.unsettled || h.flown, h.unsettled, h.flown)") : raw("h.unsettled")} AS held
  FROM wanted AS w
  CROSS JOIN LATERAL (
    SELECT d.* FROM ${schema}.delivery_destinations AS d
    WHERE d.tenant_id = ${tenantId} AND d.destination_id = w.destination_id AND d.state <> 'closed' AND d.source IN (${named})
      AND (w.asked OR d.breaker_open_until IS NULL AND coalesce(d.rate_mark <= extract(epoch FROM now()) * 1000, true))
    LIMIT 1
  ) AS d
  CROSS JOIN LATERAL (${raw(accessOf(schema.text, "d.client"))}) AS a
  CROSS JOIN LATERAL (${raw(fewAccountsOf(schema.text, "d.client"))}) AS b
  CROSS JOIN LATERAL (
    SELECT jsonb_object_agg(k.key, u.delivery_id ORDER BY u.state = 'sending', u.delivery_id DESC) AS unsettled
           ${flown ? raw(", (SELECT f.keys FROM flown AS f) -> w.destination_id::text AS flown") : nothing}
    FROM (
      -- by the order of its index, or the planner may look for them among all deliveries of the tenant
      SELECT u.delivery_id, u.state, u.keys FROM ${schema}.deliveries AS u
      WHERE u.tenant_id = ${tenantId} AND u.destination_id = w.destination_id AND u.state IN ('sending', 'waiting')
      ORDER BY u.due_at
      OFFSET 0
    ) AS u
    CROSS JOIN LATERAL unnest(u.keys) AS k (key)
  ) AS h
  WHERE ${raw(partitionOfSql("w.destination_id"))} = ANY (ARRAY(SELECT f.partition FROM fence AS f))
)`
}

/**
 * `picked`: the entries to take of each destination, and one more. Without any, the destination has a row all the same.
 *
 * Where a batch holds one entry, only the first of each key is picked; `followed`: there are more, or what follows is not looked at. Else a batch ends where the weights of
 * its entries add up to `room`: each weighs its share of the count, or of half of the bytes if that is more. `torn`: a key whose first entries are in
 * an earlier batch. `within`: a batch that is taken; a number, because the planner takes it for rare. What is picked stands in the order of its index, so windows need no ORDER BY, and no sort.
 */
export const pickedEntries = ({ lookAt, request, schema, sources, tenantId }: Taking) => {
  const maxBytes = float8(request.maxBatchBytes)
  return statement`
picked AS MATERIALIZED (
  SELECT f.place, f.destination_id, f.version, f.source, f.sends, f.after, f.batches, CASE WHEN coalesce(e.before, 0) = 0 THEN f.held END AS held,
         e.key, e.sequence, e.ref, e.row_location, e.batch, (e.batch < f.batches)::int4 AS within, e.torn, e.followed, e.seen
  FROM found AS f
  LEFT JOIN LATERAL (
    SELECT q.key, q.sequence, q.ref, q.row_location, q.before, q.batch, f.batch_max_size = 1 AND q.followed OR q.last AS followed,
           NOT q.opens AND q.batch > floor((q.before - q.previous) / q.room) AS torn,
           CASE WHEN q.batch < f.batches THEN ${raw(seenOnce(schema.text, sources, "f"))} END AS seen
    FROM (
      SELECT e.*, lag(e.weight) OVER o AS previous, sum(e.weight) OVER o - e.weight AS before,
             floor((sum(e.weight) OVER o - e.weight) / e.room) AS batch
      FROM (
        SELECT e.*, ${maxBytes} * f.batch_max_size AS room, greatest(2 * f.batch_max_size * e.size::float8, ${maxBytes}) AS weight
        FROM (
          SELECT e.*, lag(e.key) OVER o IS DISTINCT FROM e.key AS opens, lead(e.key) OVER o IS NOT DISTINCT FROM e.key AS followed,
                 row_number() OVER o = ${lookAt}::int4 AS last
          FROM (
            SELECT e.key, e.sequence, e.ref, e.size, e.ctid AS row_location FROM ${schema}.delivery_entries AS e
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
)`
}
