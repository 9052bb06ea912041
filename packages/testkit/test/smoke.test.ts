import { assert, it } from "@effect/vitest"
import { TransitEvents } from "@waybill/core"
import { Effect } from "effect"
import { batchOf, ltlJourney, Receiver, ScriptedReceivers, TestWaybill, verifySignature } from "../src/index.ts"

it.effect("delivers", () =>
  Effect.gen(function*() {
    const t = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    const url = "https://r.example/hook"
    yield* TestWaybill.subscribe(t, t.customer("c1", ["A"]), { endpointUrl: url })
    yield* TestWaybill.run
    yield* receivers.script(url, [Receiver.fail(500), Receiver.fail(500), Receiver.accept()])
    const events = yield* TransitEvents
    yield* events.publish(t.carrier, ltlJourney("S1", { accounts: ["A"] }))
    yield* TestWaybill.pass("3 days")
    const got = yield* receivers.requests(url)
    console.log(got.map((r) => [r.at, batchOf(r).events.length, verifySignature(t.secret, r), r.headers]))
    assert.strictEqual((yield* receivers.deliveredEvents(url)).length, 9)
  }).pipe(Effect.provide(TestWaybill.layer())))
it.effect("three days", () =>
  Effect.gen(function*() {
    const t = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    const url = "https://r.example/hook"
    yield* TestWaybill.subscribe(t, t.customer("c1", ["A"]), { endpointUrl: url, delivery: {maxAttempts: 100} })
    yield* TestWaybill.run
    yield* receivers.script(url, [Receiver.fail(500)])
    const events = yield* TransitEvents
    yield* events.publish(t.carrier, ltlJourney("S1", { accounts: ["A"] }))
    yield* TestWaybill.pass("3 days")
    const got = yield* receivers.requests(url)
    console.log(got.map((r) => r.at))
  }).pipe(Effect.provide(TestWaybill.layer())))
