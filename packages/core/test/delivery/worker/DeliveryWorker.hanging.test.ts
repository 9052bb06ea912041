import { assert, describe, it } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { DeliveryOptions, DeliveryWorker } from "@waybill/core/delivery"
import { TransitEvents, TransitSubscriptions } from "@waybill/core/transit-events"
import { Receiver, reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { workerOver } from "../Engine.ts"

const hanging = "https://hanging.example/hook"
const healthy = "https://healthy.example/hook"
const moved = "https://moved.example/hook"

/** A worker, and the number of its takes that name each destination. */
const countingWorker = Effect.gen(function*() {
  const asked = new Map<string, number>()
  yield* workerOver((store) => ({
    take: (request) => {
      for (const { destinationId } of request.from) asked.set(destinationId, (asked.get(destinationId) ?? 0) + 1)
      return store.take(request)
    }
  }))
  return asked
})

/** A carrier whose customers see one account each, and receive one event per request. */
const scene = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const events = yield* TransitEvents
  const receivers = yield* ScriptedReceivers
  const customerOf = (account: string) => tenant.customer(`customer-${account}`, [account])
  const subscribe = (account: string, endpointUrl: string, delivery: Readonly<Record<string, number>> = {}) =>
    TestWaybill.subscribe(tenant, customerOf(account), { endpointUrl, delivery: { batchMaxSize: 1, ...delivery } })
  const publish = (account: string, ...shipmentIds: ReadonlyArray<string>) =>
    Effect.orDie(events.append(tenant.carrier, shipmentIds.map((shipmentId) => reportedEvent(shipmentId, { accounts: [account] }))))
  return { customerOf, publish, receivers, subscribe }
})

describe("a destination whose receiver hangs", () => {
  it.effect("is not part of every take for others, and continues as soon as one attempt ends", Effect.fnUntraced(function*() {
    const { publish, receivers, subscribe } = yield* scene
    const { id } = yield* subscribe("H", hanging)
    yield* subscribe("A", healthy)
    yield* receivers.script(hanging, [Receiver.delay(2_500), Receiver.hang])
    const asked = yield* countingWorker
    for (const shipmentId of ["H1", "H2", "H3", "H1"]) yield* publish("H", shipmentId)
    for (let n = 0; n < 60; n++) {
      yield* publish("A", `A${n}`)
      yield* TestWaybill.pass(50)
    }
    assert.lengthOf(yield* receivers.delivered(healthy), 60)
    assert.isAtMost(asked.get(id) ?? 0, 6)
    // two at once; one was accepted after two and a half seconds, which makes three
    assert.deepStrictEqual((yield* receivers.deliveredEvents(hanging)).map(({ shipment }) => shipment.shipmentId), ["H1"])
    assert.lengthOf(yield* receivers.requests(hanging), 4)
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { drainMillis: 0 } }))), 30_000)
})

describe("a destination that may have one attempt in flight", () => {
  it.effect("has one from the first delivery on", Effect.fnUntraced(function*() {
    const { publish, receivers, subscribe } = yield* scene
    yield* subscribe("H", hanging)
    yield* receivers.script(hanging, Receiver.delay(2_400))
    yield* countingWorker
    yield* publish("H", "H1", "H2", "H3")
    const began: Array<number> = []
    for (let second = 1; second <= 6; second++) {
      yield* TestWaybill.pass(1_000)
      began.push((yield* receivers.requests(hanging)).length)
    }
    assert.deepStrictEqual(began, [1, 1, 2, 2, 3, 3])
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { destinationConcurrency: 1, drainMillis: 0 } }))))
})

describe("a destination whose probe hangs", () => {
  it.effect("is not part of takes meanwhile, and continues when its client sets another endpoint", Effect.fnUntraced(function*() {
    const { customerOf, publish, receivers, subscribe } = yield* scene
    const { id } = yield* subscribe("H", hanging, { initialBackoffSeconds: 1 })
    yield* subscribe("A", healthy)
    yield* receivers.script(hanging, [...Array.from({ length: 5 }, () => Receiver.fail(503)), Receiver.hang])
    const asked = yield* countingWorker
    for (let n = 0; n < 6; n++) yield* publish("H", `H${n}`)
    yield* TestWaybill.pass(2_500)
    // five failures, and the probe
    assert.lengthOf(yield* receivers.requests(hanging), 6)
    asked.clear()
    for (let n = 0; n < 60; n++) {
      yield* publish("A", `A${n}`)
      yield* TestWaybill.pass(100)
    }
    assert.lengthOf(yield* receivers.delivered(healthy), 60)
    assert.lengthOf(yield* receivers.requests(hanging), 6)
    assert.strictEqual(asked.get(id), undefined)
    yield* (yield* TransitSubscriptions).patch(customerOf("H"), id, { endpointUrl: moved })
    yield* TestWaybill.pass(5_000)
    // all except the delivery of the hanging probe
    assert.lengthOf(yield* receivers.deliveredEvents(moved), 5)
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { drainMillis: 0 } }))), 30_000)
})

