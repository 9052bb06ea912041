import { assert, describe, it } from "@effect/vitest"
import { makeRequestBatcher, StorageError } from "@waybill/core"
import { Deferred, Effect, Fiber } from "effect"

/** A store that answers when the test releases it, and records its requests. */
const slowStore = Effect.gen(function*() {
  const batches: Array<ReadonlyArray<string>> = []
  const gates: Array<Deferred.Deferred<void, StorageError>> = []
  const find = yield* makeRequestBatcher((_tenantId, keys: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      batches.push(keys)
      const gate = yield* Deferred.make<void, StorageError>()
      gates.push(gate)
      yield* Deferred.await(gate)
      return keys.map((key) => key.startsWith("none") ? undefined : key)
    }))
  const release = (nth: number) => Deferred.succeed(gates[nth]!, undefined)
  const runOtherFibers = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })
  const request = (tenantId: string, key: string) => Effect.forkChild(find(tenantId, key))
  return { batches, gates, release, request, runOtherFibers, sizes: () => batches.map((each) => each.length) }
})

describe("concurrent requests", () => {
  it.effect("share one statement, and each gets its own answer", Effect.fnUntraced(function*() {
    const { request, release, runOtherFibers, sizes } = yield* slowStore
    const fibers = yield* Effect.forEach(["a", "none", "b", "a"], (key) => request("t", key))
    yield* runOtherFibers
    const before = sizes()
    assert.strictEqual(before.reduce((sum, each) => sum + each, 0), 4)
    assert.isAtMost(before.length, 2)
    for (const [nth] of before.entries()) yield* release(nth)
    assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["a", undefined, "b", "a"])
  }))

  it.effect("run at most four statements at once; further requests wait for the next batch", Effect.fnUntraced(function*() {
    const { request, release, runOtherFibers, sizes } = yield* slowStore
    yield* request("t", "1")
    yield* runOtherFibers
    const later = yield* Effect.forEach(Array.from({ length: 30 }, (_, n) => `k${n}`), (key) => Effect.tap(request("t", key), () => runOtherFibers))
    yield* runOtherFibers
    assert.isAtMost(sizes().length, 4)
    const inFlight = sizes().length
    yield* release(0)
    yield* runOtherFibers
    assert.isAtMost(sizes().length, inFlight + 1)
    for (let nth = 1; nth < sizes().length; nth++) {
      yield* release(nth)
      yield* runOtherFibers
    }
    assert.deepStrictEqual(yield* Effect.forEach(later, Fiber.join), Array.from({ length: 30 }, (_, n) => `k${n}`))
    assert.isAtMost(sizes().length, 6)
  }))

  it.effect("are split into statements of at most 512", Effect.fnUntraced(function*() {
    const { request, release, runOtherFibers, sizes } = yield* slowStore
    yield* Effect.forEach(Array.from({ length: 1200 }, (_, n) => `k${n}`), (key) => request("t", key))
    for (let nth = 0; nth < 6; nth++) {
      yield* runOtherFibers
      if (nth < sizes().length) yield* release(nth)
    }
    assert.isAtMost(Math.max(...sizes()), 512)
    assert.strictEqual(sizes().reduce((sum, each) => sum + each, 0), 1200)
  }))

  it.effect("of different tenants never share a statement", Effect.fnUntraced(function*() {
    const { request, runOtherFibers, sizes } = yield* slowStore
    yield* request("t", "a")
    yield* request("u", "a")
    yield* runOtherFibers
    assert.deepStrictEqual(sizes(), [1, 1])
  }))

  it.effect("all fail when storage fails, and later requests try again", Effect.fnUntraced(function*() {
    const { request, gates, release, runOtherFibers, sizes } = yield* slowStore
    const fiber = yield* request("t", "a")
    yield* runOtherFibers
    yield* Deferred.fail(gates[0]!, new StorageError({ operation: "find", cause: "gone" }))
    assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "StorageError")
    const again = yield* request("t", "a")
    yield* runOtherFibers
    yield* release(sizes().length - 1)
    assert.strictEqual(yield* Fiber.join(again), "a")
  }))

  it.effect("continue when one caller is interrupted", Effect.fnUntraced(function*() {
    const { request, release, runOtherFibers, sizes } = yield* slowStore
    const [interrupted, remaining] = yield* Effect.forEach(["a", "b"], (key) => request("t", key))
    yield* runOtherFibers
    yield* Fiber.interrupt(interrupted!)
    for (const [nth] of sizes().entries()) yield* release(nth)
    assert.strictEqual(yield* Fiber.join(remaining!), "b")
  }))
})
