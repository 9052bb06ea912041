/** The event log on Postgres. */
import {
  countLimit,
  EventIdTaken,
  maxHistoryBytes,
  type NewEvent,
  type PageCursor,
  type PageRequest,
  type SequenceRequest,
  ShipmentNotOwn,
  StorageError,
  type StoredEvent,
  TransitEventStore,
  typeMask,
  cursorMillis,
  CursorExpired
} from "@waybill/core"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type BulkValue, byteaArray, int4Array, int8Array, textArray, timestamptzArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { makeCarriersOf, makeLockShipments } from "../shared/ShipmentLocks.ts"
import * as statements from "./TransitEventSql.ts"

export const layer = Layer.effect(
  TransitEventStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema
    const findEvents = statements.findEvents(schema)
    const lockShipments = makeLockShipments(sql, schema)
    const carriersOf = makeCarriersOf(sql, schema)
    const appendEvents = statements.append(schema)

    const find = (tenantId: string, eventIds: ReadonlyArray<string>) =>
      sql.bulk(findEvents, [tenantId, textArray(eventIds)], ["text", "text", "int8", "bytea"]).pipe(
        Effect.map((rows) => rows.map(eventOf)),
        StorageError.refail("TransitEventStore.find")
      )

    const ofShipments = (tenantId: string, shipmentIds: ReadonlyArray<string>) =>
      sql.bulk(
        `SELECT event_id, shipment_id, sequence, body FROM ${schema}.transit_events
         WHERE tenant_id = $1 AND shipment_id = ANY ($2::text[])
         ORDER BY shipment_id, sequence, event_id`,
        [tenantId, textArray(shipmentIds)],
        ["text", "text", "int8", "bytea"]
      ).pipe(Effect.map((rows) => rows.map(eventOf)), StorageError.refail("TransitEventStore.ofShipments"))

    const recent = (tenantId: string, shipmentId: string, limit: number) =>
      sql.bulk(statements.recentEvents(schema), [tenantId, shipmentId, limit, maxHistoryBytes], ["text", "text", "int8", "bytea", "text[]"]).pipe(
        Effect.map((rows) => ({
          accounts: (rows[0]?.[4] as ReadonlyArray<string> | null | undefined) ?? [],
          // a shipment without events has one row, with only its accounts
          events: rows.filter(([eventId]) => eventId !== null).map(eventOf)
        })),
        StorageError.refail("TransitEventStore.recent")
      )

    const allocate = (tenantId: string, requests: ReadonlyArray<SequenceRequest>, writer?: ReadonlyArray<string>) =>
      lockShipments(tenantId, requests.map((each) => ({ ...each, carrier: writer, written: true })), writer).pipe(
        StorageError.refail("TransitEventStore.allocate"),
        Effect.flatMap((locked) => {
          const foreign = requests.map((each) => each.shipmentId).filter((shipmentId) => !locked.get(shipmentId)!.own)
          return foreign.length > 0
            ? Effect.fail(new ShipmentNotOwn({ shipmentIds: foreign }))
            : Effect.succeed(requests.map((each) => locked.get(each.shipmentId)!.first))
        })
      )

    const carriers = (tenantId: string, shipmentIds: ReadonlyArray<string>) => StorageError.refail("TransitEventStore.carriers")(carriersOf(tenantId, shipmentIds))

    const append = (tenantId: string, events: ReadonlyArray<NewEvent>, traceparent: string | undefined) =>
      sql.bulk(appendEvents, [
        tenantId,
        textArray(events.map((each) => each.eventId)),
        textArray(events.map((each) => each.shipmentId)),
        int8Array(events.map((each) => each.sequence)),
        int4Array(events.map((each) => each.typeBit)),
        timestamptzArray(events.map((each) => each.occurredAt)),
        byteaArray(events.map((each) => each.body)),
        traceparent ?? null
      ], ["text"]).pipe(
        Effect.map((rows) => new Set(rows.map(([shipmentId]) => shipmentId as string))),
        Effect.mapError((error) =>
          error.reason._tag === "UniqueViolation"
            ? new EventIdTaken()
            : new StorageError({ operation: "TransitEventStore.append", cause: error })
        )
      )

    const page = (request: PageRequest) =>
      Effect.gen(function*() {
        const listing = pageStatement(schema, request, request.snapshot)
        const rows = yield* sql.bulk(listing.text, listing.values, ["text", "text", "int8", "bytea", "text"])
        const snapshot = request.snapshot ?? (rows[0]?.[4] as string | undefined) ?? ""
        return {
          rows: rows.map(eventOf),
          snapshot,
          totalCount: request.count ? yield* count(request, rows.length, snapshot) : null
        }
      }).pipe(
        Effect.mapError((error) =>
          request.snapshot !== undefined && isBadSnapshot(error)
            ? new CursorExpired()
            : new StorageError({ operation: "TransitEventStore.page", cause: error })
        )
      )

    /** A complete first page needs no count; otherwise count up to a limit. */
    const count = (request: PageRequest, shown: number, snapshot: string) => {
      if (request.skip === 0 && shown < request.limit) return Effect.succeed(shown)
      const counting = countStatement(schema, request, snapshot === "" ? undefined : snapshot)
      return Effect.map(sql.bulk(counting.text, counting.values, ["int8"]), ([row]) => {
        const total = row![0] as number
        return total > countLimit ? null : total
      })
    }

    const putCursor = (tenantId: string, queryKey: string, cursor: PageCursor) =>
      Effect.gen(function*() {
        if (cursor.page === 2) {
          yield* sql.bulk(
            `DELETE FROM ${schema}.transit_cursors
             WHERE tenant_id = $1 AND (query_key = $2 OR created_at < now() - $3::float8 * interval '1 millisecond')`,
            [tenantId, queryKey, cursorMillis]
          )
        }
        yield* sql.bulk(
          `INSERT INTO ${schema}.transit_cursors
             (tenant_id, query_key, page, snapshot, after_shipment, after_sequence, after_event, total_count)
           VALUES ($1, $2, $3::int8, $4, $5, $6::int8, $7, $8::int8)
           ON CONFLICT (tenant_id, query_key, page) DO UPDATE
           SET snapshot = EXCLUDED.snapshot, after_shipment = EXCLUDED.after_shipment, after_sequence = EXCLUDED.after_sequence,
               after_event = EXCLUDED.after_event, total_count = EXCLUDED.total_count, created_at = EXCLUDED.created_at`,
          [
            tenantId,
            queryKey,
            cursor.page,
            cursor.snapshot,
            cursor.after.shipmentId,
            cursor.after.sequence,
            cursor.after.eventId,
            cursor.totalCount
          ]
        )
      }).pipe(StorageError.refail("TransitEventStore.putCursor"))

    const findCursor = (tenantId: string, queryKey: string, page: number) =>
      sql.bulk(
        `SELECT page, snapshot, after_shipment, after_sequence, after_event, total_count
         FROM ${schema}.transit_cursors
         WHERE tenant_id = $1 AND query_key = $2 AND page <= $3::int8
           AND created_at >= now() - $4::float8 * interval '1 millisecond'
         ORDER BY page DESC
         LIMIT 1`,
        [tenantId, queryKey, page, cursorMillis],
        ["int8", "text", "text", "int8", "text", "int8"]
      ).pipe(
        Effect.map(([row]) => row === undefined ? undefined : cursorOf(row)),
        StorageError.refail("TransitEventStore.findCursor")
      )

    const storedAt = (tenantId: string, eventId: string) =>
      sql.bulk(`SELECT recorded_at FROM ${schema}.transit_events WHERE tenant_id = $1 AND event_id = $2`, [tenantId, eventId], ["timestamptz"]).pipe(
        Effect.map(([row]) => row?.[0] as number | undefined),
        StorageError.refail("TransitEventStore.storedAt")
      )

    return TransitEventStore.of({ find, storedAt, ofShipments, recent, allocate, carriers, append, page, putCursor, findCursor })
  })
)

