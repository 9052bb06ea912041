/** Every tenant with work is served in bounded time, whatever the work of others does. */
import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@waybill/core"
import { Clock, Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { type SweepStep, TenantSweep, type TenantWork } from "../../src/shared/TenantSweep.ts"

const failure = (cause: string) => new StorageError({ operation: "Store.step", cause })

const idsFrom = (count: number, name = "tenant") => Array.from({ length: count }, (_, n) => `${name}-${String(n).padStart(4, "0")}`)

/** Tenants with amounts of work, of which a step does one. */
const makeWork = (amounts: ReadonlyMap<string, number>, options: Pick<TenantWork, "stepMillis" | "tenantsAtOnce"> = {}) => {
  const left = new Map(amounts)
  const served: Array<{ readonly tenantId: string; readonly at: number }> = []
  /** What a tenant does instead of its work. */
  const instead = new Map<string, Effect.Effect<SweepStep, StorageError>>()
  const read = { failure: undefined as StorageError | undefined }
  const sweep = new TenantSweep("Work not done", {
    ...options,
    tenants: ({ after = "", limit }) =>
      Effect.suspend(() =>
        read.failure === undefined
          ? Effect.succeed([...left].filter(([tenantId, amount]) => amount > 0 && tenantId > after).map(([tenantId]) => tenantId).sort().slice(0, limit))
          : Effect.fail(read.failure)),
    step: (tenantId) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => {
        served.push({ tenantId, at })
        return instead.get(tenantId) ?? Effect.sync(() => {
          const amount = left.get(tenantId) ?? 0
          left.set(tenantId, Math.max(0, amount - 1))
          return { done: Math.min(amount, 1), more: amount > 1 }
        })
      })
  })
  return { instead, left, read, served, sweep }
}

const recorded = () => {
  const lines: Array<readonly [string, unknown]> = []
  const logger = Logger.layer([Logger.map(Logger.formatStructured, ({ annotations, message }) => void lines.push([[message].flat()[0] as string, annotations.tenant]))])
  return { lines, logger }
}

const everySecond = Effect.succeed(1000)

describe("a sweep over tenants", () => {
  it.effect("serves each of many tenants, although hundreds before them fail or die every time", Effect.fnUntraced(function*() {
    const [broken, healthy] = [idsFrom(300, "broken"), idsFrom(250)]
    const { instead, left, served, sweep } = makeWork(new Map([...broken, ...healthy].map((tenantId) => [tenantId, 2])))
    for (const [n, tenantId] of broken.entries()) instead.set(tenantId, n % 2 === 0 ? Effect.fail(failure("broken")) : Effect.die("broken"))
    assert.strictEqual((yield* Effect.flip(sweep.sweep)).cause, "broken")
    assert.deepStrictEqual(healthy.filter((tenantId) => left.get(tenantId) !== 0), [])
    // each that fails is tried once in a sweep
    assert.strictEqual(served.length, 300 + 2 * 250)
    for (const tenantId of broken) instead.delete(tenantId)
    assert.strictEqual(yield* sweep.sweep, 600)
  }, Effect.provide(Logger.layer([]))))

  it.effect("lets tenants take turns, so that one with endless work delays none", Effect.fnUntraced(function*() {
    const { left, served, sweep } = makeWork(new Map([["a", Infinity], ["b", 3]]), { tenantsAtOnce: 1 })
    const sweeping = yield* Effect.forkChild(sweep.sweep)
    while (left.get("b") !== 0) yield* Effect.yieldNow
    left.set("c", 1)
    while (left.get("c") !== 0) yield* Effect.yieldNow
    left.set("a", 0)
    yield* Fiber.join(sweeping)
    assert.deepStrictEqual(served.slice(0, 6).map(({ tenantId }) => tenantId), ["a", "b", "a", "b", "a", "b"])
  }))

  it.effect("waits once for steps that are blocked, and then serves their tenants beside the others", Effect.fnUntraced(function*() {
    const blocked = idsFrom(8, "blocked")
    const { instead, left, served, sweep } = makeWork(new Map([...blocked, "healthy"].map((tenantId) => [tenantId, 1])), { stepMillis: 5000 })
    for (const tenantId of blocked) instead.set(tenantId, Effect.never)
    const running = yield* Effect.forkChild(sweep.run(everySecond))
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual(left.get("healthy"), 0)
    for (let n = 0; n < 60; n++) {
      left.set("healthy", 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(left.get("healthy"), 0)
    }
    // they are tried less and less often
    yield* TestClock.adjust("10 minutes")
    assert.isAtMost(served.filter(({ tenantId }) => tenantId === blocked[0]).length, 10)
    for (const tenantId of blocked) instead.delete(tenantId)
    yield* TestClock.adjust("6 minutes")
    assert.deepStrictEqual(blocked.filter((tenantId) => left.get(tenantId) !== 0), [])
    yield* Fiber.interrupt(running)
  }, Effect.provide(Logger.layer([]))))

  it.effect("logs a failure of a tenant once, until it changes or ends, and so a failure to read tenants", () => {
    const { lines, logger } = recorded()
    return Effect.gen(function*() {
      const { instead, read, sweep } = makeWork(new Map([["a", 1], ["b", 1]]))
      instead.set("a", Effect.fail(failure("broken")))
      const running = yield* Effect.forkChild(sweep.run(everySecond))
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(lines.splice(0), [["Work not done, trying again.", "a"]])
      instead.set("a", Effect.fail(failure("broken otherwise")))
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(lines.splice(0), [["Work not done, trying again.", "a"]])
      instead.delete("a")
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(lines.splice(0), [["Background work continues after a failure.", "a"]])
      read.failure = failure("no connection")
      yield* TestClock.adjust("10 minutes")
      read.failure = undefined
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(lines, [["Work not done, trying again.", undefined], ["Background work continues after a failure.", undefined]])
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(logger))
  })

  it.effect("ends at once when it is interrupted, also while a step is blocked, and fails nobody", () => {
    const { lines, logger } = recorded()
    return Effect.gen(function*() {
      const { instead, sweep } = makeWork(new Map([["a", 1]]))
      let interrupted = 0
      instead.set("a", Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (interrupted += 1))))
      const running = yield* Effect.forkChild(sweep.run(everySecond))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(running)
      assert.strictEqual(interrupted, 1)
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide(logger))
  })
})
