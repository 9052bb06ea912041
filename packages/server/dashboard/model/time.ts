/** Formats times: UTC and relative. */

/** `2026-11-20 07:15:00`; other text stays unchanged. */
export const utcText = (instant: string): string => {
  const millis = Date.parse(instant)
  return Number.isNaN(millis) ? instant : new Date(millis).toISOString().slice(0, 19).replace("T", " ")
}

/** `just now`, `12 s ago`, `now`, `in 3 min`; empty for an invalid time. */
export const relativeText = (instant: string, nowMillis: number): string => {
  const away = Date.parse(instant) - nowMillis
  if (Number.isNaN(away)) return ""
  const seconds = Math.abs(away) / 1000
  if (seconds < 2) return away > 0 ? "now" : "just now"
  const text = amount(seconds)
  return away < 0 ? `${text} ago` : `in ${text}`
}

/** `850 ms`, `1.2 s`, `3 min`. */
export const durationText = (millis: number): string => millis < 1000 ? `${Math.round(millis)} ms` : millis < 60_000 ? `${(millis / 1000).toFixed(1)} s` : amount(millis / 1000)

const amount = (seconds: number): string => {
  if (seconds < 60) return `${Math.floor(seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} days`
}

/** Value of `<input type="datetime-local">`, which has no zone; it means UTC here. */
export const inputOf = (millis: number): string => new Date(millis).toISOString().slice(0, 19)

/** The time of such an input as UTC text; `undefined` if invalid. */
export const instantOfInput = (value: string): string | undefined => {
  const millis = value === "" ? NaN : Date.parse(`${value}Z`)
  return Number.isNaN(millis) ? undefined : new Date(millis).toISOString()
}
