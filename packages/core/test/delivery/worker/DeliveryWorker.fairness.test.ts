/** Receivers and backlogs of one tenant or client do not delay the deliveries of others. */
import { assert, describe, it } from "@effect/vitest"
import { TenantLimits } from "@waybill/core"
import type { DeliveryOptionValues } from "@waybill/core/delivery"
import { TransitEvents } from "@waybill/core/transit-events"
import { Receiver, reportedEvent, ScriptedReceivers, type SeededTenant, TestWaybill } from "@waybill/testkit"
import { Effect, Random } from "effect"
import * as Clock from "effect/Clock"
import { workerOver } from "../Engine.ts"

const healthy = "https://healthy.example/hook"
const neighbour = "https://neighbour.example/hook"

const publish = (tenant: SeededTenant, account: string, ...shipmentIds: ReadonlyArray<string>) =>
  Effect.flatMap(TransitEvents, (events) =>
    Effect.orDie(events.append(tenant.carrier, shipmentIds.map((shipmentId) => reportedEvent(shipmentId, { accounts: [account] })))))

const shipments = (prefix: string, count: number): ReadonlyArray<string> => Array.from({ length: count }, (_, n) => `${prefix} ${n}`)

/** A healthy client of a tenant of its own, and one of the tenant that has all the others. */
const makeTenant = Effect.gen(function*() {
  const [crowded, quiet] = [yield* TestWaybill.tenant("crowded"), yield* TestWaybill.tenant("quiet")]
  const receivers = yield* ScriptedReceivers
  yield* (yield* TenantLimits).put(crowded.tenantId, { eventSubscriptionsPerClient: 1000 })
  const delivery = { batchMaxSize: 1, rateLimitPerMinute: 60_000 }
  yield* TestWaybill.subscribe(quiet, quiet.customer("healthy", ["A"]), { endpointUrl: healthy, delivery })
  yield* TestWaybill.subscribe(crowded, crowded.customer("neighbour", ["A"]), { endpointUrl: neighbour, delivery })

  /** Creates `count` destinations of one client, which all receive the events of account H. */
  const crowd = (count: number, settings: Readonly<Record<string, number>> = {}) =>
    Effect.forEach(Array.from({ length: count }, (_, n) => `https://crowd-${n}.example/hook`), (endpointUrl) =>
      Effect.as(TestWaybill.subscribe(crowded, crowded.customer("crowd", ["H"]), { endpointUrl, delivery: { ...delivery, ...settings } }), endpointUrl))

  /** Each event arrives before the next one is published, at the healthy client and at the neighbour. */
  const everybodyElseIsServed = (events: number, millis: number) =>
    Effect.gen(function*() {
      const before = (yield* receivers.delivered(healthy)).length
      for (let n = 0; n < events; n++) {
        yield* publish(quiet, "A", `A${n}`)
        yield* publish(crowded, "A", `A${n}`)
        yield* TestWaybill.pass(millis)
        assert.lengthOf(yield* receivers.delivered(healthy), before + n + 1)
        assert.lengthOf(yield* receivers.delivered(neighbour), before + n + 1)
      }
    })

  return { crowd, crowded, everybodyElseIsServed, quiet, receivers }
})

const layer = (delivery: Partial<DeliveryOptionValues>) => TestWaybill.layer({ delivery: { drainMillis: 0, ...delivery } })

describe("seven hundred destinations of one client whose receivers hang", () => {
  it.effect("take half of the slots at first, half of a tenth after failures, and delay no other destination", Effect.fnUntraced(function*() {
    const { crowd, crowded, everybodyElseIsServed, receivers } = yield* makeTenant
    const urls = yield* crowd(700, { maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 1 })
    yield* Effect.forEach(urls, (url) => receivers.script(url, Receiver.hang), { discard: true })
    yield* TestWaybill.run
    yield* publish(crowded, "H", "H1")
    yield* TestWaybill.pass(1000)
    const atFirst = (yield* receivers.requests()).length
    assert.strictEqual(atFirst, 250)
    yield* everybodyElseIsServed(15, 100)
    // by now each of them has failed
    yield* TestWaybill.pass("90 seconds")
    const now = yield* Clock.currentTimeMillis
    const inFlight = (yield* receivers.requests()).filter(({ at, url }) => url.includes("crowd") && at > now - 15_000)
    assert.strictEqual(inFlight.length, 25)
    yield* everybodyElseIsServed(15, 100)
  }, Effect.scoped, Effect.provide(layer({ concurrency: 500 }))), 60_000)
})

