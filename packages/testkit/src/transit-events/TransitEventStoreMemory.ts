/** The event log in memory. */
import { compareText, maySee, type StoredSince, type Visibility } from "@waybill/core"
import {
  countLimit,
  EventIdTaken,
  type EventPosition,
  type NewEvent,
  type PageCursor,
  type PageRequest,
  type PageRows,
  type SequenceRequest,
  ShipmentNotOwn,
  textOfKey,
  TransitEventStore,
  typeMask,
  CursorExpired,
  cursorMillis
} from "@waybill/core/transit-events"
import { Effect } from "effect"
import { type ShipmentRows, ShipmentTables } from "../access/ShipmentTables.ts"
import { newestWithin } from "../shared/NewestFirst.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { type EventRow, type TransitEventRows, TransitEventTables } from "./TransitEventTables.ts"

export const layer = storeLayer(TransitEventStore, { rows: TransitEventTables, owners: ShipmentTables }, ({ journal, operate, owners, rows }) => {
  const allocate = (tenantId: string, request: SequenceRequest, writer: ReadonlyArray<string> | undefined): number => {
    const shipment = rows.shipment(tenantId, request.shipmentId)
    const start = Math.max(shipment.last, request.highestGiven)
    journal.set(shipment, "last", start + request.needed)
    owners.claim(tenantId, { shipmentId: request.shipmentId, accounts: request.accounts, carrier: writer, written: true }, writer)
    return start + 1
  }

  const append = (tenantId: string, events: ReadonlyArray<NewEvent>, traceparent: string | undefined, now: number): boolean => {
    const known = rows.of(tenantId).events
    const keys = new Set(events.map(textOfKey))
    if (keys.size < events.length || [...keys].some((key) => known.has(key))) return false
    rows.writes += 1
    const stored = events.map((event): EventRow => ({ ...event, storedAt: now, write: rows.writes }))
    for (const event of stored) rows.store(tenantId, event)
    rows.fanOut(tenantId, stored, traceparent, now)
    return true
  }

  const withStatus = (tenantId: string, events: ReadonlyArray<NewEvent>): ReadonlySet<string> =>
    new Set(events.map(({ shipmentId }) => shipmentId).filter((shipmentId) => owners.hasStatus(tenantId, shipmentId)))

  const putCursor = (tenantId: string, queryKey: string, cursor: PageCursor, now: number): void => {
    const { cursors } = rows.of(tenantId)
    const earlier = cursor.page === 2 ? [] : cursors.get(queryKey)?.byPage ?? []
    journal.put(cursors, queryKey, { byPage: new Map([...earlier, [cursor.page, { cursor, at: now }]]) })
  }

  const findCursor = (tenantId: string, queryKey: string, page: number, now: number): PageCursor | undefined =>
    [...rows.of(tenantId).cursors.get(queryKey)?.byPage.values() ?? []]
      .filter(({ at, cursor }) => cursor.page <= page && at > now - cursorMillis)
      .sort((a, b) => b.cursor.page - a.cursor.page)[0]?.cursor

  const ofShipments = (tenantId: string, shipmentIds: ReadonlyArray<string>): ReadonlyArray<EventRow> =>
    [...new Set(shipmentIds)].sort(compareText).flatMap((shipmentId) => rows.of(tenantId).shipments.get(shipmentId)?.events ?? [])

  return {
    ofShipments: (tenantId, shipmentIds) => operate(() => ofShipments(tenantId, shipmentIds)),
    recent: (tenantId, shipmentId, limit) =>
      operate(() => ({
        accounts: owners.accountsOf(tenantId, shipmentId),
        events: newestWithin(ofShipments(tenantId, [shipmentId]).toReversed(), limit, ({ body }) => body.length)
      })),
    storedAt: (tenantId, key) => operate(() => rows.of(tenantId).events.get(textOfKey(key))?.storedAt),
    find: (tenantId, keys) => operate(() => keys.flatMap((key) => rows.of(tenantId).events.get(textOfKey(key)) ?? [])),
    withId: (tenantId, eventId, limit) =>
      operate(() => [...rows.of(tenantId).events.values()].filter((event) => event.eventId === eventId).sort((a, b) => compareText(a.shipmentId, b.shipmentId)).slice(0, limit)),
    allocate: (tenantId, requests, writer) =>
      Effect.flatten(operate(() => {
        const foreign = requests.map((each) => each.shipmentId).filter((shipmentId) => !owners.mayWrite(tenantId, shipmentId, writer))
        if (foreign.length > 0) return Effect.fail(new ShipmentNotOwn({ shipmentIds: foreign }))
        return Effect.succeed(requests.map((request) => allocate(tenantId, request, writer)))
      })),
    carriers: (tenantId, shipmentIds) => operate(() => owners.carriers(tenantId, shipmentIds)),
    append: (tenantId, events, traceparent) =>
      Effect.flatMap(operate((now) => append(tenantId, events, traceparent, now)), (stored) =>
        stored ? Effect.succeed(withStatus(tenantId, events)) : Effect.fail(new EventIdTaken())),
    page: (request) => Effect.flatMap(operate(() => pageOf(rows, owners, request)), (page) => page === undefined ? Effect.fail(new CursorExpired()) : Effect.succeed(page)),
    since: (tenantId, visibility, position, limit) => operate(() => eventsSince(rows, owners, { tenantId, visibility, position, limit })),
    putCursor: (tenantId, queryKey, cursor) => operate((now) => putCursor(tenantId, queryKey, cursor, now)),
    findCursor: (tenantId, queryKey, page) => operate((now) => findCursor(tenantId, queryKey, page, now))
  }
})

