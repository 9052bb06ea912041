import { assert, describe, it } from "@effect/vitest"
import { settledWithout } from "@waybill/conformance/fixtures"
import { StorageError } from "@waybill/core"
import { DeliveryWorker } from "@waybill/core/delivery"
import { Receiver, reportedEvent, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber } from "effect"
import { account, hook, inEngine, inEngineWith, makeEngine, workerOn } from "../Engine.ts"

describe("a drain", () => {
  it.effect("sends deliveries that are due now, returns the number of attempts, and leaves later ones", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
    const worker = yield* DeliveryWorker
    yield* engine.receivers.script(hook, [Receiver.accept(), Receiver.fail(500), Receiver.accept()])
    yield* engine.publish("A", "B", "C", "C")
    assert.strictEqual(yield* worker.drain, 4)
    assert.strictEqual(yield* worker.drain, 0)
    assert.deepStrictEqual((yield* engine.list()).map((each) => each.state).toSorted(), ["delivered", "delivered", "delivered", "waiting"])
    yield* TestWaybill.pass("1 minute")
    assert.strictEqual(yield* worker.drain, 1)
  }, inEngine))

  for (const call of ["acquire", "load", "take", "settle"] as const) {
    it.effect(`serves all other tenants before it fails, while every ${call} of one fails`, Effect.fnUntraced(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
      const stuck = yield* TestWaybill.tenant("a-stuck-one")
      yield* TestWaybill.subscribe(stuck, stuck.customer("client", [account]), { endpointUrl: "https://stuck.example/hook" })
      yield* engine.events.append(stuck.carrier, [reportedEvent("A", { accounts: [account] })])
      yield* engine.publish("A", "A", "A")
      const failure = new StorageError({ operation: `DeliveryStore.${call}`, cause: "a lock" })
      const fails = (tenantId: string) => tenantId === stuck.tenantId
      const worker = yield* workerOn((store) => ({
        acquire: (worker, tenantId, partitions) => call === "acquire" && fails(tenantId) ? Effect.fail(failure) : store.acquire(worker, tenantId, partitions),
        load: (tenantId, ids) => call === "load" && fails(tenantId) ? Effect.fail(failure) : store.load(tenantId, ids),
        take: (request) => call === "take" && fails(request.tenantId) ? Effect.fail(failure) : store.take(request),
        settle: (request) => call === "settle" && fails(request.tenantId) ? Effect.fail(failure) : store.settle(request)
      }))
      const drained = yield* Effect.forkChild(Effect.flip(worker.drain))
      yield* TestWaybill.pass(100)
      assert.strictEqual(yield* Fiber.join(drained), failure)
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2", "A/3"])
      assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["delivered", "delivered", "delivered"])

      // the others' partitions are free again
      yield* engine.publish("B")
      yield* (yield* DeliveryWorker).drain
      assert.strictEqual((yield* engine.delivered()).at(-1), "B/1")
    }, inEngine))
  }

  it.effect("waits for a transaction that has locked a subscription, but not for longer than for attempts in flight", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1, initialBackoffSeconds: 3600 } })
    yield* engine.receivers.script(hook, [Receiver.fail(503), Receiver.fail(503), Receiver.accept()])
    const { id } = engine.subscription
    let isLocked = true
    const worker = yield* workerOn((store) => ({ settle: (request) => isLocked ? Effect.map(store.settle(settledWithout(request, id)), (answer) => ({ ...answer, locked: [id] })) : store.settle(request) }))
    const states = Effect.map(engine.list(), (all) => all.map(({ attempts, state }) => [state, attempts.length]))

    yield* engine.publish("A")
    const patient = yield* Effect.forkChild(worker.drain)
    yield* TestWaybill.pass("9 seconds")
    assert.isUndefined(patient.pollUnsafe())
    isLocked = false
    yield* TestWaybill.pass(100)
    assert.deepStrictEqual([yield* Fiber.join(patient), yield* states], [1, [["waiting", 1]]])

    isLocked = true
    yield* engine.publish("B")
    const late = yield* Effect.forkChild(worker.drain)
    yield* TestWaybill.pass("11 seconds")
    assert.strictEqual(yield* Fiber.join(late), 1)
    isLocked = false
    assert.strictEqual(yield* worker.drain, 1)
    assert.deepStrictEqual([yield* engine.delivered(), yield* states], [["B/1"], [["waiting", 1], ["delivered", 1]]])
  }, inEngine))

  it.effect("asks the store for nothing while all slots are in use", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
    yield* engine.receivers.script(hook, Receiver.delay(5000))
    let looks = 0
    const worker = yield* workerOn((store) => ({ look: (...asked) => Effect.suspend(() => (looks += 1, looks > 100 ? Effect.never : store.look(...asked))) }))
    yield* engine.publish("A", "B", "C")
    const drained = yield* Effect.forkChild(worker.drain)
    for (let second = 0; second < 20; second++) yield* TestWaybill.pass("1 second")
    assert.isAtMost(looks, 20)
    assert.strictEqual(yield* Fiber.join(drained), 3)
  }, inEngineWith({ concurrency: 1 })))

  it.effect("keeps its leases while it waits for attempts, so that no other worker sends them too", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
    yield* engine.receivers.script(hook, [Receiver.delay(6000), Receiver.delay(14_900), Receiver.accept()])
    yield* engine.publish("A", "A")
    const drained = yield* Effect.forkChild(Effect.flatMap(DeliveryWorker, ({ drain }) => drain))
    yield* TestWaybill.pass(100)
    yield* TestWaybill.run
    for (let second = 0; second < 30; second++) yield* TestWaybill.pass("1 second")
    assert.strictEqual(yield* Fiber.join(drained), 2)
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2"])
  }, inEngine))

  it.effect("begins no attempt after its time, writes those in flight, and leaves the rest to the next call", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1 } })
    const worker = yield* DeliveryWorker
    yield* engine.receivers.script(hook, [Receiver.delay(1000), Receiver.delay(1000), Receiver.accept()])
    yield* engine.publish("A", "A", "A")
    const short = yield* Effect.forkChild(worker.drainFor(1500))
    yield* TestWaybill.pass("1999 millis")
    assert.isUndefined(short.pollUnsafe())
    yield* TestWaybill.pass("1 millis")
    assert.strictEqual(yield* Fiber.join(short), 2)
    assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["delivered", "delivered"])
    assert.strictEqual(yield* worker.drain, 1)
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2", "A/3"])
  }, inEngine))
})
