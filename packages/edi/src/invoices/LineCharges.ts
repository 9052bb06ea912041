/** Lines of a 210. A line (LX) may have up to fifty charges (L1), and a charge of an invoice has one amount. */
import { elementOf, type Segment } from "../x12/Segment.ts"

/** Element 01 is the number of the item that they describe. */
const freight: ReadonlySet<string> = new Set(["L5", "L0", "L7"])

/** Ends of the last line. */
const afterLines: ReadonlySet<string> = new Set(["L3", "SE"])

/** Divides lines so that each has one charge, with the freight that has its number or stands beside it. What else is in a line stays with its first charge. */
export const withOneCharge = (segments: ReadonlyArray<Segment>): ReadonlyArray<Segment> => {
  const lines: Array<Array<Segment>> = [[]]
  for (const segment of segments) {
    if (segment.id === "LX" || afterLines.has(segment.id)) lines.push([])
    lines.at(-1)!.push(segment)
  }
  return lines.flatMap(divided)
}

const divided = (line: ReadonlyArray<Segment>): ReadonlyArray<Segment> => {
  const [start, ...content] = line
  const numbers = content.filter(({ id }) => id === "L1").map((charge) => elementOf(charge, 1))
  if (start?.id !== "LX" || numbers.length < 2) return line
  const byNumber = new Map(numbers.map((number, index) => [number, index] as const).reverse())
  byNumber.delete("")
  const parts = numbers.map((): Array<Segment> => [start])
  let next = 0
  for (const segment of content) {
    if (segment.id === "L1") parts[next++]!.push(segment)
    else if (!freight.has(segment.id)) parts[0]!.push(segment)
    else parts[byNumber.get(elementOf(segment, 1)) ?? (segment.id === "L7" ? Math.max(next - 1, 0) : Math.min(next, parts.length - 1))]!.push(segment)
  }
  return parts.flat()
}