type Row = ReadonlyArray<unknown>

/** From the columns event_id, shipment_id, sequence and body, in that order. */
export const eventOf = ([eventId, shipmentId, sequence, body]: Row): StoredEvent => ({
  eventId: eventId as string,
  shipmentId: shipmentId as string,
  sequence: sequence as number,
  body: body as Uint8Array
})

const cursorOf = ([page, snapshot, shipmentId, sequence, eventId, totalCount]: Row): PageCursor => ({
  page: page as number,
  snapshot: snapshot as string,
  after: { shipmentId: shipmentId as string, sequence: sequence as number, eventId: eventId as string },
  totalCount: totalCount as number | null
})

/** Postgres' error codes for an invalid snapshot. */
const isBadSnapshot = (error: SqlError): boolean => {
  const cause = error.reason.cause as { readonly code?: string } | undefined
  return cause?.code === "22P02" || cause?.code === "22003"
}

interface Prepared {
  readonly text: string
  readonly values: ReadonlyArray<BulkValue>
}

/** Collects parameters and returns their placeholders. */
const parameters = () => {
  const values: Array<BulkValue> = []
  return { values, add: (value: BulkValue) => `$${values.push(value)}` }
}

type Parameters = ReturnType<typeof parameters>

/** The relation that the caller may see: the whole log, or the log of the shipments of some accounts or of one carrier. */
const visibleEvents = (schema: string, request: PageRequest, p: Parameters): string => {
  const tenant = p.add(request.tenantId)
  if (request.visibility._tag === "All") return `${schema}.transit_events AS e WHERE e.tenant_id = ${tenant}`
  const grants = p.add(textArray(request.visibility.grants))
  return `(
    SELECT DISTINCT sa.shipment_id
    FROM ${schema}.shipment_accounts AS sa
    WHERE sa.tenant_id = ${tenant} AND sa.account = ANY (${grants}::text[])
  ) AS mine
  JOIN ${schema}.transit_events AS e ON e.tenant_id = ${tenant} AND e.shipment_id = mine.shipment_id
  WHERE true`
}

