import { assert, describe, it } from "@effect/vitest"
import { DeliveryStore, partitionsPerTenant, wrapCalls } from "@waybill/core/delivery"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Logger, References } from "effect"
import * as Clock from "effect/Clock"
import { clockAhead, hook, inEngine, makeEngine, workerOn, workerOver } from "../Engine.ts"

const hour = 3_600_000

/** A store whose clock can be set, and workers on it. */
const storeWithOwnClock = Effect.gen(function*() {
  const clock = yield* Clock.clockWith(Effect.succeed)
  let ahead = 0
  const byStore = Effect.provideService(Clock.Clock, clockAhead(clock, () => ahead))
  return {
    run: byStore,
    set: (millis: number) =>
      Effect.sync(() => {
        ahead = millis
      }),
    worker: Effect.flatMap(workerOn((store) => wrapCalls(store, (_, answer) => byStore(answer))), ({ run }) => Effect.forkScoped(run))
  }
})

/** The log lines of `run` about a changed clock. */
const reportedChanges = Effect.fnUntraced(function*<E, R>(run: Effect.Effect<unknown, E, R>) {
  const seconds: Array<unknown> = []
  const logger = Logger.make(({ fiber, message }) => {
    if (String(message).startsWith("Database clock changed.")) seconds.push(fiber.getRef(References.CurrentLogAnnotations)["seconds"])
  })
  yield* run.pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Warn"))
  return seconds
})

describe("when the store's clock is set", () => {
  it.effect("the change is logged, and slow responses are not logged as one", Effect.fnUntraced(function*() {
    const store = yield* storeWithOwnClock
    let slow = 3_000
    const responds = <A, E>(answer: Effect.Effect<A, E>) => Effect.tap(answer, () => Effect.sleep(slow))
    const engine = yield* makeEngine()
    const changes = yield* reportedChanges(Effect.gen(function*() {
      yield* workerOver((each) => ({ renew: (lease) => responds(store.run(each.renew(lease))), take: (request) => responds(store.run(each.take(request))) }))
      yield* TestWaybill.pass("30 seconds")
      slow = 0
      yield* TestWaybill.pass("30 seconds")
      yield* store.set(-5_000)
      yield* engine.publish("A")
      yield* TestWaybill.pass("30 seconds")
    }))
    assert.deepStrictEqual(changes, [-5])
  }, Effect.scoped, inEngine))

  for (const [name, before, after] of [["back", 3 * hour, 0], ["forward", 0, 3 * hour]] as const) {
    it.effect(`${name}, entries are sent at once`, Effect.fnUntraced(function*() {
      const store = yield* storeWithOwnClock
      yield* store.set(before)
      const engine = yield* makeEngine()
      yield* store.worker
      yield* engine.publish("A")
      yield* TestWaybill.pass("2 seconds")
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
      yield* store.set(after)
      yield* engine.publish("A")
      yield* TestWaybill.pass("20 seconds")
      yield* engine.publish("B")
      yield* TestWaybill.pass("2 seconds")
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2", "B/1"])
    }, Effect.scoped, inEngine))

    it.effect(`${name}, retries and the probe of an open breaker keep their pauses`, Effect.fnUntraced(function*() {
      const store = yield* storeWithOwnClock
      yield* store.set(before)
      const engine = yield* makeEngine({ policy: { initialBackoffSeconds: 60, maxBackoffSeconds: 60, batchMaxSize: 1 } })
      yield* engine.receivers.script(hook, Receiver.fail(500))
      yield* store.worker
      yield* engine.publish("A", "B", "C", "D", "E")
      yield* TestWaybill.pass("5 seconds")
      const failed = (yield* engine.receivers.requests(hook)).length
      assert.isAtLeast(failed, 2)
      yield* store.set(after)
      yield* engine.receivers.script(hook, Receiver.accept())
      yield* TestWaybill.pass("30 seconds")
      // pauses are 48 seconds or longer; other shipments may still be sent for the first time
      assert.lengthOf(new Set((yield* engine.receivers.requests(hook)).map(({ headers }) => headers["webhook-id"])), (yield* engine.receivers.requests(hook)).length)
      yield* TestWaybill.pass("3 minutes")
      assert.sameMembers([...yield* engine.delivered()], ["A/1", "B/1", "C/1", "D/1", "E/1"])
    }, Effect.scoped, inEngine))
  }

  it.effect("back since a worker was killed, another one takes its partitions over after a lease", Effect.fnUntraced(function*() {
    const clock = yield* storeWithOwnClock
    const store = yield* DeliveryStore
    const killed = { workerId: "killed", leaseMillis: 20_000 }
    yield* clock.set(3 * hour)
    const engine = yield* makeEngine()
    yield* clock.run(store.acquire(killed, engine.tenant.tenantId, Array.from({ length: partitionsPerTenant }, (_, partition) => partition)))
    yield* clock.run(store.renew(killed))
    yield* clock.set(0)
    yield* engine.publish("A")
    yield* clock.worker
    yield* TestWaybill.pass("19 seconds")
    assert.deepStrictEqual(yield* engine.delivered(), [])
    yield* TestWaybill.pass("6 seconds")
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
  }, Effect.scoped, inEngine))

  it.effect("back while no worker runs, the next one waits no longer than the longest pause of the subscription", Effect.fnUntraced(function*() {
    const store = yield* storeWithOwnClock
    yield* store.set(3 * hour)
    const engine = yield* makeEngine({ policy: { initialBackoffSeconds: 60, maxBackoffSeconds: 60, rateLimitPerMinute: 1 } })
    yield* engine.receivers.script(hook, [Receiver.fail(500), Receiver.accept()])
    const first = yield* store.worker
    yield* engine.publish("A")
    yield* TestWaybill.pass("5 seconds")
    yield* Fiber.interrupt(first)
    yield* store.set(0)
    yield* store.worker
    yield* TestWaybill.pass("3 minutes")
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
  }, Effect.scoped, inEngine))

  it.effect("back while no worker runs, the rate delays one delivery by a minute, and no later ones", Effect.fnUntraced(function*() {
    const store = yield* storeWithOwnClock
    yield* store.set(3 * hour)
    const engine = yield* makeEngine({ policy: { rateLimitPerMinute: 1 } })
    const first = yield* store.worker
    yield* engine.publish("A")
    yield* TestWaybill.pass("5 seconds")
    yield* Fiber.interrupt(first)
    yield* store.set(0)
    yield* store.worker
    yield* engine.publish("B")
    yield* TestWaybill.pass("65 seconds")
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "B/1"])
    // its partition is released and acquired again
    yield* TestWaybill.pass("5 minutes")
    yield* engine.publish("C")
    yield* TestWaybill.pass("2 seconds")
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "B/1", "C/1"])
  }, Effect.scoped, inEngine))
})
