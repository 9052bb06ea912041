/** One event in a shipment's journey, from any area. */
import { Schema } from "effect"
import type { AreaName } from "../../Areas.ts"
import { formatInstant, InstantText } from "../../shared/Instant.ts"

/** One event, report or change of a shipment, in one area. */
export const JourneyEntry = Schema.Struct({
  at: InstantText,
  area: Schema.Literals(["shipment-status", "transit-events", "freight-charges", "invoices", "pickups"] satisfies ReadonlyArray<AreaName>),
  kind: Schema.String.annotate({ description: "The area's name for it, such as an event type, a milestone, invoice created, pickup En Route." }),
  title: Schema.String.annotate({ description: "One line for people." }),
  reference: Schema.NullOr(Schema.String.annotate({ description: "Its id or number in its area." })),
  document: Schema.Unknown.annotate({ description: "The entry as JSON." })
}).annotate({ identifier: "JourneyEntry" })
export type JourneyEntry = typeof JourneyEntry.Type

/** An entry with the values for ordering and limiting. */
export interface TimelineEvent extends Omit<JourneyEntry, "at"> {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Approximate size of its JSON, in characters or bytes. */
  readonly size: number
}

/** How much of a journey is returned. */
interface TimelineLimits {
  readonly entries: number
  /** Approximate total of JSON in characters. The newest entry is always included. */
  readonly size: number
}

/** Orders entries, oldest first. Beyond the limits, the oldest are left out. */
export const orderTimeline = (
  events: ReadonlyArray<TimelineEvent>,
  limits: TimelineLimits
): { readonly entries: ReadonlyArray<JourneyEntry>; readonly truncated: boolean } => {
  const inOrder = events.toSorted((a, b) => a.at - b.at || compare(a.area, b.area) || compare(a.reference ?? "", b.reference ?? ""))
  let from = inOrder.length
  let size = 0
  while (from > 0 && inOrder.length - from < limits.entries) {
    size += inOrder[from - 1]!.size
    if (size > limits.size && from < inOrder.length) break
    from -= 1
  }
  return { entries: inOrder.slice(from).map(({ size: _size, ...each }) => ({ ...each, at: formatInstant(each.at) })), truncated: from > 0 }
}

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0
