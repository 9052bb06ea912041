/** The first statement of a take: reads signals, destinations and what waits in them. It writes nothing, and decides nothing but access. */
import { flightOf, partitionOf, type TakeRequest } from "@waybill/core/delivery"
import { bool, boolArray, byteaArray, float8, int4, int4Array, int8, int8Array, optional, row, textArray, uuid, uuidArray } from "../client/SqlRow.ts"
import { nothing, ofAnyLength, type Parameter, raw, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { accessOf, holdsUnseen, seenOnce } from "./DeliveryGateSql.ts"
import { ownedNow } from "./PartitionSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { payloadOf } from "./PayloadSql.ts"
import { partitionOfSql } from "./DeliveryEntrySql.ts"
import { fewAccountsOf } from "../shared/ShipmentSql.ts"

/** The first row is about the take, the others are about a destination each. Its waiting entries are arrays of one length. */
export const foundRow = row({
  now: optional(float8),
  owned: optional(int4Array),
  signalled: optional(uuidArray),
  signalKeys: optional(textArray),
  signalNos: optional(int8Array),
  signalLocations: optional(textArray),
  destinationId: optional(uuid),
  version: optional(int8),
  batchMaxSize: optional(int4),
  sends: optional(bool),
  again: optional(uuidArray),
  unseenAgain: optional(uuidArray),
  more: optional(bool),
  keys: optional(textArray),
  sequences: optional(int8Array),
  refs: optional(int8Array),
  locations: optional(textArray),
  held: optional(boolArray),
  seen: optional(boolArray),
  readable: optional(boolArray),
  orderIds: optional(textArray),
  traceparents: optional(textArray),
  bodies: optional(byteaArray)
})

/** Held entries of one destination that are passed over in a take, about. */
const passedOver = raw("500")

/** The input of the statement's parts. Unused parts are left out, because a smaller statement starts sooner. */
interface Taking {
  readonly schema: Statement
  /** Those of the request: the statement reads no other tables. */
  readonly sources: ReadonlyArray<PayloadSource>
  readonly request: TakeRequest
  readonly tenantId: Parameter
  readonly hears: boolean
  /** Whether signals alone may name a destination. */
  readonly guesses: boolean
  /** Whether anything may be taken. */
  readonly finds: boolean
  /** Whether deliveries that waited are sent again. */
  readonly again: boolean
  /** Whether keys in flight are skipped. */
  readonly flown: boolean
}

export const findForTake = (schema: Statement, all: ReadonlyArray<PayloadSource>, request: TakeRequest): Statement => {
  const taking = takingOf(schema, all, request)
  const { finds, flown, hears } = taking
  return statement`
WITH ${ownedNow(schema, request.tenantId, request.owned)}
${hears ? statement`,${signals(taking)}` : nothing}
${finds ? statement`,${wanted(taking)}` : nothing}
${finds && flown ? statement`,${keysInFlight(taking)}` : nothing}
SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now, ARRAY(SELECT f.partition FROM fence AS f) AS owned, ${hears ? signalColumns : noSignals}, ${noDestination}
${hears ? raw("FROM signals AS s") : nothing}
${finds ? statement`UNION ALL ${destinations(taking)}` : nothing}`
}

const takingOf = (schema: Statement, all: ReadonlyArray<PayloadSource>, request: TakeRequest): Taking => {
  const sources = all.filter(({ source }) => request.sources.includes(source))
  const hears = request.signals > 0
  const guesses = hears && request.unrequested > 0
  return {
    schema,
    sources,
    request,
    tenantId: tenant(request.tenantId),
    hears,
    guesses,
    finds: sources.length > 0 && (guesses || request.from.length > 0),
    again: request.from.some(({ again }) => again.length > 0),
    flown: request.from.some(({ inFlight }) => inFlight.length > 0)
  }
}

const noSignals = raw("NULL::uuid[] AS signalled, NULL::text[] AS signal_keys, NULL::int8[] AS signal_nos, NULL::text[] AS signal_locations")

const noDestination = raw(`NULL::uuid AS destination_id, NULL::int8 AS version, NULL::int4 AS batch_max_size, NULL::bool AS sends, NULL::uuid[] AS again,
       NULL::uuid[] AS unseen_again, NULL::bool AS more, NULL::text[] AS keys, NULL::int8[] AS sequences, NULL::int8[] AS refs, NULL::text[] AS locations, NULL::bool[] AS held,
       NULL::bool[] AS seen, NULL::bool[] AS readable, NULL::text[] AS order_ids, NULL::text[] AS traceparents, NULL::bytea[] AS bodies`)

/** `signals`: one more than may be consumed. */
const signals = ({ request, schema, tenantId }: Taking) => {
  const limit = value(request.signals)
  return statement`
signals AS MATERIALIZED (
  SELECT s.destination_id, s.key, s.signal_no, s.row_location
  FROM fence AS f
  CROSS JOIN LATERAL (
    SELECT s.destination_id, s.key, s.signal_no, s.ctid AS row_location FROM ${schema}.delivery_signals AS s
    WHERE s.tenant_id = ${tenantId} AND s.partition = f.partition
    ORDER BY s.signal_no
    LIMIT ${limit}::int4 + 1
  ) AS s
  LIMIT ${limit}::int4 + 1
)`
}

const signalColumns = raw("array_agg(s.destination_id) AS signalled, array_agg(s.key) AS signal_keys, array_agg(s.signal_no) AS signal_nos, array_agg(s.row_location::text) AS signal_locations")

/** `wanted`: the destinations that were named, and those with a signal that nobody named. */
const wanted = ({ again, guesses, request: { from, signals, skip, unrequested } }: Taking) => {
  const named = uuidArray(from.map(({ destinationId }) => destinationId))
  const repeated = again ? textArray(from.map((each) => each.again.length === 0 ? null : `{${each.again.join(",")}}`)) : statement`ARRAY[NULL]`
  return statement`
wanted AS MATERIALIZED (
  SELECT g.destination_id, g.after, g.batches, g.again::uuid[] AS again, true AS asked
  FROM unnest(${ofAnyLength(named)}, ${textArray(from.map(({ after }) => after ?? null))}, ${int4Array(from.map(({ batches }) => batches))}, ${repeated})
    AS g (destination_id, after, batches, again)
  WHERE g.destination_id IS NOT NULL
  ${!guesses ? nothing : statement`UNION ALL
  (
    SELECT h.destination_id, NULL, 1, NULL, false
    FROM (SELECT DISTINCT s.destination_id FROM (SELECT s.destination_id FROM signals AS s LIMIT ${value(signals)}::int4) AS s) AS h
    WHERE h.destination_id <> ALL (${named}) AND h.destination_id <> ALL (${uuidArray(skip)})
    LIMIT ${unrequested}::int4
  )`}
)`
}

/** `flown (keys)`: the keys of named deliveries in flight, by their destinations. Each flight is read once. */
const keysInFlight = ({ request, schema, tenantId }: Taking) => {
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

/** The destinations that are not closed, whether anything is sent to them now, and what waits in them. */
const destinations = (taking: Taking) => {
  const { again, guesses, request, schema, sources, tenantId } = taking
  const named = raw(sources.map(({ source }) => `'${source}'`).join(", "))
  return statement`
SELECT NULL, NULL, NULL, NULL, NULL, NULL, d.destination_id, d.version, d.batch_max_size, d.sends, ${raw(again ? "r.again, r.unseen" : "NULL, NULL")}, e.*
FROM (
  SELECT w.*, d.version, d.source, d.client, d.batch_max_size, a.sees_all, b.accounts, h.held, m.sends,
         CASE WHEN m.sends THEN least(${request.lookAt}::int4, w.batches * d.batch_max_size + 1 + CASE WHEN w.batches = 0 OR h.held IS NULL THEN 0 ELSE ${passedOver} END) ELSE 0 END AS most
  FROM wanted AS w
  CROSS JOIN LATERAL (
    SELECT d.* FROM ${schema}.delivery_destinations AS d
    WHERE d.tenant_id = ${tenantId} AND d.destination_id = w.destination_id AND d.state <> 'closed' AND d.source IN (${named})
      ${guesses ? raw("AND (w.asked OR d.breaker_open_until IS NULL AND coalesce(d.rate_mark <= extract(epoch FROM now()) * 1000, true))") : nothing}
    LIMIT 1
  ) AS d
  CROSS JOIN LATERAL (${raw(accessOf(schema.text, "d.client"))}) AS a
  CROSS JOIN LATERAL (${raw(fewAccountsOf(schema.text, "d.client"))}) AS b
  CROSS JOIN LATERAL (${heldKeys(taking)}) AS h
  CROSS JOIN LATERAL (SELECT d.state = 'active' AND a.admitted AS sends) AS m
  WHERE ${raw(partitionOfSql("w.destination_id"))} = ANY (ARRAY(SELECT f.partition FROM fence AS f))
  OFFSET 0
) AS d
CROSS JOIN LATERAL (${waitingEntries(taking)}) AS e
${again ? statement`CROSS JOIN LATERAL (${sentAgain(taking)}) AS r` : nothing}`
}

/**
 * `held`: keys of deliveries that wait or are sent, with the one that goes first: one that is sent, else the oldest. Keys of those that are sent for the
 * first time come with no delivery.
 */
const heldKeys = ({ flown, schema, tenantId }: Taking) => statement`
  SELECT ${flown ? raw("coalesce(h.unsettled || h.flown, h.unsettled, h.flown)") : raw("h.unsettled")} AS held
  FROM (
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
  ) AS h`

/**
 * The next entries of a destination in their order, one more than can be taken. Bytes are read, and access is judged, only of those that can: what follows
 * them in a batch would be too much. The rows stand in the order of their index, so windows need no ORDER BY, and no sort.
 */
const waitingEntries = ({ request, schema, sources, tenantId }: Taking) => statement`
  SELECT count(*) = d.most AS more, array_agg(q.key) AS keys, array_agg(q.sequence) AS sequences, array_agg(q.ref) AS refs, array_agg(q.row_location::text) AS locations, array_agg(q.held) AS held,
         array_agg(CASE WHEN q.readable THEN ${raw(seenOnce(schema.text, sources, "d"))} END) AS seen, array_agg(q.readable) AS readable,
         array_agg(x.order_id) AS order_ids, array_agg(x.traceparent) AS traceparents, array_agg(x.body) AS bodies
  FROM (
    SELECT e.*, lag(e.key) OVER o IS DISTINCT FROM e.key AS opens,
           NOT e.held AND count(*) FILTER (WHERE NOT e.held) OVER o <= d.batches * d.batch_max_size
             AND sum(e.size) FILTER (WHERE NOT e.held) OVER o - e.size < d.batches * ${float8(request.maxBatchBytes)} AS readable
    FROM (
      SELECT e.key, e.sequence, e.ref, e.size, e.ctid AS row_location, d.held IS NOT NULL AND d.held ? e.key AS held
      FROM ${schema}.delivery_entries AS e
      WHERE e.tenant_id = ${tenantId} AND e.destination_id = d.destination_id AND e.key > coalesce(d.after, '')
      ORDER BY e.key, e.sequence, e.ref
      LIMIT d.most
    ) AS e
    WINDOW o AS (ROWS UNBOUNDED PRECEDING)
    OFFSET 0
  ) AS q
  LEFT JOIN LATERAL (${raw(payloadOf(schema.text, sources, "d.source", "q.ref"))}) AS x ON q.readable`

/** Deliveries that wait and that no other holds back, by whether their client may see all that is in them. */
const sentAgain = ({ schema, sources, tenantId }: Taking) => statement`
  SELECT array_agg(r.delivery_id) FILTER (WHERE NOT r.unseen) AS again, array_agg(r.delivery_id) FILTER (WHERE r.unseen) AS unseen
  FROM (
    SELECT u.delivery_id, ${raw(holdsUnseen(schema.text, sources, "d", "u"))} AS unseen
    FROM unnest(d.again) AS g (delivery_id)
    CROSS JOIN LATERAL (
      SELECT u.* FROM ${schema}.deliveries AS u
      WHERE u.tenant_id = ${tenantId} AND u.delivery_id = g.delivery_id AND u.destination_id = d.destination_id AND coalesce(u.state, '') = 'waiting'
      LIMIT 1
    ) AS u
    WHERE d.sends AND NOT EXISTS (SELECT FROM unnest(u.keys) AS k (key) WHERE d.held ->> k.key <> u.delivery_id::text)
    OFFSET 0
  ) AS r`
