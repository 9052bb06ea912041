/** Regression tests for errors that simulated schedules of crashes, lost responses and operators found. */
import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@waybill/core"
import { type Taken, waitingPerDestination, wrapCalls } from "@waybill/core/delivery"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import * as Clock from "effect/Clock"
import { TestClock } from "effect/testing"
import { clockAhead, eventsOf, hook, inEngine, inEngineWith, makeEngine, startEngine, storeCalls, workerOn, workerOver } from "../Engine.ts"

/** A worker that is killed one second after it began to send, and whose lease has expired. */
const killedWhileSending = Effect.scoped(Effect.gen(function*() {
  const victim = yield* TestWaybill.worker()
  yield* victim.faults.break("settle", "before", Infinity)
  yield* victim.run
  yield* TestWaybill.pass(1000)
  for (const call of storeCalls) yield* victim.faults.break(call, "before", Infinity)
})).pipe(Effect.andThen(TestWaybill.pass("1 minute")))

/** A worker whose first take with results fails, and is committed `late` milliseconds later. Returns the results of its takes. */
const workerWithLateTake = (late: number) =>
  Effect.gen(function*() {
    const answers: Array<Taken> = []
    let first = true
    yield* workerOver((store) => ({
      take: (request) => {
        const taking = Effect.tap(store.take(request), (taken) => Effect.sync(() => void answers.push(taken)))
        if (!first) return taking
        first = false
        return Effect.andThen(
          Effect.forkDetach(Effect.andThen(Effect.sleep(late), Effect.exit(taking))),
          Effect.fail(new StorageError({ operation: "DeliveryStore.take", cause: "connection lost" }))
        )
      }
    }))
    return answers
  })

/** A worker whose system clock can be changed; the store has its own clock. */
const workerWithOwnClock = Effect.gen(function*() {
  const clock = yield* Clock.clockWith(Effect.succeed)
  let ahead = 0
  const own = clockAhead(clock, () => ahead)
  const byStore = Effect.provideService(Clock.Clock, clock)
  const worker = yield* workerOn((store) => wrapCalls(store, (_, answer) => byStore(answer)))
  yield* Effect.forkScoped(Effect.provideService(worker.run, Clock.Clock, own))
  return (millis: number) =>
    Effect.sync(() => {
      ahead += millis
    })
})

