/** Conformance of `DeliveryQueue`: destinations, and deliveries that are read, sent again and removed. */
import { type DeliveryQuery, DeliveryQueue, type DeliveryState, pauseForPurge } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { destinationSettings, freshTenant, idOf, publish, seed, single, storeLater, subscribe, textOf } from "../StorageFixtures.ts"
import { acquire, changeOf, drop, end, eventIdsOf, find, from, outcomeOf, seededWorker, settle, stateOf, take, takeFrom, takeOne } from "../WorkerFixtures.ts"
import { allOf, storeSuite } from "../StoreSuite.ts"

const everything: DeliveryQuery = { state: undefined, destinationId: undefined, since: undefined, order: "oldest", after: undefined, limit: 100 }

/** A delivery of one shipment that ended so, and its worker. */
const ended = Effect.fnUntraced(function*(tenantId: string, state: "delivered" | "waiting" | "dead") {
  const worker = yield* seededWorker(tenantId, { S: 1 })
  const delivery = yield* takeOne(worker)
  yield* end(worker, [delivery], { state, dueInMillis: 600_000 })
  return { worker, delivery }
})

const destinations = storeSuite("DeliveryQueue, destinations", DeliveryQueue, (test) => {
  test("returns the state of a destination, its time, and the engine's reason", function*({ queue, tenantId }) {
    const status = Effect.map(queue.destinationStatus(tenantId, idOf(1)), Option.getOrThrow)
    yield* seed(tenantId, { S: 1 })
    const opened = yield* status
    assert.deepStrictEqual([opened.state, opened.reason, opened.pausedBy], ["active", undefined, undefined])
    yield* storeLater(tenantId)
    yield* settle(yield* acquire(tenantId), { destinations: [changeOf(1, { pause: "The receiver answered 410 Gone." })] })
    const paused = yield* status
    assert.deepStrictEqual([paused.state, paused.reason], ["paused", "The receiver answered 410 Gone."])
    assert.isAbove(paused.since, opened.since)
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused", endpointUrl: "https://other.example/" }))
    assert.deepStrictEqual(yield* status, paused)
    yield* storeLater(tenantId)
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "inactive" }))
    const inactive = yield* status
    assert.deepStrictEqual([inactive.state, inactive.reason, inactive.pausedBy], ["inactive", undefined, undefined])
    assert.isAbove(inactive.since, paused.since)
    yield* queue.openDestination(tenantId, destinationSettings({ n: 2, state: "paused" }))
    assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(2))).pausedBy, "client")
  })

  test("changes and closes one destination of several", function*({ queue, tenantId }) {
    yield* seed(tenantId, {}, { numbers: [1, 2, 3] })
    const states = Effect.forEach([1, 2, 3], (n) => Effect.map(queue.destinationStatus(tenantId, idOf(n)), (found) => Option.getOrUndefined(found)?.state))
    yield* queue.changeDestination(tenantId, destinationSettings({ n: 2, state: "paused" }))
    assert.deepStrictEqual(yield* states, ["active", "paused", "active"])
    yield* queue.closeDestination(tenantId, idOf(3))
    assert.deepStrictEqual(yield* states, ["active", "paused", undefined])
  })

  test("counts the live destinations of a client by source, and those of the tenant", function*({ queue, transaction, tenantId }) {
    const open = (n: number, client: string, source = "transit-events") => queue.openDestination(tenantId, { ...destinationSettings({ n, client }), source })
    assert.deepStrictEqual([yield* open(1, "one"), yield* open(2, "one"), yield* open(3, "other"), yield* open(4, "one", "shipment-status")], [1, 2, 1, 1])
    assert.strictEqual(yield* queue.countDestinations(tenantId, 1_000_000), 4)
    yield* queue.closeDestination(tenantId, idOf(1))
    yield* queue.closeDestination(tenantId, idOf(1))
    yield* queue.closeDestination(tenantId, idOf(9))
    assert.strictEqual(yield* queue.countDestinations(tenantId, 1), 3)
    assert.strictEqual(yield* open(5, "one"), 2)
    yield* Effect.ignore(transaction.run(Effect.andThen(open(6, "one"), Effect.fail("rolled back"))))
    assert.strictEqual(yield* open(7, "one"), 3)
    assert.strictEqual(yield* queue.countDestinations(tenantId, 5), 5)
    assert.strictEqual(yield* queue.countDestinations(freshTenant(), 1_000_000), 0)
  })

  test("grants the last place of a client or tenant to one of several concurrent calls", function*({ queue, transaction }) {
    const places = 3
    const within = (tenantId: string, n: number, client: string) =>
      Effect.exit(transaction.run(Effect.gen(function*() {
        const ofClient = yield* queue.openDestination(tenantId, destinationSettings({ n, client }))
        yield* Effect.yieldNow
        const ofTenant = yield* queue.countDestinations(tenantId, places)
        if (Math.max(ofClient, ofTenant) > places) return yield* Effect.fail("no place")
      })))
    for (const clientOf of [() => "one", (n: number) => `client ${n}`]) {
      const tenantId = freshTenant()
      const tried = yield* Effect.all(Array.from({ length: 8 }, (_, at) => within(tenantId, at + 1, clientOf(at))), { concurrency: "unbounded" })
      assert.lengthOf(tried.filter(Exit.isSuccess), places)
      assert.strictEqual(yield* queue.countDestinations(tenantId, places), places)
    }
  })

  test("returns no state of unknown destinations", function*({ queue, tenantId }) {
    assert.isTrue(Option.isNone(yield* queue.destinationStatus(tenantId, idOf(1))))
    yield* seed(tenantId, {})
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.isTrue(Option.isNone(yield* queue.destinationStatus(tenantId, idOf(1))))
    yield* queue.changeDestination(tenantId, destinationSettings())
    assert.isTrue(Option.isNone(yield* queue.destinationStatus(tenantId, idOf(1))))
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.isTrue(Option.isNone(yield* queue.destinationStatus(tenantId, idOf(1))))
  })
})

