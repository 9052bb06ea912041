/** Filter and order of the event list. */
import { Schema } from "effect"
import { ShipmentId } from "../../shared/Identifier.ts"
import { InstantText } from "../../shared/Instant.ts"
import { PageNumber, pageSizeUpTo } from "../../shared/Page.ts"
import { type EventType, EventTypes } from "./EventType.ts"

/** Most events on a page (area D). */
export const maxEventPageSize = 500
/** Events on a page without `pageSize` (area D). */
export const defaultEventPageSize = 100

/** `order` applies to the whole key: shipmentId, sequence, eventId. SPEC-GAP-D5 */
export const EventQuery = Schema.Struct({
  shipmentId: Schema.optionalKey(ShipmentId),
  eventTypes: Schema.optionalKey(
    EventTypes.check(Schema.isMinLength(1, { message: "Name at least one event type, or leave eventTypes out." }))
  ),
  /** Inclusive lower bound on occurredAt. */
  occurredFrom: Schema.optionalKey(InstantText),
  /** Exclusive upper bound on occurredAt. */
  occurredTo: Schema.optionalKey(InstantText),
  page: Schema.optionalKey(PageNumber),
  pageSize: Schema.optionalKey(pageSizeUpTo(maxEventPageSize)),
  order: Schema.optionalKey(Schema.Literals(["asc", "desc"]).annotate({ message: "order is asc or desc." })),
  /** Cursor from the `Link` header, which keeps the pages on one snapshot. Not one of the published parameters. */
  cursor: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,4096}$/u, { message: "cursor comes from a Link header; follow that header instead." })))
}).annotate({ identifier: "EventQuery" })
export type EventQuery = typeof EventQuery.Type

/** A query with parsed instants and defaults. */
export interface EventFilter {
  readonly shipmentId: string | undefined
  readonly eventTypes: ReadonlyArray<EventType> | undefined
  readonly occurredFrom: number | undefined
  readonly occurredTo: number | undefined
  readonly order: "asc" | "desc"
}
