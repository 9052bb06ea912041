/** Durations in tests. */
import { Duration } from "effect"

type Unit = "milli" | "second" | "minute" | "hour" | "day" | "week"

/** Milliseconds, or words such as `"2 minutes"`. */
export type TimeSpan = number | `${number} ${Unit}` | `${number} ${Unit}s`

const words = /^\d+(\.\d+)? (milli|second|minute|hour|day|week)s?$/

/** Converts to milliseconds. Throws a `RangeError` for an invalid duration. */
export const millisOf = (span: TimeSpan): number => {
  const millis = typeof span === "number" ? span : words.test(span) ? Duration.toMillis(span) : Number.NaN
  if (!(millis >= 0 && millis < Infinity)) {
    throw new RangeError(`${JSON.stringify(span)} is no length of time. Give milliseconds, at least 0, or words such as "2 minutes".`)
  }
  return millis
}
