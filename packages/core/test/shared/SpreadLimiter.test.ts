import { assert, describe, it } from "@effect/vitest"
import { int, listOf, oneOf } from "../arbitraries.ts"
import { SpreadLimiter } from "../../src/shared/SpreadLimiter.ts"

const pauses = listOf(oneOf([0, 1, 333, 999, 5000, 30_000, 59_999, 60_000]), 1, 200)

describe("SpreadLimiter", () => {
  it.prop(
    "admits no more calls than the limit in any 60 seconds, and admits the next one after the returned wait",
    [int(1, 60), int(1, 10), pauses],
    ([perMinute, some, all]) => {
      const limits = { perMinute, atOnce: Math.min(some, perMinute) }
      const limiter = new SpreadLimiter()
      const made: Array<number> = []
      let now = 1_000_000
      for (const pause of all) {
        now += pause
        const wait = limiter.admit(limits, now)
        if (wait > 0) {
          now += wait
          assert.strictEqual(limiter.admit(limits, now), 0)
        }
        made.push(now)
      }
      for (const at of made) assert.isAtMost(made.filter((each) => each >= at && each < at + 60_000).length, perMinute)
    }
  )

  it("admits a burst, then an even pace", () => {
    const limiter = new SpreadLimiter()
    const limits = { perMinute: 60, atOnce: 6 }
    const taken = (seconds: number) => Array.from({ length: 60 }, () => limiter.admit(limits, 1_000_000 + seconds * 1000)).filter((wait) => wait === 0).length
    assert.deepStrictEqual([taken(0), taken(0.5), taken(2), taken(600)], [6, 0, 1, 6])
  })
})
