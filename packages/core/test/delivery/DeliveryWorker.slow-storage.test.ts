import { assert, describe, it } from "@effect/vitest"
import { DeliveryQueue, DeliveryWorker, TransitEvents } from "@waybill/core"
import { Receiver, reportedEvent, ScriptedReceivers, type SeededTenant, TestWaybill } from "@waybill/testkit"
import { Context, Effect, Layer } from "effect"

const endpointUrl = "https://customer.example/hook"

/** A worker whose every claim, once it has looked, takes this long to come back. */
const slowWorker = (millis: () => number) =>
  Effect.gen(function*() {
    const slow = Layer.effect(DeliveryQueue, Effect.map(DeliveryQueue, (queue) => ({
      ...queue,
      claim: (request) => Effect.tap(queue.claim(request), () => Effect.sleep(millis()))
    } satisfies DeliveryQueue["Service"])))
    const worker = Context.get(yield* Layer.build(Layer.fresh(DeliveryWorker.layer).pipe(Layer.provide(Layer.fresh(slow)))), DeliveryWorker)
    yield* Effect.forkScoped(worker.run)
  })

const publish = (tenant: SeededTenant, shipmentId: string, number: number) =>
  Effect.flatMap(TransitEvents, (events) =>
    Effect.orDie(events.publish(tenant.carrier, [reportedEvent(shipmentId, { eventId: `${shipmentId}/${number}`, accounts: ["A"] })])))

const delivered = Effect.flatMap(ScriptedReceivers, (receivers) =>
  Effect.map(receivers.deliveredEvents(endpointUrl), (events) => events.map(({ eventId }) => eventId)))

describe("a worker whose storage is slow", () => {
  it.effect("sends what an outcome made sendable while a claim was looking elsewhere", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      const receivers = yield* ScriptedReceivers
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl })
      yield* receivers.script(endpointUrl, Receiver.delay(200))
      yield* slowWorker(() => 100)
      yield* publish(tenant, "S", 1)
      yield* TestWaybill.pass(150)
      // from now on S is held by the attempt under way, and the next claim finds nothing to send
      yield* publish(tenant, "S", 2)
      for (let millis = 0; millis < 10_000; millis += 10) yield* TestWaybill.pass(10)
      assert.deepStrictEqual(yield* delivered, ["S/1", "S/2"])
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer())))

  it.effect("sends what a rate held back when the claim that learned of it took longer than the wait", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl, delivery: { rateLimitPerMinute: 1 } })
      let slowness = 0
      yield* slowWorker(() => slowness)
      yield* publish(tenant, "S", 1)
      yield* TestWaybill.pass(1_000)
      slowness = 61_000
      yield* publish(tenant, "T", 1)
      yield* TestWaybill.pass(62_000)
      slowness = 0
      yield* TestWaybill.pass("5 minutes")
      assert.deepStrictEqual(yield* delivered, ["S/1", "T/1"])
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { leaseMillis: 600_000 } }))))
})