describe("races", () => {

  it.effect("a shipment continues at once when its delivery becomes a dead letter because its senders crashed", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { maxAttempts: 1, batchMaxSize: 1 } })
    yield* engine.publish("A", "A")
    for (let n = 0; n < 4; n++) yield* killedWhileSending
    yield* TestWaybill.run
    yield* TestWaybill.pass(5000)
    assert.deepStrictEqual((yield* engine.list()).map((each) => each.state), ["dead", "delivered"])
    assert.deepStrictEqual((yield* engine.receivers.requests(hook)).map(eventsOf), [["A/1"], ["A/1"], ["A/1"], ["A/1"], ["A/2"]])
  }, inEngine))

  it.effect("recovered dead letters of one shipment are sent in order, one at a time", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { maxAttempts: 1, batchMaxSize: 1 }, answers: Receiver.fail(500) })
    yield* engine.publish("A", "A", "A", "B")
    yield* TestWaybill.pass(10_000)
    assert.deepStrictEqual((yield* engine.list()).map((each) => each.state), ["dead", "dead", "dead", "dead"])
    yield* engine.receivers.script(hook, Receiver.delay(5000))
    const before = (yield* engine.receivers.requests(hook)).length
    yield* engine.deliveries.recover(engine.tenant.tenantId, engine.subscription.id, { since: "1970-01-01T00:00:00Z" })
    yield* TestWaybill.pass("1 minute")
    const again = (yield* engine.receivers.requests(hook)).slice(before)
    const ofA = again.filter((request) => eventsOf(request).join() !== "B/1")
    assert.deepStrictEqual(ofA.map(eventsOf), [["A/1"], ["A/2"], ["A/3"]])
    assert.deepStrictEqual(ofA.map(({ at }, n) => n === 0 || at >= ofA[n - 1]!.at + 5000), [true, true, true])
    assert.isTrue((yield* engine.list()).every((each) => each.state === "delivered"))
  }, inEngine))

  it.effect("recovered dead letters of one shipment are sent in order if they are more than a load returns, and the first one fails again", Effect.fnUntraced(function*() {
    const count = waitingPerDestination + 1
    const policy = { batchMaxSize: 1, initialBackoffSeconds: 1, rateLimitPerMinute: 6_000 }
    const engine = yield* makeEngine({ policy: { ...policy, maxAttempts: 1 } })
    yield* engine.receivers.script(hook, Receiver.fail(500))
    let takes = 0
    yield* workerOver((store) => ({ take: (request) => Effect.suspend(() => (takes += 1, store.take(request))) }))
    yield* engine.publish(...Array.from({ length: count }, () => "A"))
    for (let minute = 0; minute < 5; minute++) yield* TestWaybill.pass("1 minute")
    yield* engine.patch({ delivery: { ...policy, maxAttempts: 2, initialBackoffSeconds: 10 } })
    // an accepted delivery closes the circuit breaker
    yield* engine.receivers.script(hook, [Receiver.accept(), Receiver.fail(503), Receiver.accept()])
    yield* engine.publish("B")
    yield* TestWaybill.pass("10 seconds")
    const before = (yield* engine.receivers.requests(hook)).length
    assert.strictEqual(before, count + 1)
    yield* engine.deliveries.recover(engine.tenant.tenantId, engine.subscription.id, { since: "1970-01-01T00:00:00Z" })
    yield* TestWaybill.pass("2 seconds")
    takes = 0
    for (let second = 0; second < 5; second++) yield* TestWaybill.pass("1 second")
    assert.isAtMost(takes, 5, "until the first one is due again")
    for (let second = 0; second < 30; second++) yield* TestWaybill.pass("1 second")
    const again = (yield* engine.receivers.requests(hook)).slice(before).map(eventsOf)
    assert.deepStrictEqual(again, [["A/1"], ...Array.from({ length: count }, (_, n) => [`A/${n + 1}`])])
  }, inEngine), 30_000)

  it.effect("recovered dead letters that are more than a load returns do not wait for one that fails again", Effect.fnUntraced(function*() {
    const count = waitingPerDestination + 20
    const policy = { batchMaxSize: 1, initialBackoffSeconds: 1, rateLimitPerMinute: 6_000 }
    const engine = yield* startEngine({ policy: { ...policy, maxAttempts: 1 }, answers: Receiver.fail(500) })
    yield* engine.publish(...Array.from({ length: count }, (_, n) => `S${n}`))
    for (let minute = 0; minute < 5; minute++) yield* TestWaybill.pass("1 minute")
    assert.lengthOf(yield* engine.list({ state: "dead", limit: 500 }), count)
    yield* engine.patch({ delivery: { ...policy, maxAttempts: 2, initialBackoffSeconds: 3600 } })
    // an accepted delivery closes the circuit breaker
    yield* engine.receivers.script(hook, [Receiver.accept(), Receiver.fail(422), Receiver.accept()])
    yield* engine.publish("B")
    yield* TestWaybill.pass("10 seconds")
    yield* engine.deliveries.recover(engine.tenant.tenantId, engine.subscription.id, { since: "1970-01-01T00:00:00Z" })
    yield* TestWaybill.pass("1 minute")
    assert.lengthOf(yield* engine.delivered(), count)
    assert.lengthOf(yield* engine.list({ state: "waiting" }), 1)
  }, inEngine), 30_000)

  for (const millis of [-86_400_000, -3_600_000, -5000, 5000, 3_600_000]) {
    it.effect(`a worker whose system clock is changed by ${millis} ms retries at the right time, with the right timestamps`, () =>
      inEngine(Effect.scoped(Effect.gen(function*() {
        yield* TestClock.setTime(1_763_626_500_000)
        const engine = yield* makeEngine()
        yield* engine.receivers.script(hook, [Receiver.fail(500), Receiver.fail(500), Receiver.accept()])
        const setClock = yield* workerWithOwnClock
        yield* engine.publish("A")
        yield* TestWaybill.pass(1000)
        yield* setClock(millis)
        yield* TestWaybill.pass(20_000)
        assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
        const seconds = (yield* engine.receivers.requests(hook)).map(({ headers }) => Number(headers["webhook-timestamp"]) - 1_763_626_500)
        assert.isTrue(seconds.every((each) => each >= 0 && each <= 20), `signed ${seconds.join(", ")} s after the first`)
        const [delivery] = yield* engine.list()
        const dates = delivery!.attempts.map((each) => Date.parse(each.at) - 1_763_626_500_000)
        assert.isTrue(dates.every((each) => each >= 0 && each <= 20_000), `attempts ${dates.join(", ")} ms after the first`)
      }))))
  }

  for (const late of [1, 1100, 30_000]) {
    it.effect(`no event is sent under two ids when a failed take is committed ${late} ms later`, () =>
      inEngineWith({ destinationConcurrency: 2, leaseMillis: 60_000 })(Effect.scoped(Effect.gen(function*() {
        const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
        yield* engine.receivers.script(hook, Receiver.delay(3000))
        yield* engine.publish("A", "B", "C")
        const answers = yield* workerWithLateTake(late)
        for (let n = 0; n < 120; n++) yield* TestWaybill.pass(1000)
        const requests = yield* engine.receivers.requests(hook)
        const ids = new Map(requests.map((request) => [eventsOf(request).join(), new Set<string>()]))
        for (const request of requests) ids.get(eventsOf(request).join())!.add(request.headers["webhook-id"]!)
        assert.deepStrictEqual([...ids.keys()].toSorted(), ["A/1", "B/1", "C/1"])
        for (const own of ids.values()) assert.strictEqual(own.size, 1)
        assert.isTrue((yield* engine.list()).every((each) => each.state === "delivered"))
        assert.lengthOf(answers.filter(({ owned }) => owned.length === 0), 1, "the late take was refused")
      }))))
  }
})
