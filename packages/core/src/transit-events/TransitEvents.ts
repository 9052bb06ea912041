/** The log of transit events. */
import { Context, Effect, Layer, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import type { NotPermitted } from "../access/AccessErrors.ts"
import { carriersAndCustomers, carriersOnly } from "../access/Callers.ts"
import { carrierOf, type Principal, type Visibility, visibilityOf } from "../access/model/Principal.ts"
import { sha256 } from "../access/Sha256.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { fault } from "../shared/Fault.ts"
import { EventId, ShipmentId } from "../shared/Identifier.ts"
import { parseInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { canonicalText } from "../shared/Json.ts"
import { type Page, pagesFor } from "../shared/Page.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import type { StoredSince } from "../shared/StoredSince.ts"
import { currentTraceparent, traced } from "../shared/TraceContext.ts"
import { UniqueIds } from "../shared/UniqueIds.ts"
import { defaultEventPageSize, type EventFilter, EventQuery } from "./model/EventFilter.ts"
import type { Publication } from "./model/EventPublication.ts"
import type { ReportedEvent, TransitEvent } from "./model/TransitEvent.ts"
import { publishEvents, type PublishOptions } from "./PublishEvents.ts"
import { type PageCursor, TransitEventStore } from "./TransitEventStore.ts"

/** A page of events, each as its JSON bytes. */
export interface EncodedEventsPage extends Page<Uint8Array> {
  /** Value for the `cursor` parameter of the next page. It keeps the pages on one snapshot, even if clients share a key. */
  readonly nextCursor: string | undefined
}

/** The event log of area D: appends events and lists them (`EventsPage`). */
export class TransitEvents extends Context.Service<TransitEvents, {
  /**
   * Appends events to the log and queues them for every matching subscription, in one transaction. Returns one result per event.
   * It changes no shipment's status: `TransitEventIntake.report` appends events and updates the status. The caller must not change
   * the events before the call ends, because they are not copied.
   *
   * One refused event refuses the whole call with `InvalidInput`, unless `partial` is set.
   */
  readonly append: (
    principal: Principal,
    events: ReadonlyArray<typeof ReportedEvent.Encoded>,
    options?: PublishOptions
  ) => Effect.Effect<ReadonlyArray<Publication>, InvalidInput | NotPermitted | StorageError>
  /** All events of these shipments, in (shipmentId, sequence, eventId) order. For internal use, without access control. */
  readonly history: (tenantId: string, shipmentIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<TransitEvent>, StorageError>
  /** Lists the events that the caller may see, in (shipmentId, sequence, eventId) order. Following pages stay on the first page's snapshot. */
  readonly list: (
    principal: Principal,
    query?: typeof EventQuery.Encoded
  ) => Effect.Effect<EncodedEventsPage, InvalidInput | NotPermitted | StorageError>
  /**
   * Events that the caller may see and that were stored since a position, each as its JSON bytes. Following the positions returns each event
   * once, those of a shipment in their order. Without a position it returns the present end.
   */
  readonly since: (principal: Principal, position: string | undefined, limit?: number) => Effect.Effect<StoredSince<Uint8Array>, NotPermitted | StorageError>
}>()("@waybill/core/transit-events/TransitEvents") {
  static readonly layer = Layer.effect(TransitEvents, Effect.gen(function*() {
    const store = yield* TransitEventStore
    const transaction = yield* Transaction
    const ids = yield* UniqueIds
    const wakeups = yield* Wakeups
    const publishAll = publishEvents({ store, transaction, ids })
    const decodeQuery = decodeInput(EventQuery, { closed: true })

    const append = Effect.fnUntraced(function*(
      principal: Principal,
      events: ReadonlyArray<unknown>,
      options: PublishOptions = {}
    ) {
      yield* carriersOnly(principal)
      yield* Effect.annotateCurrentSpan({ "waybill.tenant": principal.tenantId, "waybill.events": events.length })
      const traceparent = yield* currentTraceparent
      const publications = yield* publishAll(principal.tenantId, events, { ...options, traceparent, writer: carrierOf(principal) })
      if (publications.some((each) => each.result === "accepted")) yield* wakeups.wake(principal.tenantId)
      return publications
    }, traced("TransitEvents.append"))

    /** Finds the start of a page: the cursor in the request, else the client's stored cursor, else the start of the log. */
    const cursorFor = Effect.fnUntraced(function*(principal: Principal, query: EventQuery, queryKey: string, page: number) {
      if (query.cursor !== undefined) return yield* readCursor(query.cursor, queryKey, page)
      return page === 1 ? undefined : yield* store.findCursor(principal.tenantId, queryKey, page)
    })

    const list = Effect.fn("TransitEvents.list")(function*(principal: Principal, input: unknown = {}) {
      yield* carriersAndCustomers(principal)
      const query = yield* decodeQuery(input)
      const filter = filterOf(query)
      const page = query.page ?? 1
      const pageSize = query.pageSize ?? defaultEventPageSize
      const visibility = visibilityOf(principal)
      const queryKey = Base64Url.encode(yield* sha256(queryText(principal, visibility, filter, pageSize)))
      const cursor = yield* cursorFor(principal, query, queryKey, page)
      const found = yield* store.page({
        tenantId: principal.tenantId,
        visibility,
        filter,
        snapshot: cursor?.snapshot,
        after: cursor?.after,
        skip: (page - (cursor?.page ?? 1)) * pageSize,
        limit: pageSize + 1,
        count: cursor === undefined
      }).pipe(Effect.catchTag("CursorExpired", (error) => Effect.fail(InvalidInput.of(fault(["cursor"], error.message)))))
      const rows = found.rows.slice(0, pageSize)
      const hasMore = found.rows.length > pageSize
      const totalCount = cursor === undefined ? found.totalCount : cursor.totalCount
      const last = rows[rows.length - 1]
      const next: PageCursor | undefined = hasMore && last !== undefined
        ? { page: page + 1, snapshot: found.snapshot, after: { shipmentId: last.shipmentId, sequence: last.sequence, eventId: last.eventId }, totalCount }
        : undefined
      // a client that follows Link headers sends its own cursor, so none is stored
      if (next !== undefined && query.cursor === undefined) yield* store.putCursor(principal.tenantId, queryKey, next)
      return {
        data: rows.map((row) => row.body),
        page,
        pageSize,
        totalCount,
        totalPages: totalCount === null ? null : pagesFor(totalCount, pageSize),
        hasMore,
        nextCursor: next === undefined ? undefined : Base64Url.encode(JSON.stringify({ ...next, list: listOf(queryKey) }))
      }
    })

    const since = Effect.fn("TransitEvents.since")(function*(principal: Principal, position: string | undefined, limit = defaultEventPageSize) {
      yield* carriersAndCustomers(principal)
      const { rows, ...page } = yield* store.since(principal.tenantId, visibilityOf(principal), position, limit)
      return { ...page, rows: rows.map(({ body }) => body) }
    })

    const history = Effect.fn("TransitEvents.history")(function*(tenantId: string, shipmentIds: ReadonlyArray<string>) {
      const stored = shipmentIds.length === 0 ? [] : yield* store.ofShipments(tenantId, shipmentIds)
      return stored.map(({ body }): TransitEvent => JSON.parse(decoder.decode(body)))
    })

    return TransitEvents.of({ append, history, list, since })
  }))
}

const decoder = new TextDecoder()

/** Events and bounds are cut to the millisecond alike, so each event is in one of two ranges that meet. SPEC-GAP-D27 */
const filterOf = (query: EventQuery): EventFilter => ({
  shipmentId: query.shipmentId,
  eventTypes: query.eventTypes === undefined ? undefined : [...new Set(query.eventTypes)].sort(),
  occurredFrom: query.occurredFrom === undefined ? undefined : parseInstant(query.occurredFrom),
  occurredTo: query.occurredTo === undefined ? undefined : parseInstant(query.occurredTo),
  order: query.order ?? "asc"
})

/** A token may name the same accounts in another order on the next page. */
const queryText = ({ client, tenantId }: Principal, visibility: Visibility, filter: EventFilter, pageSize: number): string =>
  canonicalText({ tenantId, client, grants: visibility._tag === "All" ? null : visibility.grants.toSorted(), filter, pageSize })

/** Marks the list that a cursor belongs to: its total and position mean nothing in another one. SPEC-GAP-D19 */
const listOf = (queryKey: string): string => queryKey.slice(0, 12)

const Cursor = Schema.Struct({
  list: Schema.String,
  page: Schema.Int,
  snapshot: Schema.String.check(Schema.isPattern(/^[ -~]{1,3000}$/u)),
  after: Schema.Struct({ shipmentId: ShipmentId, sequence: Schema.Int, eventId: EventId }),
  totalCount: Schema.NullOr(Schema.Int)
})

const decodeCursor = Schema.decodeUnknownEffect(Schema.fromJsonString(Cursor))

const readCursor = (cursor: string, queryKey: string, page: number): Effect.Effect<PageCursor, InvalidInput> =>
  Effect.fromResult(Base64Url.decodeString(cursor)).pipe(
    Effect.flatMap(decodeCursor),
    Effect.filterOrFail((decoded) => decoded.page === page && decoded.list === listOf(queryKey)),
    Effect.mapError(() => InvalidInput.of(fault(["cursor"], "cursor belongs to another page or list. Follow the Link header as it is, or leave cursor out.")))
  )
