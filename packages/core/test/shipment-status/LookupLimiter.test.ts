import { assert, describe, it } from "@effect/vitest"
import { makeLookupLimiter } from "@waybill/core/shipment-status"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

describe("the lookup limiter", () => {
  it.effect("counts each caller separately", Effect.fnUntraced(function*() {
    const { take } = yield* makeLookupLimiter
    const caller = { tenantId: "t", client: "a" }
    while ((yield* Effect.result(take(caller)))._tag === "Success");
    yield* take({ tenantId: "t", client: "b" })
    yield* take({ tenantId: "u", client: "a" })
    assert.strictEqual((yield* Effect.flip(take(caller)))._tag, "TooManyLookups")
  }))

  it.effect("admits the next lookup after the returned wait", Effect.fnUntraced(function*() {
    const { take } = yield* makeLookupLimiter
    const caller = { tenantId: "t", client: "a" }
    while ((yield* Effect.result(take(caller)))._tag === "Success");
    const { retryAfterSeconds } = yield* Effect.flip(take(caller))
    assert.isAtLeast(retryAfterSeconds, 1)
    yield* TestClock.adjust(`${retryAfterSeconds} seconds`)
    yield* take(caller)
  }))

  it.effect("tracks a bounded number of callers, and forgets the least recent one first", Effect.fnUntraced(function*() {
    const { take } = yield* makeLookupLimiter
    const busy = { tenantId: "t", client: "busy" }
    while ((yield* Effect.result(take(busy)))._tag === "Success");
    for (let n = 0; n < 49_999; n++) yield* take({ tenantId: "t", client: `${n}` })
    assert.strictEqual((yield* Effect.flip(take(busy)))._tag, "TooManyLookups")
    for (let n = 0; n < 2; n++) yield* take({ tenantId: "t", client: `more ${n}` })
    yield* take(busy)
  }))
})
