/** The clocks of the place where freight is picked up. */
import { DateTime, Option } from "effect"
import { dayMillis } from "./DateText.ts"

/** What the clocks of a place are ahead of UTC at an instant, in milliseconds. */
export type LocationClocks = (millis: number) => number

const offsetShape = /^(?:(?:UTC|GMT)\s?)?([+-])(\d{1,2})(?::?([0-5]\d))?$/iu
const nameShape = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/u

/** `UTC-5`, `UTC+5:30` or the name of a zone in the IANA database; `undefined` for anything else. SPEC-GAP-C9 */
export const clocksNamed = (zone: string): LocationClocks | undefined => {
  const text = zone.trim()
  if (/^(?:UTC|GMT|Z)$/iu.test(text)) return () => 0
  const parts = offsetShape.exec(text)
  if (parts === null) return nameShape.test(text) ? namedZone(text) : undefined
  const minutes = Number(parts[2]) * 60 + Number(parts[3] ?? 0)
  if (minutes > 14 * 60) return undefined
  return fixedClocks((parts[1] === "-" ? -1 : 1) * minutes * 60_000)
}

/** Minus zero is zero. */
export const fixedClocks = (offset: number): LocationClocks => () => offset + 0

const namedZone = (name: string): LocationClocks | undefined => {
  const canonical = canonicalName(name)
  const zone = canonical === undefined ? undefined : Option.getOrUndefined(DateTime.zoneMakeNamed(canonical))
  return zone === undefined ? undefined : (millis) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(millis, { timeZone: zone }))
}

/** Zones are remembered by name; many spellings of one must not fill the memory. */
const canonicalName = (name: string): string | undefined => {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/** `UTC-5`, `UTC+5:30`, `UTC+0`. */
export const zoneText = (offset: number): string => {
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const rest = minutes % 60
  return `UTC${offset < 0 ? "-" : "+"}${Math.floor(minutes / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`
}

/** From the first to the last instant at which clocks show a time from `from` to `to`; `undefined` when they skip all of it. */
export const shownBetween = (
  from: number,
  to: number,
  offsetAt: LocationClocks
): { readonly first: number; readonly last: number } | undefined => {
  const first = Math.min(...instantsShowing(from, offsetAt))
  const last = Math.max(...instantsShowing(to, offsetAt))
  return first < last ? { first, last } : undefined
}

/** Every instant at which clocks show a time: two where they are put back over it; where they skip it, the instant at which they do. */
const instantsShowing = (local: number, offsetAt: LocationClocks): ReadonlyArray<number> => {
  const [before, after] = [local - 2 * dayMillis, local + 2 * dayMillis]
  const offsets = new Set([offsetAt(before), offsetAt(after)])
  const showing = [...offsets].map((offset) => local - offset).filter((at) => at + offsetAt(at) === local)
  return showing.length > 0 ? showing : [firstAfter(local, before, after, offsetAt)]
}

/** The first instant at which clocks show something later than `local`. */
const firstAfter = (local: number, before: number, after: number, offsetAt: LocationClocks): number => {
  let [earlier, later] = [before, after]
  while (later - earlier > 1) {
    const middle = Math.floor((earlier + later) / 2)
    if (middle + offsetAt(middle) < local) earlier = middle
    else later = middle
  }
  return later
}
