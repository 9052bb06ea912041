/** Sweeps go on with the other tenants, and the other clients of a tenant, after one that fails, and report the failure at their end. */
import { assert, describe, it } from "@effect/vitest"
import { AccessStore, AuditStore, Backlogs, Clients, EndpointNotices, NoticeStore, Retention, StorageError, TenantRemoval } from "@waybill/core"
import { DeliveryControl, DeliveryQueue } from "@waybill/core/delivery"
import { TestWaybill } from "@waybill/testkit"
import { type Context, Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { inService } from "../inService.ts"

const failure = new StorageError({ operation: "Store.of", cause: "broken" })

/** A store with some other operations. */
const changed = <I, S extends object>(store: Context.Key<I, S>, change: (store: S) => Partial<S>): Layer.Layer<I, never, I> =>
  Layer.effect(store, Effect.map(store, (own): S => ({ ...own, ...change(own) })))

/** A sweep of this service for 31 seconds, in which some operations of its stores never end. */
const sweptFor31Seconds = <I, S extends { readonly sweep: Effect.Effect<number, StorageError> }, R, R2>(
  service: Context.Key<I, S>,
  layer: Layer.Layer<I, never, R>,
  stores: Layer.Layer<R2, never, R2>
) => Effect.gen(function*() {
  const sweeping = yield* Effect.forkChild(Effect.exit(Effect.flatMap(service, ({ sweep }) => sweep)).pipe(Effect.provide(Layer.fresh(layer).pipe(Layer.provide(stores)))))
  yield* TestClock.adjust("31 seconds")
  yield* Fiber.interrupt(sweeping)
})

/** The failure that the sweep of this service reports. */
const failureOf = <I, S extends { readonly sweep: Effect.Effect<number, StorageError> }, R, R2>(
  service: Context.Key<I, S>,
  layer: Layer.Layer<I, never, R>,
  stores: Layer.Layer<R2, never, R2>
) => Effect.flatMap(service, ({ sweep }) => Effect.flip(sweep)).pipe(Effect.provide(Layer.fresh(layer).pipe(Layer.provide(stores))))

const seenAll = (seen: ReadonlyArray<string>) => [...new Set(seen)]

describe("a sweep with a tenant that fails", () => {
  it.effect("checks the waiting entries of the others", Effect.fnUntraced(function*() {
    const seen: Array<string> = []
    for (const tenantId of ["a", "b", "c"]) yield* TestWaybill.tenant(tenantId)
    const stores = changed(DeliveryControl, (own) => ({
      countBacklog: (tenantId, ...rest) => tenantId === "a" ? Effect.fail(failure) : Effect.andThen(Effect.sync(() => void seen.push(tenantId)), own.countBacklog(tenantId, ...rest))
    }))
    assert.strictEqual(yield* failureOf(Backlogs, Backlogs.layer, stores), failure)
    assert.deepStrictEqual(seen.toSorted(), ["b", "c"])
  }, inService, Effect.provide(Logger.layer([]))))

  it.effect("removes the others that were deleted", Effect.fnUntraced(function*() {
    const access = yield* AccessStore
    for (const tenantId of ["a", "b"]) {
      yield* TestWaybill.tenant(tenantId)
      yield* access.deleteTenant(tenantId)
    }
    yield* TestClock.adjust("2 minutes")
    const stores = changed(AccessStore, (own) => ({ purgeTenant: (tenantId, limit) => tenantId === "a" ? Effect.fail(failure) : own.purgeTenant(tenantId, limit) }))
    assert.strictEqual(yield* failureOf(TenantRemoval, TenantRemoval.layer, stores), failure)
    assert.deepStrictEqual(yield* access.deletedTenants({ after: undefined, limit: 10 }), ["a"])
  }, inService, Effect.provide(Logger.layer([]))))

  it.effect("reviews all other clients of each tenant, also when more fail than it reviews in a step", Effect.fnUntraced(function*() {
    const access = yield* AccessStore
    const broken = Array.from({ length: 12 }, (_, n) => `key:broken-${n}`)
    for (const tenantId of ["a", "b"]) {
      yield* TestWaybill.tenant(tenantId)
      for (const client of [...broken, "key:healthy"]) yield* access.putClientAccess(tenantId, { client, origin: "key", seesAll: false, accounts: [], live: { until: 0 }, reviewAt: 0 })
    }
    const seen: Array<string> = []
    const stores = changed(AccessStore, (own) => ({
      clientRows: (tenantId, client) => client.startsWith("key:broken") ? Effect.fail(failure) : Effect.andThen(Effect.sync(() => void seen.push(`${tenantId} ${client}`)), own.clientRows(tenantId, client))
    }))
    yield* Effect.gen(function*() {
      const { sweep } = yield* Clients
      for (let n = 0; n < 2; n++) assert.strictEqual(yield* Effect.flip(sweep), failure)
    }).pipe(Effect.provide(Layer.fresh(Clients.layer).pipe(Layer.provide(stores))))
    assert.deepStrictEqual(seenAll(seen).toSorted(), ["a key:healthy", "b key:healthy"])
  }, inService, Effect.provide(Logger.layer([]))))

  it.effect("tells the customers of the others of endpoints that fail", Effect.fnUntraced(function*() {
    const seen: Array<string> = []
    const destinations = ["a", "b"].map((tenantId) => ({ tenantId, destinationId: "d", source: "transit-events", paused: true, breakerOpen: false, dead: 0, waitingMillis: undefined }))
    const stores = Layer.mergeAll(
      changed(DeliveryControl, () => ({ troubles: Effect.succeed({ now: 0, sources: [], destinations }) })),
      changed(NoticeStore, () => ({ prune: (tenantId) => tenantId === "a" ? Effect.fail(failure) : Effect.as(Effect.sync(() => void seen.push(tenantId)), 0) }))
    )
    assert.strictEqual(yield* failureOf(EndpointNotices, EndpointNotices.layer, stores), failure)
    assert.deepStrictEqual(seen, ["b"])
  }, inService, Effect.provide(Logger.layer([]))))
})

describe("a sweep with tenants that are blocked by another transaction", () => {
  it.effect("checks the waiting entries of the others after one statement of them", Effect.fnUntraced(function*() {
    const seen: Array<string> = []
    for (const tenantId of ["a", "b", "c"]) yield* TestWaybill.tenant(tenantId)
    const stores = changed(DeliveryControl, (own) => ({
      countBacklog: (tenantId, ...rest) => tenantId === "c" ? Effect.andThen(Effect.sync(() => void seen.push(tenantId)), own.countBacklog(tenantId, ...rest)) : Effect.never
    }))
    yield* sweptFor31Seconds(Backlogs, Backlogs.layer, stores)
    assert.deepStrictEqual(seen, ["c"])
  }, inService, Effect.provide(Logger.layer([]))))

  it.effect("prunes the others after one statement of them", Effect.fnUntraced(function*() {
    const seen: Array<string> = []
    for (const tenantId of ["a", "b"]) yield* TestWaybill.tenant(tenantId)
    const stores = Layer.merge(
      changed(DeliveryQueue, () => ({ prune: (tenantId) => tenantId === "a" ? Effect.never : Effect.as(Effect.sync(() => void seen.push(tenantId)), 0) })),
      changed(AuditStore, () => ({ prune: () => Effect.succeed(0) }))
    )
    yield* sweptFor31Seconds(Retention, Retention.layer, stores)
    assert.deepStrictEqual(seen, ["b"])
  }, inService, Effect.provide(Logger.layer([]))))

  it.effect("reviews no further client of such a tenant, and leaves it after one", Effect.fnUntraced(function*() {
    const access = yield* AccessStore
    yield* TestWaybill.tenant("a")
    for (const client of ["key:1", "key:2", "key:3"]) yield* access.putClientAccess("a", { client, origin: "key", seesAll: false, accounts: [], live: { until: 0 }, reviewAt: 0 })
    const seen: Array<string> = []
    const stores = changed(AccessStore, () => ({ lockKeys: () => Effect.andThen(Effect.sync(() => void seen.push("lock")), Effect.never) }))
    yield* Effect.gen(function*() {
      const { sweep } = yield* Clients
      const sweeping = yield* Effect.forkChild(Effect.flip(sweep))
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* Fiber.join(sweeping), { operation: "Clients.review" })
    }).pipe(Effect.provide(Layer.fresh(Clients.layer).pipe(Layer.provide(stores))))
    assert.deepStrictEqual(seen, ["lock"])
  }, inService, Effect.provide(Logger.layer([]))))
})
