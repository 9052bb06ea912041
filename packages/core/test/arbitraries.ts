/** Building blocks of property tests. */
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"

export const int = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const oneOf = <const A>(values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(int(0, values.length - 1), (at) => values[at]!)

export const listOf = <A>(item: Arbitrary.Arbitrary<A>, minLength: number, maxLength: number): Arbitrary.Arbitrary<Array<A>> =>
  Arbitrary.array(item, { minLength, maxLength })

/** JSON of any shape, including member names that break naive code, such as __proto__. */
export const json: Arbitrary.Arbitrary<unknown> = Arbitrary.map(
  listOf(int(0, 1_000_000), 1, 40),
  (numbers) => {
    let at = 0
    const next = () => numbers[at++ % numbers.length]! + at
    const names = ["a", "b", "__proto__", "constructor", "toString", "", "0", "ä", "shipment", "events", "eventId", "type"]
    const leaves = [null, true, false, 0, -1, 1.5, 9e15, "", "x", "\u0000", "\ud800", "2026-11-20T08:15:00Z", "DELIVERED", undefined, NaN]
    const value = (depth: number): unknown => {
      const kind = next() % (depth > 4 ? 2 : 5)
      if (kind < 2) return leaves[next() % leaves.length]
      const size = next() % 4
      if (kind === 2) return Array.from({ length: size }, () => value(depth + 1))
      return Object.fromEntries(Array.from({ length: size }, () => [names[next() % names.length]!, value(depth + 1)]))
    }
    return value(0)
  }
)