/** `undefined` for an unknown snapshot. */
const pageOf = (rows: TransitEventRows, owners: ShipmentRows, request: PageRequest): PageRows | undefined => {
  const { after, limit, skip } = request
  const snapshot = request.snapshot ?? String(rows.writes)
  const seen = /^\d{1,15}$/.test(snapshot) ? Number(snapshot) : Infinity
  if (seen > rows.writes) return undefined
  const page: Array<EventRow> = []
  let [passed, looked, count] = [0, 0, 0]
  for (const event of inOrder(rows, owners, request)) {
    if (event.write > seen || !isOfTime(request, event)) continue
    looked += 1
    if (!isOfTypes(request, event)) continue
    count += 1
    if (after !== undefined && !comesAfter(event, after, request.filter.order)) continue
    if (passed < skip) passed += 1
    else if (page.length < limit) page.push(event)
    if (page.length >= limit && (!request.count || looked > countLimit)) break
  }
  const isKnown = looked <= countLimit || (skip === 0 && page.length < limit)
  return { rows: page, snapshot, totalCount: request.count && isKnown ? count : null }
}

/** The place of an event: writes are committed one after the other. */
type Place = readonly [write: number, shipmentId: string, sequence: number, eventId: string]

const placeOf = ({ eventId, sequence, shipmentId, write }: EventRow): Place => [write, shipmentId, sequence, eventId]

const comparePlaces = (a: Place, b: Place): number => a[0] - b[0] || compareText(a[1], b[1]) || a[2] - b[2] || compareText(a[3], b[3])

const eventsSince = (
  rows: TransitEventRows,
  owners: ShipmentRows,
  { limit, position, tenantId, visibility }: { readonly tenantId: string; readonly visibility: Visibility; readonly position: string | undefined; readonly limit: number }
): StoredSince<EventRow> => {
  const all = [...rows.of(tenantId).events.values()].sort((a, b) => comparePlaces(placeOf(a), placeOf(b)))
  const end = all.at(-1)
  if (position === undefined) return { rows: [], position: JSON.stringify(end === undefined ? [0, "", 0, ""] : placeOf(end)), more: false }
  const since = JSON.parse(position) as Place
  const fresh = all.filter((event) => comparePlaces(placeOf(event), since) > 0)
  const page = fresh.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.filter(({ shipmentId }) => maySee(visibility, owners.grantsOf(tenantId, shipmentId))),
    position: last === undefined ? position : JSON.stringify(placeOf(last)),
    more: fresh.length > page.length
  }
}

/** The visible events of the requested shipments. */
const inOrder = function*(rows: TransitEventRows, owners: ShipmentRows, { filter, tenantId, visibility }: PageRequest): Iterable<EventRow> {
  const { shipmentIds, shipments } = rows.of(tenantId)
  const wanted = filter.shipmentId === undefined ? shipmentIds : [filter.shipmentId]
  const turned = filter.order === "desc"
  for (const shipmentId of turned ? wanted.toReversed() : wanted) {
    const shipment = shipments.get(shipmentId)
    if (shipment === undefined || !maySee(visibility, owners.grantsOf(tenantId, shipmentId))) continue
    yield* turned ? shipment.events.toReversed() : shipment.events
  }
}

const isOfTypes = ({ filter: { eventTypes } }: PageRequest, event: EventRow): boolean => eventTypes === undefined || (typeMask(eventTypes) & event.typeBit) !== 0

const isOfTime = ({ filter: { occurredFrom, occurredTo } }: PageRequest, event: EventRow): boolean =>
  (occurredFrom === undefined || event.occurredAt >= occurredFrom) && (occurredTo === undefined || event.occurredAt < occurredTo)

const comesAfter = (event: EventRow, position: EventPosition, order: "asc" | "desc"): boolean => {
  const difference = compareText(event.shipmentId, position.shipmentId) || event.sequence - position.sequence ||
    compareText(event.eventId, position.eventId)
  return order === "asc" ? difference > 0 : difference < 0
}
