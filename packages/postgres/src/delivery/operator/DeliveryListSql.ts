/**
 * SQL statements that list and count deliveries by a filter. A client may have tens of thousands of destinations, and any share of the tenant's
 * deliveries. A page costs the same: the deliveries of few destinations are found by the indexes of each; for many, the tenant's deliveries are
 * searched in their order, and the search ends where it has passed over too many.
 */
import { type DeliveryMatch, type DeliveryQuery, mostPassedOver, totalCount } from "@waybill/core/delivery"
import { bool, int8, row, text, textArray, timestamptz, uuid, uuidArray } from "../../client/SqlRow.ts"
import { concat, nothing, ofAnyLength, raw, type Statement, type StatementPart, statement, tenant } from "../../client/SqlStatement.ts"
import { hasDestination } from "../LookupSql.ts"
import { inFlight } from "../../shared/InFlightSql.ts"
import { destinationsOf, firstIdAt, inPartitionOf, mostInTotal, stateGroups, summary, summaryColumns } from "./DeliveryLogSql.ts"
import { lastOutcomeSql, ofAllDestinationsSql } from "./FilterSql.ts"

/** Destinations that are searched one by one, at most. */
export const mostDestinations = 500

/** Deliveries of these that are not settled, at most: no index has them in order. */
const mostUnsettled = 5000

/** An id is at most so much later than its delivery, where a clock was set back. */
const idMarginMillis = 1000

const isOpen = (state: DeliveryMatch["state"]) => state === undefined || state === "sending" || state === "waiting"

/** Cancelled and dismissed deliveries have no index of their destination, so only the first few are searched by it. */
const mostOf = ({ state }: DeliveryMatch, most: number) => state === "cancelled" || state === "dismissed" ? Math.min(most, 5) : most

export const isOfDestinations = ({ client, destinationId, endpoint }: DeliveryMatch): boolean => client !== undefined || destinationId !== undefined || endpoint !== undefined

/** For a delivery `d`. */
const isOfOpen = (schema: Statement, tenantId: string, { client, endpoint }: Pick<DeliveryMatch, "client" | "endpoint">): Statement =>
  client === undefined && endpoint === undefined ? nothing : statement`AND ${hasDestination(schema, tenantId, statement`l.state <> 'closed' ${destinationsOf({ client, endpoint })}`)}`

export const chosenRow = row({ destinations: textArray, isFew: bool })

/** The destinations of a filter, if they are few and do not hold too many deliveries that are not settled. */
export const chosenDestinations = (schema: Statement, tenantId: string, match: DeliveryMatch, most: number) => {
  const { client, destinationId, endpoint, state } = match
  const [own, few] = [tenant(tenantId), int8(mostOf(match, most))]
  const chosen = client === undefined && endpoint === undefined
    ? statement`SELECT ${uuid(destinationId!)} AS destination_id`
    : statement`SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
      WHERE l.tenant_id = ${own} AND l.state <> 'closed' ${destinationsOf({ client, endpoint })}
        ${destinationId === undefined ? nothing : statement`AND l.destination_id = ${uuid(destinationId)}`}
      LIMIT ${few} + 1`
  const unsettled = statement`
    SELECT FROM chosen AS c CROSS JOIN LATERAL (
      SELECT FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${own} AND d.destination_id = c.destination_id AND d.state ${stateGroups.inFlight}
      OFFSET 0
    ) AS d
    WHERE (SELECT count(*) FROM chosen) <= ${few}
    LIMIT ${raw(String(mostUnsettled + 1))}`
  return statement`
WITH chosen AS MATERIALIZED (${chosen})
SELECT ARRAY(SELECT c.destination_id::text FROM chosen AS c LIMIT ${few}) AS destinations,
       (SELECT count(*) FROM chosen) <= ${few}
         ${isOpen(state) ? statement`AND (SELECT count(*) FROM (${unsettled}) AS d) <= ${raw(String(mostUnsettled))}` : nothing} AS is_few`
}

/** How a statement reads the rows of one index. */
interface Reading {
  readonly order: Statement
  /** Rows of each index that are read, at most. */
  readonly rows: StatementPart
  /** Number of rows that are read of each index if a condition has no index. */
  readonly look: StatementPart
}

