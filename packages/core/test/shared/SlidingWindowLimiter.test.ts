import { assert, describe, it } from "@effect/vitest"
import { SlidingWindowLimiter } from "@waybill/core"
import { int, listOf, oneOf } from "../arbitraries.ts"

const pauses = listOf(oneOf([0, 1, 999, 5000, 30_000, 59_999, 60_000]), 1, 60)

/** A limiter that admitted these calls. */
const logOf = (perMinute: number, made: ReadonlyArray<number>): SlidingWindowLimiter => {
  const log = new SlidingWindowLimiter()
  for (const at of made) assert.strictEqual(log.admit(perMinute, at), 0)
  return log
}

describe("SlidingWindowLimiter", () => {
  it.prop("admits no more calls than the limit in any 60 seconds, and returns the exact wait for the next one", [int(1, 10), pauses], ([perMinute, all]) => {
    const log = new SlidingWindowLimiter()
    const made: Array<number> = []
    let now = 0
    for (const pause of all) {
      now += pause
      const wait = log.admit(perMinute, now)
      if (wait === 0) made.push(now)
      else {
        assert.isAbove(logOf(perMinute, made).admit(perMinute, now + wait - 1), 0)
        assert.strictEqual(logOf(perMinute, made).admit(perMinute, now + wait), 0)
      }
    }
    for (const at of made) assert.isAtMost(made.filter((each) => each >= at && each < at + 60_000).length, perMinute)
  })

  it("does not grow beyond one window", () => {
    const log = new SlidingWindowLimiter()
    for (let at = 0; at < 1_000_000; at += 10) assert.strictEqual(log.admit(6000, at), 0)
    assert.isAbove(log.admit(6000, 999_990), 0)
    assert.isBelow(JSON.stringify(log).length, 200_000)
  })
})
