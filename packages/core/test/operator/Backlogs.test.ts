/** Waiting entries stay within the quotas for any reason of waiting. Dropped entries are visible and can be replayed. */
import { assert, describe, it } from "@effect/vitest"
import { Backlogs, Explanations, Subscriptions, TenantLimits } from "@waybill/core"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { hook, inEngine, makeEngine } from "../delivery/Engine.ts"
import { untyped } from "../untyped.ts"

const sweep = Effect.flatMap(Backlogs, (backlogs) => backlogs.sweep)

const allow = (change: unknown) => Effect.flatMap(TenantLimits, (limits) => limits.put("acme", untyped(change)))

const counts = Effect.map(Effect.flatMap(Subscriptions, (all) => all.list("acme", {})), ({ data }) => data.map(({ dropped, waiting }) => ({ dropped, waiting })))

/** The verdict and reason that an operator sees. */
const reasonOf = (subscriptionId: string, shipmentId: string) =>
  Effect.map(
    Effect.flatMap(Explanations, (all) => all.explain("acme", { subscriptionId, shipmentId })),
    ({ reasons, verdict }) => verdict === "dropped" ? `dropped: ${reasons[0]?.actual.split(" ")[0]}` : verdict
  )

describe("waiting entries beyond the quotas", () => {
  it.effect("are dropped oldest first while the subscription is paused, with a reason, and can be replayed", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.patch({ status: "paused" })
    // the oldest entries are not the first in the order of shipmentIds
    for (const shipmentId of ["D", "C", "B", "A", "E"]) {
      yield* engine.publish(shipmentId)
      yield* TestWaybill.pass("2 minutes")
    }
    assert.strictEqual(yield* sweep, 0)
    yield* allow({ waitingPerSubscription: 3 })
    assert.strictEqual(yield* sweep, 2)
    assert.strictEqual(yield* sweep, 0)
    assert.deepStrictEqual(yield* counts, [{ waiting: 3, dropped: 2 }])
    const reasons = yield* Effect.forEach(["A", "B", "C", "D", "E"], (shipmentId) => reasonOf(engine.subscription.id, shipmentId))
    assert.deepStrictEqual(reasons, ["waiting", "waiting", "dropped: over_count", "dropped: over_count", "waiting"])
    yield* TestWaybill.run
    yield* engine.patch({ status: "active" })
    yield* TestWaybill.pass("1 minute")
    assert.deepStrictEqual((yield* engine.delivered()).toSorted(), ["A/1", "B/1", "E/1"])
    assert.strictEqual(yield* Effect.flatMap(Subscriptions, (all) => all.replay("acme", engine.subscription.id, { from: "1970-01-01T00:00:00Z", shipmentIds: ["C", "D"] })), 2)
    yield* TestWaybill.pass("1 minute")
    assert.deepStrictEqual((yield* engine.delivered()).toSorted(), ["A/1", "B/1", "C/1", "D/1", "E/1"])
  }, inEngine))

  it.effect("are dropped by age first, so that younger entries stay", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.patch({ status: "paused" })
    yield* allow({ waitingDays: 1, waitingPerSubscription: 2 })
    for (const shipmentId of ["D", "C", "B", "A"]) {
      yield* engine.publish(shipmentId)
      yield* TestWaybill.pass("11 hours")
    }
    assert.strictEqual(yield* sweep, 2)
    const reasons = yield* Effect.forEach(["A", "B", "C", "D"], (shipmentId) => reasonOf(engine.subscription.id, shipmentId))
    assert.deepStrictEqual(reasons, ["waiting", "waiting", "dropped: over_age", "dropped: over_age"])
  }, inEngine))

  it.effect("are dropped in each shipment's order, first events first, if all were queued at once", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.patch({ status: "paused" })
    yield* engine.publish("A", "A", "A", "B", "B")
    yield* allow({ waitingPerSubscription: 4 })
    assert.strictEqual(yield* sweep, 1)
    yield* TestWaybill.run
    yield* engine.patch({ status: "active" })
    yield* TestWaybill.pass("1 minute")
    assert.deepStrictEqual((yield* engine.delivered()).toSorted(), ["A/2", "A/3", "B/1", "B/2"])
  }, inEngine))

  it.effect("are dropped while a receiver is down, except those that wait for a retry", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1, maxAttempts: 2, initialBackoffSeconds: 600, maxBackoffSeconds: 600 } })
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* allow({ waitingPerSubscription: 1 })
    yield* Effect.scoped(Effect.gen(function*() {
      yield* TestWaybill.run
      yield* engine.publish("A", "A", "A", "A")
      yield* TestWaybill.pass("1 minute")
    }))
    assert.strictEqual(yield* sweep, 2)
    assert.deepStrictEqual(yield* counts, [{ waiting: 1, dropped: 2 }])
    yield* engine.receivers.script(hook, Receiver.accept())
    yield* TestWaybill.run
    yield* TestWaybill.pass("1 hour")
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/4"])
  }, inEngine))
})
