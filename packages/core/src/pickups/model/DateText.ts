/** Dates and times as shippers write them: with or without a time, with or without an offset. */
import { Schema } from "effect"
import { parseInstant } from "../../shared/Instant.ts"

/** The written parts of a text. Missing parts are not filled in. */
export interface DateParts {
  /** Midnight of the day, in milliseconds, as if it were UTC. */
  readonly day: number | undefined
  /** Milliseconds since midnight. */
  readonly clock: number | undefined
  /** UTC offset in milliseconds. */
  readonly offset: number | undefined
}

export const dayMillis = 86_400_000

const shape =
  /^(?:(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(?::(\d{2})(\.\d{1,9})?)?([Zz]|[+-]\d{2}:\d{2})?)?|(\d{2}:\d{2})(?::(\d{2})(\.\d{1,9})?)?)$/

/** Parses a date, time or date-time of ISO 8601; `undefined` for other text. */
export const dateParts = (text: string): DateParts | undefined => {
  const parts = shape.exec(text)
  if (parts === null) return undefined
  const [, date, time, seconds, fraction, offset, bareTime, bareSeconds, bareFraction] = parts
  const clockText = time ?? bareTime
  const at = parseInstant(
    `${date ?? "1970-01-01"}T${clockText ?? "00:00"}:${seconds ?? bareSeconds ?? "00"}${fraction ?? bareFraction ?? ""}Z`
  )
  const zero = parseInstant(`${date ?? "1970-01-01"}T00:00:00Z`)
  const ahead = offset === undefined ? undefined : offsetMillis(offset)
  if (at === undefined || zero === undefined || Number.isNaN(ahead)) return undefined
  return {
    day: date === undefined ? undefined : zero,
    clock: clockText === undefined ? undefined : at - zero,
    offset: ahead
  }
}

/** `Z` has no digits, which are 0. */
const offsetMillis = (text: string): number => {
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(4, 6))]
  return hours > 23 || minutes > 59 ? NaN : (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** Kept as written. SPEC-GAP-C8 */
export const DateText = Schema.String.check(
  Schema.makeFilter((text: string) =>
    dateParts(text) !== undefined || "Use an ISO 8601 date or time, such as 2026-11-20T08:00:00, local to the pickup location."
  )
)

/** A date-time: date and time are both required. */
export const DateTimeText = Schema.String.check(
  Schema.makeFilter((text: string) => {
    const parts = dateParts(text)
    return (parts?.day !== undefined && parts.clock !== undefined) || "Use an ISO 8601 date-time, such as 2026-11-20T08:00:00."
  })
)
