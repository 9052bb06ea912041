/** The second statement of a take: moves entries into flights, and counts attempts. Its commit waits for the disk; what it moved may be sent at once. */
import type { TakeRequest } from "@waybill/core/delivery"
import { bytea, float8, int4, int4Array, int8, int8Array, optional, row, text, textArray, timestamptz, uuid, uuidArray } from "../../client/SqlRow.ts"
import { nothing, ofAnyLength, raw, type Statement, statement, type StatementPart, tenant } from "../../client/SqlStatement.ts"
import { deliveryIn, destinationOf } from "../LookupSql.ts"
import { fenced } from "./PartitionSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { bodyOf } from "../PayloadSql.ts"
import { partitionOfSql } from "../DeliveryEntrySql.ts"

/** An entry with its row location. The row is compared before it is moved, because another row may be at its location by then. */
export interface FrozenEntry {
  readonly destinationId: string
  readonly ref: number
  readonly location: string
  readonly traceparent: string | null
  /** Of the new delivery. */
  readonly ordinal: number
}

export interface Freeze {
  readonly signals: ReadonlyArray<{ readonly no: number; readonly location: string }>
  readonly entries: ReadonlyArray<FrozenEntry>
  /** Deliveries that are sent again. */
  readonly again: ReadonlyArray<string>
}

export const frozenRow = row({ partition: int4, entries: int4 })

/** Returns the number of moved entries of each partition, without those that another transaction removed. */
export const freeze = (schema: Statement, request: TakeRequest, { again, entries, signals }: Freeze): Statement => {
  const isTaken = entries.length + again.length > 0
  return statement`
WITH ${fenced(schema, request.tenantId, request.owned)}
${signals.length === 0 ? nothing : statement`,${consumed(schema, request.tenantId, signals)}`}
${entries.length === 0 ? nothing : statement`,${gone(schema, request.tenantId, entries)}`}
${again.length === 0 ? nothing : statement`,${counted(schema, request.tenantId, again)}`}
${isTaken ? flights(schema, request, { entries, again }) : raw("SELECT f.partition, 0 AS entries FROM fence AS f")}`
}

const isOwned = (destinationId: string) => raw(`${partitionOfSql(destinationId)} = ANY (ARRAY(SELECT f.partition FROM fence AS f))`)

/** Only the owner removes signals, so none of them has moved since it was read. */
const consumed = (schema: Statement, tenantId: string, signals: Freeze["signals"]) => statement`
consumed AS (
  DELETE FROM ${schema}.delivery_signals AS s
  WHERE s.tenant_id = ${tenant(tenantId)} AND s.ctid = ANY (${textArray(signals.map(({ location }) => location))}::tid[])
    AND s.partition = ANY (ARRAY(SELECT f.partition FROM fence AS f)) AND s.signal_no <= ${int8(Math.max(...signals.map(({ no }) => no)))}
)`

/** By `one = 1` the planner expects few rows, and reads each of them instead of all entries. */
const gone = (schema: Statement, tenantId: string, entries: Freeze["entries"]) => statement`
named AS MATERIALIZED (
  SELECT n.location::tid AS row_location, n.destination_id, n.ref, n.ordinal, n.place, n.traceparent, 1 AS one
  FROM unnest(
    ${ofAnyLength(textArray(entries.map(({ location }) => location)))}, ${uuidArray(entries.map(({ destinationId }) => destinationId))}, ${int8Array(entries.map(({ ref }) => ref))},
    ${int4Array(entries.map(({ ordinal }) => ordinal))}, ${textArray(entries.map(({ traceparent }) => traceparent))}
  ) WITH ORDINALITY AS n (location, destination_id, ref, ordinal, traceparent, place)
),
gone AS (
  DELETE FROM ${schema}.delivery_entries AS e USING named AS n
  WHERE e.tenant_id = ${tenant(tenantId)} AND e.ctid = n.row_location AND e.destination_id = n.destination_id AND e.ref = n.ref AND n.one = 1 AND ${isOwned("n.destination_id")}
  RETURNING n.ordinal, n.place, n.traceparent, e.destination_id, e.key, e.ref
)`

