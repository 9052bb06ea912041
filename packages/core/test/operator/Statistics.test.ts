/** Attempts are counted by minute and shown over time. */
import { assert, describe, it } from "@effect/vitest"
import { Backlogs, Statistics, Subscriptions, type StatisticsView } from "@waybill/core"
import { DeliveryWorker, StatisticsStore, totalOf } from "@waybill/core/delivery"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Cause, Effect, Exit } from "effect"
import { account, hook, inEngine, makeEngine, startEngine } from "../delivery/Engine.ts"
import { untyped } from "../untyped.ts"

const get = (query: unknown = {}, tenantId = "acme") => Effect.flatMap(Statistics, (statistics) => statistics.get(tenantId, untyped(query)))

/** Points in which something was counted or sampled. */
const seen = ({ series }: StatisticsView) =>
  series.map(({ points, subscriptionId }) => [
    subscriptionId,
    points
      .filter(({ deliveries, failures, waiting }) => deliveries + failures > 0 || waiting !== null)
      .map(({ at, deliveries, failures, waiting }) => `${at.slice(11, 16)} ${deliveries} ${failures} ${waiting}`)
  ])

const faultOf = (query: unknown) =>
  Effect.map(Effect.exit(get(query)), (exit) => Exit.isFailure(exit) ? Cause.squash(exit.cause) as { readonly faults: ReadonlyArray<{ readonly pointer: string }> } : undefined)

