/** The text of a response without what two services choose by themselves: ids, secrets, cursors and the time. */

const chosen: ReadonlyArray<readonly [RegExp, string]> = [
  [/whsec_[A-Za-z0-9+/=]+|wb\.[A-Za-z0-9_-]+\.[A-Za-z0-9._-]{20,}/gu, "<secret>"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu, "<id>"],
  [/(?<="durationMillis":)\d+/gu, "<duration>"],
  [/(?<="nextCursor":)"[^"]+"/gu, "<cursor>"]
]

const instants = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?/gu

/** Longer than a run, and than a rotated secret still signs. */
const nearMillis = 48 * 3_600_000

export const comparableText = (text: string): string =>
  chosen.reduce((left, [pattern, name]) => left.replaceAll(pattern, name), text)
    .replaceAll(instants, (instant) => Math.abs(Date.parse(instant) - Date.now()) < nearMillis ? "<now>" : instant)

/** Both texts around the first character that differs. */
export const differenceOf = (one: string, other: string): string => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const from = Math.max(0, at - 200)
  return [one, other].map((text) => text.slice(from, at + 300)).join("\n--- and ---\n")
}
