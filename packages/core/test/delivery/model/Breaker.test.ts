import { assert, describe, it } from "@effect/vitest"
import { afterFailure, type Breaker, breakerState, breakerThreshold, closedBreaker } from "@waybill/core/delivery"
import { int, listOf } from "../../arbitraries.ts"

const failures = (count: number, now: number, pause: number): Breaker => {
  let breaker = closedBreaker
  for (let n = 0; n < count; n++) breaker = afterFailure(breaker, now, pause)
  return breaker
}

describe("Breaker", () => {
  it("stays closed for fewer than five consecutive failures", () => {
    assert.strictEqual(breakerThreshold, 5)
    assert.strictEqual(breakerState(failures(4, 1000, 500), 1000), "closed")
  })

  it("opens with the fifth until that delivery's own retry, which is the probe", () => {
    const open = failures(5, 1000, 500)
    assert.strictEqual(breakerState(open, 1499), "open")
    assert.strictEqual(breakerState(open, 1500), "half-open")
  })

  it("opens again when the probe fails", () => {
    const again = afterFailure(failures(5, 1000, 500), 1500, 700)
    assert.strictEqual(breakerState(again, 2199), "open")
  })

  it.prop("is open only after at least five consecutive failures", [listOf(int(0, 3), 0, 40)], ([outcomes]) => {
    let breaker = closedBreaker
    let inARow = 0
    for (const outcome of outcomes) {
      inARow = outcome === 0 ? 0 : inARow + 1
      breaker = outcome === 0 ? closedBreaker : afterFailure(breaker, 1000, 60_000)
      assert.strictEqual(breakerState(breaker, 1000) === "open", inARow >= breakerThreshold)
    }
  })
})
