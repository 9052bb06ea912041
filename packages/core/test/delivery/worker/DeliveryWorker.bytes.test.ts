import { assert, describe, it } from "@effect/vitest"
import { Deliveries, DeliveryWorker, WebhookSender } from "@waybill/core/delivery"
import { TransitEvents } from "@waybill/core/transit-events"
import { Receiver, reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Context, Effect, Fiber, Layer } from "effect"
import { workerOn, workerOver } from "../Engine.ts"

const endpoints = Array.from({ length: 64 }, (_, n) => `https://receiver-${n}.example/hook`)
const large = 4_000

describe("a take from many destinations", () => {
  it.effect("reads one event of each when their events become larger than expected, then more", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const events = yield* TransitEvents
    const receivers = yield* ScriptedReceivers
    for (const endpointUrl of endpoints) yield* TestWaybill.subscribe(tenant, tenant.customer("growing", ["A"]), { endpointUrl, delivery: { batchMaxSize: 10 } })
    const bytes: Array<number> = []
    yield* workerOver((store) => ({
      take: (request) => Effect.tap(store.take(request), ({ deliveries }) => Effect.sync(() => bytes.push(deliveries.reduce((sum, { body }) => sum + body.length, 0))))
    }))
    const publish = (shipments: number, size: number) =>
      Effect.orDie(events.append(tenant.carrier, Array.from({ length: shipments }, (_, n) => reportedEvent(`S${n}`, { accounts: ["A"], more: { attributes: { text: "x".repeat(size) } } }))))
    for (let n = 0; n < 40; n++) {
      yield* publish(1, 1)
      yield* TestWaybill.pass(1_000)
    }
    bytes.length = 0
    yield* publish(20, large)
    yield* TestWaybill.pass(60_000)
    assert.isAbove(bytes[0]!, 0)
    assert.isAtMost(Math.max(...bytes), endpoints.length * large * 1.2)
    for (const endpoint of endpoints) assert.lengthOf(yield* receivers.deliveredEvents(endpoint), 60)
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { maxBytesInFlight: 65_536 } }))), 60_000)
})

describe("a worker that has not sent to many destinations yet", () => {
  it.effect("reads no more of their large retries at once than it may have in flight", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const events = yield* TransitEvents
    const receivers = yield* ScriptedReceivers
    const deliveries = yield* Deliveries
    const publish = (shipmentId: string, size: number) =>
      Effect.orDie(events.append(tenant.carrier, [reportedEvent(shipmentId, { accounts: ["A"], more: { attributes: { text: "x".repeat(size) } } })]))
    const subscriptions: Array<string> = []
    for (const [n, endpointUrl] of endpoints.entries()) {
      const { id } = yield* TestWaybill.subscribe(tenant, tenant.customer(`customer-${n}`, ["A"]), { endpointUrl, delivery: { batchMaxSize: 1, maxAttempts: 1 } })
      subscriptions.push(id)
      yield* receivers.script(endpointUrl, [Receiver.fail(500), Receiver.accept()])
    }
    const before = yield* Effect.forkScoped((yield* workerOn(() => ({}))).run)
    yield* publish("large", 2 * large)
    yield* TestWaybill.pass(60_000)
    // an accepted delivery closes the circuit breaker
    yield* publish("small", 1)
    yield* TestWaybill.pass(60_000)
    yield* Fiber.interrupt(before)
    for (const id of subscriptions) yield* deliveries.recover(tenant.tenantId, id, { since: "1970-01-01T00:00:00Z" })
    const bytes: Array<number> = []
    yield* workerOver((store) => ({
      take: (request) => Effect.tap(store.take(request), ({ deliveries }) => Effect.sync(() => bytes.push(deliveries.reduce((sum, { body }) => sum + body.length, 0))))
    }))
    yield* TestWaybill.pass(60_000)
    assert.isAtMost(Math.max(...bytes), 65_536)
    for (const endpoint of endpoints) assert.deepStrictEqual((yield* receivers.deliveredEvents(endpoint)).map(({ shipment }) => shipment.shipmentId), ["small", "large"])
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { maxBatchBytes: 16_384, maxBytesInFlight: 65_536 } }))), 60_000)
})

describe("attempts with large bodies", () => {
  it.effect("begin in several turns of the event loop, each with a few of them", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const events = yield* TransitEvents
    const receivers = yield* ScriptedReceivers
    for (const endpointUrl of endpoints) yield* TestWaybill.subscribe(tenant, tenant.customer("large", ["A"]), { endpointUrl, delivery: { batchMaxSize: 50 } })
    const large = Array.from({ length: 50 }, (_, n) => reportedEvent(`S${n}`, { accounts: ["A"], more: { attributes: { text: "x".repeat(4_000) } } }))
    yield* Effect.orDie(events.append(tenant.carrier, large))
    const ofTurns: Array<number> = [0]
    let turn = setImmediate(function next() {
      ofTurns.push(0)
      turn = setImmediate(next)
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => clearImmediate(turn)))
    const watched = Layer.effect(WebhookSender, Effect.map(WebhookSender, (sender) => WebhookSender.of({
      ...sender,
      start: (request, end) => {
        ofTurns[ofTurns.length - 1]! += request.body.reduce((sum, piece) => sum + piece.length, 0)
        return sender.start(request, end)
      }
    })))
    const worker = Context.get(yield* Layer.build(Layer.fresh(DeliveryWorker.layer).pipe(Layer.provide(Layer.fresh(watched)))), DeliveryWorker)
    yield* Effect.forkScoped(worker.run)
    yield* TestWaybill.pass(60_000)
    for (const endpoint of endpoints) assert.lengthOf(yield* receivers.deliveredEvents(endpoint), 50)
    assert.isAtMost(Math.max(...ofTurns), 1_500_000)
  }, Effect.scoped, Effect.provide(TestWaybill.layer())), 60_000)
})
