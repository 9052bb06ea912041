/** Calls of an owner while a transaction of a host has locked rows of one destination. None of them waits for it. */
import { layer } from "@effect/vitest"
import { DeliveryQueue, DeliveryStore, type TakenDelivery } from "@waybill/core/delivery"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Deferred, Effect, Fiber } from "effect"
import { assert } from "vitest"
import { openTransaction, untilOneIsBlocked } from "../../OpenTransaction.ts"
import { testStorage } from "../../TestStorage.ts"

const { destinationSettings, freshTenant, idOf, letSee, publish, seed, subscribe } = fixtures
const { acquire, drop, end, everyPartition, from, load, outcomeOf, stateOf, take, takeFrom, takeOne } = workerFixtures

/** An owner with two destinations of one partition, and a delivery of each that failed once. */
const twoFailed = Effect.gen(function*() {
  const tenantId = freshTenant()
  yield* letSee(tenantId, "client", ["A"])
  for (const n of [1, 9]) yield* subscribe(tenantId, { n })
  yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
  const worker = yield* acquire(tenantId)
  const { deliveries } = yield* take(worker, { from: [from(1), from(9)] })
  yield* end(worker, deliveries, { state: "waiting" })
  const [locked, other] = [1, 9].map((n) => deliveries.find(({ destinationId }) => destinationId === idOf(n))!.deliveryId)
  return { locked: locked!, other: other!, tenantId, worker }
})

