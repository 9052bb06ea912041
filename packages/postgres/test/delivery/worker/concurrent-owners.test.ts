/** Statements of an owner concurrent with a takeover of its partitions. */
import { layer } from "@effect/vitest"
import { DeliveryQueue, DeliveryStore } from "@waybill/core/delivery"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Option } from "effect"
import { assert } from "vitest"
import { openTransaction, runBlocked } from "../../OpenTransaction.ts"
import { testStorage } from "../../TestStorage.ts"

const { freshTenant, idOf, letSee, publish, seed } = fixtures
const { acquire, changeOf, drop, end, everyPartition, from, outcomeOf, release, settle, take, takeOne } = workerFixtures

/** An owner whose lease is over. */
const gone = (tenantId: string) => acquire(tenantId, { leaseMillis: -1 })

const find = (tenantId: string, deliveryId: string) =>
  Effect.flatMap(DeliveryQueue, (queue) => Effect.map(queue.find(tenantId, deliveryId), Option.getOrThrow))

layer(testStorage(), { excludeTestServices: true })("an owner whose partition is being taken over", (it) => {
  it.effect("takes nothing when the new epoch is written before it", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const before = yield* gone(tenantId)
    const [owner, taken] = yield* runBlocked(acquire(tenantId), take(before, { from: [from(1)], unrequested: 1 }))
    assert.deepStrictEqual([taken.owned, taken.signals, taken.from, taken.deliveries], [[], [], [], []])
    assert.lengthOf((yield* take(owner, { unrequested: 1 })).deliveries, 1)
  }))

  it.effect("finishes its take first, and the next owner gets these deliveries", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const before = yield* gone(tenantId)
    const [{ deliveryId }, owner] = yield* runBlocked(takeOne(before), acquire(tenantId))
    assert.deepStrictEqual(owner.waiting.map((each) => each.deliveryId), [deliveryId])
    const { deliveries } = yield* take(owner, { from: [from(1, { again: [deliveryId], batches: 0 })] })
    assert.deepStrictEqual(deliveries.map(({ attempt, tries }) => [attempt, tries]), [[2, 2]])
    assert.deepStrictEqual(owner.takenOver.toSorted(), everyPartition)
  }))

  it.effect("settles, drops and releases nothing when the new epoch is written before it", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const before = yield* gone(tenantId)
    const delivery = yield* takeOne(before)
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    yield* letSee(tenantId, "client", ["B"])
    const [, late] = yield* runBlocked(acquire(tenantId), settle(before, {
      outcomes: [outcomeOf(delivery)],
      ended: [{ partition: 1, flight: delivery.flight }],
      destinations: [changeOf(1, { pause: "late", breaker: { failures: 9, openUntil: 1 } })]
    }))
    assert.deepStrictEqual(late, [])
    assert.strictEqual((yield* drop(before, { keys: [{ destinationId: idOf(1), key: "T" }] })).dropped, 0)
    yield* release(before, true)
    const found = yield* find(tenantId, delivery.deliveryId)
    assert.deepStrictEqual([found.state, found.attempts], ["waiting", []])
    assert.deepStrictEqual((yield* acquire(tenantId)).owned, [], "the lease of the next owner holds")
    const [loaded] = yield* (yield* DeliveryStore).load(tenantId, [idOf(1)])
    assert.strictEqual(loaded!.breaker.failures, 0)
  }))

  it.effect("finishes its settlement first, and its outcomes stay", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const before = yield* gone(tenantId)
    const delivery = yield* takeOne(before)
    const [, next] = yield* runBlocked(end(before, [delivery]), acquire(tenantId))
    assert.deepStrictEqual(next.waiting, [])
    assert.strictEqual((yield* find(tenantId, delivery.deliveryId)).state, "delivered")
  }))

  it.effect("keeps its leases when it renews them while another worker asks for them", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    const owner = yield* acquire(tenantId)
    const commit = yield* openTransaction(acquire(tenantId))
    const { owned } = yield* (yield* DeliveryStore).renew({ workerId: owner.workerId, leaseMillis: 600_000 })
    assert.sameDeepMembers(owned.map(({ partition }) => partition), everyPartition)
    assert.deepStrictEqual((yield* commit).owned, [])
  }))

  it.effect("renews its other leases meanwhile", Effect.fnUntraced(function*() {
    const store = yield* DeliveryStore
    const [tenantId, other] = [freshTenant(), freshTenant()]
    const before = yield* gone(tenantId)
    yield* acquire(other, { worker: before.workerId })
    const commit = yield* openTransaction(acquire(tenantId))
    const { owned } = yield* store.renew({ workerId: before.workerId, leaseMillis: 600_000 })
    assert.deepStrictEqual([...new Set(owned.map((each) => each.tenantId))], [other])
    assert.lengthOf((yield* commit).owned, everyPartition.length)
  }))

  it.effect("is replaced by one of two concurrent workers", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* gone(tenantId)
    const [first, second] = yield* runBlocked(acquire(tenantId), acquire(tenantId))
    assert.lengthOf(first.owned, everyPartition.length)
    assert.deepStrictEqual(second.owned, [])
  }))

  it.effect("reclaims a take that is still running, and never gets its answer twice", Effect.fnUntraced(function*() {
    const store = yield* DeliveryStore
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const worker = yield* acquire(tenantId)
    const request = workerFixtures.takeRequest(worker, { from: [from(1)] })
    const [{ deliveries: [lost] }, { destinations, owned }] = yield* runBlocked(store.take(request), store.reclaim(tenantId, worker.owned, request.flight))
    const waiting = yield* workerFixtures.waitingIn(tenantId, destinations)
    assert.deepStrictEqual([owned.length, waiting.map((each) => each.deliveryId)], [everyPartition.length, [lost!.deliveryId]])
    assert.deepStrictEqual((yield* store.take({ ...request, from: [from(1, { again: [lost!.deliveryId] })] })).owned, [])
    const { deliveries: [again] } = yield* take({ ...worker, owned }, { from: [from(1, { again: [lost!.deliveryId], batches: 0 })] })
    assert.deepStrictEqual([again!.attempt, again!.tries], [1, 1])
    yield* end({ ...worker, owned }, [again!])
    assert.strictEqual((yield* find(tenantId, lost!.deliveryId)).state, "delivered")
  }))
})
