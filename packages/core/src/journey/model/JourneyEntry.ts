/** One thing that happened to a shipment, whichever area tells it. */
import { formatInstant } from "../../shared/Instant.ts"

export type JourneyArea = "transit-events" | "shipment-status" | "freight-charges" | "invoices" | "pickups"

export interface JourneyEntry {
  readonly at: string
  readonly area: JourneyArea
  /** In the area's words: an event's type, a milestone, `updated`, `invoice created`, `pickup En Route`. */
  readonly kind: string
  /** One line for people. */
  readonly title: string
  /** What it is known by in its area. */
  readonly reference: string | null
  /** The JSON of it. */
  readonly document: unknown
}

/** The same with what putting it in order and bounding the answer takes. */
export interface TimelineEvent extends Omit<JourneyEntry, "at"> {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Characters or bytes of its JSON, about. */
  readonly size: number
}

export interface TimelineLimits {
  readonly entries: number
  /** Characters of JSON in all, about; the newest entry is told whatever it has. */
  readonly size: number
}

/** Oldest first; of more than may be told, the newest. */
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