/** The deliveries that match in `deliveries`, as `delivery_id`, `matches`, `looked`: which one of a search it is, and `ends`: where the search ended early. */
const recorded = (
  schema: Statement,
  tenantId: string,
  query: DeliveryMatch & Partial<Pick<DeliveryQuery, "after" | "order">>,
  destinations: ReadonlyArray<string> | undefined,
  { look, order, rows }: Reading
): Statement => {
  const { destinationId, error, state } = query
  const own = tenant(tenantId)
  const range = rangeOf(query)
  const of = (condition: Statement) => statement`FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${own} ${condition} ${range}`
  /** By an index that has exactly these, in order. */
  const exact = (condition: Statement) => statement`(SELECT d.delivery_id, true AS matches, 0 AS looked, false AS ends ${of(condition)} ORDER BY d.delivery_id ${order} LIMIT ${rows})`
  /** By an index in another order: OFFSET 0 keeps the planner from looking for these few among all others. */
  const sorted = (condition: Statement) => statement`(
    SELECT d.delivery_id, true AS matches, 0 AS looked, false AS ends FROM (SELECT d.delivery_id ${of(condition)} OFFSET 0) AS d ORDER BY d.delivery_id ${order} LIMIT ${rows})`
  /** By an index that has others too. */
  const among = (condition: Statement, matches: Statement) => statement`(
    SELECT d.delivery_id, d.matches, d.looked, d.looked = ${look} AS ends FROM (
      SELECT d.delivery_id, row_number() OVER (ORDER BY d.delivery_id ${order}) AS looked, ${matches} AS matches
      FROM (SELECT d.delivery_id, d.destination_id, d.state, d.attempts ${of(condition)} ORDER BY d.delivery_id ${order} LIMIT ${look}) AS d
    ) AS d
    WHERE d.matches OR d.looked = ${look}
    ORDER BY d.delivery_id ${order} LIMIT ${rows})`
  const hasError = statement`coalesce(${raw(lastOutcomeSql("d.attempts"))} = ${text(error ?? null)}, false)`
  if (destinations === undefined) {
    const conditions = [
      isOfOpen(schema, tenantId, query),
      destinationId === undefined ? nothing : statement`AND d.destination_id = ${uuid(destinationId)}`
    ]
    const isAny = !isOfDestinations(query)
    const chosen = concat(conditions)
    const ofAll = raw(`AND ${ofAllDestinationsSql("d.attempts")}`)
    const inState = (one: string) => statement`AND d.state = ${raw(`'${one}'`)} ${ofAll}`
    const chosenAmong = (condition: Statement) => isAny ? exact(condition) : among(condition, statement`(true ${chosen})`)
    const unsettled = (one: string) => among(inState(one), statement`(${hasError} ${chosen})`)
    const dead = chosenAmong(statement`${inState("dead")} AND ${raw(lastOutcomeSql("d.attempts"))} = ${text(error ?? null)}`)
    if (error !== undefined) return union(state === "dead" ? [dead] : state === "waiting" ? [unsettled("waiting")] : [unsettled("waiting"), unsettled("sending"), dead])
    if (state === undefined) return chosenAmong(nothing)
    return state === "delivered" ? among(nothing, statement`(d.state = 'delivered' ${chosen})`) : chosenAmong(inState(state))
  }
  const ofDestination = raw("AND d.destination_id = l.destination_id")
  const inState = (group: keyof typeof stateGroups) => statement`${ofDestination} AND d.state ${stateGroups[group]}`
  const unsettled = sorted(statement`${inState("inFlight")} ${state === undefined ? nothing : statement`AND d.state = ${raw(`'${state}'`)}`} ${error === undefined ? nothing : statement`AND ${hasError}`}`)
  const dead = error === undefined ? exact(inState("dead")) : among(inState("dead"), hasError)
  const settled = state === undefined ? exact(inState("settled")) : among(inState("settled"), statement`(d.state = ${raw(`'${state}'`)})`)
  const groups = state === undefined ? [unsettled, dead, ...error === undefined ? [settled] : []] : state === "dead" ? [dead] : isOpen(state) ? [unsettled] : [settled]
  return statement`(SELECT d.* FROM unnest(${ofAnyLength(uuidArray(destinations))}) AS l (destination_id) CROSS JOIN LATERAL (${union(groups)}) AS d)`
}

