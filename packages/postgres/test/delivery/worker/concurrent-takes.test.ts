/** Takes and outcomes concurrent with publishers, operators and customers. */
import { layer } from "@effect/vitest"
import { DeliveryControl, DeliveryQueue, DeliveryStore, partitionOf } from "@waybill/core/delivery"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Fiber, Option } from "effect"
import { assert } from "vitest"
import { openTransaction, runBlocked, untilBlocked, untilOneIsBlocked } from "../../OpenTransaction.ts"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { destinationSettings, freshTenant, idOf, letSee, publish, seed, subscribe } = fixtures
const { acquire, changeOf, drop, end, eventIdsOf, from, outcomeOf, settle, take, takeFrom, takeOne } = workerFixtures

const schema = freshSchema()
const rows = rowsIn(schema)

const left = (table: string, tenantId: string) =>
  Effect.map(rows<{ n: number }>(`SELECT count(*)::int AS n FROM @${table} WHERE tenant_id = $1`, [tenantId]), ([row]) => row!.n)

const stateOf = (tenantId: string, deliveryId: string) =>
  Effect.flatMap(DeliveryQueue, (queue) => Effect.map(queue.find(tenantId, deliveryId), (found) => Option.getOrThrow(found).state))

/** An owner with a delivery that failed once. */
const failedOnce = Effect.gen(function*() {
  const tenantId = freshTenant()
  yield* seed(tenantId, { S: 1 })
  const worker = yield* acquire(tenantId)
  const delivery = yield* takeOne(worker)
  yield* end(worker, [delivery], { state: "waiting" })
  return { deliveryId: delivery.deliveryId, tenantId, worker }
})

