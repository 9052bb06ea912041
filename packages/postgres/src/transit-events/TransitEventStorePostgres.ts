/** The event log on Postgres. */
import { maxHistoryBytes, type Visibility } from "@waybill/core"
import {
  countLimit,
  CursorExpired,
  EventIdTaken,
  type EventKey,
  type NewEvent,
  type PageCursor,
  type PageRequest,
  type SequenceRequest,
  ShipmentNotOwn,
  type StoredEvent,
  TransitEventStore
} from "@waybill/core/transit-events"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type Decoded, type StatementRunner, text, textArray, timestamptz } from "../client/SqlRow.ts"
import { tenant } from "../client/SqlStatement.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { storedSince } from "../shared/StoredSince.ts"
import { makeCarriersOf, makeLockShipments } from "../shared/ShipmentLocks.ts"
import * as pages from "./TransitEventPageSql.ts"
import * as statements from "./TransitEventSql.ts"

export const layer = storeLayer(TransitEventStore, ({ isDistributed, lookup, schema, settled, sql }) => {
  const lockShipments = makeLockShipments(sql, schema)
  const carriers = makeCarriersOf(sql, schema)

  const find = (tenantId: string, keys: ReadonlyArray<EventKey>) =>
    sql.rows(
      statements.eventRow,
      statements.findEvents(schema, tenant(tenantId), {
        eventIds: textArray(keys.map(({ eventId }) => eventId)),
        shipmentIds: textArray(keys.map(({ shipmentId }) => shipmentId))
      })
    )

  const withId = (tenantId: string, eventId: string, limit: number) =>
    sql.rows(statements.eventRow, statements.eventsWithId(schema, tenantId, eventId, limit))

  const ofShipments = (tenantId: string, shipmentIds: ReadonlyArray<string>) =>
    sql.rows(statements.eventRow, statements.eventsOfShipments(schema, tenantId, shipmentIds))

  const recent = (tenantId: string, shipmentId: string, limit: number) =>
    Effect.map(lookup((sql) => sql.rows(statements.recentRow, statements.recentEvents(schema, tenantId, shipmentId, { events: limit, bytes: maxHistoryBytes }))), (rows) =>
      ({ accounts: rows[0]?.accounts ?? [], events: rows.flatMap(eventsIn) }))

  const allocate = (tenantId: string, requests: ReadonlyArray<SequenceRequest>, writer?: ReadonlyArray<string>) =>
    Effect.flatMap(lockShipments(tenantId, requests.map((each) => ({ ...each, carrier: writer, written: true })), writer), (locked) => {
      const foreign = requests.map((each) => each.shipmentId).filter((shipmentId) => !locked.get(shipmentId)!.own)
      return foreign.length > 0
        ? Effect.fail(new ShipmentNotOwn({ shipmentIds: foreign }))
        : Effect.succeed(requests.map((each) => locked.get(each.shipmentId)!.first))
    })

  const append = (tenantId: string, events: ReadonlyArray<NewEvent>, traceparent: string | undefined) =>
    sql.rows(text, statements.append(schema, statements.appendedEvents(tenantId, events, traceparent))).pipe(
      Effect.map((shipmentIds) => new Set(shipmentIds)),
      Effect.mapError((error) => error.reason._tag === "UniqueViolation" ? new EventIdTaken() : error)
    )

  /** What a first page on Citus shows; in a transaction that transaction's own events, too, which are in no snapshot of it. */
  const coordinatorSnapshot = Effect.gen(function*() {
    if (!(yield* isDistributed)) return undefined
    return { snapshot: yield* sql.one(text, pages.coordinatorSnapshot), isOpen: (yield* sql.transactionConnection) !== undefined }
  })

  /** A standby's own snapshots do not name the transactions that are in progress, so its pages are as of one of the primary's. */
  const page = (request: PageRequest) =>
    lookup((sql, primarySnapshot) =>
      Effect.gen(function*() {
        const given = request.snapshot ?? primarySnapshot
        const coordinator = given === undefined ? yield* coordinatorSnapshot : undefined
        const asOf = given ?? (coordinator?.isOpen === false ? coordinator.snapshot : undefined)
        const rows = yield* sql.rows(pages.pageRow, pages.page(schema, { ...request, snapshot: asOf }))
        const snapshot = asOf ?? coordinator?.snapshot ?? rows[0]?.snapshot ?? ""
        return {
          rows: rows.map(({ snapshot: _, ...event }) => event),
          snapshot,
          totalCount: request.count ? yield* count(sql, request, rows.length, snapshot) : null
        }
      })
    ).pipe(Effect.mapError((error) => request.snapshot !== undefined && isBadSnapshot(error) ? new CursorExpired() : error))

  /** A complete first page needs no count; otherwise count up to a limit. */
  const count = (sql: StatementRunner, request: PageRequest, shown: number, snapshot: string) => {
    if (request.skip === 0 && shown < request.limit) return Effect.succeed(shown)
    return Effect.map(sql.one(pages.countedRow, pages.count(schema, request, snapshot === "" ? undefined : snapshot)), ({ looked, total }) => looked > countLimit ? null : total)
  }

  const since = (tenantId: string, visibility: Visibility, position: string | undefined, limit: number) =>
    storedSince("TransitEventStore.since", {
      sql,
      settled,
      rows: statements.eventRow,
      read: (between) => pages.since(schema, tenantId, visibility, between),
      keyOf: ({ eventId, sequence, shipmentId }) => [shipmentId, String(sequence), eventId]
    })(tenantId, position, limit)

  const putCursor = (tenantId: string, queryKey: string, cursor: PageCursor) =>
    Effect.gen(function*() {
      if (cursor.page === 2) {
        yield* sql.run(pages.deleteCursors(schema, tenantId, queryKey))
        yield* sql.run(pages.pruneCursors(schema, tenantId))
      }
      yield* sql.run(pages.putCursor(schema, tenantId, queryKey, cursor))
    })

  const findCursor = (tenantId: string, queryKey: string, page: number) =>
    Effect.map(sql.rows(pages.cursorRow, pages.findCursor(schema, tenantId, queryKey, page)), ([row]) => row === undefined ? undefined : cursorOf(row))

  const storedAt = (tenantId: string, key: EventKey) =>
    Effect.map(sql.rows(timestamptz, statements.recordedAt(schema, tenantId, key)), ([at]) => at)

  return { find, withId, storedAt, ofShipments, recent, allocate, carriers, append, page, since, putCursor, findCursor }
})

const eventsIn = ({ body, eventId, sequence, shipmentId }: Decoded<typeof statements.recentRow>): ReadonlyArray<StoredEvent> =>
  body === undefined || eventId === undefined || sequence === undefined || shipmentId === undefined ? [] : [{ eventId, shipmentId, sequence, body }]

const cursorOf = ({ afterEvent, afterSequence, afterShipment, ...cursor }: Decoded<typeof pages.cursorRow>): PageCursor => ({
  ...cursor,
  after: { shipmentId: afterShipment, sequence: afterSequence, eventId: afterEvent }
})

/** Postgres' error codes for an invalid snapshot. */
const isBadSnapshot = (error: SqlError): boolean => {
  const cause = error.reason.cause as { readonly code?: string } | undefined
  return cause?.code === "22P02" || cause?.code === "22003"
}
