/** The pickup window: from readyTime on readyDate to closeTime, that day or over night, in local time of the pickup location. */
import { type Fault, fault } from "../../shared/Fault.ts"
import { formatInstant } from "../../shared/Instant.ts"
import { type DateParts, dateParts, dayMillis } from "./DateText.ts"
import { given } from "./KeptText.ts"
import { fixedClocks, type LocationClocks, clocksNamed, shownBetween } from "./LocationZone.ts"

/** The members of a request that define its window. */
export interface WindowTexts {
  readonly readyDate: string | null
  readonly readyTime: string | null
  readonly closeTime: string | null
  readonly pickupLocationTimeZone: string | null
}

/** Times are local times, in milliseconds as if they were UTC. */
export interface PickupWindow {
  /** Midnight of the day. */
  readonly day: number
  readonly opens: number
  readonly closes: number
  /** The window as instants; `undefined` when the time zone is unknown. */
  readonly instants: { readonly first: number; readonly last: number } | undefined
}

/** A request without times has no window. */
export type WindowReading =
  | { readonly _tag: "Window"; readonly window: PickupWindow | undefined }
  | { readonly _tag: "Refused"; readonly fault: Fault }

/** The time zone of the place: the named one, else the first offset in a time. Midnight Z is how senders write a day, and names no zone. SPEC-GAP-C9 */
export const clocksAt = (texts: WindowTexts): LocationClocks | undefined => {
  const zone = given(texts.pickupLocationTimeZone)
  if (zone !== undefined) return clocksNamed(zone)
  const date = partsOf(texts.readyDate)
  const ofDate = date?.clock === 0 && date.offset === 0 ? undefined : date?.offset
  const offset = partsOf(texts.readyTime)?.offset ?? partsOf(texts.closeTime)?.offset ?? ofDate
  return offset === undefined ? undefined : fixedClocks(offset)
}

/** SPEC-GAP-C8: ready before close, over night too. Does not check whether the window is over. */
export const readPickupWindow = (texts: WindowTexts): WindowReading => {
  const offsetAt = clocksAt(texts)
  if (offsetAt === undefined && given(texts.pickupLocationTimeZone) !== undefined) {
    return refused("pickupLocationTimeZone", "Use UTC-5, UTC+5:30 or the name of a time zone, such as America/Chicago.")
  }
  const written = { date: partsOf(texts.readyDate), ready: partsOf(texts.readyTime), close: partsOf(texts.closeTime) }
  const local = { date: localOf(written.date, offsetAt), ready: localOf(written.ready, offsetAt), close: localOf(written.close, offsetAt) }
  const day = local.ready?.day ?? dayAlone(written.date, local.date) ?? local.close?.day
  if (day === undefined) {
    return local.ready === undefined && local.close === undefined
      ? { _tag: "Window", window: undefined }
      : refused("readyDate", "A time needs its day: give readyDate.", "required")
  }
  if (local.date !== undefined && day !== local.date.day && day !== written.date?.day) {
    return refused("readyTime", "readyTime is on another day than readyDate at the pickup location.")
  }
  // if readyTime is missing, the time in readyDate counts
  const opens = day + (local.ready?.clock ?? (local.ready === undefined && local.date?.day === day ? local.date.clock : undefined) ?? 0)
  const closes = (local.close?.day ?? day) + (local.close?.clock ?? dayMillis - 1)
  // the published rule gives both times one day, so the close of a night shift may be written before its start
  const overNight = closes >= day && closes + dayMillis - opens <= longestNightMillis
  return between(day, opens, overNight ? closes + dayMillis : closes, offsetAt)
}

/** A close that is written before its start is the next morning, up to this length of the window. */
const longestNightMillis = 12 * 3_600_000

const between = (day: number, opens: number, closes: number, offsetAt: LocationClocks | undefined): WindowReading => {
  if (closes <= opens) return refused("closeTime", "closeTime must be after readyTime. Over night, it is at most 12 hours later, or names the next day.")
  if (closes - opens > dayMillis) return refused("closeTime", "closeTime must be within 24 hours after readyTime at the pickup location.")
  if (offsetAt === undefined) return { _tag: "Window", window: { day, opens, closes, instants: undefined } }
  const instants = shownBetween(opens, closes, offsetAt)
  return instants === undefined
    ? refused("readyTime", "Clocks are put forward at the pickup location: these times do not exist on that day.")
    : { _tag: "Window", window: { day, opens, closes, instants } }
}

const refused = (member: string, detail: string, code: Fault["code"] = "invalid"): WindowReading => ({
  _tag: "Refused",
  fault: fault([member], detail, code)
})

const partsOf = (text: string | null): DateParts | undefined => {
  const some = given(text)
  return some === undefined ? undefined : dateParts(some)
}

interface LocalParts {
  readonly day: number | undefined
  readonly clock: number | undefined
}

/** Converts a time with an offset to local time. A time without an offset is already local. */
const localOf = (parts: DateParts | undefined, offsetAt: LocationClocks | undefined): LocalParts | undefined => {
  if (parts?.day === undefined || parts.clock === undefined || parts.offset === undefined || offsetAt === undefined) return parts
  const instant = parts.day + parts.clock - parts.offset
  const shown = instant + offsetAt(instant)
  const day = Math.floor(shown / dayMillis) * dayMillis
  return { day, clock: shown - day }
}

/** Senders write a date as midnight with any offset, so midnight means that date. SPEC-GAP-C8 */
const dayAlone = (written: DateParts | undefined, local: LocalParts | undefined): number | undefined =>
  written?.clock === 0 ? written.day : local?.day

/** Offset of the time zone in which a local time comes last (UTC-12), in milliseconds. */
const latestPlace = 12 * 3_600_000

/** Whether the window is over; if the time zone is unknown, in every time zone. */
export const isWindowOver = (window: PickupWindow, now: number): boolean => (window.instants?.last ?? window.closes + latestPlace) <= now

/** Formats a local time without a zone. */
export const shownText = (local: number): string => formatInstant(local).slice(0, -1)
