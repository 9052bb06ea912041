/** Old data is deleted; younger or needed data stays. The conformance suite of each store tests what it may delete. */
import { assert, describe, it } from "@effect/vitest"
import { AccessStore, AuditStore, firstIdAt, MailStore, NoticeStore, Retention, RetentionOptions, StorageError } from "@waybill/core"
import { DeliveryOptions, DeliveryQueue, StatisticsStore } from "@waybill/core/delivery"
import { FreightBillStore } from "@waybill/core/freight-charges"
import { DocumentContents } from "@waybill/core/invoices"
import { PickupStore, PickupSubscriptionStore } from "@waybill/core/pickups"
import { ShipmentStatusStore } from "@waybill/core/shipment-status"
import { TransitSubscriptionStore } from "@waybill/core/transit-events"
import { TestWaybill } from "@waybill/testkit"
import { Clock, Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"

const day = 86_400_000
const now = 1_800_000_000_000

interface PruneCall {
  readonly tenantId: string
  readonly what: string
  readonly before: unknown
  readonly at: number
}

/** Stores that record their prune calls, and return rows twice. */
const recordingStores = (calls: Array<PruneCall>, takesMillis: number) => {
  const left = new Map<string, number>()
  const answer = (tenantId: string, what: string, before: unknown) =>
    Effect.gen(function*() {
      calls.push({ tenantId, what, before, at: yield* Clock.currentTimeMillis })
      yield* Effect.sleep(takesMillis)
      const some = left.get(what) ?? 2
      left.set(what, some - 1)
      return some > 0 ? 10 : 0
    })
  const pruning = <I, S extends object>(store: Parameters<typeof Layer.effect<I, S>>[0] & Effect.Effect<S, never, I>, change: (store: S) => S) =>
    Layer.effect(store, Effect.map(store, change))
  return Layer.mergeAll(
    pruning(DeliveryQueue, (store) => ({ ...store, prune: (tenantId, before) => answer(tenantId, "deliveries", before) })),
    pruning(ShipmentStatusStore, (store) => ({ ...store, prune: (tenantId, before) => answer(tenantId, "statuses", before) })),
    pruning(FreightBillStore, (store) => ({ ...store, prune: (tenantId, before) => answer(tenantId, "bills", before) })),
    pruning(PickupStore, (store) => ({ ...store, prune: (tenantId, before) => answer(tenantId, "pickups", before) })),
    pruning(PickupSubscriptionStore, (store) => ({ ...store, prune: (tenantId, before) => answer(tenantId, "pickup subscriptions", before) })),
    pruning(TransitSubscriptionStore, (store) => ({ ...store, prune: (tenantId, before) => answer(tenantId, "transit subscriptions", before) })),
    pruning(NoticeStore, (store) => ({ ...store, pruneBodies: (tenantId, before) => answer(tenantId, "notices", before) })),
    pruning(MailStore, (store) => ({ ...store, prune: (tenantId, before) => answer(tenantId, "mails", before) })),
    pruning(StatisticsStore, (store) => ({ ...store, prune: (tenantId, before) => answer(tenantId, "statistics", before) })),
    pruning(AuditStore, (store) => ({ ...store, prune: (before) => answer("acme", "audit", before) })),
    pruning(DocumentContents, (store) => ({ ...store, sweep: (tenantId, before) => answer(tenantId, "uploads", before) }))
  )
}

const swept = (windows: Partial<typeof RetentionOptions.Service> = {}, keepSettledMillis = 30 * day, takesMillis = 0, over: Layer.Layer<AccessStore, never, AccessStore> = Layer.effect(AccessStore, AccessStore)) =>
  Effect.gen(function*() {
    const calls: Array<PruneCall> = []
    yield* TestClock.setTime(now)
    const removed = yield* Effect.gen(function*() {
      yield* TestWaybill.tenant("acme")
      const retention = yield* Layer.build(Layer.fresh(Retention.layer).pipe(
        Layer.provide(recordingStores(calls, takesMillis)),
        Layer.provide(over),
        Layer.provide(Layer.succeed(RetentionOptions, { ...RetentionOptions.defaultValue(), ...windows })),
        Layer.provide(DeliveryOptions.layer({ keepSettledMillis }))
      ))
      const sweeping = yield* Effect.flatMap(Retention, (service) => service.sweep).pipe(Effect.provideContext(retention), Effect.forkChild)
      yield* TestClock.adjust("1 hour")
      return yield* Fiber.join(sweeping)
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer()))
    return { calls, removed }
  })

const beforeOf = (calls: ReadonlyArray<PruneCall>, what: string) => calls.find((each) => each.what === what)?.before

describe("retention", () => {
  it.effect("prunes every store until nothing is left, each with its own period", Effect.fnUntraced(function*() {
    const { calls, removed } = yield* swept()
    const all = ["deliveries", "statuses", "bills", "pickups", "pickup subscriptions", "transit subscriptions", "notices", "mails", "statistics", "uploads", "audit"]
    assert.strictEqual(removed, all.length * 20)
    assert.deepStrictEqual(all.map((what) => calls.filter((each) => each.what === what).length), all.map(() => 3))
    assert.deepStrictEqual(beforeOf(calls, "deliveries"), now - 30 * day)
    assert.deepStrictEqual(beforeOf(calls, "statuses"), { delivered: now - 365 * day, noticed: now - 180 * day })
    assert.deepStrictEqual(beforeOf(calls, "bills"), { ended: now - 365 * day, noticed: now - 180 * day })
    assert.deepStrictEqual(beforeOf(calls, "pickups"), { ordered: now - 365 * day, answered: now - 30 * day })
    for (const area of ["pickup", "transit"]) assert.deepStrictEqual(beforeOf(calls, `${area} subscriptions`), now - 30 * day)
    assert.deepStrictEqual(beforeOf(calls, "notices"), now - 180 * day)
    assert.deepStrictEqual(beforeOf(calls, "mails"), now - 2 * day)
    assert.deepStrictEqual(beforeOf(calls, "statistics"), { minutes: now - 25 * 3_600_000, hours: now - 90 * day })
    assert.deepStrictEqual(beforeOf(calls, "uploads"), now - day)
    assert.deepStrictEqual([...new Set(calls.map((each) => each.tenantId))], ["acme"])
  }))

  it.effect("goes by the clock of the storage, whatever that of the process says", Effect.fnUntraced(function*() {
    const { calls } = yield* swept({}, 30 * day, 0, Layer.effect(AccessStore, Effect.map(AccessStore, (store) => ({ ...store, now: Effect.succeed(now - 5_000 * day) }))))
    assert.deepStrictEqual(beforeOf(calls, "deliveries"), now - 5_030 * day)
    assert.deepStrictEqual(beforeOf(calls, "pickups"), { ordered: now - 5_365 * day, answered: now - 5_030 * day })
    assert.deepStrictEqual(beforeOf(calls, "audit"), firstIdAt(now - 5_000 * day - RetentionOptions.defaultValue().keepAuditMillis))
  }))

  it.effect("never deletes a body before its delivery", Effect.fnUntraced(function*() {
    const { calls } = yield* swept({ keepNoticesMillis: day }, 90 * day)
    assert.deepStrictEqual(beforeOf(calls, "statuses"), { delivered: now - 365 * day, noticed: now - 90 * day })
    assert.deepStrictEqual(beforeOf(calls, "bills"), { ended: now - 365 * day, noticed: now - 90 * day })
  }))

  it.effect("pauses four times as long as a store was busy", Effect.fnUntraced(function*() {
    const { calls } = yield* swept({}, 30 * day, 100)
    const times = (what: string) => calls.filter((each) => each.what === what).map((each) => each.at - now)
    assert.deepStrictEqual(times("deliveries"), [0, 500, 1000])
    // a store without rows is followed by the next one without a pause
    assert.deepStrictEqual(times("statuses"), [1100, 1600, 2100])
  }))

  it.effect("pauses at most one second after a slow store", Effect.fnUntraced(function*() {
    const { calls } = yield* swept({}, 30 * day, 20_000)
    assert.deepStrictEqual(calls.filter((each) => each.what === "deliveries").map((each) => each.at - now), [0, 21_000, 42_000])
  }))
})

const failure = new StorageError({ operation: "prune", cause: "broken" })

describe("retention of tenants and stores that fail", () => {
  it.effect("prunes the other stores of the tenant, the other tenants and the audit log", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(now)
    const pruned: Array<string> = []
    const prunes = (name: string) => Effect.as(Effect.sync(() => void pruned.push(name)), 0)
    const stores = Layer.mergeAll(
      Layer.effect(DeliveryQueue, Effect.map(DeliveryQueue, (store) => DeliveryQueue.of({ ...store, prune: (tenantId) => tenantId === "a" ? Effect.fail(failure) : prunes(`${tenantId} deliveries`) }))),
      Layer.effect(MailStore, Effect.map(MailStore, (store) => MailStore.of({ ...store, prune: (tenantId) => prunes(`${tenantId} mails`) }))),
      Layer.effect(AuditStore, Effect.map(AuditStore, (store) => AuditStore.of({ ...store, prune: () => prunes("audit") })))
    )
    for (const tenantId of ["a", "b"]) yield* TestWaybill.tenant(tenantId)
    const retention = yield* Layer.build(Layer.fresh(Retention.layer).pipe(Layer.provide(stores)))
    const failed = yield* Effect.flatMap(Retention, (service) => Effect.flip(service.sweep)).pipe(Effect.provideContext(retention))
    assert.strictEqual(failed, failure)
    assert.deepStrictEqual(pruned, ["a mails", "b deliveries", "b mails", "audit"])
  }, Effect.scoped, Effect.provide(TestWaybill.layer()), Effect.provide(Logger.layer([]))))

  it.effect("lets tenants take turns, so that one with much old data delays none", Effect.fnUntraced(function*() {
    const left = new Map([["a", 25], ["b", 1]])
    const pruned: Array<string> = []
    const stores = Layer.effect(DeliveryQueue, Effect.map(DeliveryQueue, (store) => DeliveryQueue.of({
      ...store,
      prune: (tenantId) => Effect.sync(() => {
        const some = left.get(tenantId)!
        if (some === 0) return 0
        left.set(tenantId, some - 1)
        pruned.push(tenantId)
        return 1
      })
    })))
    for (const tenantId of left.keys()) yield* TestWaybill.tenant(tenantId)
    const retention = yield* Layer.build(Layer.fresh(Retention.layer).pipe(Layer.provide(stores)))
    const sweeping = yield* Effect.flatMap(Retention, (service) => service.sweep).pipe(Effect.provideContext(retention), Effect.forkChild)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* Fiber.join(sweeping), 26)
    assert.strictEqual(pruned.indexOf("b"), 10)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())))
})

describe("the audit log", () => {
  it.effect("deletes entries older than 400 days, also of deleted tenants", Effect.fnUntraced(function*() {
    yield* TestClock.setTime(now)
    const store = yield* AuditStore
    const entry = (age: number, tenantId: string) => ({
      id: firstIdAt(now - age * day),
      at: now - age * day,
      actor: { kind: "operator", name: "operator" } as const,
      address: undefined,
      action: "tenant.put",
      tenantId,
      object: { kind: "tenant", id: tenantId },
      result: "ok" as const,
      status: 200,
      requestId: "request"
    })
    yield* store.put([entry(399, "gone"), entry(401, "gone")])
    const sweeping = yield* Effect.forkChild(Effect.flatMap(Retention, (service) => service.sweep))
    yield* TestWaybill.pass("1 minute")
    assert.strictEqual(yield* Fiber.join(sweeping), 1)
    const left = yield* store.page({ tenantId: "gone", actor: undefined, from: undefined, before: undefined, limit: 10 })
    assert.deepStrictEqual(left, [entry(399, "gone")])
  }, Effect.provide(TestWaybill.layer())))
})
