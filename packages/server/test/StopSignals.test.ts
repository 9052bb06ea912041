import { expect, it } from "vitest"
import { makeStopSignals, sameRequestMillis } from "../src/StopSignals.ts"

it("A stop that arrives as several signals is one request, and a later signal ends the program at once", () => {
  const endsAtOnce = makeStopSignals()
  expect([0, 1, 40, sameRequestMillis - 1].map((after) => endsAtOnce(5000 + after))).toEqual([false, false, false, false])
  expect(endsAtOnce(5000 + sameRequestMillis)).toBe(true)
})
