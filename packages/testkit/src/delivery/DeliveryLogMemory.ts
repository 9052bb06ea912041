/** What operators see of destinations and deliveries, in memory. */
import { compareText } from "@waybill/core"
import {
  type AttemptRecord,
  type CarryingDelivery,
  type DeliveryMatch,
  type DeliveryQuery,
  type DeliveryState,
  type DeliverySummary,
  type EntryKeys,
  type DestinationMatch,
  type DestinationOverview,
  type DestinationQuery,
  hasEndpoint,
  type FoundDeliveries,
  mostPassedOver,
  overviewCount
} from "@waybill/core/delivery"
import type { Delivery, Destination, DestinationRows } from "./DestinationTables.ts"

export const destinationOverviews = (
  rows: DestinationRows,
  tenantId: string,
  { after, limit, ...match }: DestinationQuery,
  now: number
): ReadonlyArray<DestinationOverview> => {
  const destinations = matchingDestinations(rows, tenantId, match)
    .filter((destination) => after === undefined || compareText(destination.destinationId, after) > 0)
    .sort((a, b) => compareText(a.destinationId, b.destinationId))
    .slice(0, limit)
  const deliveries = newestFirst(rows, tenantId)
  return destinations.map((destination) => overviewOf(
    destination,
    deliveries.filter((each) => each.destinationId === destination.destinationId),
    destination.status.state === "active" && !rows.admits(destination, now)
  ))
}

export const matchingDestinations = (rows: DestinationRows, tenantId: string, { inTrouble = false, state, ...match }: DestinationMatch): ReadonlyArray<Destination> => {
  const all = inTrouble ? destinationsInTrouble(rows, tenantId) : [...rows.of(tenantId).destinations.values()]
  return all.filter((each) => (state === undefined || each.status.state === state) && isOf(each, match))
}

/** A destination that its client paused counts as healthy. */
export const destinationsInTrouble = (rows: DestinationRows, tenantId: string): ReadonlyArray<Destination> => {
  const { deliveries, destinations } = rows.of(tenantId)
  const withDead = new Set([...deliveries.values()].filter(({ state }) => state === "dead").map(({ destinationId }) => destinationId))
  return [...destinations.values()].filter(({ breaker, destinationId, status: { pausedBy, state } }) =>
    (state === "paused" && pausedBy !== "client") || (state === "active" && breaker.openUntil !== undefined) || withDead.has(destinationId))
}

const isOf = ({ destinationId, settings }: Destination, { client, destinationIds, endpoint }: Pick<DestinationMatch, "client" | "destinationIds" | "endpoint">): boolean =>
  (destinationIds === undefined || destinationIds.includes(destinationId)) && (client === undefined || settings.client === client) && (endpoint === undefined || hasEndpoint(endpoint, settings.endpointUrl))

const overviewOf = (destination: Destination, deliveries: ReadonlyArray<Delivery>, held: boolean): DestinationOverview => {
  const { envelope: _envelope, signing: _signing, state: _state, ...settings } = destination.settings
  return {
    ...settings,
    status: destination.status,
    held,
    breaker: destination.breaker,
    waiting: Math.min(overviewCount, destination.entries.length),
    oldestWaitingAt: oldestOf(destination),
    inFlight: Math.min(overviewCount, deliveries.filter(isInFlight).length),
    dead: Math.min(overviewCount, deliveries.filter((each) => each.state === "dead").length),
    dropped: destination.dropped,
    dueAt: destination.status.state === "active" ? dueOf(destination) : undefined,
    lastAttempt: lastAttemptOf(deliveries)
  }
}

/** Of the deliveries in flight and of the newest one that ended. */
const lastAttemptOf = (newestFirst: ReadonlyArray<Delivery>): AttemptRecord | undefined => {
  const attempted = newestFirst.filter(({ records }) => records.length > 0)
  const ended = attempted.find((each) => !isInFlight(each))
  return attempted
    .filter((each) => isInFlight(each) || each === ended)
    .map(({ records }) => records.at(-1)!)
    .reduce<AttemptRecord | undefined>((last, each) => last !== undefined && last.at >= each.at ? last : each, undefined)
}

export const isInFlight = ({ state }: { readonly state: DeliveryState }): boolean => state === "sending" || state === "waiting"

