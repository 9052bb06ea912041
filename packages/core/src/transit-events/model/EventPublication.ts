/** Results of publishing, and the detection of duplicate events. */
import { fault } from "../../shared/Fault.ts"
import { canonicalText } from "../../shared/Json.ts"
import type { RefusedItem } from "../../shared/ReadItems.ts"
import type { ReportedEvent } from "./TransitEvent.ts"

/** An event that passed the schema. */
export interface ReadEvent {
  /** Its index in the call. */
  readonly index: number
  /** The caller's object, including unknown fields. */
  readonly event: ReportedEvent
}

/** What identifies an event in its tenant. An id on another shipment is another event, so carriers of one tenant cannot take each other's ids. */
export interface EventKey {
  readonly shipmentId: string
  readonly eventId: string
}

/** The key as one text. Neither id has a line break. */
export const textOfKey = ({ eventId, shipmentId }: EventKey): string => `${shipmentId}\n${eventId}`

/** A stored event that a new one is compared with. */
export interface KnownEvent extends EventKey {
  readonly sequence: number
  readonly json: Readonly<Record<string, unknown>>
}

/** The result of one event of a call; `index` is its place in the call. */
export type Publication = StoredPublication | RefusedItem

/** An event that is stored, by this call or an earlier one. */
export interface StoredPublication extends EventKey {
  readonly index: number
  readonly result: "accepted" | "duplicate"
  readonly sequence: number
}

/** The JSON text of an event's fields without those that Waybill adds. Throws if they are not JSON, which only a host's object can be. */
export const reportedText = ({ eventId: _id, parties: _parties, sequence: _sequence, ...rest }: ReportedEvent): string => {
  const text: unknown = JSON.stringify(rest)
  // an object's toJSON may return something other than an object
  if (typeof text !== "string" || !text.startsWith("{\"")) throw new TypeError("An event is not a JSON object.")
  return text
}

/** The JSON text of an event as it is sent. */
export const eventText = (reported: string, eventId: string, sequence: number): string =>
  `{"eventId":${JSON.stringify(eventId)},"sequence":${sequence},${reported.slice(1)}`

/** Canonical text of an event's content. `parties` is left out, because access to the shipment is not part of the event. */
const content = (json: Readonly<Record<string, unknown>>, withSequence: boolean): string => {
  const { eventId: _id, parties: _parties, sequence, ...rest } = json
  // normalised through JSON: a host may pass dates and other objects, which were stored as JSON text
  return canonicalText(JSON.parse(JSON.stringify(withSequence ? { ...rest, sequence } : rest)))
}

/** SPEC-GAP-D17: whether an event repeats a known one. The sequence counts only if both have one. */
export const sameContent = (again: Readonly<Record<string, unknown>>, known: Readonly<Record<string, unknown>>): boolean => {
  const withSequence = again["sequence"] !== undefined && known["sequence"] !== undefined
  return content(again, withSequence) === content(known, withSequence)
}

/** An event that repeats another one. `key`: the text of their key. */
export interface Repeat {
  readonly index: number
  readonly key: string
}

/** The events of a call, sorted by result. */
export interface Sorted {
  /** Events to store. */
  readonly newEvents: ReadonlyArray<ReadEvent>
  /** Already stored, or repeated in this call with the same content. */
  readonly repeats: ReadonlyArray<Repeat>
  /** Already known with other content. */
  readonly refused: ReadonlyArray<RefusedItem>
}

/** Splits events, one by one, into new events, duplicates, and conflicts with known events. `known`: by the texts of their keys. */
export const makeDuplicateFilter = (known: ReadonlyMap<string, KnownEvent>): { readonly add: (each: ReadEvent) => void; readonly sorted: Sorted } => {
  const newEvents: Array<ReadEvent> = []
  const repeats: Array<Repeat> = []
  const refused: Array<RefusedItem> = []
  const first = new Map<string, Readonly<Record<string, unknown>>>()
  const add = (each: ReadEvent): void => {
    const eventId = each.event.eventId
    if (eventId === undefined) {
      newEvents.push(each)
      return
    }
    const key = textOfKey({ eventId, shipmentId: each.event.shipment.shipmentId })
    const before = known.get(key)?.json ?? first.get(key)
    if (before === undefined) {
      first.set(key, each.event)
      newEvents.push(each)
    } else if (sameContent(each.event, before)) {
      repeats.push({ index: each.index, key })
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
  return { add, sorted: { newEvents, repeats, refused } }
}
