import { assert, describe, it } from "@effect/vitest"
import { AccessStore, defaultLimits, quotas, StorageError, TenantLimits, Tenants } from "@waybill/core"
import { Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { untyped } from "../untyped.ts"
import { inService } from "../inService.ts"

const acme = Effect.flatMap(Tenants, (tenants) => tenants.put("acme", { name: "Acme" }))

describe("TenantLimits", () => {
  it.effect("are the defaults until the operator changes them", Effect.fnUntraced(function*() {
    yield* acme
    const limits = yield* TenantLimits
    assert.deepStrictEqual(yield* limits.get("acme"), defaultLimits)
    assert.deepStrictEqual(yield* limits.of("acme"), defaultLimits)
    assert.strictEqual((yield* Effect.flip(limits.get("nobody")))._tag, "TenantNotFound")
    assert.strictEqual((yield* Effect.flip(limits.put("nobody", {})))._tag, "TenantNotFound")
    assert.deepStrictEqual(yield* limits.of("nobody"), defaultLimits)
  }, inService))

  it.effect("change one by one, and return to their default with null", Effect.fnUntraced(function*() {
    yield* acme
    const limits = yield* TenantLimits
    assert.deepStrictEqual(yield* limits.put("acme", { subscriptions: 5, waitingDays: 1 }), { ...defaultLimits, subscriptions: 5, waitingDays: 1 })
    assert.deepStrictEqual(yield* limits.put("acme", { documentBytes: 0 }), { ...defaultLimits, subscriptions: 5, waitingDays: 1, documentBytes: 0 })
    assert.deepStrictEqual(yield* limits.put("acme", { subscriptions: null }), { ...defaultLimits, waitingDays: 1, documentBytes: 0 })
    assert.deepStrictEqual(yield* limits.get("acme"), { ...defaultLimits, waitingDays: 1, documentBytes: 0 })
  }, inService))

  it.effect("refuse unknown names and values that are not integers in range", Effect.fnUntraced(function*() {
    yield* acme
    const limits = yield* TenantLimits
    for (const input of [{ subscription: 1 }, { subscriptions: -1 }, { subscriptions: 1.5 }, { subscriptions: "1" }, { waitingDays: 0 }, [], 1]) {
      assert.strictEqual((yield* Effect.flip(limits.put("acme", untyped(input))))._tag, "InvalidInput", JSON.stringify(input))
    }
    for (const quota of quotas) {
      assert.strictEqual((yield* Effect.flip(limits.put("acme", { [quota]: 1e300 })))._tag, "InvalidInput", quota)
      assert.strictEqual((yield* limits.put("acme", { [quota]: 1 }))[quota], 1)
    }
  }, inService))

  it.effect("apply at once in the process that changes them, and within seconds in others", Effect.fnUntraced(function*() {
    yield* acme
    const limits = yield* TenantLimits
    const elsewhere = yield* TenantLimits.pipe(Effect.provide(Layer.fresh(TenantLimits.layer)))
    assert.strictEqual((yield* elsewhere.of("acme")).subscriptions, defaultLimits.subscriptions)
    yield* limits.put("acme", { subscriptions: 7 })
    assert.strictEqual((yield* limits.of("acme")).subscriptions, 7)
    yield* TestClock.adjust("3 seconds")
    assert.strictEqual((yield* elsewhere.of("acme")).subscriptions, 7)
  }, inService))

  it.effect("are read once every few seconds, regardless of the number of calls", Effect.fnUntraced(function*() {
    yield* acme
    const store = yield* AccessStore
    let reads = 0
    const counting = AccessStore.of({ ...store, findLimits: (tenantId) => Effect.andThen(Effect.sync(() => reads++), store.findLimits(tenantId)) })
    const limits = yield* TenantLimits.pipe(Effect.provide(Layer.fresh(TenantLimits.layer)), Effect.provideService(AccessStore, counting))
    for (let n = 0; n < 100; n++) yield* limits.of("acme")
    assert.strictEqual(reads, 1)
    yield* TestClock.adjust("3 seconds")
    for (let n = 0; n < 100; n++) yield* limits.of("acme")
    assert.strictEqual(reads, 2)
  }, inService))

  it.effect("are the last known ones while storage is unavailable", Effect.fnUntraced(function*() {
    yield* acme
    const store = yield* AccessStore
    let fails = false
    const broken = new StorageError({ operation: "findLimits", cause: undefined })
    const failing = AccessStore.of({ ...store, findLimits: (tenantId) => Effect.suspend(() => fails ? Effect.fail(broken) : store.findLimits(tenantId)) })
    const limits = yield* TenantLimits.pipe(Effect.provide(Layer.fresh(TenantLimits.layer)), Effect.provideService(AccessStore, failing))
    yield* limits.put("acme", { subscriptions: 7 })
    fails = true
    yield* TestClock.adjust("3 seconds")
    assert.strictEqual((yield* limits.of("acme")).subscriptions, 7)
    assert.strictEqual(yield* Effect.flip(limits.of("unread")), broken)
  }, inService))

  it.effect("are the changed ones when a read began before the change and ends after it", Effect.fnUntraced(function*() {
    yield* acme
    const store = yield* AccessStore
    const changed = yield* Latch.make(false)
    const slow = AccessStore.of({ ...store, findLimits: (tenantId, forUpdate) => forUpdate === true ? store.findLimits(tenantId, true) : Effect.tap(store.findLimits(tenantId), changed.await) })
    const limits = yield* TenantLimits.pipe(Effect.provide(Layer.fresh(TenantLimits.layer)), Effect.provideService(AccessStore, slow))
    const reading = yield* Effect.forkChild(limits.of("acme"), { startImmediately: true })
    yield* limits.put("acme", { subscriptions: 7 })
    yield* changed.open
    assert.strictEqual((yield* Fiber.join(reading)).subscriptions, 7)
    assert.strictEqual((yield* limits.of("acme")).subscriptions, 7)
  }, inService))
})