describe("delivery statistics", () => {
  it.effect("count accepted and failed attempts of a subscription and of the tenant by minute, written once a minute", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { initialBackoffSeconds: 5 }, answers: [Receiver.fail(503), Receiver.accept()] })
    yield* engine.publish("A")
    yield* TestWaybill.pass("30 seconds")
    assert.deepStrictEqual(seen(yield* get()), [[null, []]])
    yield* TestWaybill.pass("90 seconds")
    const id = engine.subscription.id
    const { series: [own, unknown], step } = yield* get({ subscriptionId: [id, "none"], to: "1970-01-01T00:10:00Z", step: 60 })
    assert.strictEqual(step, 60)
    const counted = own!.points.reduce((sum, { deliveries, failures }) => [sum[0]! + deliveries, sum[1]! + failures], [0, 0])
    assert.deepStrictEqual(counted, [1, 1])
    assert.deepStrictEqual([unknown!.subscriptionId, unknown!.points.every(({ deliveries }) => deliveries === 0)], ["none", true])
    const [whole] = (yield* get({ to: "1970-01-01T01:00:00Z", step: 3600 })).series
    assert.deepInclude(whole!.points.at(-1), { at: "1970-01-01T00:00:00.000Z", deliveries: 1, failures: 1, meanMillis: 0, maxMillis: 0, waiting: null })
  }, inEngine))

  it.effect("are written before a drain ends, because its process may end too", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.publish("A")
    assert.strictEqual(yield* (yield* DeliveryWorker).drain, 1)
    const { series: [whole] } = yield* get({ to: "1970-01-01T00:10:00Z", step: 60 })
    assert.strictEqual(whole!.points.reduce((sum, { deliveries }) => sum + deliveries, 0), 1)
  }, inEngine))

  it.effect("of a client are those of its subscriptions, also of deleted ones, and not of other clients", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { subscriptions, tenant } = engine
    const [own, other] = [tenant.customer("key:own", [account]), tenant.customer("key:other", [account])]
    const subscribe = (customer: typeof own) => TestWaybill.subscribe(tenant, customer, { endpointUrl: hook })
    const [, deleted, paused] = [yield* subscribe(own), yield* subscribe(own), yield* subscribe(other)]
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("1 second")
    yield* subscriptions.remove(own, deleted.id)
    yield* TestWaybill.pass("2 minutes")
    yield* subscriptions.patch(other, paused.id, { status: "paused" })
    yield* engine.publish("A")
    yield* TestWaybill.pass("1 second")
    yield* Effect.flatMap(Backlogs, ({ sweep }) => sweep)
    yield* TestWaybill.pass("2 minutes")
    const sums = (query: unknown) =>
      Effect.map(get(query), ({ series }) => {
        const { points, subscriptionId } = series[0]!
        return [subscriptionId, points.reduce((sum, { deliveries }) => sum + deliveries, 0), Math.max(...points.map(({ waiting }) => waiting ?? 0))]
      })
    assert.deepStrictEqual(yield* Effect.forEach([{}, { client: "own" }, { client: "key:other" }, { client: "nobody" }], sums), [[null, 6, 1], [null, 3, 0], [null, 1, 1], [null, 0, 0]])
  }, inEngine))

  it.effect("show waiting entries at each sample, and 0 for a subscription without any", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.patch({ status: "paused" })
    yield* engine.publish("A", "B")
    yield* Effect.flatMap(Backlogs, ({ sweep }) => sweep)
    const query = { to: "1970-01-01T00:05:00Z" }
    assert.deepStrictEqual(seen(yield* get(query)), [[null, ["00:00 0 0 2"]]])
    assert.deepStrictEqual(seen(yield* get({ ...query, subscriptionId: [engine.subscription.id, "none"] })), [
      [engine.subscription.id, ["00:00 0 0 2"]],
      ["none", ["00:00 0 0 0"]]
    ])
    yield* TestWaybill.tenant("other")
    assert.deepStrictEqual(seen(yield* get(query, "other")), [[null, []]])
  }, inEngine))

  it.effect("have one sample of a tenant in which nothing waits, until something waits again", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* engine.patch({ status: "paused" })
    const [backlogs, subscriptions] = [yield* Backlogs, yield* Subscriptions]
    const sweepAfter = (minutes: number) => Effect.andThen(TestWaybill.pass(`${minutes} minutes`), backlogs.sweep)
    yield* backlogs.sweep
    yield* sweepAfter(5)
    yield* engine.publish("A")
    yield* sweepAfter(5)
    yield* subscriptions.purge("acme", engine.subscription.id)
    for (let n = 0; n < 3; n++) yield* sweepAfter(5)
    assert.deepStrictEqual(seen(yield* get({ to: "1970-01-01T00:40:00Z" })), [[null, ["00:00 0 0 0", "00:10 0 0 1", "00:15 0 0 0"]]])
  }, inEngine))

  it.effect("read hours where minutes are no longer kept", Effect.fnUntraced(function*() {
    const store = yield* StatisticsStore
    yield* TestWaybill.pass("3 days")
    yield* store.add("acme", [{ destinationId: totalOf(3), at: 3_600_000, deliveries: 4, failures: 0, latencyMillis: 100, maxLatencyMillis: 60 }])
    const view = yield* get({ from: "1970-01-01T00:00:00Z", to: "1970-01-03T00:00:00Z" })
    assert.strictEqual(view.step, 3600)
    assert.deepInclude(view.series[0]!.points[1], { deliveries: 4, meanMillis: 25, maxMillis: 60 })
    assert.strictEqual((yield* get({ from: "1970-01-01T00:00:00Z" })).step, 3600)
  }, inEngine))

  it.effect("refuse a range that cannot be shown, and name the parameter", Effect.fnUntraced(function*() {
    yield* TestWaybill.pass("3 days")
    const from = "1970-01-03T12:00:00Z"
    for (const [query, pointer] of [
      [{ from: "1970-01-03T12:00:00Z", to: "1970-01-03T12:00:00Z" }, "/from"],
      [{ from: "1970-01-01T00:00:00Z", step: 60 }, "/step"],
      [{ from: "1970-01-03T12:00:00Z", step: 90 }, "/step"],
      [{ from: "1970-01-03T12:00:00Z", step: 5400 }, "/step"],
      [{ step: 59 }, "/step"],
      [{ from: "0001-01-01T00:00:00Z" }, "/step"],
      [{ from, step: 60, subscriptionId: Array.from({ length: 30 }, (_, n) => String(n)) }, "/step"],
      [{ subscriptionId: Array.from({ length: 101 }, (_, n) => String(n)) }, "/subscriptionId"],
      [{ client: "a", subscriptionId: ["b"] }, "/client"],
      [{ from: "yesterday" }, "/from"]
    ] as const) assert.strictEqual((yield* faultOf(query))?.faults[0]?.pointer, pointer, JSON.stringify(query))
  }, inEngine))
})