const conditions = (request: PageRequest, snapshot: string | undefined, p: Parameters): string => {
  const { eventTypes, occurredFrom, occurredTo, shipmentId } = request.filter
  const instant = (millis: number) => `(${p.add(timestamptzArray([millis]))}::timestamptz[])[1]`
  return [
    shipmentId === undefined ? "" : `AND e.shipment_id = ${p.add(shipmentId)}`,
    eventTypes === undefined ? "" : `AND e.type_bit & ${p.add(typeMask(eventTypes))}::int4 <> 0`,
    occurredFrom === undefined ? "" : `AND e.occurred_at >= ${instant(occurredFrom)}`,
    occurredTo === undefined ? "" : `AND e.occurred_at < ${instant(occurredTo)}`,
    snapshot === undefined ? "" : `AND pg_visible_in_snapshot(e.xid, ${p.add(snapshot)}::pg_snapshot)`
  ].filter((each) => each !== "").join(" ")
}

const pageStatement = (schema: string, request: PageRequest, snapshot: string | undefined): Prepared => {
  const p = parameters()
  const direction = request.filter.order === "desc" ? "DESC" : "ASC"
  const from = visibleEvents(schema, request, p)
  const where = conditions(request, snapshot, p)
  const { after } = request
  const beyond = after === undefined
    ? ""
    : `AND (e.shipment_id, e.sequence, e.event_id) ${direction === "ASC" ? ">" : "<"} (${p.add(after.shipmentId)}, ${p.add(after.sequence)}::int8, ${p.add(after.eventId)})`
  const text = `
SELECT e.event_id, e.shipment_id, e.sequence, e.body, pg_current_snapshot()::text AS snapshot
FROM ${from} ${where} ${beyond}
ORDER BY e.shipment_id ${direction}, e.sequence ${direction}, e.event_id ${direction}
LIMIT ${p.add(request.limit)}::int8 OFFSET ${p.add(request.skip)}::int8`
  return { text, values: p.values }
}

const countStatement = (schema: string, request: PageRequest, snapshot: string | undefined): Prepared => {
  const p = parameters()
  const from = visibleEvents(schema, request, p)
  const where = conditions(request, snapshot, p)
  return {
    text: `SELECT count(*) AS total FROM (SELECT 1 FROM ${from} ${where} LIMIT ${p.add(countLimit + 1)}::int8) AS counted`,
    values: p.values
  }
}