describe("two hundred destinations whose receivers hang", () => {
  it.effect("leave slots for a healthy one, and never exceed the limit", Effect.fnUntraced(function*() {
    const { publish, receivers, subscribe } = yield* scene
    const urls = Array.from({ length: 200 }, (_, n) => `https://hanging-${n}.example/hook`)
    for (const [n, endpointUrl] of [...urls, healthy].entries()) yield* subscribe(`A${n}`, endpointUrl)
    for (const url of urls) yield* receivers.script(url, Array.from({ length: 40 }, () => Receiver.hang))
    yield* countingWorker
    for (const n of urls.keys()) yield* publish(`A${n}`, ...Array.from({ length: 16 }, (_, shipment) => `${n}-${shipment}`))
    yield* TestWaybill.pass(2000)
    const inFlight = (yield* Effect.forEach(urls, (url) => receivers.requests(url))).map((requests) => requests.length)
    assert.isTrue(inFlight.every((attempts) => attempts > 0), "each of them has an attempt")
    assert.isBelow(inFlight.reduce((sum, each) => sum + each, 0), DeliveryOptions.defaults.concurrency)
    for (let n = 0; n < 20; n++) {
      yield* publish(`A${urls.length}`, `${urls.length}-${n}`)
      yield* TestWaybill.pass(100)
      assert.lengthOf(yield* receivers.delivered(healthy), n + 1)
    }
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { drainMillis: 0 } }))), 60_000)
})

describe("a client whose every receiver hangs", () => {
  /** More subscriptions of one client than there are slots. */
  const many = Array.from({ length: 60 }, (_, n) => `https://hanging-${n}.example/hook`)

  it.effect("uses at most half of the slots, so that another client of its tenant and another tenant are served", Effect.fnUntraced(function*() {
    const events = yield* TransitEvents
    const receivers = yield* ScriptedReceivers
    const [tenant, neighbour] = [yield* TestWaybill.tenant(), yield* TestWaybill.tenant("neighbour")]
    const delivery = { batchMaxSize: 1 }
    for (const endpointUrl of many) {
      yield* TestWaybill.subscribe(tenant, tenant.customer("hostile", ["H"]), { endpointUrl, delivery })
      yield* receivers.script(endpointUrl, [Receiver.hang])
    }
    yield* TestWaybill.subscribe(tenant, tenant.customer("healthy", ["A"]), { endpointUrl: healthy, delivery })
    yield* TestWaybill.subscribe(neighbour, neighbour.customer("healthy", ["A"]), { endpointUrl: moved, delivery })
    yield* (yield* DeliveryWorker).run.pipe(Effect.forkScoped)
    const publish = (carrier: Principal, shipmentId: string, account: string) =>
      Effect.orDie(events.append(carrier, [reportedEvent(shipmentId, { accounts: [account] })]))
    for (let n = 0; n < 4; n++) yield* publish(tenant.carrier, `H${n}`, "H")
    yield* TestWaybill.pass(1_000)
    const inFlight = (yield* receivers.requests()).length
    assert.strictEqual(inFlight, 16, "half of the slots")
    for (let n = 0; n < 40; n++) {
      yield* publish(tenant.carrier, `A${n}`, "A")
      yield* publish(neighbour.carrier, `A${n}`, "A")
      yield* TestWaybill.pass(100)
      // before the next event, and long before the deadline of the hanging attempts
      assert.lengthOf(yield* receivers.delivered(healthy), n + 1)
      assert.lengthOf(yield* receivers.delivered(moved), n + 1)
    }
    assert.strictEqual((yield* receivers.requests()).length, inFlight + 80)
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { concurrency: 32, destinationConcurrency: 4, drainMillis: 0 } }))), 30_000)

  it.effect("holds at most half of the bytes in flight, so that others are served beside its large bodies", Effect.fnUntraced(function*() {
    const { publish, receivers, subscribe } = yield* scene
    const events = yield* TransitEvents
    const tenant = yield* TestWaybill.tenant("large")
    for (const endpointUrl of many) {
      yield* TestWaybill.subscribe(tenant, tenant.customer("hostile", ["H"]), { endpointUrl, delivery: { batchMaxSize: 2 } })
      yield* receivers.script(endpointUrl, Receiver.hang)
    }
    yield* TestWaybill.subscribe(tenant, tenant.customer("healthy", ["A"]), { endpointUrl: moved })
    yield* subscribe("A", healthy)
    yield* (yield* DeliveryWorker).run.pipe(Effect.forkScoped)
    for (let n = 0; n < 6; n++) {
      yield* Effect.orDie(events.append(tenant.carrier, [reportedEvent(`H${n}`, { accounts: ["H"], more: { attributes: { text: "x".repeat(4_000) } } })]))
    }
    // they fail again and again, and their retries are as large
    for (let n = 0; n < 300; n++) {
      yield* publish("A", `A${n}`)
      yield* Effect.orDie(events.append(tenant.carrier, [reportedEvent(`A${n}`, { accounts: ["A"] })]))
      yield* TestWaybill.pass(1_000)
      assert.lengthOf(yield* receivers.deliveredEvents(healthy), n + 1)
      assert.lengthOf(yield* receivers.deliveredEvents(moved), n + 1)
    }
    assert.isAbove((yield* receivers.requests()).length, 600 + many.length)
  }, Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { maxBatchBytes: 8_192, maxBytesInFlight: 65_536, drainMillis: 0 } }))), 60_000)
})
