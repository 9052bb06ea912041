/** Dates in HTTP header format, with a precision of seconds. */

let lastSecond = Number.NaN
let lastText = ""

/** `Sun, 06 Nov 1994 08:49:37 GMT`. Caches the last result, because most calls fall into the same second. */
export const httpDate = (millis: number): string => {
  const second = Math.floor(millis / 1000)
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toUTCString()
    lastSecond = second
  }
  return lastText
}
