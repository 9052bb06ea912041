import { assert, describe, it } from "@effect/vitest"
import { makeRequestBatcher, StorageError } from "@waybill/core"
import { Deferred, Effect, Fiber } from "effect"

/** A store that answers when the test releases it, and records its requests. */
const slowStore = Effect.gen(function*() {
  const asked: Array<ReadonlyArray<string>> = []
  const gates: Array<Deferred.Deferred<void, StorageError>> = []
  const find = yield* makeRequestBatcher((_tenantId, keys: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      asked.push(keys)
      const gate = yield* Deferred.make<void, StorageError>()
      gates.push(gate)
      yield* Deferred.await(gate)
      return keys.map((key) => key.startsWith("none") ? undefined : key)
    }))
  const open = (nth: number) => Deferred.succeed(gates[nth]!, undefined)
  const quiet = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })
  const ask = (tenantId: string, key: string) => Effect.forkChild(find(tenantId, key))
  return { asked, gates, open, ask, quiet, sizes: () => asked.map((each) => each.length) }
})

describe("concurrent requests", () => {
  it.effect("share one statement, and each gets its own answer", () =>
    Effect.gen(function*() {
      const { ask, open, quiet, sizes } = yield* slowStore
      const fibers = yield* Effect.forEach(["a", "none", "b", "a"], (key) => ask("t", key))
      yield* quiet
      const before = sizes()
      assert.strictEqual(before.reduce((sum, each) => sum + each, 0), 4)
      assert.isAtMost(before.length, 2)
      for (const [nth] of before.entries()) yield* open(nth)
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["a", undefined, "b", "a"])
    }))

  it.effect("run at most four statements at once; further requests wait for the next batch", () =>
    Effect.gen(function*() {
      const { ask, open, quiet, sizes } = yield* slowStore
      yield* ask("t", "1")
      yield* quiet
      const later = yield* Effect.forEach(Array.from({ length: 30 }, (_, n) => `k${n}`), (key) => Effect.tap(ask("t", key), () => quiet))
      yield* quiet
      assert.isAtMost(sizes().length, 4)
      const underWay = sizes().length
      yield* open(0)
      yield* quiet
      assert.isAtMost(sizes().length, underWay + 1)
      for (let nth = 1; nth < sizes().length; nth++) {
        yield* open(nth)
        yield* quiet
      }
      assert.deepStrictEqual(yield* Effect.forEach(later, Fiber.join), Array.from({ length: 30 }, (_, n) => `k${n}`))
      assert.isAtMost(sizes().length, 6)
    }))

  it.effect("are split into statements of at most 512", () =>
    Effect.gen(function*() {
      const { ask, open, quiet, sizes } = yield* slowStore
      yield* Effect.forEach(Array.from({ length: 1200 }, (_, n) => `k${n}`), (key) => ask("t", key))
      for (let nth = 0; nth < 6; nth++) {
        yield* quiet
        if (nth < sizes().length) yield* open(nth)
      }
      assert.isAtMost(Math.max(...sizes()), 512)
      assert.strictEqual(sizes().reduce((sum, each) => sum + each, 0), 1200)
    }))

  it.effect("of different tenants never share a statement", () =>
    Effect.gen(function*() {
      const { ask, quiet, sizes } = yield* slowStore
      yield* ask("t", "a")
      yield* ask("u", "a")
      yield* quiet
      assert.deepStrictEqual(sizes(), [1, 1])
    }))

  it.effect("all fail when storage fails, and later requests try again", () =>
    Effect.gen(function*() {
      const { ask, gates, open, quiet, sizes } = yield* slowStore
      const fiber = yield* ask("t", "a")
      yield* quiet
      yield* Deferred.fail(gates[0]!, new StorageError({ operation: "find", cause: "gone" }))
      assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "StorageError")
      const again = yield* ask("t", "a")
      yield* quiet
      yield* open(sizes().length - 1)
      assert.strictEqual(yield* Fiber.join(again), "a")
    }))

  it.effect("continue when one caller is interrupted", () =>
    Effect.gen(function*() {
      const { ask, open, quiet, sizes } = yield* slowStore
      const [interrupted, staying] = yield* Effect.forEach(["a", "b"], (key) => ask("t", key))
      yield* quiet
      yield* Fiber.interrupt(interrupted!)
      for (const [nth] of sizes().entries()) yield* open(nth)
      assert.strictEqual(yield* Fiber.join(staying!), "b")
    }))
})
