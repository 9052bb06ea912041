/** RFC 3339 date-times with a UTC offset: compared as instants, returned as they were written. */
import { Schema } from "effect"

const daysIn = (year: number, month: number): number =>
  month === 2 ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31

/** Parses `count` digits; NaN for any other character. Events have several instants, and a regular expression takes ten times as long. */
const digits = (text: string, from: number, count: number): number => {
  let number = 0
  for (let at = from; at < from + count; at++) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return NaN
    number = number * 10 + digit
  }
  return number
}

const isWithin = (number: number, least: number, most: number): boolean => number >= least && number <= most

/** The milliseconds of a fraction such as `.123456`, and where it ends. */
const fraction = (text: string): { readonly millis: number; readonly end: number } => {
  if (text[19] !== ".") return { millis: 0, end: 19 }
  let end = 20
  while (end < 29 && isWithin(text.charCodeAt(end), 48, 57)) end++
  const counted = Math.min(3, end - 20)
  return { millis: counted === 0 ? NaN : digits(text, 20, counted) * 10 ** (3 - counted), end }
}

/** The minutes of an offset such as `Z` or `-06:00` that ends the text; NaN if it is not one. */
const offsetMinutes = (text: string, at: number): number => {
  const sign = text[at]
  if (sign === "Z" || sign === "z") return text.length === at + 1 ? 0 : NaN
  if ((sign !== "+" && sign !== "-") || text.length !== at + 6 || text[at + 3] !== ":") return NaN
  const [hours, minutes] = [digits(text, at + 1, 2), digits(text, at + 4, 2)]
  return isWithin(hours, 0, 23) && isWithin(minutes, 0, 59) ? (sign === "-" ? -1 : 1) * (hours * 60 + minutes) : NaN
}

/**
 * Parses an RFC 3339 date-time into milliseconds since 1970; `undefined` if the text is not one. Digits beyond the millisecond are cut
 * off, so comparisons are exact to the millisecond. SPEC-GAP-X11
 */
export const parseInstant = (text: string): number | undefined => {
  if (text[4] !== "-" || text[7] !== "-" || (text[10] !== "T" && text[10] !== "t") || text[13] !== ":" || text[16] !== ":") return undefined
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2)]
  const [hour, minute, second] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)]
  if (!isWithin(month, 1, 12) || !isWithin(day, 1, daysIn(year, month)) || !isWithin(hour, 0, 23) || !isWithin(minute, 0, 59) || !isWithin(second, 0, 59)) return undefined
  const { end, millis } = fraction(text)
  const instant = daysSince1970(year, month, day) * 86_400_000 + ((hour * 60 + minute - offsetMinutes(text, end)) * 60 + second) * 1000 + millis
  return Number.isNaN(instant) ? undefined : instant
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

/** For answers, in which `null` is no instant. */
export const instantOrNull = (millis: number | undefined): string | null => millis === undefined ? null : formatInstant(millis)

const spelling = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})?$/u

/**
 * One spelling of a date-time, for comparisons of contents: serializers write `Z` or `+00:00`, and `.000` or nothing. The offset is part of the content,
 * because the local day counts; a local time has none. Any other text is unchanged. SPEC-GAP-X8
 */
export const plainTime = (text: string): string => {
  const parts = text[13] === ":" ? spelling.exec(text) : null
  if (parts === null) return text
  const [, date, time, written = "", offset = ""] = parts
  const fraction = written.replace(/0+$/u, "")
  return `${date}T${time}${fraction === "" ? "" : `.${fraction}`}${/^(?:z|[+-]00:00)$/iu.test(offset) ? "Z" : offset}`
}