layer(testStorage(), { excludeTestServices: true })("beside an open transaction, an owner", (it) => {
  it.effect("takes all deliveries but those that it retries", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { locked, other, tenantId, worker } = yield* twoFailed
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    const commit = yield* openTransaction(queue.retry(tenantId, locked))
    const { deliveries, owned } = yield* take(worker, { from: [from(1, { again: [locked] }), from(9, { again: [other] })] })
    assert.deepStrictEqual([owned, deliveries.map(({ attempt, destinationId }) => [destinationId, attempt])], [
      worker.owned.map(({ partition }) => partition),
      [[idOf(9), 2], [idOf(1), 1], [idOf(9), 1]]
    ])
    yield* commit
    const { deliveries: [again] } = yield* takeFrom(worker, 1, { again: [locked], batches: 0 })
    assert.deepStrictEqual([again!.deliveryId, again!.attempt, again!.tries], [locked, 2, 1])
  }))

  it.effect("takes none of the deliveries that it cancels", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { locked, other, tenantId, worker } = yield* twoFailed
    const commit = yield* openTransaction(queue.closeDestination(tenantId, idOf(1)))
    const first = yield* take(worker, { from: [from(1, { again: [locked], batches: 0 })] })
    assert.deepStrictEqual([first.owned.length, first.deliveries], [worker.owned.length, []])
    const { deliveries } = yield* take(worker, { from: [from(1, { again: [locked], batches: 0 }), from(9, { again: [other], batches: 0 })] })
    assert.deepStrictEqual(deliveries.map(({ deliveryId }) => deliveryId), [other])
    yield* commit
    assert.deepStrictEqual((yield* take(worker, { from: [from(1, { again: [locked] })] })).deliveries, [])
    assert.strictEqual(yield* stateOf(tenantId, locked), "cancelled")
  }))

  it.effect("settles all deliveries but one that was in a take while it asked for it", Effect.fnUntraced(function*() {
    const [queue, store] = [yield* DeliveryQueue, yield* DeliveryStore]
    const { locked, other, tenantId, worker } = yield* twoFailed
    const taken = yield* Deferred.make<ReadonlyArray<TakenDelivery>>()
    const settling = (each: ReadonlyArray<TakenDelivery>) => store.settle({ tenantId, owned: worker.owned, outcomes: each.map((one) => outcomeOf(one)), ended: [], destinations: [] })
    const states = Effect.forEach([locked, other], (id) => stateOf(tenantId, id))
    const commitTake = yield* openTransaction(take(worker, { from: [from(1, { again: [locked] }), from(9, { again: [other] })] }))
    const asking = yield* Effect.forkChild(Effect.gen(function*() {
      const commit = yield* openTransaction(queue.retry(tenantId, locked))
      const { locked: skipped } = yield* settling(yield* Deferred.await(taken))
      const meanwhile = yield* states
      yield* commit
      return { skipped, meanwhile }
    }))
    yield* untilOneIsBlocked
    const { deliveries } = yield* commitTake
    yield* Deferred.succeed(taken, deliveries)
    assert.deepStrictEqual(yield* Fiber.join(asking), { skipped: [idOf(1)], meanwhile: ["sending", "delivered"] })
    assert.deepStrictEqual((yield* settling(deliveries)).locked, [])
    assert.deepStrictEqual(yield* states, ["delivered", "delivered"])
  }))

  it.effect("drops everything but what is in destinations that it changes", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { locked, other, tenantId, worker } = yield* twoFailed
    yield* subscribe(tenantId, { n: 2 })
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    yield* letSee(tenantId, "client", ["B"])
    yield* queue.closeDestination(tenantId, idOf(2))
    const request = {
      closed: [idOf(2)],
      keys: [1, 9].map((n) => ({ destinationId: idOf(n), key: "T" })),
      deliveries: [{ destinationId: idOf(1), deliveryId: locked }, { destinationId: idOf(9), deliveryId: other }]
    }
    const states = Effect.forEach([locked, other], (id) => stateOf(tenantId, id))
    const commit = yield* openTransaction(queue.retry(tenantId, locked))
    assert.deepStrictEqual(yield* drop(worker, request), { dropped: 2, more: false, locked: [idOf(1)] })
    assert.deepStrictEqual(yield* states, ["waiting", "cancelled"])
    yield* commit
    assert.deepStrictEqual(yield* drop(worker, request), { dropped: 1, more: false, locked: [] })
    assert.deepStrictEqual(yield* states, ["cancelled", "cancelled"])
  }))

  it.effect("takes over what is in flight to destinations that it closes, and cancels it afterwards", Effect.fnUntraced(function*() {
    const [queue, store] = [yield* DeliveryQueue, yield* DeliveryStore]
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1, T: 1 }, { policy: { batchMaxSize: 1 } })
    const before = yield* acquire(tenantId, { leaseMillis: -1 })
    const delivery = yield* takeOne(before, 1, { batches: 1 })
    const commit = yield* openTransaction(queue.closeDestination(tenantId, idOf(1)))
    const worker = yield* acquire(tenantId)
    assert.deepStrictEqual(worker.waiting.map(({ deliveryId }) => deliveryId), [delivery.deliveryId])
    const { deliveries } = yield* takeFrom(worker)
    const { owned } = yield* store.reclaim(tenantId, worker.owned, deliveries[0]!.flight)
    assert.lengthOf(owned, everyPartition.length)
    const states = Effect.forEach([delivery, ...deliveries], ({ deliveryId }) => stateOf(tenantId, deliveryId))
    assert.deepStrictEqual(yield* states, ["waiting", "waiting"])
    yield* commit
    yield* drop({ ...worker, owned }, { closed: [idOf(1)] })
    assert.deepStrictEqual(yield* states, ["cancelled", "cancelled"])
    assert.deepStrictEqual((yield* store.acquire({ workerId: worker.workerId, leaseMillis: 600_000 }, tenantId, everyPartition)).partitions.flatMap(({ destinations }) => destinations), [])
  }))

  it.effect("takes over a delivery that was in a take while it closed the destination", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { locked, other, tenantId, worker } = yield* twoFailed
    const states = Effect.forEach([locked, other], (id) => stateOf(tenantId, id))
    const commitTake = yield* openTransaction(take(worker, { from: [from(1, { again: [locked] }), from(9, { again: [other] })] }))
    const commit = yield* openTransaction(queue.closeDestination(tenantId, idOf(1)))
    yield* commitTake
    assert.deepStrictEqual(yield* states, ["sending", "sending"])
    const next = yield* acquire(tenantId, { worker: worker.workerId })
    assert.deepStrictEqual(yield* states, ["waiting", "waiting"])
    yield* commit
    yield* drop(next, { closed: [idOf(1)] })
    assert.deepStrictEqual(yield* states, ["cancelled", "waiting"])
  }))

  it.effect("releases its partitions, and the next owner knows nothing of the rate in one of them", Effect.fnUntraced(function*() {
    const [queue, store] = [yield* DeliveryQueue, yield* DeliveryStore]
    const tenantId = freshTenant()
    for (const n of [1, 2, 9]) yield* subscribe(tenantId, { n })
    const worker = yield* acquire(tenantId)
    const { now } = yield* take(worker)
    const mark = now + 30_000.5
    const commit = yield* openTransaction(queue.changeDestination(tenantId, destinationSettings({ policy: { batchMaxSize: 5 } })))
    yield* store.release(tenantId, worker.owned.map((each) => ({ ...each, idle: false, othersUntil: each.partition === 1 ? 1 : undefined })), [1, 2, 9].map((n) => ({ destinationId: idOf(n), mark })))
    const { partitions } = yield* store.acquire({ workerId: "next", leaseMillis: 600_000 }, tenantId, everyPartition)
    yield* commit
    const known = partitions.flatMap(({ othersUntil, partition }) => othersUntil === undefined ? [] : [{ partition, isLater: othersUntil >= now }])
    assert.deepStrictEqual(known, [{ partition: 1, isLater: true }])
    assert.deepStrictEqual(yield* Effect.forEach([1, 2, 9], (n) => Effect.map(load(tenantId, n), ({ rateMark }) => rateMark)), [undefined, mark, mark])
  }))
})
