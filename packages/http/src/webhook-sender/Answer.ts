/** Interprets a receiver's response: status, `Retry-After`, and a printable excerpt of the body. */
import { DateTime, Option } from "effect"
import { StringDecoder } from "node:string_decoder"
import { AttemptOutcome } from "@waybill/core/delivery"
import type { ResponseHead } from "./ResponseParser.ts"

/** The outcome of an answered attempt, by the head and the beginning of the body. A `Retry-After` with a date counts from the response's own date, by the same clock; `nowMillis` is called where there is none. */
export const outcomeOfAnswer = ({ date, location, retryAfter, status }: ResponseHead, body: Buffer | undefined, nowMillis: () => number): AttemptOutcome => {
  const excerpt = excerptOf(body)
  if (status >= 200 && status < 300) return AttemptOutcome.Accepted({ status, excerpt })
  if (status === 410) return AttemptOutcome.Gone({ status, excerpt })
  const retryAfterSeconds = parseRetryAfter(retryAfter, () => (date === undefined ? undefined : parseHttpDate(date, nowMillis)) ?? nowMillis())
  return AttemptOutcome.Failed({
    failure: status >= 600 || status < 300
      ? "protocol"
      : status >= 500
      ? "http_5xx"
      : status === 429
      ? "http_429"
      : status >= 400
      ? "http_4xx"
      : "http_3xx",
    status,
    detail: status >= 300 && status < 400 ? redirectDetail(status, location) : `The receiver answered ${status}.`,
    excerpt,
    ...(retryAfterSeconds === undefined ? undefined : { retryAfterSeconds })
  })
}

/** Maximum length of the excerpt that is shown and stored. */
export const maxExcerptLength = 1024

/** Maximum bytes that an excerpt can need. */
export const maxExcerptBytes = 4 * maxExcerptLength

/**
 * The beginning of a body as text that is safe in logs, terminals and databases: line breaks become spaces, and
 * unprintable characters (control characters, NUL, terminal sequences, direction marks, invalid UTF-8) become `�`.
 */
export const excerptOf = (body: Buffer | undefined): string => {
  if (body === undefined) return ""
  // A character has at most four bytes; the decoder omits one that is cut off.
  const text = body.length < maxExcerptBytes ? body.toString() : new StringDecoder().write(body.subarray(0, maxExcerptBytes))
  return printable(text, maxExcerptLength)
}

/**
 * Seconds from now in a `Retry-After`: `120`, or one of the three date formats of RFC 9110. A past date is 0, anything
 * else is ignored. Capped at ten years, so that sums stay safe.
 */
export const parseRetryAfter = (value: string | undefined, nowMillis: () => number): number | undefined => {
  const text = value?.trim()
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text), maxRetryAfterSeconds)
  const date = parseHttpDate(text, nowMillis)
  if (date === undefined) return undefined
  return Math.min(Math.max(Math.ceil((date - nowMillis()) / 1000), 0), maxRetryAfterSeconds)
}

const maxRetryAfterSeconds = 10 * 365 * 24 * 60 * 60

const redirectDetail = (status: number, location: string | undefined): string =>
  location === undefined
    ? `The receiver answered ${status}, and redirects are not followed.`
    : `The receiver answered ${status} and points to ${printable(location, 200)}, but redirects are not followed.`

const printable = (text: string, length: number): string => {
  const clean = /^[ -~]*$/.test(text)
    ? text
    : text.replace(terminalSequence, "�").replace(/[\t\n\r]+/g, " ").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "�")
  // Half a surrogate pair would not be valid text.
  return clean.length <= length ? clean : clean.slice(0, clean.codePointAt(length - 1)! > 0xffff ? length - 1 : length)
}

/** ECMA-48: a control sequence, an operating system command, or a two-character escape. */
const terminalSequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const time = String.raw`(?<time>\d{2}:\d{2}:\d{2})`
const dateForms = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${time} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${time} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${time} (?<year>\d{4})$`)
]

const parseHttpDate = (text: string, nowMillis: () => number): number | undefined => {
  for (const form of dateForms) {
    const { day, month, time, year } = form.exec(text)?.groups ?? {}
    if (day === undefined || month === undefined || year === undefined) continue
    const date = `${fullYear(year, nowMillis)}-${pad(months.indexOf(month) + 1)}-${pad(Number(day))}T${time}Z`
    return Option.getOrUndefined(Option.map(DateTime.make(date), DateTime.toEpochMillis))
  }
  return undefined
}

const pad = (number: number): string => String(number).padStart(2, "0")

/** A two-digit year is at most fifty years in the future. */
const fullYear = (year: string, nowMillis: () => number): string => {
  if (year.length === 4) return year
  const current = DateTime.getPartUtc(DateTime.makeUnsafe(nowMillis()), "year")
  const guess = current - current % 100 + Number(year)
  return String(guess > current + 50 ? guess - 100 : guess)
}
