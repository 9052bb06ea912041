/** Closing times of windows: every full hour, or every midnight, in a time zone. */
import { DateTime } from "effect"
import { formatInstant } from "../../shared/Instant.ts"
import type { ChargeFrequency } from "./ChargeSubscription.ts"

const hourMillis = 3_600_000
const dayMillis = 86_400_000

/** UTC offset of a time zone at an instant, in milliseconds. */
export type OffsetAt = (millis: number) => number

/** Offsets of an IANA time zone. */
export const offsetsOf = (timeZone: string): OffsetAt => {
  // the first zone lookup of a process takes 10 ms, which every test process would pay
  if (timeZone === "UTC") return () => 0
  const zone = DateTime.zoneMakeNamedUnsafe(timeZone)
  return (millis) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(millis, { timeZone: zone }))
}

/** When a collected change is sent: at `closesAt`, or at `following`, the next closing time, if that window is already closed. */
export interface WindowTimes {
  readonly closesAt: number
  readonly following: number
}

/** `undefined`: sent at once. */
export const closingTimes = (frequency: ChargeFrequency, now: number, offsetAt: OffsetAt): WindowTimes | undefined => {
  if (frequency === "real_time") return undefined
  const unit = frequency === "hourly" ? hourMillis : dayMillis
  const closesAt = nextClosing(unit, now, offsetAt)
  return { closesAt, following: nextClosing(unit, closesAt, offsetAt) }
}

/**
 * The first instant after `now` at which local time shows a full hour or a new day. When the clock skips midnight, the day begins with its
 * first instant. Hours and days are as long as the local clock makes them. SPEC-GAP-E16
 */
const nextClosing = (unit: number, now: number, offsetAt: OffsetAt): number => {
  let from = now
  for (;;) {
    const offset = offsetAt(from)
    const next = (Math.floor((from + offset) / unit) + 1) * unit - offset
    if (offsetAt(next) === offset) return next
    const change = firstOtherOffset(from, next, offset, offsetAt)
    if (startsUnit(unit, change, offset, offsetAt(change))) return change
    from = change
  }
}

/** Whether a full hour or a new day begins at a change of offset. */
const startsUnit = (unit: number, change: number, before: number, after: number): boolean =>
  unit === hourMillis
    ? (change + after) % hourMillis === 0
    : Math.floor((change + after) / dayMillis) > Math.floor((change - 1 + before) / dayMillis)

/** The first instant after `from` with another offset, at most `until`. */
const firstOtherOffset = (from: number, until: number, offset: number, offsetAt: OffsetAt): number => {
  let same = from
  let other = until
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2)
    if (offsetAt(middle) === offset) same = middle
    else other = middle
  }
  return other
}

/** Formats an instant as local time without a zone, as freight bills write dates. */
export const localText = (millis: number, offsetAt: OffsetAt): string =>
  formatInstant(millis + offsetAt(millis)).slice(0, -1)
