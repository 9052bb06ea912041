/** Conformance of `DeliveryStore`: outcomes, retries and drops. */
import { DeliveryControl, type DeliveryOutcome, type DeliveryState, DeliveryStore, pauseByOperator, pauseForPurge, purgeStep, type TakenDelivery } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { destinationSettings, freshTenant, idOf, occurredAt, publish, seed, single, subscribe, textOf } from "../StorageFixtures.ts"
import { acquire, changeOf, drop, end, eventIdsOf, find, load, nothingDropped, outcomeOf, seededWorker, settle, stateOf, takeAgain, takeFrom, takeOne } from "../WorkerFixtures.ts"
import { allOf, beginning, storeSuite } from "../StoreSuite.ts"

/** A worker with a delivery of one shipment in flight. */
const sending = Effect.fnUntraced(function*(tenantId: string) {
  const worker = yield* seededWorker(tenantId, { S: 1 })
  return { worker, delivery: yield* takeOne(worker) }
})

const failed = (attempt: number) => ({ attempt, at: occurredAt + attempt, durationMillis: 12.5, outcome: "http_5xx", status: 503, detail: "ä \"\\", excerpt: "<b>船" })

const settles = storeSuite("DeliveryStore, settle", DeliveryStore, (test) => {
  const withDelivery = beginning(test, ({ tenantId }) => sending(tenantId))

  test("writes an outcome with its record", function*() {
    const cases: ReadonlyArray<[DeliveryOutcome["state"], boolean, boolean]> = [["delivered", true, false], ["waiting", false, true], ["dead", true, false]]
    for (const [state, settled, due] of cases) {
      const tenantId = freshTenant()
      const { delivery, worker } = yield* sending(tenantId)
      const owned = yield* end(worker, [delivery], { state, dueInMillis: 600_000, record: failed(1) })
      assert.deepStrictEqual([...owned].sort(), worker.owned.map(({ partition }) => partition))
      const found = yield* find(tenantId, delivery.deliveryId)
      assert.deepStrictEqual([found.state, found.settledAt !== undefined, found.dueAt !== undefined], [state, settled, due])
      assert.deepStrictEqual([found.attempts, found.sentAt, textOf(found.body)], [[failed(1)], delivery.sentAt, textOf(delivery.body)])
    }
  })

  withDelivery("writes an outcome without a record", function*({ delivery, tenantId, worker }) {
    yield* end(worker, [delivery], { state: "dead", record: undefined })
    const found = yield* find(tenantId, delivery.deliveryId)
    assert.deepStrictEqual([found.state, found.attempts, found.settledAt === undefined], ["dead", [], false])
  })

  test("changes nothing more when the same outcome is written again", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1, T: 1 }, single)
    const { deliveries: [one, other] } = yield* takeFrom(worker)
    const request = {
      outcomes: [outcomeOf(one!), outcomeOf(other!, { state: "waiting" as const, dueInMillis: 600_000, notCounted: true })],
      ended: [{ partition: 1, flight: one!.flight }],
      destinations: [changeOf(1, { breaker: { failures: 3, openUntil: undefined } })]
    }
    const listed = queue.list(tenantId, { state: undefined, destinationId: undefined, since: undefined, order: "oldest", after: undefined, limit: 10 })
    yield* settle(worker, request)
    const before = [yield* listed, yield* load(tenantId)]
    yield* settle(worker, request)
    assert.deepStrictEqual([yield* listed, yield* load(tenantId)], before)
    assert.strictEqual((yield* load(tenantId)).breaker.failures, 3)
    assert.deepStrictEqual((yield* takeAgain(worker, [other!.deliveryId])).map(({ attempt, tries }) => [attempt, tries]), [[2, 1]])
  })

  test("writes new outcomes beside one of the same flight that is written again", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1, T: 1 }, single)
    const { deliveries: [one, other] } = yield* takeFrom(worker)
    yield* settle(worker, { outcomes: [outcomeOf(one!)] })
    yield* settle(worker, { outcomes: [outcomeOf(one!, { state: "dead" }), outcomeOf(other!, { state: "dead" })] })
    assert.deepStrictEqual([yield* stateOf(tenantId, one!.deliveryId), yield* stateOf(tenantId, other!.deliveryId)], ["delivered", "dead"])
  })

  withDelivery("does not change the next attempt when an earlier outcome is written again", function*({ delivery, tenantId, worker }) {
    const late = outcomeOf(delivery, { state: "waiting", notCounted: true })
    yield* settle(worker, { outcomes: [late] })
    const [again] = yield* takeAgain(worker, [delivery.deliveryId])
    assert.deepStrictEqual([again!.attempt, again!.tries], [2, 1])
    yield* settle(worker, { outcomes: [late] })
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "sending")
    yield* settle(worker, { outcomes: [late, outcomeOf(again!)] })
    const found = yield* find(tenantId, delivery.deliveryId)
    assert.deepStrictEqual([found.state, found.attempts.map(({ attempt }) => attempt)], ["delivered", [1, 2]])
    yield* settle(worker, { outcomes: [late, outcomeOf(again!, { state: "dead" })] })
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "delivered")
  })

  withDelivery("does not undo an operator's retry when a dead letter is written again", function*({ delivery, queue, tenantId, worker }) {
    const dead = { outcomes: [outcomeOf(delivery, { state: "dead" })] }
    yield* settle(worker, dead)
    yield* queue.retry(tenantId, delivery.deliveryId)
    yield* settle(worker, dead)
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "waiting")
    const [again] = yield* takeAgain(worker, [delivery.deliveryId])
    assert.deepStrictEqual([again!.attempt, again!.tries], [2, 1])
    yield* settle(worker, dead)
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "sending")
  })

  test("cancels a delivery whose destination is closed when its attempt fails, and leaves other outcomes", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1, D: 1 }, single)
    const { deliveries } = yield* takeFrom(worker)
    yield* settle(worker, { outcomes: [outcomeOf(deliveries[0]!, { state: "waiting", dueInMillis: 600_000 })] })
    yield* queue.closeDestination(tenantId, idOf(1))
    const states = Effect.forEach(deliveries, ({ deliveryId }) => Effect.map(find(tenantId, deliveryId), ({ dueAt, settledAt, state }) => ({ state, settled: settledAt !== undefined, dueAt })))
    assert.deepStrictEqual((yield* states).map(({ state }) => state), ["cancelled", "sending", "sending", "sending"])
    yield* settle(worker, {
      outcomes: [outcomeOf(deliveries[1]!, { state: "waiting" }), outcomeOf(deliveries[2]!), outcomeOf(deliveries[3]!, { state: "dead" })],
      ended: [{ partition: 1, flight: deliveries[0]!.flight }],
      destinations: [changeOf(1, { pause: "410" })]
    })
    assert.deepStrictEqual(yield* states, (["cancelled", "cancelled", "delivered", "dead"] as const).map((state) => ({ state, settled: true, dueAt: undefined })))
    assert.strictEqual((yield* find(tenantId, deliveries[1]!.deliveryId)).endpointUrl, destinationSettings().endpointUrl)
  })

  withDelivery("writes outcomes of a destination that is paused meanwhile", function*({ delivery, queue, tenantId, worker }) {
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    yield* end(worker, [delivery])
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "delivered")
    assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1))).state, "paused")
  })

  withDelivery("writes breaker and pause of a destination, and raises its version for a pause", function*({ delivery, queue, tenantId, worker }) {
    const breaker = { failures: 7, openUntil: occurredAt + 1234.5 }
    const { version } = yield* load(tenantId)
    yield* settle(worker, { destinations: [changeOf(1, { breaker })] })
    assert.deepStrictEqual([(yield* load(tenantId)).breaker, (yield* load(tenantId)).version], [breaker, version])
    yield* end(worker, [delivery], { state: "waiting" }, [changeOf(1, { pause: "The receiver answered 410 Gone." })])
    const { pausedBy, reason, state } = Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1)))
    assert.deepStrictEqual({ pausedBy, reason, state }, { state: "paused", pausedBy: "service", reason: "The receiver answered 410 Gone." })
    const paused = yield* load(tenantId)
    assert.deepStrictEqual([paused.version > version, paused.breaker.failures], [true, 0])
    // who paused it first stays
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "inactive" }))
    yield* settle(worker, { destinations: [changeOf(1, { pause: "again", always: true })] })
    assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1))).state, "inactive")
  })

  withDelivery("replaces the pause of a purge by that of an outcome, and no other pause of an operator", function*({ delivery, queue, tenantId, worker }) {
    const control = yield* DeliveryControl
    const status = Effect.map(queue.destinationStatus(tenantId, idOf(1)), Option.getOrThrow)
    const pause = "A delivery was not accepted."
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Unpaid."))
    yield* settle(worker, { destinations: [changeOf(1, { pause, always: true })] })
    assert.strictEqual((yield* status).reason, "Unpaid.")
    yield* control.resume(tenantId, idOf(1), "all")
    yield* control.pause(tenantId, idOf(1), pauseForPurge)
    yield* end(worker, [delivery], { state: "dead" }, [changeOf(1, { pause, always: true, cause: delivery.deliveryId })])
    assert.strictEqual(yield* control.resume(tenantId, idOf(1), "purge"), "unchanged")
    const { pausedBy, reason, state } = yield* status
    assert.deepStrictEqual({ state, pausedBy, reason }, { state: "paused", pausedBy: "service", reason: pause })
  })

  test("pauses by an outcome once, not when that is written again after a resume", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1, T: 1 }, single)
    const state = Effect.map(queue.destinationStatus(tenantId, idOf(1)), (status) => Option.getOrThrow(status).state)
    const resume = queue.changeDestination(tenantId, destinationSettings(single))
    const { deliveries: [first, other] } = yield* takeFrom(worker)
    const gone = (delivery: TakenDelivery, beside: ReadonlyArray<DeliveryOutcome> = []) =>
      ({ outcomes: [outcomeOf(delivery, { state: "waiting" }), ...beside], destinations: [changeOf(1, { pause: "The receiver answered 410 Gone.", cause: delivery.deliveryId })] })
    yield* settle(worker, gone(first!))
    assert.strictEqual(yield* state, "paused")
    yield* resume
    yield* settle(worker, gone(first!))
    yield* settle(worker, gone(first!, [outcomeOf(other!)]))
    assert.deepStrictEqual([yield* state, yield* stateOf(tenantId, other!.deliveryId)], ["active", "delivered"])
    const [again] = yield* takeAgain(worker, [first!.deliveryId])
    yield* settle(worker, gone(again!))
    assert.strictEqual(yield* state, "paused")
    yield* resume
    yield* settle(worker, gone(again!))
    assert.strictEqual(yield* state, "active")
  })

  withDelivery("writes the breakers of several destinations, each to its own", function*({ tenantId, worker }) {
    for (const n of [2, 9]) yield* subscribe(tenantId, { n })
    const breaker = (n: number) => ({ failures: n, openUntil: occurredAt + n })
    yield* settle(worker, { destinations: [9, 1, 2].map((n) => changeOf(n, { breaker: breaker(n) })) })
    assert.deepStrictEqual(yield* Effect.forEach([1, 2, 9], (n) => Effect.map(load(tenantId, n), (loaded) => loaded.breaker)), [1, 2, 9].map(breaker))
  })

  withDelivery("ignores breaker and pause of another endpoint, except a pause for any endpoint", function*({ delivery, queue, tenantId, worker }) {
    yield* queue.changeDestination(tenantId, destinationSettings({ endpointUrl: "https://new.example/hook" }))
    const late = changeOf(1, { pause: "The receiver answered 410 Gone.", breaker: { failures: 7, openUntil: occurredAt * 2 } })
    yield* settle(worker, { destinations: [late] })
    assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1))).state, "active")
    yield* end(worker, [delivery], { state: "dead" }, [{ ...late, pause: "A delivery was not accepted.", always: true }])
    const { reason, state } = Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1)))
    assert.deepStrictEqual([state, reason, (yield* load(tenantId)).breaker.failures], ["paused", "A delivery was not accepted.", 0])
  })

  withDelivery("resets the breaker when the destination gets another endpoint, and only then", function*({ queue, tenantId, worker }) {
    const breaker = { failures: 5, openUntil: occurredAt + 0.5 }
    yield* settle(worker, { destinations: [changeOf(1, { breaker })] })
    yield* queue.changeDestination(tenantId, destinationSettings({ policy: { maxAttempts: 2 } }))
    assert.deepStrictEqual((yield* load(tenantId)).breaker, breaker)
    yield* queue.changeDestination(tenantId, destinationSettings({ endpointUrl: "https://other.example/" }))
    assert.deepStrictEqual((yield* load(tenantId)).breaker, { failures: 0, openUntil: undefined })
  })

  test("writes a thousand outcomes at once, in any order, each to its own delivery", function*({ queue, tenantId }) {
    const count = 1000
    const worker = yield* seededWorker(tenantId, Object.fromEntries(Array.from({ length: count }, (_, n) => [`S${n}`, 1])), single)
    const { deliveries } = yield* takeFrom(worker, 1, { batches: count })
    assert.lengthOf(deliveries, count)
    const states = ["delivered", "waiting", "dead"] as const
    const outcome = (n: number) =>
      outcomeOf(deliveries[n]!, { state: states[n % 3]!, dueInMillis: 600_000, record: { attempt: 1, at: occurredAt + n, durationMillis: n, outcome: "accepted" } })
    // 7 and 1,000 share no factor: every delivery once
    yield* settle(worker, { outcomes: deliveries.map((_, at) => outcome(at * 7 % count)), ended: [{ partition: 1, flight: deliveries[0]!.flight }] })
    const found: Array<readonly [string, DeliveryState, number | undefined]> = []
    for (let after: string | undefined; found.length < count;) {
      const { deliveries: page } = yield* queue.list(tenantId, { state: undefined, destinationId: undefined, since: undefined, order: "oldest", after, limit: 400 })
      if (page.length === 0) break
      for (const each of page) found.push([each.deliveryId, each.state, each.attempts[0]?.durationMillis])
      after = page.at(-1)!.deliveryId
    }
    assert.deepStrictEqual(found, deliveries.map(({ deliveryId }, n) => [deliveryId, states[n % 3]!, n]))
  })
})

