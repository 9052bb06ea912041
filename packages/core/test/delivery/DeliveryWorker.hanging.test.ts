import { assert, describe, it } from "@effect/vitest"
import { DeliveryOptions, DeliveryQueue, DeliveryWorker, type Principal, TransitEvents, TransitSubscriptions } from "@waybill/core"
import { Receiver, reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Context, Effect, Layer } from "effect"

const hanging = "https://hanging.example/hook"
const healthy = "https://healthy.example/hook"
const moved = "https://moved.example/hook"

/** A worker, and how often its claims ask for more of a destination that it holds. */
const countingWorker = Effect.gen(function*() {
  const counted = { refills: 0 }
  const counting = Layer.effect(DeliveryQueue, Effect.map(DeliveryQueue, (queue) => ({
    ...queue,
    claim: (request) => {
      counted.refills += request.refill.length
      return queue.claim(request)
    }
  } satisfies DeliveryQueue["Service"])))
  const worker = Context.get(yield* Layer.build(Layer.fresh(DeliveryWorker.layer).pipe(Layer.provide(Layer.fresh(counting)))), DeliveryWorker)
  yield* Effect.forkScoped(worker.run)
  return counted
})

/** A carrier whose customers see an account each, and take one event a request. */
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
  it.effect("is not read again at every claim for others, and goes on as soon as one attempt ends", () =>
    Effect.gen(function*() {
      const { publish, receivers, subscribe } = yield* scene
      yield* subscribe("H", hanging)
      yield* subscribe("A", healthy)
      yield* receivers.script(hanging, [Receiver.delay(2_500), Receiver.hang])
      const counted = yield* countingWorker
      for (const shipmentId of ["H1", "H2", "H3", "H1"]) yield* publish("H", shipmentId)
      for (let n = 0; n < 60; n++) {
        yield* publish("A", `A${n}`)
        yield* TestWaybill.pass(50)
      }
      assert.lengthOf(yield* receivers.delivered(healthy), 60)
      // five looks a second at most, for what may have come for its other shipments
      assert.isAtMost(counted.refills, 3 * 5 + 10)
      // H1's first event was taken after two and a half seconds, so that its second one is under way
      assert.deepStrictEqual((yield* receivers.deliveredEvents(hanging)).map(({ shipment }) => shipment.shipmentId), ["H1"])
      assert.lengthOf(yield* receivers.requests(hanging), 4)
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { drainMillis: 0 } }))), 30_000)
})

describe("a destination whose probe hangs", () => {
  it.effect("is asked about every five seconds, and goes on where its owner names another endpoint", () =>
    Effect.gen(function*() {
      const { customerOf, publish, receivers, subscribe } = yield* scene
      const { id } = yield* subscribe("H", hanging, { initialBackoffSeconds: 1 })
      yield* subscribe("A", healthy)
      yield* receivers.script(hanging, [...Array.from({ length: 6 }, () => Receiver.fail(503)), Receiver.hang])
      const counted = yield* countingWorker
      for (let n = 0; n < 6; n++) yield* publish("H", `H${n}`)
      yield* TestWaybill.pass(2_500)
      // six failures, and the probe
      assert.lengthOf(yield* receivers.requests(hanging), 7)
      counted.refills = 0
      for (let n = 0; n < 60; n++) {
        yield* publish("A", `A${n}`)
        yield* TestWaybill.pass(100)
      }
      assert.lengthOf(yield* receivers.delivered(healthy), 60)
      assert.lengthOf(yield* receivers.requests(hanging), 7)
      assert.isAtMost(counted.refills, 2)
      yield* (yield* TransitSubscriptions).patch(customerOf("H"), id, { endpointUrl: moved })
      yield* TestWaybill.pass(5_000)
      // all but the delivery that its probe still holds
      assert.lengthOf(yield* receivers.deliveredEvents(moved), 5)
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { drainMillis: 0 } }))), 30_000)
})

describe("two hundred destinations whose receivers hang", () => {
  it.effect("leave a healthy one its room, and never take more than all of it", () =>
    Effect.gen(function*() {
      const { publish, receivers, subscribe } = yield* scene
      const urls = Array.from({ length: 200 }, (_, n) => `https://hanging-${n}.example/hook`)
      for (const [n, endpointUrl] of [...urls, healthy].entries()) yield* subscribe(`A${n}`, endpointUrl)
      for (const url of urls) yield* receivers.script(url, Array.from({ length: 40 }, () => Receiver.hang))
      yield* countingWorker
      for (const n of urls.keys()) yield* publish(`A${n}`, ...Array.from({ length: 16 }, (_, shipment) => `${n}-${shipment}`))
      yield* TestWaybill.pass(2000)
      const underWay = (yield* Effect.forEach(urls, (url) => receivers.requests(url))).map((requests) => requests.length)
      assert.isTrue(underWay.every((attempts) => attempts > 0), "each of them has its turn")
      assert.isBelow(underWay.reduce((sum, each) => sum + each, 0), DeliveryOptions.defaults.concurrency)
      for (let n = 0; n < 20; n++) {
        yield* publish(`A${urls.length}`, `${urls.length}-${n}`)
        yield* TestWaybill.pass(100)
        assert.lengthOf(yield* receivers.delivered(healthy), n + 1)
      }
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { drainMillis: 0 } }))), 60_000)
})

describe("a client whose every receiver hangs", () => {
  /** Subscriptions of one client, more than there is room for attempts. */
  const many = Array.from({ length: 60 }, (_, n) => `https://hanging-${n}.example/hook`)

  it.effect("keeps half of the attempts and no more, so that another client of its tenant and another tenant are served", () =>
    Effect.gen(function*() {
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
      const underWay = (yield* receivers.requests()).length
      assert.strictEqual(underWay, 16, "half of the room")
      for (let n = 0; n < 40; n++) {
        yield* publish(tenant.carrier, `A${n}`, "A")
        yield* publish(neighbour.carrier, `A${n}`, "A")
        yield* TestWaybill.pass(100)
        // before the next one comes, and long before what hangs runs into its deadline
        assert.lengthOf(yield* receivers.delivered(healthy), n + 1)
        assert.lengthOf(yield* receivers.delivered(moved), n + 1)
      }
      assert.strictEqual((yield* receivers.requests()).length, underWay + 80)
    }).pipe(Effect.scoped, Effect.provide(TestWaybill.layer({ delivery: { concurrency: 32, destinationConcurrency: 4, maxDestinations: 200, drainMillis: 0 } }))), 30_000)
})
