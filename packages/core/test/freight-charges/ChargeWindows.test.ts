import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@waybill/core"
import { ChargeSubscriptionStore, ChargeWindows, FreightChargeOptions } from "@waybill/core/freight-charges"
import { TestWaybill } from "@waybill/testkit"
import { Context, Effect, Layer, Logger } from "effect"
import * as Clock from "effect/Clock"
import { TestClock } from "effect/testing"
import { change } from "./Charges.ts"
import { makeDebtors, named } from "./Debtors.ts"

const inZone = (timeZone: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, TestWaybill.layer({ timeZone }))

const at = (text: string) => TestClock.setTime(Date.parse(text))

const versions = (all: ReadonlyArray<ReadonlyArray<Parameters<typeof named>[0]>>) => all.map((each) => each.map((one) => named(one)))

describe("charge windows", () => {
  it.effect("send one array each, with the latest version of every changed bill", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* at("2026-11-20T08:15:00Z")
    yield* subscribe(debtor, { frequency: "hourly" })
    yield* report(change("created", { uniqueID: "B" }), change("created", { uniqueID: "A" }))
    yield* at("2026-11-20T08:59:59.999Z")
    yield* report(change("updated", { uniqueID: "B", total: 1 }))
    assert.deepStrictEqual(yield* received(), [])
    yield* at("2026-11-20T09:00:00Z")
    yield* report(change("updated", { uniqueID: "B", total: 2 }))
    assert.deepStrictEqual(versions(yield* received()), [["A PFC1", "B PFC2"]])
    // nothing changes between ten and eleven, and nothing is sent
    yield* at("2026-11-20T11:00:00Z")
    assert.deepStrictEqual(versions(yield* received()), [["A PFC1", "B PFC2"], ["B PFC3"]])
    yield* at("2026-11-21T11:00:00Z")
    assert.strictEqual((yield* received()).length, 2)
  }, inZone("UTC")))

  it.effect("close at local midnight, also on a day without midnight (SPEC-GAP-E16)", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* at("2018-11-03T12:00:00Z")
    yield* subscribe(debtor, { frequency: "daily" })
    yield* report(change("created", { uniqueID: "A" }))
    yield* at("2018-11-04T02:59:59.999Z")
    yield* report(change("created", { uniqueID: "B" }))
    assert.deepStrictEqual(yield* received(), [])
    yield* at("2018-11-04T03:00:00Z")
    yield* report(change("created", { uniqueID: "C" }))
    assert.deepStrictEqual(versions(yield* received()), [["A PFC1", "B PFC1"]])
    yield* at("2018-11-05T01:59:59.999Z")
    assert.strictEqual((yield* received()).length, 1)
    yield* at("2018-11-05T02:00:00Z")
    assert.deepStrictEqual(versions(yield* received()).slice(1), [["C PFC1"]])
  }, inZone("America/Sao_Paulo")))

  it.effect("send only the removal of a bill that was lost in the same window", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* subscribe(debtor, { frequency: "hourly" })
    yield* report(change("created"))
    yield* report(change("updated", { account: "B", total: 5 }))
    yield* TestClock.adjust("1 hour")
    const all = yield* received()
    assert.deepStrictEqual(versions(all), [["1234567890EXLA20241120 PFC2"]])
    assert.strictEqual(all[0]![0]!.charges.preliminaryTotalCharges, 0)
  }, inZone("UTC")))

  it.effect("are dropped when their subscription is cancelled", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe, subscriptions } = yield* makeDebtors
    const { subscriptionId } = yield* subscribe(debtor, { frequency: "daily" })
    yield* report(change("created"))
    yield* subscriptions.cancel(debtor, subscriptionId)
    yield* TestClock.adjust("2 days")
    assert.deepStrictEqual(yield* received(), [])
  }, inZone("UTC")))

  it.effect("are closed in the background when they are due, and wake the worker", () =>
    inZone("UTC")(Effect.scoped(Effect.gen(function*() {
      const { debtor, receivers, report, subscribe } = yield* makeDebtors
      yield* at("2026-11-20T08:15:00Z")
      yield* Effect.forkScoped((yield* ChargeWindows).run)
      yield* TestWaybill.run
      yield* subscribe(debtor, { frequency: "hourly" })
      yield* report(change("created"))
      yield* TestWaybill.pass("44 minutes")
      assert.strictEqual((yield* receivers.requests()).length, 0)
      yield* TestWaybill.pass("1 minute")
      const [request] = yield* receivers.requests()
      assert.strictEqual(request!.at, Date.parse("2026-11-20T09:00:00Z"))
      assert.strictEqual(yield* Clock.currentTimeMillis, request!.at)
    }))))

  it.effect("of a hundred tenants that cannot be closed do not delay other tenants", () =>
    inZone("UTC")(Effect.scoped(Effect.gen(function*() {
      const broken = Array.from({ length: 100 }, (_, n) => `broken-${String(n).padStart(3, "0")}`)
      const left = new Map([...[...broken, "z"].map((tenantId) => [tenantId, 1] as const), ["a", 2]])
      const store = ChargeSubscriptionStore.of({
        ...yield* ChargeSubscriptionStore,
        windowsDue: ({ after = "", limit }) =>
          Effect.sync(() => ({ tenantIds: [...left].flatMap(([tenantId, n]) => n > 0 && tenantId > after ? [tenantId] : []).sort().slice(0, limit), nextDueInMillis: undefined })),
        closeWindows: (tenantId) =>
          tenantId.startsWith("broken")
            ? Effect.fail(new StorageError({ operation: "closeWindows", cause: "broken" }))
            : Effect.sync(() => {
              const n = left.get(tenantId)!
              left.set(tenantId, 0)
              return { closed: n, more: n > 0 }
            })
      })
      const context = yield* Layer.build(Layer.fresh(ChargeWindows.layer).pipe(Layer.provide(Layer.succeed(ChargeSubscriptionStore, store))))
      assert.strictEqual((yield* Effect.flip(Context.get(context, ChargeWindows).closeDue)).cause, "broken")
      assert.deepStrictEqual([...left].filter(([tenantId]) => !broken.includes(tenantId)), [["z", 0], ["a", 0]])
      // nor do they keep the store busy
      let reads = 0
      yield* Effect.forkScoped(Layer.build(Layer.fresh(ChargeWindows.layer).pipe(Layer.provide(Layer.succeed(ChargeSubscriptionStore, {
        ...store,
        windowsDue: (range) => Effect.suspend(() => {
          reads += 1
          return store.windowsDue(range)
        })
      })))).pipe(Effect.flatMap((fresh) => Context.get(fresh, ChargeWindows).run)))
      yield* TestClock.adjust("1 minute")
      assert.isAtMost(reads, 61 * 3)
    }))).pipe(Effect.provide(Logger.layer([]))))

  it("refuse a time zone that does not exist", () => assert.throws(() => FreightChargeOptions.layer({ timeZone: "Mars/Olympus" }), RangeError))
})
