/** What a receiver's answer means: its status, what it asked for, and the part of its body that may be shown. */
import { DateTime, Option } from "effect"
import { StringDecoder } from "node:string_decoder"
import { AttemptOutcome } from "@waybill/core"

/** The head of an answer, and as much of its body as was read. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: ReadonlyArray<Buffer>
}

/** The outcome of an attempt that was answered; `nowMillis` is asked only for a `Retry-After` that is a date. */
export const outcomeOfAnswer = ({ body, headers, status }: Answer, nowMillis: () => number): AttemptOutcome => {
  const excerpt = excerptOf(body)
  if (status >= 200 && status < 300) return AttemptOutcome.Accepted({ status, excerpt })
  if (status === 410) return AttemptOutcome.Gone({ status, excerpt })
  const retryAfterSeconds = parseRetryAfter(first(headers["retry-after"]), nowMillis)
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
    detail: status >= 300 && status < 400 ? redirectDetail(status, first(headers["location"])) : `The receiver answered ${status}.`,
    excerpt,
    ...(retryAfterSeconds === undefined ? undefined : { retryAfterSeconds })
  })
}

/** More than this is never shown or kept. */
export const maxExcerptLength = 1024

/** As many bytes as an excerpt can need. */
export const maxExcerptBytes = 4 * maxExcerptLength

/**
 * The beginning of a body as text that is safe in a log, a terminal and a database: line breaks become spaces, and
 * whatever is not printable (control characters, NUL, terminal sequences, direction marks, broken UTF-8) becomes `�`.
 */
export const excerptOf = (body: ReadonlyArray<Buffer>): string => {
  if (body.length === 0) return ""
  const bytes = body.length === 1 ? body[0]! : Buffer.concat(body)
  // four bytes make a character at most; the decoder leaves out one that is cut in half
  const text = bytes.length <= maxExcerptBytes ? bytes.toString() : new StringDecoder().write(bytes.subarray(0, maxExcerptBytes))
  return printable(text, maxExcerptLength)
}

/**
 * Seconds from now that a `Retry-After` asks for: `120`, or one of the three date forms of RFC 9110. A date in the past is 0,
 * anything else is no wish at all. Ten years is the most, so that the number stays harmless whoever adds it up.
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

const first = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "string" ? value : value?.[0]

const redirectDetail = (status: number, location: string | undefined): string =>
  location === undefined
    ? `The receiver answered ${status}, and redirects are not followed.`
    : `The receiver answered ${status} and points to ${printable(location, 200)}, but redirects are not followed.`

const printable = (text: string, length: number): string => {
  const clean = /^[ -~]*$/.test(text)
    ? text
    : text.replace(terminalSequence, "�").replace(/[\t\n\r]+/g, " ").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "�")
  // a pair cut in half would not be text any more
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

/** Two digits mean the year that is at most fifty years ahead. */
const fullYear = (year: string, nowMillis: () => number): string => {
  if (year.length === 4) return year
  const current = DateTime.getPartUtc(DateTime.makeUnsafe(nowMillis()), "year")
  const guess = current - current % 100 + Number(year)
  return String(guess > current + 50 ? guess - 100 : guess)
}
