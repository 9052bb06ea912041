/** Time zones of pickup locations. */
import { DateTime, Option } from "effect"
import { dayMillis } from "./DateText.ts"

/** UTC offset of a place at an instant, in milliseconds. */
export type LocationClocks = (millis: number) => number

const offsetShape = /^(?:(?:UTC|GMT)\s?)?([+-])(\d{1,2})(?::?([0-5]\d))?$/iu
const nameShape = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/u

/** Parses `UTC-5`, `UTC+5:30` or an IANA time zone name; `undefined` for other text. SPEC-GAP-C9 */
export const clocksNamed = (zone: string): LocationClocks | undefined => {
  const text = zone.trim()
  if (/^(?:UTC|GMT|Z)$/iu.test(text)) return () => 0
  const parts = offsetShape.exec(text)
  if (parts === null) return nameShape.test(text) ? namedZone(text) : undefined
  const minutes = Number(parts[2]) * 60 + Number(parts[3] ?? 0)
  if (minutes > 14 * 60) return undefined
  return fixedClocks((parts[1] === "-" ? -1 : 1) * minutes * 60_000)
}

/** Adding zero converts -0 to 0. */
export const fixedClocks = (offset: number): LocationClocks => () => offset + 0

const namedZone = (name: string): LocationClocks | undefined => {
  const canonical = canonicalName(name)
  const zone = canonical === undefined ? undefined : Option.getOrUndefined(DateTime.zoneMakeNamed(canonical))
  return zone === undefined ? undefined : (millis) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(millis, { timeZone: zone }))
}

/** Zones are cached by name. The canonical name keeps different spellings from filling the cache. */
const canonicalName = (name: string): string | undefined => {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/** Formats an offset: `UTC-5`, `UTC+5:30`, `UTC+0`. */
export const zoneText = (offset: number): string => {
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const rest = minutes % 60
  return `UTC${offset < 0 ? "-" : "+"}${Math.floor(minutes / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`
}

/** The first and last instant at which local time is between `from` and `to`; `undefined` when the clock skips all of it. */
export const shownBetween = (
  from: number,
  to: number,
  offsetAt: LocationClocks
): { readonly first: number; readonly last: number } | undefined => {
  const first = Math.min(...instantsShowing(from, offsetAt))
  const last = Math.max(...instantsShowing(to, offsetAt))
  return first < last ? { first, last } : undefined
}

/** Every instant with this local time: two when the clock is set back over it; when the clock skips it, the instant of the skip. */
const instantsShowing = (local: number, offsetAt: LocationClocks): ReadonlyArray<number> => {
  const [before, after] = [local - 2 * dayMillis, local + 2 * dayMillis]
  const offsets = new Set([offsetAt(before), offsetAt(after)])
  const showing = [...offsets].map((offset) => local - offset).filter((at) => at + offsetAt(at) === local)
  return showing.length > 0 ? showing : [firstAfter(local, before, after, offsetAt)]
}

/** The first instant whose local time is not before `local`. */
const firstAfter = (local: number, before: number, after: number, offsetAt: LocationClocks): number => {
  let [earlier, later] = [before, after]
  while (later - earlier > 1) {
    const middle = Math.floor((earlier + later) / 2)
    if (middle + offsetAt(middle) < local) earlier = middle
    else later = middle
  }
  return later
}
