/** What one call of a carrier's system makes of each event it hands in. */
import { type Fault, fault } from "../../shared/Fault.ts"
import { canonicalText } from "../../shared/Json.ts"
import type { ReportedEvent } from "./TransitEvent.ts"

/** An event that passed the schema, as it came. */
export interface ReadEvent {
  /** Its place in the call. */
  readonly index: number
  readonly event: ReportedEvent
  /** The whole JSON object, with the fields the schema does not know. */
  readonly json: Readonly<Record<string, unknown>>
  /** The JSON text of everything but `eventId`, `sequence` and `parties`. */
  readonly text: string
}

export interface KnownEvent {
  readonly eventId: string
  readonly shipmentId: string
  readonly sequence: number
  readonly json: Readonly<Record<string, unknown>>
}

export type Publication =
  | { readonly index: number; readonly result: "accepted" | "duplicate"; readonly eventId: string; readonly shipmentId: string; readonly sequence: number }
  | Refusal

export interface Refusal {
  readonly index: number
  readonly result: "refused"
  readonly faults: ReadonlyArray<Fault>
}

/** The JSON text that goes out for an event. */
export const eventText = (read: ReadEvent, eventId: string, sequence: number): string =>
  `{"eventId":${JSON.stringify(eventId)},"sequence":${sequence},${read.text.slice(1)}`

/** One text for one content, whatever the order of members. Who may see the shipment is not part of what happened. */
const content = (json: Readonly<Record<string, unknown>>, withSequence: boolean): string => {
  const { eventId: _id, parties: _parties, sequence, ...rest } = json
  // by way of its JSON: a host hands in dates and the like, which were stored as text
  return canonicalText(JSON.parse(JSON.stringify(withSequence ? { ...rest, sequence } : rest)))
}

/** SPEC-GAP-D17: whether an event handed in again says the same as one that is known. The sequence counts only where both name one. */
export const sameContent = (again: Readonly<Record<string, unknown>>, known: Readonly<Record<string, unknown>>): boolean => {
  const withSequence = again["sequence"] !== undefined && known["sequence"] !== undefined
  return content(again, withSequence) === content(known, withSequence)
}

export interface Sorted {
  /** To be stored. */
  readonly fresh: ReadonlyArray<ReadEvent>
  /** Known already, or named twice in this call with the same content. */
  readonly repeats: ReadonlyArray<{ readonly index: number; readonly eventId: string }>
  /** Known under other content. */
  readonly refused: ReadonlyArray<Refusal>
}

/** Tells new events from repeated ones and from those that contradict what is known, one after the other. */
export const makeDuplicateFilter = (known: ReadonlyMap<string, KnownEvent>): { readonly add: (each: ReadEvent) => void; readonly sorted: Sorted } => {
  const fresh: Array<ReadEvent> = []
  const repeats: Array<{ readonly index: number; readonly eventId: string }> = []
  const refused: Array<Refusal> = []
  const first = new Map<string, Readonly<Record<string, unknown>>>()
  const add = (each: ReadEvent): void => {
    const eventId = each.event.eventId
    if (eventId === undefined) {
      fresh.push(each)
      return
    }
    const before = known.get(eventId)?.json ?? first.get(eventId)
    if (before === undefined) {
      first.set(eventId, each.json)
      fresh.push(each)
    } else if (sameContent(each.json, before)) {
      repeats.push({ index: each.index, eventId })
    } else {
      refused.push({
        index: each.index,
        result: "refused",
        faults: [
          fault(
            ["events", each.index, "eventId"],
            `Event ${eventId} is known with other content. An event never changes: give a correction an eventId of its own.`,
            "conflict"
          )
        ]
      })
    }
  }
  return { add, sorted: { fresh, repeats, refused } }
}