/** When the first of its retries is due. */
export const dueOf = ({ unsettled }: Destination): number | undefined =>
  [...unsettled.values()].reduce<number | undefined>((first, { dueAt }) => dueAt === undefined ? first : Math.min(first ?? dueAt, dueAt), undefined)

export const oldestOf = ({ entries }: Destination): number | undefined =>
  entries.length === 0 ? undefined : entries.reduce((oldest, each) => Math.min(oldest, each.queuedAt), Infinity)

export const summaryOf = (delivery: Delivery): DeliverySummary => ({
  deliveryId: delivery.deliveryId,
  destinationId: delivery.destinationId,
  state: delivery.state,
  createdAt: delivery.sentAt,
  settledAt: delivery.settledAt,
  dueAt: delivery.dueAt,
  events: delivery.entries.length,
  tries: delivery.tries,
  attempts: delivery.records,
  reason: delivery.reason
})

/** In no order. */
export const matchingDeliveries = (rows: DestinationRows, tenantId: string, match: DeliveryMatch): ReadonlyArray<Delivery> =>
  rows.deliveries(rows.of(tenantId)).filter(matches(rows, tenantId, match))

const matches = (rows: DestinationRows, tenantId: string, { client, destinationId, endpoint, error, since, state, until }: DeliveryMatch) =>
  (each: Delivery): boolean => {
    const destination = client === undefined && endpoint === undefined ? undefined : rows.find(tenantId, each.destinationId)
    return (state === undefined || each.state === state) &&
      (destinationId === undefined || each.destinationId === destinationId) &&
      ((client === undefined && endpoint === undefined) || (destination !== undefined && isOf(destination, { client, endpoint }))) &&
      (error === undefined || (each.records.at(-1)?.outcome === error && (each.state === "dead" || isInFlight(each)))) &&
      (since === undefined || each.sentAt >= since) &&
      (until === undefined || each.sentAt < until)
  }

export const listed = (
  rows: DestinationRows,
  tenantId: string,
  { after, limit, order, passOver = mostPassedOver, ...match }: DeliveryQuery
): FoundDeliveries => {
  const turn = order === "newest" ? -1 : 1
  const isMatch = matches(rows, tenantId, match)
  const deliveries: Array<DeliverySummary> = []
  let passed = 0
  // a destination and a stretch of time have an index in a database
  const inRange = matches(rows, tenantId, { ...match, client: undefined, endpoint: undefined, error: undefined, state: undefined })
  const inOrder = rows.deliveries(rows.of(tenantId))
    .filter((each) => inRange(each) && (after === undefined || turn * compareText(each.deliveryId, after) > 0))
    .toSorted((a, b) => turn * compareText(a.deliveryId, b.deliveryId))
  for (const each of inOrder) {
    if (deliveries.length === limit) break
    if (isMatch(each)) deliveries.push(summaryOf(each))
    else if (++passed === passOver) return { deliveries, lookedTo: each.deliveryId, passedOver: passed }
  }
  return { deliveries, lookedTo: undefined, passedOver: passed }
}

export const carrying = (
  rows: DestinationRows,
  tenantId: string,
  keys: ReadonlyArray<EntryKeys>,
  { limit, newest }: { readonly newest: number; readonly limit: number }
): { readonly deliveries: ReadonlyArray<CarryingDelivery>; readonly since: number | undefined } => {
  const all = newestFirst(rows, tenantId)
  const looked = all.slice(0, newest)
  const deliveries = looked
    .map((delivery) => ({ delivery, source: rows.destinationOf(rows.of(tenantId), delivery).settings.source }))
    .filter(({ delivery, source }) => keys.some((each) => each.sources.includes(source) && each.keys.some((key) => delivery.keys.includes(key))))
    .slice(0, limit)
    .map(({ delivery, source }) => ({ ...summaryOf(delivery), source }))
  return { deliveries, since: all.length > newest ? looked.at(-1)!.sentAt : undefined }
}

const newestFirst = (rows: DestinationRows, tenantId: string): ReadonlyArray<Delivery> =>
  [...rows.deliveries(rows.of(tenantId))].sort((a, b) => compareText(b.deliveryId, a.deliveryId))
