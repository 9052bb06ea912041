/** The first statement of a take: reads signals, destinations and what waits in them. It writes nothing, and decides nothing but access. */
import { flightOf, partitionOf, type TakeRequest } from "@waybill/core/delivery"
import { bool, bytea, type Column, float8, int4, int4Array, int8, int8Array, optional, row, text, textArray, uuid, uuidArray } from "../../client/SqlRow.ts"
import { nothing, ofAnyLength, type Parameter, raw, type Statement, statement, tenant, value } from "../../client/SqlStatement.ts"
import { accessOf, holdsUnsendable, seenOnce, unseenKeys } from "../DeliveryGateSql.ts"
import { flownIn, goesFirst, unfinishedKeys } from "../LookupSql.ts"
import { ownedNow } from "./PartitionSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { payloadOf } from "../PayloadSql.ts"
import { partitionOfSql } from "../DeliveryEntrySql.ts"
import { fewAccountsOf } from "../../shared/ShipmentSql.ts"

/** Of the first row. */
const ofTake = {
  now: optional(float8),
  owned: optional(int4Array),
  signalled: optional(uuidArray),
  signalKeys: optional(textArray),
  signalNos: optional(int8Array),
  signalLocations: optional(textArray)
}

/**
 * Of each other row. Waiting entries are arrays of one length, a letter each in `states`, and `bodies` with commas between those that were read. `unseenKeys`: takeable
 * entries that are unseen nevertheless.
 */
const ofDestination = {
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
  states: optional(text),
  orderIds: optional(textArray),
  traceparents: optional(textArray),
  sizes: optional(int4Array),
  bodies: optional(bytea),
  unseenKeys: optional(textArray)
}

export const foundRow = row({ ...ofTake, ...ofDestination })

/** Of an entry. `held`: an unfinished delivery has its key. `beyond`: it is more than can be taken. Of both no bytes are read. */
export const entryState = { held: "h", beyond: "b", unseen: "u", takeable: "t" } as const

const [held, beyond, unseen, takeable] = Object.values(entryState).map(raw) as [Statement, Statement, Statement, Statement]

const nulls = (columns: Readonly<Record<string, Column<unknown>>>) => raw(Object.values(columns).map(({ hints }) => `NULL::${hints[0]}`).join(", "))

/** Held entries of one destination that are passed over in a take, about. */
const passedOver = raw("500")

/** Parts that a request does not need are left out, because a smaller statement starts sooner. */
export const findForTake = (schema: Statement, all: ReadonlyArray<PayloadSource>, request: TakeRequest): Statement => {
  const { from, owned, tenantId, unrequested } = request
  const own = tenant(tenantId)
  const sources = all.filter(({ source }) => request.sources.includes(source))
  const signals = value(request.signals)
  const hears = request.signals > 0
  const guesses = hears && unrequested > 0
  const flies = from.some(({ inFlight }) => inFlight.length > 0)
  const finds = sources.length > 0 && (guesses || from.length > 0)
  return statement`
WITH ${ownedNow(schema, tenantId, owned)}
${!hears ? nothing : statement`, signals AS MATERIALIZED (${nextSignals(schema, own, signals)})`}
${!finds ? nothing : statement`, wanted AS MATERIALIZED (${named(from)} ${guesses ? statement`UNION ALL (${signalled(request, signals)})` : nothing})`}
${!finds || !flies ? nothing : statement`, flown AS MATERIALIZED (${keysInFlight(schema, tenantId, from)})`}
SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now, ARRAY(SELECT f.partition FROM fence AS f) AS owned,
       ${raw(hears ? "array_agg(s.destination_id), array_agg(s.key), array_agg(s.signal_no), array_agg(s.row_location::text)" : "NULL::uuid[], NULL::text[], NULL::int8[], NULL::text[]")},
       ${nulls(ofDestination)}
${hears ? raw("FROM signals AS s") : nothing}
${!finds ? nothing : statement`UNION ALL ${waitingIn(schema, sources, request, { guesses, flies })}`}`
}

/** One more than may be consumed. */
const nextSignals = (schema: Statement, own: Parameter, signals: Parameter) => statement`
  SELECT s.destination_id, s.key, s.signal_no, s.row_location
  FROM fence AS f
  CROSS JOIN LATERAL (
    SELECT s.destination_id, s.key, s.signal_no, s.ctid AS row_location FROM ${schema}.delivery_signals AS s
    WHERE s.tenant_id = ${own} AND s.partition = f.partition
    ORDER BY s.signal_no
    LIMIT ${signals}::int4 + 1
  ) AS s
  LIMIT ${signals}::int4 + 1`

