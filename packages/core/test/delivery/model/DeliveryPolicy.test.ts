import { assert, describe, it } from "@effect/vitest"
import { decodeInput } from "@waybill/core"
import { contradictionIn, defaultPolicy, DeliveryMetadata, lastAttemptAt, policyOf, retryHorizonSeconds, retrySeconds } from "@waybill/core/delivery"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int } from "../../arbitraries.ts"

const decode = decodeInput(DeliveryMetadata, { closed: true })

describe("DeliveryPolicy", () => {
  it("takes the published numbers as defaults (SPEC-GAP-D4)", () => {
    assert.deepStrictEqual(policyOf(undefined), {
      maxAttempts: 12,
      initialBackoffSeconds: 5,
      maxBackoffSeconds: 3600,
      batchMaxSize: 200,
      rateLimitPerMinute: 600
    })
    assert.deepStrictEqual(policyOf({ batchMaxSize: 3 }), { ...defaultPolicy, batchMaxSize: 3 })
  })

  it.effect("has 1 as its least value and 1000 as the largest batch", Effect.fnUntraced(function*() {
    for (const name of Object.keys(defaultPolicy)) {
      assert.deepStrictEqual(yield* decode({ [name]: 1 }), { [name]: 1 })
      for (const wrong of [0, -1, 1.5, "5", null, 1e300]) {
        const { faults } = yield* Effect.flip(decode({ [name]: wrong }))
        assert.deepStrictEqual([...new Set(faults.map((each) => each.pointer))], [`/${name}`])
      }
    }
    assert.deepStrictEqual(yield* decode({ batchMaxSize: 1000 }), { batchMaxSize: 1000 })
    yield* Effect.flip(decode({ batchMaxSize: 1001 }))
    yield* Effect.flip(decode({ retries: 3 }))
  }))

  it("is invalid if the maximum backoff is shorter than the initial one", () => {
    assert.isUndefined(contradictionIn({ ...defaultPolicy, initialBackoffSeconds: 60, maxBackoffSeconds: 60 }))
    assert.match(contradictionIn({ ...defaultPolicy, initialBackoffSeconds: 61, maxBackoffSeconds: 60 })!, /maxBackoffSeconds \(60\)/)
  })

  it("returns how long automatic retries last", () => {
    assert.strictEqual(retryHorizonSeconds(defaultPolicy), 8715)
    assert.strictEqual(retryHorizonSeconds({ ...defaultPolicy, maxAttempts: 1 }), 0)
  })

  it("returns when the last attempt is made, from the next one on", () => {
    assert.strictEqual(lastAttemptAt(defaultPolicy, 0, 1_000), 1_000 + 8_715_000)
    assert.strictEqual(lastAttemptAt(defaultPolicy, 10, 1_000), 1_000 + 3_600_000)
    assert.strictEqual(lastAttemptAt(defaultPolicy, 11, 1_000), 1_000)
  })

  it.prop("returns the sum of all pauses", [Arbitrary.all({ maxAttempts: int(1, 60), initial: int(1, 100), longer: int(0, 5000) })], ([each]) => {
    const policy = { ...defaultPolicy, maxAttempts: each.maxAttempts, initialBackoffSeconds: each.initial, maxBackoffSeconds: each.initial + each.longer }
    let sum = 0
    for (let attempt = 1; attempt < policy.maxAttempts; attempt++) sum += retrySeconds(policy, attempt, 0.5)!
    assert.isUndefined(retrySeconds(policy, policy.maxAttempts, 0.5))
    assert.approximately(retryHorizonSeconds(policy), sum, 1e-6)
  })
})
