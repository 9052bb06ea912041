/** Timeline of transit events, and the shipment numbers in them. */
import { parseInstant } from "../../shared/Instant.ts"
import { isObject } from "../../shared/Json.ts"
import { plainNumber } from "../../shipment-status/model/LookupKey.ts"
import type { TransitEvent } from "../../transit-events/model/TransitEvent.ts"
import type { TimelineEvent } from "./JourneyEntry.ts"

export const timelineEventOf = (event: TransitEvent, size: number): TimelineEvent => {
  const { location, status = "" } = event
  const what = words(event.type)
  const place = [location?.city, location?.state].filter((part) => part !== undefined && part !== "").join(", ")
  const isRepeated = status === "" || status.toLowerCase() === what.toLowerCase()
  return {
    at: parseInstant(event.occurredAt) ?? 0,
    area: "transit-events",
    kind: event.type,
    title: `${what}${place === "" ? "" : `, ${place}`}${isRepeated ? "" : ` (${status})`}`,
    reference: event.eventId,
    document: event,
    size
  }
}

/** Formats `ARRIVED_AT_TERMINAL` as `Arrived at terminal`. */
const words = (type: string): string => type[0] + type.slice(1).toLowerCase().replaceAll("_", " ")

const kinds = { pro: ["PRO", "PRONUMBER"], bol: ["BOL", "BOLNUMBER", "BILLOFLADING"] } as const

/** Values of one kind of reference, in the order of the events. */
export const referencesIn = (events: ReadonlyArray<TransitEvent>, kind: keyof typeof kinds): ReadonlyArray<string> => {
  const types: ReadonlyArray<string> = kinds[kind]
  const values = events.flatMap(({ shipment }) =>
    (shipment.references ?? []).flatMap((each) => isObject(each) && types.includes(plainNumber(each.type ?? "")) && each.value !== undefined ? [each.value] : []))
  return [...new Set(values)].filter((value) => plainNumber(value) !== "")
}
