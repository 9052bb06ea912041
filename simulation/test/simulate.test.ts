import { assert, describe, it } from "@effect/vitest"
import { DeliveryStore } from "@waybill/core/delivery"
import { StorageMemory } from "@waybill/testkit"
import { explain, shrink, simulate, simulateMany } from "../src/index.ts"
import { Effect, Layer } from "effect"

/** The memory store with some calls of workers replaced. */
const storage = (changed: (store: DeliveryStore["Service"]) => Partial<DeliveryStore["Service"]>) =>
  Layer.effect(DeliveryStore, Effect.map(DeliveryStore, (store) => ({ ...store, ...changed(store) }))).pipe(Layer.provideMerge(StorageMemory.layer))

/** A broken store that drops outcomes. */
const dropsOutcomes = storage((store) => ({ settle: (request) => store.settle({ ...request, outcomes: [] }) }))

/** The first seed that detects the broken store. */
const firstFailingSeed = async (): Promise<number> => {
  for (let seed = 1;; seed++) {
    const { failures } = await simulateMany({ from: seed, count: 1, storage: dropsOutcomes, onFailure: () => {} })
    if (failures > 0) return seed
  }
}

describe("a schedule", { timeout: 120_000 }, () => {
  it("has the same trace, step by step, whenever its seed is run", async () => {
    const first = []
    const second = []
    for (let seed = 1; seed <= 40; seed++) first.push((await simulate({ seed })).trace.join("\n"))
    for (let seed = 40; seed >= 1; seed--) second.unshift((await simulate({ seed })).trace.join("\n"))
    assert.deepStrictEqual(second, first)
    assert.strictEqual(new Set(first).size, first.length)
  })

  it("runs the same steps with and without a trace", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { failures: _failures, schedules: _schedules, ...counts } = await simulateMany({ from: seed, count: 1 })
      assert.deepStrictEqual(counts, (await simulate({ seed })).counts)
    }
  })

  it("sends every event once if there are no faults", async () => {
    const { crashes, deadLetters, drops, duplicates, lostLeases, owed, posts } = await simulateMany({ from: 1, count: 200, faults: 0, interventions: 0 })
    assert.deepStrictEqual([crashes, deadLetters, drops, duplicates, lostLeases], [0, 0, 0, 0, 0])
    assert.isAbove(posts, 200)
    assert.isAtLeast(owed, posts)
  })

  it("has the requested numbers of workers, destinations and publications", async () => {
    const { trace } = await simulate({ seed: 3, workers: 3, destinations: 2, publications: 5, interventions: 0, faults: 0 })
    assert.lengthOf(trace.filter((line) => /worker \d +starts/.test(line)), 3)
    assert.lengthOf(trace.filter((line) => line.includes("opens destination")), 2)
    assert.lengthOf(trace.filter((line) => line.includes("publishes")), 5)
  })

  it("is explained with its last steps and how to run it again", async () => {
    const result = await simulate({ seed: 5 })
    const text = explain({ ...result, violation: { rule: "No event is lost", detail: "S1/1 waits", at: 10 } }, 3)
    assert.match(text, /^Seed 5 violated an invariant: No event is lost\.\nS1\/1 waits\n/)
    assert.include(text, result.trace.at(-1)!)
    assert.match(text, /simulate\(\{ seed: 5 \}\)$/)
  })

  it("detects an invariant that a custom store violates", async () => {
    const seed = await firstFailingSeed()
    const { trace, violation } = await simulate({ seed, storage: dropsOutcomes })
    assert.strictEqual(violation!.rule, "Writes take effect under the current epoch, and only then")
    assert.isTrue(trace.some((line) => line.includes(violation!.rule)))
    await simulateMany({ from: seed, count: 1, storage: dropsOutcomes }).then(
      () => assert.fail("without onFailure the violation is thrown"),
      (error: unknown) => assert.include(String(error), `simulate({ seed: ${seed} })`)
    )
  })

  it("shrinks if it violates an invariant, and is unchanged if not", async () => {
    const seed = await firstFailingSeed()
    const first = await simulate({ seed, storage: dropsOutcomes, faults: 3, interventions: 2 })
    const { options, result } = await shrink({ seed, storage: dropsOutcomes, faults: 3, interventions: 2 })
    assert.isDefined(result.violation)
    assert.isAtMost(result.trace.length, first.trace.length)
    assert.deepStrictEqual([options.interventions, options.faults, options.workers], [0, 0, 1])
    assert.deepStrictEqual((await simulate(options)).trace, result.trace)
    const whole = await shrink({ seed })
    assert.deepStrictEqual([whole.options, whole.result.violation], [{ seed }, undefined])
  })

  it("runs the same steps over an asynchronous store", async () => {
    const slow = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.andThen(Effect.promise(() => Promise.resolve()), effect)
    const asynchronous = storage((store) => ({
      acquire: (worker, tenantId, partitions) => slow(store.acquire(worker, tenantId, partitions)),
      take: (request) => slow(store.take(request)),
      settle: (request) => slow(store.settle(request))
    }))
    for (let seed = 1; seed <= 20; seed++) {
      assert.deepStrictEqual((await simulate({ seed, storage: asynchronous })).trace, (await simulate({ seed })).trace)
    }
  })

  it("violates no invariant with custom settings, and refuses settings that the engine refuses", async () => {
    const delivery = { destinationConcurrency: 1, concurrency: 1, leaseMillis: 30_000, attemptTimeoutMillis: 10_000, pollMillis: 300 }
    assert.strictEqual((await simulateMany({ from: 1, count: 200, delivery })).failures, 0)
    await simulate({ seed: 1, delivery: { leaseMillis: 10, attemptTimeoutMillis: 10 } }).then(
      () => assert.fail("a lease that is not longer than an attempt has to be refused"),
      (error: unknown) => assert.instanceOf(error, RangeError)
    )
  })
})