const named = (from: TakeRequest["from"]) => statement`
  SELECT g.destination_id, g.after, g.batches, g.bytes, g.again::uuid[] AS again, true AS asked
  FROM unnest(
    ${ofAnyLength(uuidArray(from.map(({ destinationId }) => destinationId)))}, ${textArray(from.map(({ after }) => after ?? null))}, ${int4Array(from.map(({ batches }) => batches))},
    ${int8Array(from.map(({ bytes }) => bytes))}, ${textArray(from.map(({ again }) => again.length === 0 ? null : `{${again.join(",")}}`))}
  ) AS g (destination_id, after, batches, bytes, again)
  WHERE g.destination_id IS NOT NULL`

/** Destinations that only a signal names: a first delivery of each. */
const signalled = ({ from, skip, unrequested, unrequestedBytes }: TakeRequest, signals: Parameter) => statement`
  SELECT h.destination_id, NULL, 1, ${unrequestedBytes}::int8, NULL, false
  FROM (SELECT DISTINCT s.destination_id FROM (SELECT s.destination_id FROM signals AS s LIMIT ${signals}::int4) AS s) AS h
  WHERE h.destination_id <> ALL (${uuidArray([...from.map(({ destinationId }) => destinationId), ...skip])})
  LIMIT ${unrequested}::int4`

/**
 * The destinations `d` that are not closed, whether anything is sent to them now, and their next entries in order, one more than can be taken. Bytes are read, and
 * access is judged, only of those that can. The rows stand in the order of their index, so windows need no ORDER BY, and no sort.
 */
const waitingIn = (schema: Statement, sources: ReadonlyArray<PayloadSource>, request: TakeRequest, { flies, guesses }: { readonly flies: boolean; readonly guesses: boolean }) => {
  const own = tenant(request.tenantId)
  const repeats = request.from.some(({ again }) => again.length > 0)
  return statement`
SELECT ${nulls(ofTake)}, d.destination_id, d.version, d.batch_max_size, d.sends, ${raw(repeats ? "r.again, r.unseen" : "NULL, NULL")}, e.*, v.keys
FROM (
  SELECT w.*, d.version, d.source, d.client, d.batch_max_size, a.sees_all, b.accounts, h.held, m.sends,
         CASE WHEN m.sends THEN least(${request.lookAt}::int4, w.batches * d.batch_max_size + 1 + CASE WHEN w.batches = 0 OR h.held IS NULL THEN 0 ELSE ${passedOver} END) ELSE 0 END AS most
  FROM wanted AS w
  CROSS JOIN LATERAL (
    SELECT d.* FROM ${schema}.delivery_destinations AS d
    WHERE d.tenant_id = ${own} AND d.destination_id = w.destination_id AND d.state <> 'closed' AND d.source IN (${raw(sources.map(({ source }) => `'${source}'`).join(", "))})
      ${guesses ? raw("AND (w.asked OR d.breaker_open_until IS NULL AND coalesce(d.rate_mark <= extract(epoch FROM now()) * 1000, true))") : nothing}
    LIMIT 1
  ) AS d
  CROSS JOIN LATERAL (${raw(accessOf(schema.text, "d.client"))}) AS a
  CROSS JOIN LATERAL (${raw(fewAccountsOf(schema.text, "d.client"))}) AS b
  CROSS JOIN LATERAL (${heldKeys(schema, request.tenantId, flies)}) AS h
  CROSS JOIN LATERAL (SELECT d.state = 'active' AND a.admitted AS sends) AS m
  WHERE ${raw(partitionOfSql("w.destination_id"))} = ANY (ARRAY(SELECT f.partition FROM fence AS f))
  OFFSET 0
) AS d
CROSS JOIN LATERAL (
  SELECT count(*) = d.most AS more, array_agg(q.key) AS keys, array_agg(q.sequence) AS sequences, array_agg(q.ref) AS refs, array_agg(q.row_location::text) AS locations,
         string_agg(CASE WHEN q.held THEN '${held}' WHEN NOT q.readable THEN '${beyond}' WHEN NOT (${raw(seenOnce(schema.text, sources, "d"))}) THEN '${unseen}' ELSE '${takeable}' END, '') AS states,
         array_agg(x.order_id) AS order_ids, array_agg(x.traceparent) AS traceparents, array_agg(octet_length(x.body)) AS sizes, string_agg(x.body, ',') AS bodies
  FROM (
    SELECT e.*, lag(e.key) OVER o IS DISTINCT FROM e.key AS opens,
           NOT e.held AND count(*) FILTER (WHERE NOT e.held) OVER o <= d.batches * d.batch_max_size
             AND sum(e.size) FILTER (WHERE NOT e.held) OVER o - e.size < d.bytes AS readable
    FROM (
      SELECT e.key, e.sequence, e.ref, e.size, e.ctid AS row_location, coalesce(d.held ? e.key, false) AS held
      FROM ${schema}.delivery_entries AS e
      WHERE e.tenant_id = ${own} AND e.destination_id = d.destination_id AND e.key > coalesce(d.after, '')
      ORDER BY e.key, e.sequence, e.ref
      LIMIT d.most
    ) AS e
    WINDOW o AS (ROWS UNBOUNDED PRECEDING)
    OFFSET 0
  ) AS q
  LEFT JOIN LATERAL (${raw(payloadOf(schema.text, sources, "d.source", "q.ref"))}) AS x ON q.readable
) AS e
CROSS JOIN LATERAL (${raw(unseenKeys(schema.text, sources, "d", "e.keys"))}) AS v
${repeats ? statement`CROSS JOIN LATERAL (${sentAgain(schema, sources, own)}) AS r` : nothing}`
}

