/** Operators' calls concurrent with each other, with takes and with outcomes: no deadlock, and no inconsistent state. */
import { layer } from "@effect/vitest"
import { Transaction } from "@waybill/core"
import { DeliveryControl, DeliveryQueue, pauseForPurge, type TakenDelivery } from "@waybill/core/delivery"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Exit, Fiber, Option } from "effect"
import { assert } from "vitest"
import { openTransaction, untilBlocked, untilOneIsBlocked } from "../../OpenTransaction.ts"
import { testStorage } from "../../TestStorage.ts"

const { freshTenant, idOf, seed } = fixtures
const { acquire, changeOf, end, from, outcomeOf, settle, take, takeFrom } = workerFixtures

/** A worker with deliveries of one event each, in the given state. */
const setup = Effect.fnUntraced(function*(state: "waiting" | "dead") {
  const tenantId = freshTenant()
  yield* seed(tenantId, { S: 1, T: 1 }, { policy: { batchMaxSize: 1 } })
  const worker = yield* acquire(tenantId)
  const { deliveries } = yield* takeFrom(worker)
  yield* end(worker, deliveries, { state, dueInMillis: 3_600_000 })
  return { tenantId, worker, deliveries, ids: deliveries.map(({ deliveryId }) => deliveryId) }
})

const statesOf = Effect.fnUntraced(function*(tenantId: string, ids: ReadonlyArray<string>) {
  const queue = yield* DeliveryQueue
  return yield* Effect.forEach(ids, (id) => Effect.map(queue.find(tenantId, id), (found) => Option.getOrThrow(found).state))
})

/** Fails on a deadlock, because no statement is repeated inside a transaction. */
const inTransaction = <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.flatMap(Transaction, (transaction) => Effect.forkChild(Effect.exit(transaction.run(work))))

layer(testStorage(), { excludeTestServices: true })("operators' calls", (it) => {
  it.effect("leave dead letters dead when their destination is closed at the same time", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { ids, tenantId } = yield* setup("dead")
    const commit = yield* openTransaction(queue.closeDestination(tenantId, idOf(1)))
    const recovering = yield* inTransaction(queue.recover(tenantId, idOf(1), 0))
    const retrying = yield* inTransaction(queue.retry(tenantId, ids[0]!))
    yield* untilBlocked(2)
    yield* commit
    assert.deepStrictEqual(yield* Fiber.join(recovering), Exit.succeed(0))
    assert.deepStrictEqual(yield* Fiber.join(retrying), Exit.succeed(Option.some("cancelled" as const)))
    assert.deepStrictEqual(yield* statesOf(tenantId, ids), ["dead", "dead"])
  }))

  it.effect("cancel deliveries that were retried just before the destination is closed", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { ids, tenantId } = yield* setup("dead")
    const commit = yield* openTransaction(queue.recover(tenantId, idOf(1), 0))
    const closing = yield* inTransaction(queue.closeDestination(tenantId, idOf(1)))
    yield* untilOneIsBlocked
    yield* commit
    assert.isTrue(Exit.isSuccess(yield* Fiber.join(closing)))
    assert.deepStrictEqual(yield* statesOf(tenantId, ids), ["cancelled", "cancelled"])
  }))

  it.effect("keep a dead letter that they retry while retention removes the others", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { ids, tenantId } = yield* setup("dead")
    const commit = yield* openTransaction(queue.retry(tenantId, ids[0]!))
    assert.strictEqual(yield* queue.prune(tenantId, Date.now() + 600_000), 1)
    yield* commit
    assert.deepStrictEqual(yield* statesOf(tenantId, ids.slice(0, 1)), ["waiting"])
  }))

  it.effect("dismiss no dead letters while others of their destination are retried, because both lock several in different orders", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const control = yield* DeliveryControl
    const { ids, tenantId } = yield* setup("dead")
    const commit = yield* openTransaction(queue.retryDead(tenantId, ids.slice(0, 1)))
    const dismissing = yield* inTransaction(control.dismiss(tenantId, ids.slice(1)))
    yield* untilOneIsBlocked
    yield* commit
    assert.deepStrictEqual(yield* Fiber.join(dismissing), Exit.succeed(1))
    assert.deepStrictEqual(yield* statesOf(tenantId, ids), ["waiting", "dismissed"])
  }))

  it.effect("do not change deliveries that a concurrent take retries", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const control = yield* DeliveryControl
    const { ids, tenantId, worker } = yield* setup("waiting")
    const commit = yield* openTransaction(take(worker, { from: [from(1, { again: ids })] }))
    // a purge leaves out what a take has locked
    const purging = yield* inTransaction(Effect.andThen(control.pause(tenantId, idOf(1), pauseForPurge), control.purgeNext(tenantId, idOf(1), undefined)))
    assert.isTrue(Exit.isSuccess(yield* Fiber.join(purging)))
    // a retry waits for it, with the destination, for which a purge would wait
    const retrying = yield* inTransaction(queue.retry(tenantId, ids[1]!))
    yield* untilOneIsBlocked
    assert.deepStrictEqual((yield* commit).deliveries.map(({ deliveryId }) => deliveryId), ids)
    assert.isTrue(Exit.isSuccess(yield* Fiber.join(retrying)))
    assert.deepStrictEqual(yield* statesOf(tenantId, ids), ["sending", "sending"])
  }))

  it.effect("close a destination while outcomes of it are written", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const { ids, tenantId, worker } = yield* setup("waiting")
    const again = (yield* take(worker, { from: [from(1, { again: ids })] })).deliveries
    const outcomes = (state: "waiting" | "delivered", deliveries: ReadonlyArray<TakenDelivery>) =>
      settle(worker, { outcomes: deliveries.map((each) => outcomeOf(each, { state })), destinations: [changeOf(1, { breaker: { failures: 1, openUntil: undefined } })] })
    const commit = yield* openTransaction(outcomes("waiting", again.slice(0, 1)))
    const closing = yield* inTransaction(queue.closeDestination(tenantId, idOf(1)))
    yield* untilOneIsBlocked
    yield* commit
    assert.isTrue(Exit.isSuccess(yield* Fiber.join(closing)))
    const last = yield* inTransaction(outcomes("waiting", again.slice(1)))
    assert.isTrue(Exit.isSuccess(yield* Fiber.join(last)))
    assert.deepStrictEqual(yield* statesOf(tenantId, ids), ["cancelled", "cancelled"])
  }))
})