layer(testStorage(schema), { excludeTestServices: true })("an owner", (it) => {
  it.effect("receives the signal of a publisher that commits after transactions that began later", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, {}, { policy: { batchMaxSize: 1 } })
    yield* publish(tenantId, [{ shipmentId: "A" }, { shipmentId: "B" }], { accounts: ["A"] })
    const worker = yield* acquire(tenantId)
    yield* end(worker, (yield* takeFrom(worker)).deliveries)
    yield* take(worker)
    const commit = yield* openTransaction(publish(tenantId, [{ shipmentId: "A" }]))
    yield* publish(tenantId, [{ shipmentId: "B" }])
    const first = yield* take(worker, { unrequested: 1 })
    assert.deepStrictEqual([first.signals, first.deliveries.map(eventIdsOf)], [[{ destinationId: idOf(1), key: "B" }], [["B/2"]]])
    assert.deepStrictEqual((yield* take(worker)).signals, [])
    yield* commit
    const second = yield* take(worker, { from: [from(1)] })
    assert.deepStrictEqual([second.signals, second.deliveries.map(eventIdsOf)], [[{ destinationId: idOf(1), key: "A" }], [["A/2"]]])
  }))

  it.effect("receives new signals while a take from destinations is not committed", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const worker = yield* acquire(tenantId)
    yield* take(worker)
    const commit = yield* openTransaction(take(worker, { from: [from(1)], signals: 0 }))
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: "T" }])
    assert.deepStrictEqual((yield* commit).deliveries.map(eventIdsOf), [["S/1"]])
    assert.deepStrictEqual((yield* takeFrom(worker)).deliveries.map(eventIdsOf), [["T/1"]])
    assert.strictEqual(yield* left("delivery_signals", tenantId), 0)
  }))

  it.effect("does not send entries of a concurrent purge", Effect.fnUntraced(function*() {
    const control = yield* DeliveryControl
    const queue = yield* DeliveryQueue
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1, T: 1 })
    const worker = yield* acquire(tenantId)
    const purge = Effect.andThen(
      queue.changeDestination(tenantId, destinationSettings({ state: "paused" })),
      control.purgeNext(tenantId, idOf(1), undefined)
    )
    const [, taking] = yield* runBlocked(purge, takeFrom(worker))
    assert.deepStrictEqual(taking.deliveries, [])
    assert.deepStrictEqual([yield* left("delivery_entries", tenantId), yield* left("delivery_flights", tenantId)], [0, 0])
  }))

  it.effect("sends a delivery again, and none of the entries that are removed meanwhile", Effect.fnUntraced(function*() {
    const { deliveryId, tenantId, worker } = yield* failedOnce
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    const removal = rows("DELETE FROM @delivery_entries WHERE tenant_id = $1", [tenantId])
    const [, { deliveries }] = yield* runBlocked(removal, takeFrom(worker, 1, { again: [deliveryId] }))
    assert.deepStrictEqual(deliveries.map((each) => [each.deliveryId, each.attempt]), [[deliveryId, 2]])
  }))

  it.effect("sends what it took although some was removed meanwhile and its worker raised the epoch to reclaim another take", Effect.fnUntraced(function*() {
    const store = yield* DeliveryStore
    const { deliveryId, tenantId, worker } = yield* failedOnce
    yield* publish(tenantId, ["T", "U"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
    const commit = yield* openTransaction(rows("DELETE FROM @delivery_entries WHERE tenant_id = $1 AND key = 'U'", [tenantId]))
    const taking = yield* Effect.forkChild(takeFrom(worker, 1, { again: [deliveryId] }))
    yield* untilBlocked(1)
    const reclaiming = yield* Effect.forkChild(store.reclaim(tenantId, worker.owned, idOf(999)))
    yield* untilBlocked(2)
    yield* commit
    assert.deepStrictEqual((yield* Fiber.join(taking)).deliveries.map(eventIdsOf).toSorted(), [["S/1"], ["T/1"]])
    const { owned } = yield* Fiber.join(reclaiming)
    assert.lengthOf(owned, worker.owned.length)
    assert.strictEqual(yield* left("delivery_flights", tenantId), 1)
  }))

  it.effect("sends no delivery that is cancelled after the take has found it", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { deliveryId, tenantId, worker } = yield* failedOnce
    // the second statement of the take waits for this lock
    const commit = yield* openTransaction(rows("SELECT FROM @delivery_partitions WHERE tenant_id = $1 FOR UPDATE", [tenantId]))
    const taking = yield* Effect.forkChild(takeFrom(worker, 1, { again: [deliveryId], batches: 0 }))
    yield* untilOneIsBlocked
    yield* queue.closeDestination(tenantId, idOf(1))
    yield* commit
    assert.deepStrictEqual((yield* Fiber.join(taking)).deliveries, [])
    assert.strictEqual(yield* stateOf(tenantId, deliveryId), "cancelled")
  }))

  it.effect("withdraws no delivery that a concurrent take sends", Effect.fnUntraced(function*() {
    const { deliveryId, tenantId, worker } = yield* failedOnce
    const withdrawing = Effect.andThen(letSee(tenantId, "client", ["B"]), drop(worker, { deliveries: [{ destinationId: idOf(1), deliveryId }] }))
    const [{ deliveries }] = yield* runBlocked(takeFrom(worker, 1, { again: [deliveryId] }), withdrawing)
    assert.lengthOf(deliveries, 1)
    assert.deepStrictEqual([yield* stateOf(tenantId, deliveryId), yield* left("delivery_entries", tenantId)], ["sending", 0])
  }))

  it.effect("leaves a concurrent purge only entries that it did not take", Effect.fnUntraced(function*() {
    const control = yield* DeliveryControl
    const queue = yield* DeliveryQueue
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1, T: 1 }, { policy: { batchMaxSize: 1 } })
    const worker = yield* acquire(tenantId)
    const commit = yield* openTransaction(takeFrom(worker, 1, { batches: 1 }))
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    const purging = yield* Effect.forkChild(control.purgeNext(tenantId, idOf(1), undefined))
    yield* untilOneIsBlocked
    assert.deepStrictEqual((yield* commit).deliveries.map(eventIdsOf), [["S/1"]])
    assert.strictEqual((yield* Fiber.join(purging)).dropped, 1)
  }))

  it.effect("takes many entries while others of them are purged, without a deadlock", Effect.fnUntraced(function*() {
    const control = yield* DeliveryControl
    const queue = yield* DeliveryQueue
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 }, { policy: { batchMaxSize: 10 } })
    const worker = yield* acquire(tenantId)
    // stored in another order than that of their keys
    const shipments = Array.from({ length: 2_000 }, (_, n) => `T${(n * 7919) % 2_000}`)
    for (let n = 0; n < shipments.length; n += 500) yield* publish(tenantId, shipments.slice(n, n + 500).map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
    yield* rows("ANALYZE @delivery_entries", [])
    const middle = yield* openTransaction(rows("SELECT FROM @delivery_entries WHERE tenant_id = $1 ORDER BY key OFFSET 200 LIMIT 1 FOR UPDATE", [tenantId]))
    const taking = yield* Effect.forkChild(takeFrom(worker, 1, { batches: 50 }))
    yield* untilBlocked(1)
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    const purging = yield* Effect.forkChild(control.purgeNext(tenantId, idOf(1), undefined))
    yield* untilBlocked(2)
    yield* middle
    assert.lengthOf((yield* Fiber.join(taking)).deliveries, 50)
    assert.strictEqual((yield* Fiber.join(purging)).dropped, 1_501)
  }))

  it.effect("cancels deliveries that it took from a destination that is closed concurrently", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1, T: 1 }, { policy: { batchMaxSize: 1 } })
    const worker = yield* acquire(tenantId)
    const commit = yield* openTransaction(queue.closeDestination(tenantId, idOf(1)))
    const delivery = yield* takeOne(worker, 1, { batches: 1 })
    yield* end(worker, [delivery], { state: "waiting" })
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "sending")
    yield* commit
    yield* end(worker, [delivery], { state: "waiting" })
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "cancelled")
    assert.deepStrictEqual(yield* drop(worker, { closed: [idOf(1)] }), { dropped: 1, more: false, locked: [] })
    assert.deepStrictEqual([yield* left("delivery_entries", tenantId), yield* left("delivery_flights", tenantId)], [0, 0])
  }))

  it.effect("writes the outcomes of other destinations while a transaction has locked one, whose outcomes follow", Effect.fnUntraced(function*() {
    const [queue, store] = [yield* DeliveryQueue, yield* DeliveryStore]
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    for (const n of [1, 9]) yield* subscribe(tenantId, { n, policy: { batchMaxSize: 1 } })
    yield* publish(tenantId, ["A", "B", "C"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
    const worker = yield* acquire(tenantId)
    const before = yield* takeFrom(worker, 1, { batches: 1 })
    yield* end(worker, before.deliveries, { state: "waiting" })
    const { deliveries } = yield* take(worker, { from: [from(1, { again: [before.deliveries[0]!.deliveryId] }), from(9)] })
    const [own, others] = [deliveries.filter(({ destinationId }) => destinationId === idOf(1)), deliveries.filter(({ destinationId }) => destinationId === idOf(9))]
    assert.deepStrictEqual([own.length, others.length], [3, 3])
    const commit = yield* openTransaction(queue.changeDestination(tenantId, destinationSettings({ policy: { batchMaxSize: 5 } })))
    const outcomes = [...own.map((each, n) => outcomeOf(each, { state: n === 0 ? "dead" : "waiting" })), ...others.map((each, n) => outcomeOf(each, { state: n === 0 ? "waiting" : "delivered" }))]
    const request = {
      tenantId,
      owned: worker.owned,
      outcomes,
      ended: [{ partition: partitionOf(idOf(1)), flight: own[0]!.flight }],
      destinations: [changeOf(1, { pause: "no", always: true })]
    }
    assert.deepStrictEqual((yield* store.settle(request)).locked, [idOf(1)])
    const states = Effect.forEach([...own, ...others], ({ deliveryId }) => stateOf(tenantId, deliveryId))
    assert.deepStrictEqual(yield* states, ["sending", "sending", "sending", "waiting", "delivered", "delivered"])
    assert.strictEqual(yield* left("delivery_flights", tenantId), 1)
    yield* commit
    assert.deepStrictEqual((yield* store.settle({ ...request, outcomes: outcomes.slice(0, 3) })).locked, [])
    assert.deepStrictEqual(yield* states, ["dead", "waiting", "waiting", "waiting", "delivered", "delivered"])
    assert.deepStrictEqual([yield* left("delivery_flights", tenantId), Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1))).state], [0, "paused"])
  }))

  it.effect("blocks the closing of a destination until it has written a failed attempt", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1, T: 1 }, { policy: { batchMaxSize: 1 } })
    const worker = yield* acquire(tenantId)
    const { deliveries } = yield* takeFrom(worker)
    yield* settle(worker, { outcomes: [outcomeOf(deliveries[0]!, { state: "waiting" })] })
    const { deliveries: again } = yield* takeFrom(worker, 1, { again: [deliveries[0]!.deliveryId], batches: 0 })
    yield* runBlocked(end(worker, [...again, deliveries[1]!], { state: "waiting" }), queue.closeDestination(tenantId, idOf(1)))
    for (const { deliveryId } of deliveries) assert.strictEqual(yield* stateOf(tenantId, deliveryId), "cancelled")
  }))

  it.effect("releases an idle partition during a publication, whose work is found", Effect.fnUntraced(function*() {
    const store = yield* DeliveryStore
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const worker = yield* acquire(tenantId)
    yield* end(worker, (yield* take(worker, { unrequested: 1 })).deliveries)
    const commit = yield* openTransaction(publish(tenantId, [{ shipmentId: "S" }]))
    yield* store.release(tenantId, worker.owned.map((each) => ({ ...each, idle: true, othersUntil: undefined })), [])
    assert.isFalse(yield* workerFixtures.hasWork(tenantId))
    yield* commit
    assert.isTrue(yield* workerFixtures.hasWork(tenantId))
  }))
})
