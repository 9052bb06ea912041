import { expect, it } from "vitest"
import { makeHangupStops, makeStopSignals, sameRequestMillis } from "../src/StopSignals.ts"

it("A stop that arrives as several signals is one request, and a later signal ends the program at once", () => {
  const endsAtOnce = makeStopSignals()
  expect([0, 1, 40, sameRequestMillis - 1].map((after) => endsAtOnce(5000 + after))).toEqual([false, false, false, false])
  expect(endsAtOnce(5000 + sameRequestMillis)).toBe(true)
})

it("SIGHUP stops a program with a terminal, whichever stream it is, and no other", () => {
  const on = (...terminals: ReadonlyArray<number>) => makeHangupStops((descriptor) => terminals.includes(descriptor))
  expect([on(0, 1, 2), on(0), on(1), on(2), on()]).toEqual([true, true, true, true, false])
})