const deliveries = storeSuite("DeliveryQueue, deliveries", DeliveryQueue, (test) => {
  test("lists deliveries by id from a cursor, with filters", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1 }, { ...single, numbers: [1, 2] })
    const ids: Array<string> = []
    for (let turn = 0; turn < 3; turn++) {
      for (const n of [1, 2]) {
        const delivery = yield* takeOne(worker, n, { batches: 1, inFlight: ids })
        ids.push(delivery.deliveryId)
        if (turn === 0) yield* settle(worker, { outcomes: [outcomeOf(delivery, { state: "dead" })] })
      }
    }
    const numbers = (query: Partial<DeliveryQuery>) =>
      Effect.map(queue.list(tenantId, { ...everything, ...query }), ({ deliveries }) => deliveries.map((each) => ids.indexOf(each.deliveryId) + 1))
    assert.deepStrictEqual(yield* numbers({}), [1, 2, 3, 4, 5, 6])
    assert.deepStrictEqual(yield* numbers({ limit: 2 }), [1, 2])
    assert.deepStrictEqual(yield* numbers({ after: ids[3] }), [5, 6])
    assert.deepStrictEqual(yield* numbers({ destinationId: idOf(2) }), [2, 4, 6])
    assert.deepStrictEqual(yield* numbers({ state: "dead" }), [1, 2])
    assert.deepStrictEqual(yield* numbers({ state: "sending", destinationId: idOf(1), after: ids[2] }), [5])
    assert.deepStrictEqual(yield* numbers({ destinationId: idOf(9) }), [])
    const newest = { order: "newest" } as const
    assert.deepStrictEqual(yield* numbers({ ...newest, limit: 2 }), [6, 5])
    assert.deepStrictEqual(yield* numbers({ ...newest, after: ids[2] }), [2, 1])
    assert.deepStrictEqual(yield* numbers({ ...newest, destinationId: idOf(2) }), [6, 4, 2])
    assert.deepStrictEqual(yield* numbers({ ...newest, destinationId: idOf(1), after: ids[4], limit: 1 }), [3])
    assert.deepStrictEqual(yield* numbers({ ...newest, state: "dead" }), [2, 1])
    assert.deepStrictEqual(yield* numbers({ ...newest, state: "sending", destinationId: idOf(2) }), [6, 4])
  })

  test("shows a delivery once, in flight for the first time or again", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1 }, single)
    const { deliveries: [a] } = yield* takeFrom(worker)
    const states = Effect.map(queue.list(tenantId, everything), ({ deliveries }) => deliveries.map(({ attempts, state }) => `${state} ${attempts.length}`))
    assert.deepStrictEqual(yield* states, ["sending 0", "sending 0"])
    yield* settle(worker, { outcomes: [outcomeOf(a!, { state: "waiting" })] })
    assert.deepStrictEqual(yield* states, ["waiting 1", "sending 0"])
    yield* take(worker, { from: [from(1, { again: [a!.deliveryId], batches: 0 })] })
    assert.deepStrictEqual(yield* states, ["sending 1", "sending 0"])
  })

  test("lists deliveries created from an instant on", function*({ queue, tenantId }) {
    const { delivery: { deliveryId, sentAt } } = yield* ended(tenantId, "delivered")
    const { createdAt } = yield* find(tenantId, deliveryId)
    assert.strictEqual(createdAt, sentAt)
    assert.lengthOf((yield* queue.list(tenantId, { ...everything, since: createdAt })).deliveries, 1)
    assert.lengthOf((yield* queue.list(tenantId, { ...everything, since: createdAt + 1 })).deliveries, 0)
  })

  test("finds nothing under an unknown id", function*({ queue }) {
    assert.isTrue(Option.isNone(yield* queue.find(freshTenant(), idOf(101))))
    assert.isTrue(Option.isNone(yield* queue.retry(freshTenant(), idOf(101))))
  })

  test("makes an ended or waiting delivery due now, with all attempts of its policy", function*({ queue }) {
    for (const state of ["delivered", "waiting", "dead"] as const) {
      const tenantId = freshTenant()
      const { delivery, worker } = yield* ended(tenantId, state)
      yield* take(worker)
      assert.deepStrictEqual(yield* queue.retry(tenantId, delivery.deliveryId), Option.some<DeliveryState>(state))
      assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: undefined }])
      const waiting = yield* find(tenantId, delivery.deliveryId)
      assert.deepStrictEqual([waiting.state, waiting.settledAt, waiting.dueAt !== undefined, waiting.attempts.length], ["waiting", undefined, true, 1])
      const again = yield* takeOne(worker, 1, { again: [delivery.deliveryId] })
      assert.deepStrictEqual(again, { ...delivery, flight: again.flight, attempt: 2, tries: 1 })
    }
  })

  test("does not change a delivery that is in flight or cancelled", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1 }, single)
    const { deliveries: [a, b] } = yield* takeFrom(worker)
    yield* settle(worker, { outcomes: [outcomeOf(b!, { state: "waiting" })] })
    const { deliveries: [again] } = yield* take(worker, { from: [from(1, { again: [b!.deliveryId] })] })
    for (const { deliveryId } of [a!, b!]) {
      assert.deepStrictEqual(yield* queue.retry(tenantId, deliveryId), Option.some<DeliveryState>("sending"))
      assert.strictEqual(yield* stateOf(tenantId, deliveryId), "sending")
    }
    assert.isTrue(Option.isNone(yield* queue.retry(tenantId, idOf(109))))
    yield* settle(worker, { outcomes: [outcomeOf(again!, { state: "waiting" })] })
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.deepStrictEqual(yield* queue.retry(tenantId, b!.deliveryId), Option.some<DeliveryState>("cancelled"))
    assert.strictEqual(yield* stateOf(tenantId, b!.deliveryId), "cancelled")
  })

  test("returns a delivery of a closed destination as cancelled", function*({ queue, tenantId }) {
    const { delivery } = yield* ended(tenantId, "delivered")
    const { deliveryId } = delivery
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.deepStrictEqual(yield* queue.retry(tenantId, deliveryId), Option.some<DeliveryState>("cancelled"))
    const found = yield* find(tenantId, deliveryId)
    assert.deepStrictEqual([found.state, found.endpointUrl, textOf(found.body)], ["delivered", "https://receiver.example/hook", textOf(delivery.body)])
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 0)
  })

  test("blocks a shipment while a delivery of it is retried", function*({ queue, tenantId }) {
    const { delivery, worker } = yield* ended(tenantId, "dead")
    yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "T" }], { accounts: ["A"] })
    yield* queue.retry(tenantId, delivery.deliveryId)
    assert.deepStrictEqual(eventIdsOf(yield* takeOne(worker)), ["T/1"])
  })

  test("makes every dead letter of a destination since an instant due again", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1 }, { ...single, numbers: [1, 2] })
    const { deliveries: [a, b, c] } = yield* takeFrom(worker)
    const { deliveries: [other] } = yield* takeFrom(worker, 2)
    yield* settle(worker, { outcomes: [outcomeOf(c!), ...[a!, b!, other!].map((each) => outcomeOf(each, { state: "dead" }))] })
    yield* take(worker)
    const { settledAt } = yield* find(tenantId, a!.deliveryId)
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), settledAt! + 600_000), 0)
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), settledAt! - 600_000), 2)
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 0)
    assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: undefined }])
    const { deliveries } = yield* takeFrom(worker, 1, { again: [a!, b!, c!].map(({ deliveryId }) => deliveryId) })
    assert.deepStrictEqual(deliveries.map(({ deliveryId, tries }) => [deliveryId, tries]), [[a!.deliveryId, 1], [b!.deliveryId, 1]])
    assert.strictEqual(yield* stateOf(tenantId, other!.deliveryId), "dead")
    assert.strictEqual(yield* queue.recover(tenantId, idOf(9), 0), 0)
  })

  test("removes deliveries that ended before an instant, and nothing else", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1, D: 1 }, single)
    const { deliveries: [a, b, c] } = yield* takeFrom(worker, 1, { batches: 3 })
    yield* takeFrom(worker, 1, { after: "C" })
    yield* settle(worker, { outcomes: [outcomeOf(a!), outcomeOf(b!, { state: "dead" }), outcomeOf(c!, { state: "waiting" })], ended: [{ partition: 1, flight: a!.flight }] })
    const { settledAt } = yield* find(tenantId, a!.deliveryId)
    assert.strictEqual(yield* queue.prune(tenantId, settledAt! - 600_000), 0)
    assert.strictEqual(yield* queue.prune(tenantId, settledAt! + 600_000), 2)
    assert.deepStrictEqual((yield* queue.list(tenantId, everything)).deliveries.map(({ state }) => state), ["waiting", "sending"])
  })

  test("removes dismissed and cancelled deliveries", function*({ control, queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1 }, single)
    const { deliveries: [a, b] } = yield* takeFrom(worker)
    yield* settle(worker, { outcomes: [outcomeOf(a!, { state: "dead" }), outcomeOf(b!, { state: "waiting" })], ended: [{ partition: 1, flight: a!.flight }] })
    yield* control.dismiss(tenantId, [a!.deliveryId])
    yield* control.pause(tenantId, idOf(1), pauseForPurge)
    yield* control.purgeNext(tenantId, idOf(1), undefined)
    const { settledAt } = yield* find(tenantId, b!.deliveryId)
    assert.strictEqual(yield* queue.prune(tenantId, settledAt! + 600_000), 2)
  })

  test("removes closed destinations after their deliveries, and keeps those with entries or deliveries, and open ones", function*({ other, queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 }, { numbers: [1, 2, 3, 4, 5] })
    yield* subscribe(tenantId, { n: 6 })
    yield* subscribe(other)
    const [delivered, flying, dead] = yield* Effect.forEach([1, 2, 3], (n) => takeOne(worker, n))
    yield* end(worker, [delivered!])
    yield* end(worker, [dead!], { state: "dead" })
    for (const n of [1, 2, 3, 4, 6]) yield* queue.closeDestination(tenantId, idOf(n))
    yield* queue.closeDestination(other, idOf(1))
    const between = yield* storeLater(tenantId)
    const prune = (before: number) => Effect.forEach([1, 2, 3], () => queue.prune(tenantId, before))
    assert.deepStrictEqual(yield* prune(between - 600_000), [0, 0, 0])
    // the deliveries of the first and the third; these two destinations and the last one
    assert.deepStrictEqual(yield* prune(between), [2, 3, 0])
    yield* end(worker, [flying!], { state: "waiting" })
    assert.deepStrictEqual(yield* prune(between), [0, 0, 0])
    assert.strictEqual((yield* find(tenantId, flying!.deliveryId)).endpointUrl, destinationSettings().endpointUrl)
    assert.strictEqual((yield* drop(worker, { closed: [1, 4].map(idOf) })).dropped, 1)
    assert.deepStrictEqual(yield* prune(between), [1, 0, 0])
    assert.deepStrictEqual(yield* prune(yield* storeLater(tenantId)), [1, 1, 0])
    assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(5))).state, "active")
    assert.strictEqual(yield* queue.prune(other, between), 1)
  })

  test("returns the numbers of waiting entries and dead letters", function*({ queue, tenantId }) {
    const before = yield* queue.depth
    yield* ended(tenantId, "dead")
    yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "S" }])
    const { dead, lagMillis, unsettled, waitingEntries } = yield* queue.depth
    assert.deepStrictEqual([waitingEntries - before.waitingEntries, unsettled - before.unsettled, dead - before.dead], [2, 0, 1])
    assert.isAtLeast(lagMillis, before.lagMillis)
  })
})

export const suite = allOf(destinations, deliveries)
