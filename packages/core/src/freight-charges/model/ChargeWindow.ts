/** When windows of slow cadences close: at every full hour, or at every midnight, of a place's own clocks. */
import { DateTime } from "effect"
import { formatInstant } from "../../shared/Instant.ts"
import type { ChargeFrequency } from "./ChargeSubscription.ts"

const hourMillis = 3_600_000
const dayMillis = 86_400_000

/** What the clocks of a place are ahead of UTC at an instant, in milliseconds. */
export type OffsetAt = (millis: number) => number

/** For the name of a zone in the IANA database. */
export const offsetsOf = (timeZone: string): OffsetAt => {
  // the first zone that a process looks up costs it ten milliseconds, which every test's process would pay
  if (timeZone === "UTC") return () => 0
  const zone = DateTime.zoneMakeNamedUnsafe(timeZone)
  return (millis) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(millis, { timeZone: zone }))
}

/** When a change of now goes out: `following` is the closing after it. */
export interface ClosingTimes {
  readonly closesAt: number
  readonly following: number
}

/** `undefined` when it goes out at once. */
export const closingTimes = (frequency: ChargeFrequency, now: number, offsetAt: OffsetAt): ClosingTimes | undefined => {
  if (frequency === "real_time") return undefined
  const unit = frequency === "hourly" ? hourMillis : dayMillis
  const closesAt = nextClosing(unit, now, offsetAt)
  return { closesAt, following: nextClosing(unit, closesAt, offsetAt) }
}

/**
 * The first instant after `now` at which clocks strike: show a full hour, or a new day. Where they are put forward over midnight, the day
 * begins with its first instant; an hour or day is as long as the clocks make it. SPEC-GAP-E16
 */
const nextClosing = (unit: number, now: number, offsetAt: OffsetAt): number => {
  let from = now
  for (;;) {
    const offset = offsetAt(from)
    const next = (Math.floor((from + offset) / unit) + 1) * unit - offset
    if (offsetAt(next) === offset) return next
    const change = firstOtherOffset(from, next, offset, offsetAt)
    if (strikes(unit, change, offset, offsetAt(change))) return change
    from = change
  }
}

/** Whether the clocks show a full hour, or a day later than before, right after they were put to another offset. */
const strikes = (unit: number, change: number, before: number, after: number): boolean =>
  unit === hourMillis
    ? (change + after) % hourMillis === 0
    : Math.floor((change + after) / dayMillis) > Math.floor((change - 1 + before) / dayMillis)

/** The first instant after `from`, at the latest `until`, at which the offset is another one. */
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

/** An instant as the place's clocks show it, without a zone, as freight bills write dates. */
export const localText = (millis: number, offsetAt: OffsetAt): string =>
  formatInstant(millis + offsetAt(millis)).slice(0, -1)