/** A host's transaction may keep locked for long what it retries or cancels, and all deliveries of the tenant would wait for it. What is left out keeps its shipments held. */
const counted = (schema: Statement, tenantId: string, again: ReadonlyArray<string>) => {
  const isWaiting = (ids: StatementPart) => statement`d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ANY (${ids}) AND coalesce(d.state, '') = 'waiting'`
  return statement`
free AS MATERIALIZED (
  SELECT d.delivery_id FROM ${schema}.deliveries AS d
  WHERE ${isWaiting(uuidArray(again))} AND ${isOwned("d.destination_id")}
  FOR NO KEY UPDATE SKIP LOCKED
),
again AS (
  UPDATE ${schema}.deliveries AS d
  SET state = 'sending', attempt = d.attempt + 1, tries = d.tries + 1, due_at = NULL
  WHERE ${isWaiting(raw("ARRAY(SELECT f.delivery_id FROM free AS f)"))}
  RETURNING d.destination_id, d.delivery_id, d.refs, d.keys, d.attempt, d.tries, d.traceparent
)`
}

/** One row for each partition with everything that is in flight from now on. */
const flights = (schema: Statement, request: TakeRequest, { again, entries }: Pick<Freeze, "again" | "entries">) => {
  const delivery = (columns: string): Statement => statement`(${raw(columns)})::${schema}.flown_delivery`
  // a delivery of one entry is its row: to group costs a third of the statement
  const first = entries.every(({ ordinal }, n) => ordinal === n)
    ? statement`
  SELECT g.destination_id, 1 AS entries, ${delivery("g.ordinal, g.destination_id, NULL, ARRAY[g.ref], ARRAY[g.key], 1, 1, g.traceparent")} AS delivery
  FROM gone AS g`
    : statement`
  SELECT g.destination_id, count(*)::int4 AS entries,
         ${delivery("g.ordinal, g.destination_id, NULL, array_agg(g.ref ORDER BY g.place), array_agg(DISTINCT g.key), 1, 1, max(g.traceparent)")} AS delivery
  FROM gone AS g
  GROUP BY g.destination_id, g.ordinal`
  const repeated = statement`
  SELECT a.destination_id, 0 AS entries, ${delivery("NULL, a.destination_id, a.delivery_id, a.refs, a.keys, a.attempt, a.tries, a.traceparent")} AS delivery
  FROM again AS a`
  return statement`
INSERT INTO ${schema}.delivery_flights (tenant_id, partition, flight, sent_at, entries, deliveries)
SELECT ${tenant(request.tenantId)}, ${raw(partitionOfSql("d.destination_id"))}, ${uuid(request.flight)}, ${timestamptz(request.sentAt)}, sum(d.entries), array_agg(d.delivery)
FROM (${entries.length === 0 ? repeated : again.length === 0 ? first : statement`${first} UNION ALL ${repeated}`}) AS d
GROUP BY ${raw(partitionOfSql("d.destination_id"))}
RETURNING partition::int4 AS partition, entries`
}

export const flownRow = row({ partition: int4, ordinal: optional(int4), refs: int8Array })

/** The deliveries of a take as they were stored; those that are sent again have no ordinal. */
export const flownOf = (schema: Statement, { flight, owned, tenantId }: TakeRequest) => statement`
SELECT f.partition::int4 AS partition, u.ordinal, u.refs
FROM ${schema}.delivery_flights AS f
CROSS JOIN LATERAL unnest(f.deliveries) AS u
WHERE f.tenant_id = ${tenant(tenantId)} AND f.partition = ANY (${int4Array(owned.map(({ partition }) => partition))}) AND f.flight = ${uuid(flight)}`

export const againRow = row({
  destinationId: uuid,
  deliveryId: uuid,
  sentAt: float8,
  attempt: int4,
  tries: int4,
  events: int4,
  lastKey: text,
  traceparent: optional(text),
  body: bytea
})

/** Deliveries that are sent again, with their bytes. */
export const sentAgain = (schema: Statement, sources: ReadonlyArray<PayloadSource>, tenantId: string, again: ReadonlyArray<string>) => statement`
SELECT d.destination_id, d.delivery_id, floor(extract(epoch FROM d.sent_at) * 1000)::float8 AS sent_at, d.attempt, d.tries, cardinality(d.refs) AS events,
       (SELECT max(k.key) FROM unnest(d.keys) AS k (key)) AS last_key, d.traceparent, x.body
FROM unnest(${ofAnyLength(uuidArray(again))}) AS g (delivery_id)
${deliveryIn(schema, tenantId, "sending")}
${destinationOf(schema, tenantId, "d.destination_id")}
CROSS JOIN LATERAL (${raw(bodyOf(schema.text, sources))}) AS x`