/** By the id, where an index ends the search; by the instant, which decides, and of which IS TRUE hides that it has an index too, in no order. */
const rangeOf = ({ after, order, since, until }: DeliveryMatch & Partial<Pick<DeliveryQuery, "after" | "order">>): Statement => concat([
  after === undefined ? nothing : statement`AND d.delivery_id ${raw(order === "newest" ? "<" : ">")} ${uuid(after)}`,
  since === undefined ? nothing : statement`AND d.delivery_id >= ${uuid(firstIdAt(since))} AND (d.sent_at >= ${timestamptz(since)}) IS TRUE`,
  until === undefined ? nothing : statement`AND d.delivery_id < ${uuid(firstIdAt(until + idMarginMillis))} AND (d.sent_at < ${timestamptz(until)}) IS TRUE`
])

/** Those that are sent for the first time, and so have no outcome yet. */
const flying = (schema: Statement, tenantId: string, query: Parameters<typeof rangeOf>[0], destinations: ReadonlyArray<string> | undefined): Statement => {
  const { destinationId } = query
  const own = tenant(tenantId)
  const isChosen = concat([
    destinationId === undefined ? nothing : statement`${inPartitionOf(destinationId)} AND d.destination_id = ${uuid(destinationId)}`,
    destinations === undefined ? isOfOpen(schema, tenantId, query) : statement`AND d.destination_id = ANY (${uuidArray(destinations)})`
  ])
  return statement`FROM ${inFlight(schema, tenantId)} AS d WHERE d.tenant_id = ${own} ${isChosen} ${rangeOf(query)}`
}

const hasFlying = ({ error, state }: DeliveryMatch) => error === undefined && (state === undefined || state === "sending")

/** Rows that are read of each index of each destination: its share, and at least the size of a page. */
const lookOf = (rows: number, look: number, destinations: ReadonlyArray<string> | undefined) => int8(Math.max(1, destinations === undefined ? look : Math.max(rows, Math.ceil(look / Math.max(1, destinations.length)))))

export const foundRow = row({ ...summaryColumns, matches: bool, looked: int8, ends: bool })

/** Finds the ids first: of many destinations each gives a page of them. */
export const listDeliveries = (schema: Statement, tenantId: string, query: DeliveryQuery, destinations: ReadonlyArray<string> | undefined) => {
  const { limit, order, passOver = mostPassedOver } = query
  const [most, direction] = [int8(limit), raw(order === "newest" ? "DESC" : "ASC")]
  const found = recorded(schema, tenantId, query, destinations, { order: direction, rows: most, look: lookOf(limit, passOver, destinations) })
  const stored = statement`(
    SELECT ${summary}, p.matches, p.looked, p.ends FROM (SELECT p.* FROM (${found}) AS p ORDER BY p.delivery_id ${direction} LIMIT ${most}) AS p
    CROSS JOIN LATERAL (SELECT d.* FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = p.delivery_id OFFSET 0) AS d)`
  const flown = statement`(SELECT ${summary}, true AS matches, 0 AS looked, false AS ends ${flying(schema, tenantId, query, destinations)} ORDER BY d.delivery_id ${direction} LIMIT ${most})`
  return statement`
SELECT ${foundRow.columns("d")} FROM (${hasFlying(query) ? union([stored, flown]) : stored}) AS d ORDER BY d.delivery_id ${direction} LIMIT ${most}`
}

export const countedRow = row({ count: int8, ended: bool })

export const countDeliveries = (schema: Statement, tenantId: string, match: DeliveryMatch, destinations: ReadonlyArray<string> | undefined) => {
  const isCostly = match.error !== undefined || (destinations === undefined && isOfDestinations(match))
  const look = lookOf(1, isCostly ? mostPassedOver : totalCount + mostPassedOver, destinations)
  const found = recorded(schema, tenantId, match, destinations, { order: raw("DESC"), rows: mostInTotal, look })
  const flown = statement`(SELECT d.delivery_id, true AS matches, 0 AS looked, false AS ends ${flying(schema, tenantId, match, destinations)} LIMIT ${mostInTotal})`
  return statement`
SELECT count(*) FILTER (WHERE d.matches) AS count, coalesce(bool_or(d.ends), false) AS ended
FROM (SELECT d.* FROM (${hasFlying(match) ? union([found, flown]) : found}) AS d LIMIT ${mostInTotal}) AS d`
}

const union = (branches: ReadonlyArray<Statement>): Statement => branches.reduce((left, right) => statement`${left} UNION ALL ${right}`)
