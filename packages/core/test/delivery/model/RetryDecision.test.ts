import { assert, describe, it } from "@effect/vitest"
import { defaultPolicy, type DeliveryPolicy, maySendAgainAfterCrash, retrySeconds } from "@waybill/core/delivery"
import * as Arbitrary from "effect/Arbitrary"
import { int, oneOf } from "../../arbitraries.ts"

const policy: Arbitrary.Arbitrary<DeliveryPolicy> = Arbitrary.map(
  Arbitrary.all({ maxAttempts: int(1, 1000), initial: int(1, 86_400), longer: int(0, 518_400) }),
  ({ initial, longer, maxAttempts }) => ({ ...defaultPolicy, maxAttempts, initialBackoffSeconds: initial, maxBackoffSeconds: initial + longer })
)

const jitter = Arbitrary.map(int(0, 1000), (n) => n / 1000)

const seconds = (...args: Parameters<typeof retrySeconds>): number => {
  const found = retrySeconds(...args)
  assert(found !== undefined)
  return found
}

describe("retrySeconds", () => {
  it("doubles from the initial to the maximum backoff (SPEC-GAP-D28)", () => {
    const pauses = Array.from({ length: 11 }, (_, n) => seconds(defaultPolicy, n + 1, 0.5))
    assert.deepStrictEqual(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600])
  })

  it("gives up after as many POSTs in all as the policy says (SPEC-GAP-D11)", () => {
    assert.isDefined(retrySeconds(defaultPolicy, 11, 0.5))
    assert.isUndefined(retrySeconds(defaultPolicy, 12, 0.5))
    assert.isUndefined(retrySeconds({ ...defaultPolicy, maxAttempts: 1 }, 1, 0.5))
  })

  it("gives up regardless of Retry-After", () => assert.isUndefined(retrySeconds(defaultPolicy, 12, 0.5, 60)))

  it.prop("stays within 20 % of the doubled backoff and never exceeds the maximum", [policy, int(1, 999), jitter], ([each, attempt, draw]) => {
    if (attempt >= each.maxAttempts) return
    const pause = seconds(each, attempt, draw)
    const doubled = Math.min(each.initialBackoffSeconds * 2 ** (attempt - 1), each.maxBackoffSeconds)
    assert.isAtLeast(pause, doubled * 0.8 - 1e-6)
    assert.isAtMost(pause, Math.min(doubled * 1.2, each.maxBackoffSeconds) + 1e-6)
  })

  it.prop("never waits less for a later attempt with equal jitter", [policy, int(1, 998), jitter], ([each, attempt, draw]) => {
    if (attempt + 1 >= each.maxAttempts) return
    assert.isAtLeast(seconds(each, attempt + 1, draw), seconds(each, attempt, draw))
  })

  it.prop(
    "is lengthened by Retry-After up to the longest pause, and never shortened (SPEC-GAP-D24)",
    [policy, int(1, 20), jitter, oneOf([0, 1, 30, 3600, 1e9, 1e300, -1, -1e9, 0.5])],
    ([each, attempt, draw, asked]) => {
      if (attempt >= each.maxAttempts) return
      const own = seconds(each, attempt, draw)
      assert.strictEqual(seconds(each, attempt, draw, asked), Math.min(Math.max(own, asked), each.maxBackoffSeconds))
    }
  )

  it("ignores a Retry-After that is no number", () => {
    const own = seconds(defaultPolicy, 3, 0.5)
    for (const asked of [NaN, Infinity, -Infinity]) assert.strictEqual(seconds(defaultPolicy, 3, 0.5, asked), own)
  })

  it("stays finite for any number of attempts", () => assert.strictEqual(seconds({ ...defaultPolicy, maxAttempts: Infinity }, 1e9, 1), 3600))
})

describe("a delivery whose sender crashed", () => {
  it("is sent once more although its attempts are used up, because its outcome is unknown", () => {
    assert.isTrue(maySendAgainAfterCrash(defaultPolicy, 12))
  })

  it("ends as a dead letter if it crashes every process that sends it", () => {
    let tries = 1
    while (maySendAgainAfterCrash(defaultPolicy, tries)) tries += 1
    assert.isAtMost(tries, 20)
  })
})
