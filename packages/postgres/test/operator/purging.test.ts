/** A purge concurrent with workers: every entry is either dropped, or sent once and in order. */
import { layer } from "@effect/vitest"
import { DeliveryControl, DeliveryQueue, Subscriptions, TransitEvents } from "@waybill/core"
import { reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Fiber, Option } from "effect"
import { assert } from "vitest"
import { openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"
import { testService } from "../TestService.ts"
import { testStorage } from "../TestStorage.ts"

const { claim, claimOne, eventually, freezeOf, freshTenant, hasTurn, idOf, publish, releaseOf, seed, settlementOf } = fixtures

const purge = (tenantId: string) =>
  Effect.gen(function*() {
    const control = yield* DeliveryControl
    yield* control.beginPurge(tenantId, idOf(1))
    const { dropped } = yield* control.purgeNext(tenantId, idOf(1), undefined)
    yield* control.endPurge(tenantId, idOf(1))
    return dropped
  })

layer(testService(testStorage(), { pollMillis: 20 }), { excludeTestServices: true })("a purge", (it) => {
  it.effect("that begins and ends between a claim and its freeze leaves nothing to freeze, and the destination continues", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 2 })
      const destination = yield* claimOne(tenantId)
      assert.strictEqual(yield* purge(tenantId), 2)
      const failed = yield* Effect.flip(queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })]))
      assert.strictEqual(failed.operation, "DeliveryQueue.freeze")
      assert.isTrue(Option.isNone(yield* queue.find(tenantId, idOf(101))))
      yield* publish(tenantId, [{ shipmentId: "S" }])
      yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination)] })
      assert.deepStrictEqual((yield* claimOne(tenantId)).waiting.map(({ orderId }) => orderId), ["S/3"])
    }))

  it.effect("waits for a freeze, keeps its entries, and drops the rest", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const control = yield* DeliveryControl
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1, T: 1 })
      const destination = yield* claimOne(tenantId)
      const fresh = [{ deliveryId: idOf(101), sentAt: 0, entries: [destination.waiting[0]!], traceparent: undefined }]
      const commit = yield* openTransaction(queue.freeze(tenantId, [freezeOf(destination, { fresh })]))
      const purging = yield* Effect.forkChild(purge(tenantId))
      yield* untilOneIsBlocked
      yield* commit
      assert.strictEqual(yield* Fiber.join(purging), 1)
      yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101))], destinations: [releaseOf(destination)] })
      assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(101))).state, "delivered")
      assert.deepStrictEqual((yield* claim(tenantId)).destinations.flatMap(({ waiting }) => waiting), [])
      assert.isTrue(yield* control.resume(tenantId, idOf(1)))
      assert.isFalse(yield* hasTurn(tenantId))
    }))

  it.effect("beside a running worker and publisher delivers or drops every event once and in order", () =>
    Effect.gen(function*() {
      const url = "https://receiver.example/purged"
      const tenant = yield* TestWaybill.tenant(freshTenant())
      const { carrier, tenantId } = tenant
      const { id } = yield* TestWaybill.subscribe(tenant, tenant.customer("client", ["A"]), { endpointUrl: url, delivery: { batchMaxSize: 3, rateLimitPerMinute: 60_000 } })
      const subscriptions = yield* Subscriptions
      const [shipments, rounds] = [10, 12]
      yield* TestWaybill.run
      const events = Array.from({ length: shipments }, (_, n) => reportedEvent(`S${n}`, { accounts: ["A"] }))
      const publishing = Effect.forEach(Array.from({ length: rounds }), () => Effect.flatMap(TransitEvents, (all) => all.append(carrier, events)), { discard: true })
      const purging = Effect.forEach(Array.from({ length: rounds }), () => subscriptions.purge(tenantId, id))
      const [, purged] = yield* Effect.all([publishing, purging], { concurrency: 2 })
      const done = yield* eventually(subscriptions.get(tenantId, id), ({ inFlight, state, waiting }) => state === "active" && inFlight + waiting === 0)
      const dropped = purged.reduce((sum, each) => sum + each, 0)
      assert.strictEqual(done.dropped, dropped)
      const delivered = yield* (yield* ScriptedReceivers).deliveredEvents(url)
      assert.strictEqual(new Set(delivered.map(({ eventId }) => eventId)).size, delivered.length, "sent twice")
      assert.strictEqual(delivered.length + dropped, shipments * rounds)
      const last = new Map<string, number>()
      for (const { sequence, shipment: { shipmentId } } of delivered) {
        assert.isAbove(sequence, last.get(shipmentId) ?? 0)
        last.set(shipmentId, sequence)
      }
    }), 60_000)
})
