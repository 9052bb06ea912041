/** Three days of retries on a virtual clock: the whole service in memory, without a port and without waiting. */
import { TransitEvents } from "@waybill/core/transit-events"
import { batchOf, ltlJourney, Receiver, ScriptedReceivers, TestWaybill, verifySignature } from "@waybill/testkit"
import { Console, Effect, Random } from "effect"
import { TestClock } from "effect/testing"

const endpointUrl = "https://customer.example/hook"

const scenario = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const receivers = yield* ScriptedReceivers
  const events = yield* TransitEvents
  yield* TestWaybill.run
  yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A-1"]), { endpointUrl, delivery: { maxAttempts: 100 } })

  yield* Console.log("the customer's system is down, and a shipment is on its way")
  yield* receivers.script(endpointUrl, Receiver.fail(503))
  yield* events.append(tenant.carrier, ltlJourney("S-1", { accounts: ["A-1"] }))
  yield* TestWaybill.pass("3 days")
  const inVain = yield* receivers.requests(endpointUrl)
  const bodies = new Set(inVain.map(({ body }) => new TextDecoder().decode(body)))
  const signed = inVain.every((request) => verifySignature(tenant.secret, request))
  yield* Console.log(`after three days: ${inVain.length} attempts, ${bodies.size} body, every signature ${signed ? "valid" : "invalid"}`)

  yield* Console.log("the customer's system is up again")
  yield* receivers.script(endpointUrl, Receiver.accept())
  yield* TestWaybill.pass("1 hour")
  const arrived = yield* receivers.deliveredEvents(endpointUrl)
  const [last] = (yield* receivers.requests(endpointUrl)).slice(-1)
  yield* Console.log(`delivered: ${arrived.map(({ sequence }) => `#${sequence}`).join(" ")}, in ${batchOf(last!).events.length === 9 ? "one batch" : "several batches"}`)
})

await Effect.runPromise(scenario.pipe(
  Effect.provide(TestWaybill.layer()),
  Effect.provide(TestClock.layer()),
  // the seed of the jitter, so that every run is the same
  Random.withSeed("waybill"),
  Effect.scoped
))
