import { assert, describe, it } from "@effect/vitest"
import { DeliveryQueue, DeliveryWorker, TransitEvents } from "@waybill/core"
import { Receiver, reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Context, Effect, Layer } from "effect"

const hanging = "https://hanging.example/hook"
const healthy = "https://healthy.example/hook"

/** A worker, and how often its claims ask for more of a lane that it holds. */
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

describe("a lane whose receiver hangs", () => {
  it.effect("is not read again at every claim for others, and goes on as soon as one attempt ends", () =>
    Effect.gen(function*() {
      const tenant = yield* TestWaybill.tenant()
      const events = yield* TransitEvents
      const receivers = yield* ScriptedReceivers
      for (const [account, endpointUrl] of [["H", hanging], ["A", healthy]] as const) {
        yield* TestWaybill.subscribe(tenant, tenant.customer(`customer-${account}`, [account]), { endpointUrl, delivery: { batchMaxSize: 1 } })
      }
      yield* receivers.script(hanging, [Receiver.delay(2_500), Receiver.hang])
      const counted = yield* countingWorker
      const publish = (shipmentId: string, account: string) => Effect.orDie(events.publish(tenant.carrier, [reportedEvent(shipmentId, { accounts: [account] })]))
      for (const shipmentId of ["H1", "H2", "H3", "H1"]) yield* publish(shipmentId, "H")
      for (let n = 0; n < 60; n++) {
        yield* publish(`A${n}`, "A")
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