const retries = storeSuite("DeliveryStore, retries", DeliveryStore, (test) => {
  const withDelivery = beginning(test, ({ tenantId }) => sending(tenantId))

  test("counts the next attempt when it is taken, with the same bytes under the same id", function*({ tenantId }) {
    const traceparent = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`
    yield* seed(tenantId, { S: 1 })
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"], traceparent: traceparent("1") })
    yield* publish(tenantId, [{ shipmentId: "U" }], { accounts: ["A"], traceparent: traceparent("2") })
    const worker = yield* acquire(tenantId)
    const delivery = yield* takeOne(worker)
    assert.deepStrictEqual([delivery.events, delivery.lastKey, delivery.traceparent], [3, "U", traceparent("1")])
    yield* end(worker, [delivery], { state: "waiting", record: failed(1) })
    for (const attempt of [2, 3, 4]) {
      const [again] = yield* takeAgain(worker, [delivery.deliveryId])
      assert.deepStrictEqual(again, { ...delivery, flight: again!.flight, attempt, tries: attempt })
      assert.notStrictEqual(again!.flight, delivery.flight)
      assert.deepStrictEqual([yield* stateOf(tenantId, delivery.deliveryId), (yield* load(tenantId)).waiting], ["sending", []])
      yield* end(worker, [again!], { state: "waiting", record: failed(attempt) })
    }
    assert.deepStrictEqual((yield* find(tenantId, delivery.deliveryId)).attempts, [1, 2, 3, 4].map(failed))
  })

  withDelivery("writes the outcome of a repeated attempt once, for its last attempt, and by its owner", function*({ delivery, tenantId, worker }) {
    yield* end(worker, [delivery], { state: "waiting", record: failed(1) })
    const [second] = yield* takeAgain(worker, [delivery.deliveryId])
    const former = { ...worker, owned: worker.owned.map((each) => ({ ...each, epoch: each.epoch - 1 })) }
    yield* settle(former, { outcomes: [outcomeOf(second!, { state: "dead" })] })
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "sending")
    yield* end(worker, [second!], { state: "waiting", dueInMillis: 600_000, record: failed(2) })
    const waiting = yield* find(tenantId, delivery.deliveryId)
    assert.deepStrictEqual([waiting.state, waiting.dueAt !== undefined, waiting.settledAt], ["waiting", true, undefined])
    const [third] = yield* takeAgain(worker, [delivery.deliveryId])
    yield* settle(worker, { outcomes: [outcomeOf(second!, { state: "dead" })] })
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "sending")
    yield* settle(worker, { outcomes: [outcomeOf(third!, { state: "dead", record: failed(3) })] })
    yield* settle(worker, { outcomes: [outcomeOf(third!)] })
    const dead = yield* find(tenantId, delivery.deliveryId)
    assert.deepStrictEqual([dead.state, dead.dueAt, dead.settledAt !== undefined, dead.attempts], ["dead", undefined, true, [1, 2, 3].map(failed)])
  })

  test("writes the outcome of a repeated attempt to its own delivery, and leaves others in flight", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1 }, single)
    const { deliveries } = yield* takeFrom(worker)
    yield* end(worker, deliveries, { state: "waiting" })
    const again = yield* takeAgain(worker, deliveries.map(({ deliveryId }) => deliveryId))
    const states = Effect.forEach(deliveries, ({ deliveryId }) => stateOf(tenantId, deliveryId))
    yield* settle(worker, { outcomes: [outcomeOf(again[1]!)] })
    assert.deepStrictEqual(yield* states, ["sending", "delivered", "sending"])
    yield* settle(worker, { outcomes: [outcomeOf(again[2]!, { state: "dead" }), outcomeOf(again[0]!, { state: "waiting", dueInMillis: 600_000 })] })
    assert.deepStrictEqual(yield* states, ["waiting", "delivered", "dead"])
  })

  test("cancels a delivery that is sent again to a closed destination when its attempt fails, and leaves other outcomes", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1 }, single)
    const { deliveries } = yield* takeFrom(worker)
    const ids = deliveries.map(({ deliveryId }) => deliveryId)
    yield* end(worker, deliveries, { state: "waiting" })
    const again = yield* takeAgain(worker, ids)
    yield* queue.closeDestination(tenantId, idOf(1))
    yield* settle(worker, { outcomes: again.map((each, n) => outcomeOf(each, { state: n === 0 ? "waiting" : "delivered" })) })
    assert.deepStrictEqual(yield* Effect.forEach(again, ({ deliveryId }) => stateOf(tenantId, deliveryId)), ["cancelled", "delivered"])
  })

  withDelivery("does not count an attempt that a stop interrupted", function*({ delivery, worker }) {
    yield* end(worker, [delivery], { state: "waiting", notCounted: true })
    assert.deepStrictEqual((yield* takeAgain(worker, [delivery.deliveryId])).map(({ attempt, tries }) => [attempt, tries]), [[2, 1]])
  })

  test("leaves out deliveries that do not wait or belong to another destination", function*({ queue, tenantId }) {
    yield* seed(tenantId, { A: 1, B: 1, C: 1 }, single)
    yield* queue.openDestination(tenantId, destinationSettings({ n: 2 }))
    const worker = yield* acquire(tenantId)
    const { deliveries: [a, b, c] } = yield* takeFrom(worker)
    yield* settle(worker, { outcomes: [outcomeOf(a!), outcomeOf(b!, { state: "waiting" })] })
    assert.deepStrictEqual(yield* takeAgain(worker, [a!.deliveryId, c!.deliveryId, idOf(999)]), [])
    assert.deepStrictEqual((yield* takeFrom(worker, 2, { again: [b!.deliveryId] })).deliveries, [])
    assert.deepStrictEqual((yield* takeAgain(worker, [b!.deliveryId])).map(({ deliveryId }) => deliveryId), [b!.deliveryId])
    assert.deepStrictEqual(yield* takeAgain(worker, [b!.deliveryId]), [])
  })

  withDelivery("takes retries and new deliveries at once, without the shipments of the retries", function*({ delivery, tenantId, worker }) {
    yield* end(worker, [delivery], { state: "waiting" })
    yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "T" }], { accounts: ["A"] })
    const { deliveries, found } = yield* takeFrom(worker, 1, { again: [delivery.deliveryId] })
    assert.deepStrictEqual(deliveries.map((each) => [each.attempt, eventIdsOf(each)]), [[2, ["S/1"]], [1, ["T/1"]]])
    assert.deepStrictEqual([found!.blocked, found!.unseenDeliveries], [true, []])
  })

  test("takes deliveries that share a shipment one at a time, the older first", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 2 }, single)
    const older = yield* takeOne(worker)
    yield* end(worker, [older], { state: "dead" })
    const newer = yield* takeOne(worker)
    yield* end(worker, [newer], { state: "dead" })
    yield* queue.recover(tenantId, idOf(1), 0)
    const both = [older.deliveryId, newer.deliveryId]
    const [first, none] = yield* takeAgain(worker, both)
    assert.deepStrictEqual([first!.deliveryId, none], [older.deliveryId, undefined])
    assert.deepStrictEqual(yield* takeAgain(worker, [newer.deliveryId]), [], "not beside the older one")
    yield* end(worker, [first!], { state: "waiting", dueInMillis: 600_000 })
    assert.deepStrictEqual(yield* takeAgain(worker, [newer.deliveryId]), [], "not while the older one waits")
    const second = yield* takeAgain(worker, both)
    assert.deepStrictEqual(second.map(({ deliveryId }) => deliveryId), [older.deliveryId])
    yield* end(worker, second)
    const [last] = yield* takeAgain(worker, [newer.deliveryId])
    assert.strictEqual(last!.deliveryId, newer.deliveryId)
    yield* queue.retry(tenantId, older.deliveryId)
    assert.deepStrictEqual(yield* takeAgain(worker, [older.deliveryId]), [], "not beside the newer one")
  })

  withDelivery("does not retry a delivery while a new one of its shipment is in flight", function*({ delivery, queue, tenantId, worker }) {
    yield* end(worker, [delivery])
    yield* publish(tenantId, [{ shipmentId: "S" }])
    const next = yield* takeOne(worker)
    yield* queue.retry(tenantId, delivery.deliveryId)
    assert.deepStrictEqual(yield* takeAgain(worker, [delivery.deliveryId], [next.deliveryId]), [])
    yield* end(worker, [next])
    assert.lengthOf(yield* takeAgain(worker, [delivery.deliveryId]), 1)
  })
})

const drops = storeSuite("DeliveryStore, drop", DeliveryStore, (test) => {
  test("removes entries of closed destinations in steps, and of no others", function*({ queue, tenantId }) {
    yield* subscribe(tenantId, { n: 2 })
    const worker = yield* seededWorker(tenantId, { R: 1, S: purgeStep - 1, T: 2 })
    assert.deepStrictEqual(yield* drop(worker, { closed: [idOf(1), idOf(9)] }), nothingDropped)
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.deepStrictEqual((yield* acquire(tenantId, { worker: worker.workerId })).destinations, [idOf(1), idOf(2)])
    assert.deepStrictEqual(yield* drop(worker, { closed: [idOf(1)] }), nothingDropped, "by an epoch that is over")
    const owner = yield* acquire(tenantId, { worker: worker.workerId })
    const others = Effect.map(queue.destinations(tenantId, { state: undefined, after: undefined, limit: 9 }), ({ destinations }) => destinations.map(({ waiting }) => waiting))
    const before = yield* others
    let dropped = 0
    for (let more = true, steps = 0; more && steps < 100; steps++) {
      const step = yield* drop(owner, { closed: [idOf(1)] })
      assert.isAtMost(step.dropped, purgeStep)
      dropped += step.dropped
      more = step.more
    }
    assert.strictEqual(dropped, purgeStep + 2)
    assert.deepStrictEqual((yield* acquire(tenantId, { worker: worker.workerId })).destinations, [idOf(2)])
    assert.deepStrictEqual(yield* others, before)
  })

  test("removes entries of the named destination among several closed ones", function*({ queue, tenantId }) {
    yield* subscribe(tenantId, { n: 2 })
    const worker = yield* seededWorker(tenantId, { S: 1 })
    for (const n of [1, 2]) yield* queue.closeDestination(tenantId, idOf(n))
    const dropped = Effect.map(drop(worker, { closed: [idOf(1)] }), (each) => each.dropped)
    assert.deepStrictEqual([yield* dropped, yield* dropped, (yield* drop(worker, { closed: [idOf(2)] })).dropped], [1, 0, 1])
  })

  test("keeps entries that a client may see", function*({ tenantId }) {
    const { delivery, worker } = yield* sending(tenantId)
    yield* end(worker, [delivery], { state: "waiting" })
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    const request = { keys: ["S", "T", "U"].map((key) => ({ destinationId: idOf(1), key })), deliveries: [delivery, { ...delivery, deliveryId: idOf(999) }] }
    assert.deepStrictEqual(yield* drop(worker, request), nothingDropped)
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "waiting")
    assert.deepStrictEqual(eventIdsOf(yield* takeOne(worker)), ["T/1"])
  })
})

export const suite = allOf(settles, retries, drops)
