import { forRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { defaultRetryPolicy, WaybillCallFailed, WaybillProblem } from "../../src/connection/index.ts"
import { pauseBeforeRetry } from "../../src/connection/RetryPolicy.ts"
import { readRetryAfter } from "../../src/connection/WaybillProblem.ts"

const call = { method: "GET", url: "https://waybill.test" }
const lost = new WaybillCallFailed(call, "network", "lost")
const busy = (retryAfter?: number) =>
  new WaybillProblem(call, { status: 503, headers: new Headers(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }), body: "" })

describe("pauseBeforeRetry", () => {
  it("never pauses longer than the longest pause, and never shorter than Retry-After", () => forRandom(500, (random) => {
    const policy = { attempts: 1 + random.below(20), firstPauseMillis: random.below(5_000), longestPauseMillis: random.below(20_000) }
    const attempt = 1 + random.below(25)
    const asked = random.share(0.5) ? random.below(30) : undefined
    const pause = pauseBeforeRetry(policy, attempt, busy(asked), random.below(1000) / 1000)
    if (pause === undefined) expect(attempt >= policy.attempts || (asked ?? 0) * 1000 > policy.longestPauseMillis).toBe(true)
    else {
      expect(attempt).toBeLessThan(policy.attempts)
      expect(pause).toBeLessThanOrEqual(policy.longestPauseMillis)
      expect(pause).toBeGreaterThanOrEqual((asked ?? 0) * 1000)
    }
  }))

  it("doubles its upper bound", () => expect([1, 2].map((attempt) => pauseBeforeRetry(defaultRetryPolicy, attempt, lost, 1))).toEqual([250, 500]))

  it("retries no redirect, no unreadable answer and no error of another kind", () => {
    expect(pauseBeforeRetry(defaultRetryPolicy, 1, new WaybillCallFailed(call, "timeout", ""), 0)).toBe(0)
    for (const reason of ["redirected", "unreadable_answer"] as const) {
      expect(pauseBeforeRetry(defaultRetryPolicy, 1, new WaybillCallFailed(call, reason, ""), 0)).toBeUndefined()
    }
    expect(pauseBeforeRetry(defaultRetryPolicy, 1, new TypeError("a bug"), 0)).toBeUndefined()
  })
})

describe("readRetryAfter", () => {
  const now = Date.parse("2026-11-20T08:00:00Z")
  it.each([
    ["0", 0],
    ["120", 120],
    ["Fri, 20 Nov 2026 08:01:00 GMT", 60],
    ["Fri, 20 Nov 2026 07:00:00 GMT", 0],
    [null, undefined],
    ["", undefined],
    ["-5", undefined],
    ["1.5", undefined],
    ["1e9", undefined],
    ["12345678901", undefined],
    ["NaN", undefined],
    ["soon", undefined],
    ["Fri, 99 Nov 2026 08:01:00 GMT", undefined]
  ])("reads %j as %j", (header, seconds) => expect(readRetryAfter(header, now)).toBe(seconds))
})
