/** RFC 3339 date-times with a UTC offset: compared as instants, returned as they were written. */
import { Schema } from "effect"

const shape = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/

const daysIn = (year: number, month: number): number =>
  month === 2 ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31

/**
 * Parses an RFC 3339 date-time into milliseconds since 1970; `undefined` if the text is not one. Digits beyond the millisecond are cut
 * off, so comparisons are exact to the millisecond.
 */
export const parseInstant = (text: string): number | undefined => {
  const parts = shape.exec(text)
  if (parts === null) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [number, number, number, number, number, number]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59) return undefined
  const millis = Number((parts[7] ?? "").padEnd(3, "0").slice(0, 3))
  const offsetHours = Number(parts[10] ?? 0)
  const offsetMinutes = Number(parts[11] ?? 0)
  if (offsetHours > 23 || offsetMinutes > 59) return undefined
  const offset = (parts[9] === "-" ? -1 : 1) * (offsetHours * 60 + offsetMinutes)
  return daysSince1970(year, month, day) * 86_400_000 + ((hour * 60 + minute - offset) * 60 + second) * 1000 + millis
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar. `Date.UTC` would read the years 0 to 99 as 1900 to 1999. */
const daysSince1970 = (year: number, month: number, day: number): number => {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

/** A date-time with an offset, kept as it was written. */
export const InstantText = Schema.String.annotate({ format: "date-time" }).check(
  Schema.makeFilter((text: string) =>
    parseInstant(text) !== undefined || "Use an RFC 3339 date-time with a UTC offset, such as 2026-11-20T08:15:00-06:00."
  )
)

/** Formats an instant as UTC text with milliseconds. Fractions of a millisecond are cut off. */
export const formatInstant = (instant: number): string => {
  const millis = Math.floor(instant)
  const days = Math.floor(millis / 86_400_000)
  const rest = millis - days * 86_400_000
  const z = days + 719_468
  const era = Math.floor(z / 146_097)
  const dayOfEra = z - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const mp = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * mp + 2) / 5) + 1
  const month = mp < 10 ? mp + 3 : mp - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const two = (n: number) => String(n).padStart(2, "0")
  const clock = `${two(Math.floor(rest / 3_600_000))}:${two(Math.floor(rest / 60_000) % 60)}:${two(Math.floor(rest / 1000) % 60)}`
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${clock}.${String(rest % 1000).padStart(3, "0")}Z`
}
