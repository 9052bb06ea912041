/** Instants as HTTP headers write them, to the second. */

let lastSecond = Number.NaN
let lastText = ""

/** `Sun, 06 Nov 1994 08:49:37 GMT`. Most calls ask for the second that was asked for before. */
export const httpDate = (millis: number): string => {
  const second = Math.floor(millis / 1000)
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toUTCString()
    lastSecond = second
  }
  return lastText
}