describe("destinations of one client that hang again and again", () => {
  it.effect.each([[500, 300], [8, 30]] as const)("do not delay the retries of another client and of another tenant, of %s slots", Effect.fnUntraced(function*([concurrency, hanging]) {
    yield* Effect.gen(function*() {
      const { crowd, crowded, quiet, receivers } = yield* makeTenant
      const urls = yield* crowd(hanging, { maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 1 })
      yield* Effect.forEach(urls, (url) => receivers.script(url, Receiver.hang), { discard: true })
      yield* TestWaybill.run
      yield* publish(crowded, "H", "H1")
      yield* TestWaybill.pass("4 minutes")
      for (const [url, tenant] of [[healthy, quiet], [neighbour, crowded]] as const) {
        yield* receivers.script(url, [Receiver.fail(503), Receiver.accept()])
        yield* publish(tenant, "A", "A1")
      }
      yield* TestWaybill.pass("40 seconds")
      assert.deepStrictEqual([(yield* receivers.delivered(healthy)).length, (yield* receivers.delivered(neighbour)).length], [1, 1])
    }).pipe(Effect.scoped, Effect.provide(layer({ concurrency })))
  }), 60_000)
})

describe("two hundred destinations that are retried every second", () => {
  it.effect("delay no other destination", Effect.fnUntraced(function*() {
    const { crowd, crowded, everybodyElseIsServed, receivers } = yield* makeTenant
    const urls = yield* crowd(200, { maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 1 })
    yield* Effect.forEach(urls, (url) => receivers.script(url, Receiver.delay(300, Receiver.fail(503))), { discard: true })
    yield* TestWaybill.run
    yield* publish(crowded, "H", ...shipments("H", 3))
    yield* TestWaybill.pass(5000)
    const before = (yield* receivers.requests()).length
    yield* everybodyElseIsServed(25, 100)
    const tried = (yield* receivers.requests()).length - before - 50
    assert.isAtLeast(tried, 200, "all of them are attempted meanwhile")
  }, Effect.scoped, Effect.provide(layer({ concurrency: 500 }))), 60_000)

  it.effect("share ten takes a second", Effect.fnUntraced(function*() {
    const { crowd, crowded, receivers } = yield* makeTenant
    const urls = yield* crowd(200, { maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 1 })
    yield* Effect.forEach(urls, (url) => receivers.script(url, Receiver.fail(503)), { discard: true })
    let takes = 0
    yield* workerOver((store) => ({
      take: (request) => Effect.tap(store.take(request), () => Effect.sync(() => takes += request.from.some(({ again }) => again.length > 0) ? 1 : 0))
    }))
    yield* publish(crowded, "H", ...shipments("H", 1))
    yield* TestWaybill.pass(5000)
    const before = (yield* receivers.requests()).length
    takes = 0
    yield* TestWaybill.pass(10_000)
    assert.isAtLeast((yield* receivers.requests()).length - before, 1_600)
    assert.isAtMost(takes, 101)
    // the delays of retries are random, and with some a round needs two takes
  }, Effect.scoped, Effect.provide(layer({ concurrency: 1000 })), Random.withSeed("retries")), 60_000)
})

describe("a tenant that publishes a hundred times as much as the others", () => {
  it.effect("gets the remaining slots, and its backlog delays no other tenant", Effect.fnUntraced(function*() {
    const { crowd, crowded, everybodyElseIsServed, receivers } = yield* makeTenant
    const urls = yield* crowd(2, { rateLimitPerMinute: 6_000_000 })
    yield* Effect.forEach(urls, (url) => receivers.script(url, Receiver.delay(50)), { discard: true })
    yield* TestWaybill.run
    for (let round = 0; round < 10; round++) {
      yield* publish(crowded, "H", ...shipments(`round ${round}`, 100))
      yield* everybodyElseIsServed(1, 100)
    }
    const waiting = 2000 - (yield* Effect.forEach(urls, (url) => receivers.delivered(url))).flat().length
    assert.isAbove(waiting, 1000, "there is a backlog")
    yield* TestWaybill.pass("5 minutes")
    assert.lengthOf((yield* Effect.forEach(urls, (url) => receivers.delivered(url))).flat(), 2000)
  }, Effect.scoped, Effect.provide(layer({ concurrency: 32, destinationConcurrency: 8 }))), 60_000)
})