/** `held`: the keys of a destination's unfinished deliveries. Those of deliveries that are sent for the first time come with no delivery. */
const heldKeys = (schema: Statement, tenantId: string, flies: boolean) => statement`
  SELECT ${raw(flies ? "coalesce(h.keys || f.keys, h.keys, f.keys)" : "h.keys")} AS held
  FROM (${unfinishedKeys(schema, tenantId, "w.destination_id")}) AS h
  ${flies ? raw("CROSS JOIN LATERAL (SELECT (SELECT f.keys FROM flown AS f) -> w.destination_id::text AS keys) AS f") : nothing}`

/** The keys of named deliveries in flight, by their destinations. Each flight is read once. */
const keysInFlight = (schema: Statement, tenantId: string, from: TakeRequest["from"]) => {
  const flown = from.flatMap(({ destinationId, inFlight }) => inFlight.map((id) => ({ id, flight: flightOf(id), partition: partitionOf(destinationId) })))
  const flights = uuidArray(flown.map(({ flight }) => flight))
  return statement`
  SELECT jsonb_object_agg(u.destination_id, u.keys) AS keys
  FROM (
    SELECT u.destination_id, jsonb_object_agg(k.key, '') AS keys
    FROM (SELECT DISTINCT g.* FROM unnest(${ofAnyLength(int4Array(flown.map(({ partition }) => partition)))}, ${flights}) AS g (partition, flight)) AS g
    ${flownIn(schema, tenantId)}
    CROSS JOIN LATERAL unnest(u.keys) AS k (key)
    WHERE (f.flight, u.ordinal) IN (SELECT * FROM unnest(${flights}, ${int4Array(flown.map(({ id }) => Number.parseInt(id.slice(-4), 16)))}))
    GROUP BY u.destination_id
  ) AS u`
}

/** Deliveries that wait and that no other holds back, by whether their client may see all that is in them. */
const sentAgain = (schema: Statement, sources: ReadonlyArray<PayloadSource>, own: Parameter) => statement`
  SELECT array_agg(r.delivery_id) FILTER (WHERE NOT r.unseen) AS again, array_agg(r.delivery_id) FILTER (WHERE r.unseen) AS unseen
  FROM (
    SELECT u.delivery_id, CASE WHEN ${raw(goesFirst("d.held"))} THEN ${raw(holdsUnsendable(schema.text, sources, "d", "u"))} END AS unseen
    FROM unnest(d.again) AS g (delivery_id)
    CROSS JOIN LATERAL (
      SELECT u.* FROM ${schema}.deliveries AS u
      WHERE u.tenant_id = ${own} AND u.delivery_id = g.delivery_id AND u.destination_id = d.destination_id AND coalesce(u.state, '') = 'waiting'
      LIMIT 1
    ) AS u
    WHERE d.sends
    OFFSET 0
  ) AS r`
