/** The statement that writes outcomes. Their commit does not wait for the disk. */
import { type DeliveryOutcome, type DestinationChange, partitionOf, purgeReason, type SettleRequest } from "@waybill/core/delivery"
import { boolArray, float8Array, int4, int4Array, optional, row, text, textArray, uuid, uuidArray } from "../../client/SqlRow.ts"
import { nothing, ofAnyLength, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { freeDestinations } from "./FreeDestinationSql.ts"
import { flownIn } from "../LookupSql.ts"
import { fenced } from "./PartitionSql.ts"
import { partitionOfSql } from "../DeliveryEntrySql.ts"

/** After a crash of the database the last outcomes may be missing; nothing else that their owner wants to write is accepted then, and their deliveries go out again under the same ids. */
export const doNotWaitForDisk = raw("SET LOCAL synchronous_commit TO off")

/** What is sent for the first time stands in the flight that its id names. A first attempt that was undone is in another one. */
const isFirst = ({ attempt, deliveryId, flight }: DeliveryOutcome): boolean => attempt === 1 && flight.startsWith(deliveryId.slice(0, -4))

/** By id; of several outcomes of a delivery that of the last attempt, because one statement writes each row once. */
const lastOfEach = (outcomes: ReadonlyArray<DeliveryOutcome>): ReadonlyArray<DeliveryOutcome> => {
  const byId = new Map(outcomes.toSorted((a, b) => a.attempt - b.attempt).map((each) => [each.deliveryId, each]))
  return [...byId.values()].sort((a, b) => a.deliveryId < b.deliveryId ? -1 : 1)
}

/** What waits in a closed destination is cancelled. Only where something waits are destinations there to compare with. */
const stateIn = (state: string, outcomes: ReadonlyArray<DeliveryOutcome>) =>
  raw(outcomes.some(isWaiting)
    ? `CASE WHEN ${state} = 'waiting' AND d.destination_id IN (SELECT l.destination_id FROM destinations AS l WHERE l.state = 'closed') THEN 'cancelled' ELSE ${state} END`
    : state)

const isWaiting = ({ state }: DeliveryOutcome): boolean => state === "waiting"

/** A partition that is still owned, or a destination that another transaction has locked. */
export const settledRow = row({ partition: optional(int4), locked: optional(uuid) })

/** Looking for a row that is there costs a tenth of a settlement, so only one that is sent again does: it follows a unique violation. */
export const settle = (schema: Statement, { destinations, ended, outcomes, owned, tenantId }: SettleRequest, isRepeated: boolean): Statement => {
  const [first, again] = [lastOfEach(outcomes.filter(isFirst)), lastOfEach(outcomes.filter((each) => !isFirst(each)))]
  // locked, so that none is closed before what waits in it is written; an operator's call that waited for a take keeps its delivery locked, and the destination before it
  const named = new Set([...outcomes.filter((each) => isWaiting(each) || !isFirst(each)), ...destinations].map(({ destinationId }) => destinationId))
  const locks = named.size > 0
  return statement`
WITH ${fenced(schema, tenantId, owned)}
${locks ? statement`,${freeDestinations(schema, tenantId, statement`unnest(${ofAnyLength(uuidArray([...named].sort()))})`)}` : nothing}
${first.length === 0 ? nothing : statement`,${endFirst(schema, tenantId, first, { isRepeated, locks })}`}
${again.length === 0 ? nothing : statement`,${endAgain(schema, tenantId, again, locks)}`}
${ended.length === 0 ? nothing : statement`,${removeFlights(schema, tenantId, ended, locks ? outcomes.filter(({ destinationId }) => named.has(destinationId)) : [])}`}
${destinations.length === 0 ? nothing : statement`,${changeDestinations(schema, tenantId, destinations, writtenBy({ first, again }))}`}
SELECT f.partition, NULL::uuid AS locked FROM fence AS f ${locks ? raw("UNION ALL SELECT NULL, b.destination_id FROM busy AS b") : nothing}`
}

const isFree = (destinationId: string, locks: boolean) => raw(locks ? `AND ${destinationId} NOT IN (SELECT b.destination_id FROM busy AS b)` : "")

/**
 * Inserts the rows of deliveries that were sent for the first time, from their flights. The FULL JOIN is a hash or a merge join with any
 * estimates of the planner; a nested loop would compare each row with each.
 */
const endFirst = (
  schema: Statement,
  tenantId: string,
  outcomes: ReadonlyArray<DeliveryOutcome>,
  { isRepeated, locks }: { readonly isRepeated: boolean; readonly locks: boolean }
) => {
  const own = tenant(tenantId)
  const flights = new Map(outcomes.map(({ destinationId, flight }) => [`${partitionOf(destinationId)} ${flight}`, { partition: partitionOf(destinationId), flight }]))
  return statement`
first AS (
  INSERT INTO ${schema}.deliveries
    (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, due_at, settled_at, traceparent, attempts)
  SELECT ${own}, d.delivery_id, d.destination_id, s.state, d.attempt, d.tries - d.notCounted::int4, d.refs, d.keys, d.sent_at,
         CASE WHEN s.state = 'waiting' THEN now() + d.due_in * interval '1 millisecond' END, CASE WHEN s.state <> 'waiting' THEN now() END,
         d.traceparent, array_remove(ARRAY[d.record], NULL)
  FROM (
    SELECT e.delivery_id, e.state AS outcome, e.due_in, e.notCounted, e.record, f.*
    FROM unnest(
      ${ofAnyLength(uuidArray(outcomes.map(({ flight }) => flight)))}, ${int4Array(outcomes.map(({ deliveryId }) => Number.parseInt(deliveryId.slice(-4), 16)))},
      ${uuidArray(outcomes.map(({ deliveryId }) => deliveryId))}, ${textArray(outcomes.map(({ state }) => state))},
      ${float8Array(outcomes.map(({ dueInMillis }) => dueInMillis))}, ${boolArray(outcomes.map(({ notCounted }) => notCounted))}, ${textArray(outcomes.map(recordOf))}
    ) AS e (flight, ordinal, delivery_id, state, due_in, notCounted, record)
    FULL JOIN (
      SELECT f.flight, f.sent_at, u.ordinal, u.destination_id, u.refs, u.keys, u.attempt, u.tries, u.traceparent
      FROM unnest(${ofAnyLength(int4Array([...flights.values()].map(({ partition }) => partition)))}, ${uuidArray([...flights.values()].map(({ flight }) => flight))}) AS g (partition, flight)
      ${flownIn(schema, tenantId)}
      WHERE g.partition = ANY (ARRAY(SELECT f.partition FROM fence AS f))
    ) AS f ON f.flight = e.flight AND f.ordinal = e.ordinal
    OFFSET 0
  ) AS d
  CROSS JOIN LATERAL (SELECT ${stateIn("d.outcome", outcomes)} AS state) AS s
  WHERE d.delivery_id IS NOT NULL AND d.destination_id IS NOT NULL ${isFree("d.destination_id", locks)}
  ORDER BY d.delivery_id
  ${isRepeated ? raw("ON CONFLICT DO NOTHING") : nothing}
  RETURNING delivery_id
)`
}

/**
 * Deliveries that were sent again have a row. Each row finds its outcome by bisection of the ids; a join would be at the mercy of the planner, who
 * knows neither how many outcomes come nor that each is of another row. One that is written twice changes nothing more.
 */
const endAgain = (schema: Statement, tenantId: string, outcomes: ReadonlyArray<DeliveryOutcome>, locks: boolean) => {
  const ids = uuidArray(outcomes.map(({ deliveryId }) => deliveryId))
  const attempts = int4Array(outcomes.map(({ attempt }) => attempt))
  return statement`
again AS (
  UPDATE ${schema}.deliveries AS d
  SET (state, due_at, settled_at, tries, attempts) = (
    SELECT s.state, CASE WHEN s.state = 'waiting' THEN now() + g.due_in * interval '1 millisecond' END, CASE WHEN s.state <> 'waiting' THEN now() END,
           d.tries - g.notCounted::int4, d.attempts || array_remove(ARRAY[g.record], NULL)
    FROM (
      SELECT (${textArray(outcomes.map(({ state }) => state))})[i] AS state, (${float8Array(outcomes.map(({ dueInMillis }) => dueInMillis))})[i] AS due_in,
             (${boolArray(outcomes.map(({ notCounted }) => notCounted))})[i] AS notCounted, (${textArray(outcomes.map(recordOf))})[i] AS record
      FROM width_bucket(d.delivery_id, ${ids}) AS i
      OFFSET 0
    ) AS g
    CROSS JOIN LATERAL (SELECT ${stateIn("g.state", outcomes)} AS state) AS s
  )
  WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ANY (${ids}) AND coalesce(d.state, '') = 'sending'
    AND d.attempt = (${attempts})[width_bucket(d.delivery_id, ${ids})]
    AND ${raw(partitionOfSql("d.destination_id"))} IN (SELECT f.partition FROM fence AS f) ${isFree("d.destination_id", locks)}
  RETURNING d.delivery_id
)`
}

const recordOf = ({ record }: DeliveryOutcome): string | null => record === undefined ? null : JSON.stringify(record)

/** A take has a flight of the same name in each of its partitions, which end one by one. One with an outcome that is not written stays. */
const removeFlights = (schema: Statement, tenantId: string, ended: SettleRequest["ended"], mayBeBusy: ReadonlyArray<DeliveryOutcome>) => {
  const [partitions, flights] = [int4Array(ended.map(({ partition }) => partition)), uuidArray(ended.map(({ flight }) => flight))]
  const [ids, their] = [uuidArray(mayBeBusy.map(({ destinationId }) => destinationId)), uuidArray(mayBeBusy.map(({ flight }) => flight))]
  return statement`
landed AS (
  DELETE FROM ${schema}.delivery_flights AS f
  WHERE f.tenant_id = ${tenant(tenantId)} AND f.partition = ANY (ARRAY(SELECT f.partition FROM fence AS f)) AND f.flight = ANY (${flights})
    AND (f.partition, f.flight) IN (SELECT * FROM unnest(${partitions}, ${flights}))
    ${mayBeBusy.length === 0 ? nothing : statement`AND (f.partition, f.flight) NOT IN (
      SELECT ${raw(partitionOfSql("o.destination_id"))}, o.flight FROM unnest(${ofAnyLength(ids)}, ${their}) AS o (destination_id, flight)
      WHERE o.destination_id IN (SELECT b.destination_id FROM busy AS b)
    )`}
)`
}

/** The deliveries whose outcomes this settlement writes, and no earlier one has. */
const writtenBy = (outcomes: Readonly<Record<"first" | "again", ReadonlyArray<DeliveryOutcome>>>) =>
  raw(Object.entries(outcomes).map(([part, { length }]) => length === 0 ? "SELECT NULL::uuid" : `SELECT w.delivery_id FROM ${part} AS w`).join(" UNION ALL "))

/** Outcomes of a replaced endpoint do not apply to the new one. A pause goes with the outcome that is its cause. It replaces that of a purge, which would end with the purge. */
const changeDestinations = (schema: Statement, tenantId: string, changes: ReadonlyArray<DestinationChange>, written: Statement) => {
  const isSame = raw("l.endpoint_url = r.endpoint_url")
  const pauses = statement`(r.pause IS NOT NULL AND (l.state = 'active' OR l.state = 'paused' AND l.state_reason = ${text(purgeReason)}) AND (${isSame} OR r.always))`
  return statement`
changed AS (
  UPDATE ${schema}.delivery_destinations AS l
  SET breaker_failures = CASE WHEN ${isSame} THEN r.failures ELSE l.breaker_failures END,
      breaker_open_until = CASE WHEN ${isSame} THEN r.open_until ELSE l.breaker_open_until END,
      state = CASE WHEN ${pauses} THEN 'paused' ELSE l.state END,
      state_reason = CASE WHEN ${pauses} THEN r.pause ELSE l.state_reason END,
      state_since = CASE WHEN ${pauses} THEN clock.now ELSE l.state_since END,
      paused_by = CASE WHEN ${pauses} THEN 'service' ELSE l.paused_by END,
      resumes_as = CASE WHEN ${pauses} THEN NULL ELSE l.resumes_as END,
      version = l.version + ${pauses}::int4
  FROM (
    SELECT n.destination_id, n.endpoint_url, n.failures, n.open_until, CASE WHEN n.cause IS NULL OR n.cause IN (${written}) THEN n.pause END AS pause, n.always
    FROM unnest(
      ${ofAnyLength(uuidArray(changes.map(({ destinationId }) => destinationId)))}, ${textArray(changes.map(({ endpointUrl }) => endpointUrl))},
      ${int4Array(changes.map(({ breaker }) => breaker.failures))}, ${float8Array(changes.map(({ breaker }) => breaker.openUntil ?? null))},
      ${textArray(changes.map(({ pause }) => pause ?? null))}, ${boolArray(changes.map(({ always }) => always))}, ${uuidArray(changes.map(({ cause }) => cause ?? null))}
    ) AS n (destination_id, endpoint_url, failures, open_until, pause, always, cause)
  ) AS r
  CROSS JOIN (SELECT now() AS now) AS clock
  WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id = r.destination_id
    AND l.destination_id = ANY (ARRAY(
      SELECT d.destination_id FROM destinations AS d WHERE ${raw(partitionOfSql("d.destination_id"))} IN (SELECT f.partition FROM fence AS f)
    ))
)`
}
