/** Conformance of `DeliveryControl`: how operators act on destinations and deliveries, and trace a subject. */
import { backlogStep, DeliveryControl, DeliveryQueue, type DestinationOverview, mostTroubled, pauseByClient, pauseByOperator, pauseForPurge, purgeReason } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { destinationSettings, eventually, freshTenant, idOf, letSee, publish, seed, single, storeLater, subscribe } from "../StorageFixtures.ts"
import { acquire, changeOf, end, eventIdsOf, from, outcomeOf, seededWorker, settle, stateOf, take, takeFrom, takeOne } from "../WorkerFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const overview = (tenantId: string, n = 1): Effect.Effect<DestinationOverview, unknown, DeliveryQueue> =>
  Effect.flatMap(DeliveryQueue, (queue) =>
    Effect.map(queue.destinations(tenantId, { state: undefined, after: undefined, limit: 100 }), ({ destinations }) => destinations.find(({ destinationId }) => destinationId === idOf(n))!))

const statusOf = (tenantId: string) => Effect.map(overview(tenantId), ({ status: { pausedBy, reason, state } }) => ({ state, pausedBy, reason }))

/** A worker and the first deliveries of destination 1, with these outcomes. */
const deliverEach = Effect.fnUntraced(function*(tenantId: string, outcomes: ReadonlyArray<"sending" | "delivered" | "waiting" | "dead">) {
  const worker = yield* acquire(tenantId)
  const { deliveries } = yield* takeFrom(worker, 1, { batches: outcomes.length })
  const settled = deliveries.flatMap((delivery, at) => {
    const state = outcomes[at]!
    return state === "sending" ? [] : [outcomeOf(delivery, { state, dueInMillis: 60_000 })]
  })
  yield* settle(worker, { outcomes: settled, ended: outcomes.includes("sending") ? [] : [{ partition: 1, flight: deliveries[0]!.flight }] })
  return { worker, deliveries, ids: deliveries.map(({ deliveryId }) => deliveryId) }
})

const purge = Effect.fnUntraced(function*(tenantId: string, destinationId = idOf(1)) {
  const control = yield* DeliveryControl
  if ((yield* control.pause(tenantId, destinationId, pauseForPurge)) === "unknown") return undefined
  let dropped = 0
  let step = yield* control.purgeNext(tenantId, destinationId, undefined)
  for (;;) {
    dropped += step.dropped
    if (step.next === undefined) break
    step = yield* control.purgeNext(tenantId, destinationId, step.next)
  }
  yield* control.resume(tenantId, destinationId, "purge")
  return dropped
})

const nowhere = idOf(9)

export const suite = storeSuite("DeliveryControl", DeliveryControl, (test) => {
  test("pauses a destination with the operator's reason, and nothing is taken from it until it is resumed", function*({ store: control, tenantId }) {
    yield* seed(tenantId, { S: 1 })
    const opened = yield* overview(tenantId)
    yield* storeLater(tenantId)
    assert.strictEqual(yield* control.pause(tenantId, idOf(1), pauseByOperator("It's \"unpaid\".")), "changed")
    assert.isAbove((yield* overview(tenantId)).status.since, opened.status.since)
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "operator", reason: "It's \"unpaid\"." })
    const worker = yield* acquire(tenantId)
    assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: undefined }])
    assert.isFalse((yield* takeFrom(worker)).found!.sends)
    assert.strictEqual(yield* control.resume(tenantId, idOf(1), "all"), "changed")
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "active", pausedBy: undefined, reason: undefined })
    assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: undefined }])
    assert.deepStrictEqual(eventIdsOf(yield* takeOne(worker)), ["S/1"])
  })

  test("does not affect deliveries in flight, and lets a worker take no further ones", function*({ store: control, tenantId }) {
    yield* seed(tenantId, { A: 1, B: 1 }, single)
    const { deliveries, ids: [id], worker } = yield* deliverEach(tenantId, ["sending"])
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Unpaid."))
    assert.deepStrictEqual((yield* takeFrom(worker)).deliveries, [])
    yield* end(worker, deliveries)
    assert.strictEqual(yield* stateOf(tenantId, id!), "delivered")
    assert.deepStrictEqual((yield* overview(tenantId)).waiting, 1)
  })

  test("raises the version of a destination that is paused or resumed", function*({ deliveries: store, store: control, tenantId }) {
    yield* seed(tenantId, {})
    const version = Effect.map(store.load(tenantId, [idOf(1)]), ([loaded]) => loaded!.version)
    const versions = [yield* version]
    for (const change of [control.pause(tenantId, idOf(1), pauseByOperator("Unpaid.")), control.resume(tenantId, idOf(1), "all"), control.pause(tenantId, idOf(1), pauseForPurge), control.resume(tenantId, idOf(1), "purge")]) {
      yield* change
      versions.push(yield* version)
    }
    assert.deepStrictEqual(versions, [...new Set(versions)].sort((a, b) => a - b))
  })

  test("keeps the time of an engine's pause under an operator's pause, and resumes both", function*({ store: control, queue, tenantId }) {
    yield* seed(tenantId, { S: 1 })
    yield* settle(yield* acquire(tenantId), { destinations: [changeOf(1, { pause: "The receiver answered 410." })] })
    const before = yield* overview(tenantId)
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "service", reason: "The receiver answered 410." })
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Unpaid."))
    const after = yield* overview(tenantId)
    assert.deepStrictEqual(after.status, { state: "paused", pausedBy: "operator", reason: "Unpaid.", since: before.status.since })
    yield* control.resume(tenantId, idOf(1), "all")
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "client", reason: undefined })
    yield* control.resume(tenantId, idOf(1), "all")
    assert.strictEqual((yield* statusOf(tenantId)).state, "active")
  })

  test("lets a client resume its own pauses and those of the service only", function*({ store: control, queue, tenantId }) {
    yield* seed(tenantId, { S: 1 })
    assert.strictEqual(yield* control.resume(tenantId, idOf(1), "not by operator"), "unchanged")
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    assert.strictEqual(yield* control.resume(tenantId, idOf(1), "not by operator"), "changed")
    assert.strictEqual((yield* statusOf(tenantId)).state, "active")
    const worker = yield* acquire(tenantId)
    yield* take(worker)
    yield* settle(worker, { destinations: [changeOf(1, { pause: "The receiver answered 410." })] })
    assert.strictEqual(yield* control.resume(tenantId, idOf(1), "not by operator"), "changed")
    assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: undefined }])
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Unpaid."))
    assert.strictEqual(yield* control.resume(tenantId, idOf(1), "not by operator"), "unchanged")
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "operator", reason: "Unpaid." })
    assert.strictEqual(yield* control.resume(freshTenant(), idOf(1), "not by operator"), "unknown")
  })

  test("lets its client pause what is active, and nothing else", function*({ store: control, queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    assert.strictEqual(yield* control.pause(tenantId, idOf(1), pauseByClient), "changed")
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "client", reason: undefined })
    assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: undefined }])
    assert.strictEqual(yield* control.pause(tenantId, idOf(1), pauseByClient), "unchanged")
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Unpaid."))
    assert.strictEqual(yield* control.pause(tenantId, idOf(1), pauseByClient), "unchanged")
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "operator", reason: "Unpaid." })
    yield* control.resume(tenantId, idOf(1), "all")
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "inactive" }))
    assert.strictEqual(yield* control.pause(tenantId, idOf(1), pauseByClient), "unchanged")
    assert.strictEqual(yield* control.pause(freshTenant(), idOf(1), pauseByClient), "unknown")
  })

  test("restores the inactive state after a pause, and keeps the pause when the client changes settings", function*({ store: control, queue, tenantId }) {
    yield* seed(tenantId, {})
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "inactive" }))
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Unpaid."))
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused", endpointUrl: "https://other.example/" }))
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "operator", reason: "Unpaid." })
    yield* control.resume(tenantId, idOf(1), "all")
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "inactive", pausedBy: undefined, reason: undefined })
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Unpaid."))
    for (const state of ["active", "paused"] as const) yield* queue.changeDestination(tenantId, destinationSettings({ state }))
    yield* control.resume(tenantId, idOf(1), "all")
    assert.strictEqual((yield* statusOf(tenantId)).state, "active")
  })

  test("does not change an active destination, and finds no closed destination and none of another tenant", function*({ other, queue, store: control, tenantId }) {
    yield* seed(tenantId, { S: 1 })
    yield* subscribe(tenantId, { n: 2 })
    yield* queue.closeDestination(tenantId, idOf(2))
    const before = yield* overview(tenantId)
    assert.strictEqual(yield* control.resume(tenantId, idOf(1), "all"), "unchanged")
    assert.deepStrictEqual((yield* overview(tenantId)).status, before.status)
    for (const [tenant, destinationId] of [[tenantId, idOf(2)], [tenantId, nowhere], [other, idOf(1)]] as const) {
      assert.strictEqual(yield* control.pause(tenant, destinationId, pauseByOperator("x")), "unknown")
      assert.strictEqual(yield* control.resume(tenant, destinationId, "all"), "unknown")
      assert.isUndefined(yield* purge(tenant, destinationId))
    }
    assert.strictEqual((yield* statusOf(tenantId)).state, "active")
    yield* control.pause(tenantId, idOf(1), pauseForPurge)
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.strictEqual(yield* control.resume(tenantId, idOf(1), "purge"), "unknown")
    assert.isTrue(Option.isNone(yield* queue.destinationStatus(tenantId, idOf(1))))
    assert.isFalse((yield* control.trace(tenantId, idOf(1), { key: "S", orderIds: undefined })).waiting)
  })

  test("drops waiting entries and cancels retries, and keeps deliveries that are in flight or ended", function*({ queue, tenantId }) {
    yield* seed(tenantId, { A: 1, B: 1, C: 1, D: 1, E: 3 }, single)
    yield* subscribe(tenantId, { n: 2 })
    const { deliveries, ids, worker } = yield* deliverEach(tenantId, ["sending", "delivered", "waiting", "dead"])
    yield* publish(tenantId, [{ shipmentId: "E" }])
    const other = yield* takeOne(worker, 2)
    yield* end(worker, [other], { state: "waiting", dueInMillis: 60_000 })
    assert.strictEqual(yield* purge(tenantId), 5)
    assert.strictEqual(yield* stateOf(tenantId, other.deliveryId), "waiting")
    assert.deepStrictEqual(yield* queue.retry(tenantId, ids[2]!), Option.some("cancelled"))
    assert.deepStrictEqual(yield* Effect.forEach(ids, (id) => stateOf(tenantId, id)), ["sending", "delivered", "cancelled", "dead"])
    const after = yield* overview(tenantId)
    assert.deepStrictEqual([after.waiting, after.inFlight, after.dead, after.dropped], [0, 1, 1, 5])
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "active", pausedBy: undefined, reason: undefined })
    yield* end(worker, deliveries.slice(0, 1))
    assert.strictEqual(yield* stateOf(tenantId, ids[0]!), "delivered")
    yield* publish(tenantId, [{ shipmentId: "F" }])
    assert.strictEqual(yield* purge(tenantId), 0)
  })

  test("counts waiting entries by destination, without frozen ones and those of closed destinations", function*({ store: control, queue, tenantId }) {
    assert.deepStrictEqual((yield* control.countBacklog(tenantId, 60_000, undefined)).counts, [])
    for (const n of [2, 3]) yield* subscribe(tenantId, { n })
    yield* seed(tenantId, { A: 2, B: 1 }, single)
    yield* queue.closeDestination(tenantId, idOf(3))
    yield* queue.changeDestination(tenantId, destinationSettings({ n: 2, state: "paused" }))
    yield* deliverEach(tenantId, ["sending"])
    // so wide that all of them fall into one stretch
    const { counts, next, now } = yield* control.countBacklog(tenantId, 2 ** 45, undefined)
    assert.deepStrictEqual(counts, [{ destinationId: idOf(1), client: "client", queuedFrom: 0, entries: 2, dropped: 0 }, { destinationId: idOf(2), client: "client", queuedFrom: 0, entries: 3, dropped: 0 }])
    assert.isUndefined(next)
    const narrow = yield* control.countBacklog(tenantId, 1000, undefined)
    for (const { queuedFrom } of narrow.counts) {
      assert.strictEqual(queuedFrom % 1000, 0)
      assert.closeTo(queuedFrom, now, 60_000)
    }
    const after = { destinationId: idOf(1), key: "B", sequence: 1_000_000, ref: 0 }
    assert.deepStrictEqual((yield* control.countBacklog(tenantId, 2 ** 45, after)).counts, [counts[1]!])
  })

  test("drops older entries of a destination in order, up to the limit, with a reason", function*({ store: control, queue, tenantId }) {
    yield* subscribe(tenantId, { n: 2, state: "paused" })
    yield* seed(tenantId, { A: 3, B: 2 }, single)
    const { deliveries, ids: [id], worker } = yield* deliverEach(tenantId, ["sending"])
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    const { now } = yield* control.countBacklog(tenantId, 1000, undefined)
    const drop = (limit: number, dropped: number, queuedBefore = now + 60_000, reason: "over_count" | "over_age" = "over_count") =>
      Effect.map(control.dropExcess(tenantId, idOf(1), { queuedBefore, limit, reason, dropped }, undefined), (step) => step.dropped)
    const why = (key: string, orderId: string) =>
      Effect.map(control.trace(tenantId, idOf(1), { key, orderIds: [orderId] }), ({ dropped, waiting }) => dropped?.reason ?? waiting)
    assert.strictEqual(yield* drop(10, 0, now - 60_000), 0)
    assert.strictEqual(yield* drop(2, 0), 2)
    assert.deepStrictEqual([yield* why("A", "A/2"), yield* why("A", "A/3"), yield* why("B", "B/1")], ["over_count", "over_count", true])
    // a sweep with an older count
    assert.strictEqual(yield* drop(2, 0), 0)
    assert.strictEqual(yield* drop(1, 2, now + 60_000, "over_age"), 1)
    assert.deepStrictEqual([yield* why("B", "B/1"), yield* why("B", "B/2")], ["over_age", true])
    const [after, other] = [yield* overview(tenantId), yield* overview(tenantId, 2)]
    assert.deepStrictEqual([after.waiting, after.inFlight, after.dropped, other.waiting, other.dropped], [1, 1, 3, 5, 0])
    yield* end(worker, deliveries)
    assert.strictEqual(yield* stateOf(tenantId, id!), "delivered")
    assert.deepStrictEqual(yield* control.dropExcess(tenantId, nowhere, { queuedBefore: now, limit: 1, reason: "over_age", dropped: 0 }, undefined), { dropped: 0, next: undefined })
    assert.strictEqual((yield* control.countBacklog(freshTenant(), 1000, undefined)).counts.length, 0)
    yield* publish(tenantId, [{ shipmentId: "A" }])
    assert.strictEqual(yield* drop(1, 3, now + 60_000, "over_age"), 1)
    const lastOf = (n: number, key: string) => Effect.map(control.trace(tenantId, idOf(n), { key, orderIds: undefined }), ({ dropped }) => dropped?.reason)
    assert.deepStrictEqual([yield* lastOf(1, "A"), yield* lastOf(1, "C"), yield* lastOf(2, "A")], ["over_age", undefined, undefined])
  })

  test("drops none that was queued later, and does not count it", function*({ store: control, tenantId }) {
    yield* seed(tenantId, { A: 1, D: 1 }, single)
    // until the store's clock is beyond the time of these entries
    const { now } = yield* eventually(control.countBacklog(tenantId, 1, undefined), ({ counts, now }) => counts.every(({ queuedFrom }) => queuedFrom + 1 < now))
    yield* publish(tenantId, [{ shipmentId: "B" }], { accounts: ["A"] })
    const { counts } = yield* control.countBacklog(tenantId, 1, undefined)
    assert.deepStrictEqual(counts.map(({ entries }) => entries).sort(), [1, 2])
    const step = yield* control.dropExcess(tenantId, idOf(1), { queuedBefore: now, limit: 2, reason: "over_age", dropped: 0 }, undefined)
    assert.deepStrictEqual([step.dropped, (yield* overview(tenantId)).waiting], [2, 1])
    const behind = { key: "B", sequence: 1_000_000, ref: 0 }
    assert.strictEqual((yield* control.dropExcess(tenantId, idOf(1), { queuedBefore: now + 60_000, limit: 2, reason: "over_age", dropped: 2 }, behind)).dropped, 0)
  })

  test("scans a large backlog in steps, each from the end of the previous one", function*({ store: control, tenantId }) {
    yield* subscribe(tenantId, { n: 2 })
    yield* seed(tenantId, { A: backlogStep - 1, B: 2 })
    const first = yield* control.countBacklog(tenantId, 2 ** 45, undefined)
    const second = yield* control.countBacklog(tenantId, 2 ** 45, first.next)
    const third = yield* control.countBacklog(tenantId, 2 ** 45, second.next)
    assert.deepStrictEqual([first, second, third].map(({ counts }) => counts.map(({ entries }) => entries)), [[backlogStep], [1, backlogStep - 1], [2]])
    assert.isUndefined(third.next)
    const excess = { queuedBefore: first.now + 60_000, limit: backlogStep + 1, reason: "over_count" as const, dropped: 0 }
    const step = yield* control.dropExcess(tenantId, idOf(1), excess, undefined)
    assert.strictEqual(step.dropped, backlogStep)
    const last = yield* control.dropExcess(tenantId, idOf(1), { ...excess, limit: 1, dropped: backlogStep }, step.next)
    assert.deepStrictEqual(last, { dropped: 1, next: undefined })
  })

  test("pauses an active destination with a reason during a purge, and does not change a paused one", function*({ store: control, tenantId }) {
    yield* seed(tenantId, { A: 2, B: 1 })
    yield* control.pause(tenantId, idOf(1), pauseForPurge)
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "operator", reason: purgeReason })
    assert.isFalse((yield* takeFrom(yield* acquire(tenantId))).found!.sends)
    // it is resumed before the end of the purge: nothing more is removed
    yield* control.resume(tenantId, idOf(1), "all")
    assert.deepStrictEqual(yield* control.purgeNext(tenantId, idOf(1), undefined), { dropped: 0, next: undefined })
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Unpaid."))
    assert.strictEqual(yield* purge(tenantId), 3)
    assert.deepStrictEqual(yield* statusOf(tenantId), { state: "paused", pausedBy: "operator", reason: "Unpaid." })
  })

  test("knows why the last thousand entries of a destination were dropped, and no earlier ones", function*({ store: control, tenantId }) {
    yield* subscribe(tenantId, { n: 2 })
    yield* seed(tenantId, { A: 1002 })
    const known = (...orderIds: ReadonlyArray<string>) =>
      Effect.forEach(orderIds, (orderId) => Effect.map(control.trace(tenantId, idOf(1), { key: orderId.split("/")[0]!, orderIds: [orderId] }), ({ dropped }) => dropped?.reason))
    assert.strictEqual(yield* purge(tenantId), 1002)
    assert.deepStrictEqual(yield* known("A/2", "A/3", "A/1002"), [undefined, "purged", "purged"])
    assert.strictEqual(yield* purge(tenantId, idOf(2)), 1002)
    yield* publish(tenantId, [{ shipmentId: "B" }], { accounts: ["A"] })
    assert.strictEqual(yield* purge(tenantId), 1)
    assert.deepStrictEqual(yield* known("A/3", "A/4", "B/1"), [undefined, "purged", "purged"])
  })

  test("dismisses dead letters only, and neither counts nor recovers them; one can still be retried", function*({ store: control, queue, tenantId }) {
    yield* seed(tenantId, { A: 1, B: 1, C: 1 }, single)
    const { ids: [first, second, third] } = yield* deliverEach(tenantId, ["dead", "dead", "delivered"])
    for (const dismissed of [1, 0]) assert.strictEqual(yield* control.dismiss(tenantId, [first!, third!, idOf(109)]), dismissed)
    assert.strictEqual(yield* control.dismiss(freshTenant(), [second!]), 0)
    assert.strictEqual(yield* stateOf(tenantId, third!), "delivered")
    assert.strictEqual((yield* overview(tenantId)).dead, 1)
    assert.strictEqual((yield* control.health(tenantId)).dead, 1)
    const { deliveries: listed } = yield* queue.list(tenantId, { state: "dismissed", destinationId: idOf(1), since: undefined, order: "newest", after: undefined, limit: 10 })
    assert.deepStrictEqual(listed.map(({ deliveryId }) => deliveryId), [first])
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 1)
    assert.strictEqual(yield* stateOf(tenantId, first!), "dismissed")
    assert.deepStrictEqual(yield* queue.retry(tenantId, first!), Option.some("dismissed"))
    assert.deepStrictEqual([yield* stateOf(tenantId, first!), yield* stateOf(tenantId, third!)], ["waiting", "delivered"])
  })

  test("traces no deliveries of another destination", function*({ store: control, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 }, { numbers: [1, 2] })
    const delivery = yield* takeOne(worker, 2)
    const traced = Effect.map(control.trace(tenantId, idOf(1), { key: "S", orderIds: undefined }), ({ deliveries, waiting }) => ({ deliveries, waiting }))
    assert.deepStrictEqual(yield* traced, { deliveries: [], waiting: true })
    yield* end(worker, [delivery])
    assert.deepStrictEqual(yield* traced, { deliveries: [], waiting: true })
  })

  test("traces waiting entries, entries before them, and deliveries", function*({ store: control, tenantId }) {
    yield* seed(tenantId, { A: 2, B: 1 }, single)
    const trace = (key: string, ...orderIds: ReadonlyArray<string>) =>
      Effect.map(control.trace(tenantId, idOf(1), { key, orderIds: orderIds.length === 0 ? undefined : orderIds }), ({ behind, deliveries, dropped, waiting }) =>
        ({ behind, deliveries: deliveries.map(({ state }) => state), dropped: dropped?.reason, waiting }))
    const nothing = { behind: false, deliveries: [], dropped: undefined, waiting: false }
    assert.deepStrictEqual(yield* trace("A"), { ...nothing, waiting: true })
    assert.deepStrictEqual(yield* trace("A", "A/1"), { ...nothing, waiting: true })
    assert.deepStrictEqual(yield* trace("A", "A/2"), { ...nothing, waiting: true, behind: true })
    assert.deepStrictEqual(yield* trace("C"), nothing)
    assert.deepStrictEqual(yield* trace("A", "A/7"), nothing)
    const { deliveries: [delivery], worker } = yield* deliverEach(tenantId, ["sending"])
    assert.deepStrictEqual(yield* trace("A", "A/1"), { ...nothing, deliveries: ["sending"] })
    assert.deepStrictEqual(yield* trace("A", "A/2"), { ...nothing, waiting: true, behind: true })
    yield* end(worker, [delivery!], { state: "waiting", dueInMillis: 60_000 })
    assert.deepStrictEqual(yield* trace("A", "A/1"), { ...nothing, deliveries: ["waiting"] })
    assert.deepStrictEqual(yield* trace("A", "A/2"), { ...nothing, waiting: true, behind: true })
    assert.deepStrictEqual(yield* trace("A"), { ...nothing, waiting: true, behind: true, deliveries: ["waiting"] })
    yield* purge(tenantId)
    assert.deepStrictEqual(yield* trace("A", "A/1"), { ...nothing, deliveries: ["cancelled"] })
    assert.deepStrictEqual(yield* trace("A", "A/2"), { ...nothing, dropped: "purged" })
    assert.deepStrictEqual(yield* trace("B"), { ...nothing, dropped: "purged" })
    assert.deepStrictEqual((yield* control.trace(freshTenant(), idOf(1), { key: "A", orderIds: undefined })).deliveries, [])
  })

  test("traces deliveries of a subject newest first", function*({ store: control, tenantId }) {
    yield* seed(tenantId, { A: 2 }, single)
    const { worker } = yield* deliverEach(tenantId, ["delivered"])
    yield* takeOne(worker)
    const { deliveries } = yield* control.trace(tenantId, idOf(1), { key: "A", orderIds: undefined })
    assert.deepStrictEqual(deliveries.map(({ state }) => state), ["sending", "delivered"])
  })

  test("finds nothing by ids of another source", function*({ store: control, queue, tenantId }) {
    yield* seed(tenantId, { ONE: 1 })
    for (const [at, source] of ["shipment-status", "freight-charges", "freight-charge-windows"].entries()) {
      yield* queue.openDestination(tenantId, { ...destinationSettings({ n: 2 + at }), source })
      for (const orderIds of [undefined, ["ONE/1"], ["1", "garbage"]]) {
        assert.isFalse((yield* control.trace(tenantId, idOf(2 + at), { key: "ONE", orderIds })).waiting)
      }
    }
  })

  test("returns the health of a tenant's destinations", function*({ store: control, queue, tenantId }) {
    assert.deepStrictEqual(yield* control.health(tenantId), { subscriptions: 0, inTrouble: 0, waiting: 0, oldestWaitingAt: undefined, dead: 0 })
    yield* seed(tenantId, { A: 1, B: 2 }, single)
    yield* deliverEach(tenantId, ["dead"])
    for (const n of [2, 3, 4, 5]) yield* subscribe(tenantId, { n, client: "other" })
    yield* queue.closeDestination(tenantId, idOf(5))
    yield* queue.changeDestination(tenantId, destinationSettings({ n: 2, state: "paused" }))
    yield* control.pause(tenantId, idOf(3), pauseByOperator("Unpaid."))
    const later = yield* storeLater(tenantId)
    yield* publish(tenantId, [{ shipmentId: "C" }], { accounts: ["A"] })
    const { oldestWaitingAt, ...counts } = yield* control.health(tenantId)
    assert.deepStrictEqual(counts, { subscriptions: 4, inTrouble: 2, waiting: 3, dead: 1 })
    assert.isBelow(oldestWaitingAt!, later)
    assert.isBelow((yield* overview(tenantId)).oldestWaitingAt!, later)
    const match = { inTrouble: true, state: undefined }
    const { destinations } = yield* queue.destinations(tenantId, { ...match, after: undefined, limit: 10 })
    assert.deepStrictEqual(destinations.map(({ destinationId }) => destinationId), [idOf(1), idOf(3)])
    assert.strictEqual(yield* queue.countMatching(tenantId, match), 2)
    assert.strictEqual(yield* queue.countMatching(tenantId, { ...match, state: "paused" }), 1)
    assert.strictEqual(yield* queue.countMatching(tenantId, { ...match, client: "other" }), 1)
    assert.closeTo(oldestWaitingAt!, (yield* queue.destinations(tenantId, { state: undefined, after: undefined, limit: 1 })).now, 60_000)
  })

  test("lists destinations in trouble page by page, each once, and closed ones never", function*({ store: control, queue, tenantId }) {
    const all = [1, 2, 3, 4, 5, 6, 7]
    yield* seed(tenantId, {}, { ...single, numbers: all })
    yield* publish(tenantId, ["S", "T"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
    const worker = yield* acquire(tenantId)
    for (const n of [1, 3, 5, 7]) {
      const { deliveries } = yield* takeFrom(worker, n, { batches: 2 })
      yield* settle(worker, { outcomes: deliveries.map((delivery) => outcomeOf(delivery, { state: "dead", dueInMillis: 0 })) })
    }
    yield* end(worker, (yield* takeFrom(worker, 4)).deliveries)
    for (const n of [2, 3, 7]) yield* control.pause(tenantId, idOf(n), pauseByOperator("Unpaid."))
    yield* queue.changeDestination(tenantId, destinationSettings({ n: 4, state: "paused" }))
    for (const n of [5, 6]) yield* queue.closeDestination(tenantId, idOf(n))
    const match = { inTrouble: true, state: undefined }
    const numbersOf = (after: number | undefined, limit: number) =>
      Effect.map(queue.destinations(tenantId, { ...match, after: after === undefined ? undefined : idOf(after), limit }), ({ destinations }) =>
        destinations.map(({ destinationId }) => all.find((n) => idOf(n) === destinationId)))
    assert.deepStrictEqual(yield* numbersOf(undefined, 10), [1, 2, 3, 7])
    assert.deepStrictEqual(yield* numbersOf(undefined, 2), [1, 2])
    assert.deepStrictEqual(yield* numbersOf(2, 2), [3, 7])
    assert.deepStrictEqual(yield* numbersOf(7, 2), [])
    for (const each of [match, { ...match, client: "client" }]) assert.strictEqual(yield* queue.countMatching(tenantId, each), 4)
  })

  test("returns only destinations that the engine paused, whose breaker is open, or that have recent dead letters", function*({ store: control, queue, tenantId }) {
    const source = `source of ${tenantId}`
    for (const n of [1, 2, 3, 4, 5]) yield* queue.openDestination(tenantId, { ...destinationSettings({ n }), source })
    const troubles = Effect.map(control.troubles, ({ destinations, sources }) => ({
      own: destinations.filter((each) => each.tenantId === tenantId).map(({ breakerOpen, dead, destinationId, paused }) => [destinationId, { paused, breakerOpen, dead }] as const)
        .sort(([a], [b]) => a < b ? -1 : 1),
      of: sources.filter((each) => each.source === source).map(({ waitingMillis: _, ...counts }) => counts)
    }))
    assert.deepStrictEqual((yield* troubles).own, [])
    const worker = yield* acquire(tenantId)
    const open = { failures: 5, openUntil: Number.MAX_SAFE_INTEGER / 1000 }
    yield* settle(worker, { destinations: [changeOf(1, { pause: "The receiver answered 410 Gone." }), changeOf(2, { breaker: open }), changeOf(5, { breaker: open })] })
    yield* control.pause(tenantId, idOf(3), pauseByOperator("Unpaid."))
    yield* queue.changeDestination(tenantId, { ...destinationSettings({ n: 5, state: "paused" }), source })
    assert.deepStrictEqual(yield* troubles, {
      own: [[idOf(1), { paused: true, breakerOpen: false, dead: 0 }], [idOf(2), { paused: false, breakerOpen: true, dead: 0 }]],
      of: [{ source, paused: 1, breakersOpen: 1, dead: 0 }]
    })
    yield* queue.closeDestination(tenantId, idOf(1))
    yield* control.pause(tenantId, idOf(2), pauseByOperator("Its receiver is gone."))
    assert.deepStrictEqual((yield* troubles).own, [])
  })

  test("returns destinations in trouble of every client, however many another client has", function*({ store: control, queue, tenantId }) {
    const many = Array.from({ length: 105 }, (_, index) => index + 1)
    for (const n of many) yield* queue.openDestination(tenantId, destinationSettings({ n, client: "many" }))
    yield* queue.openDestination(tenantId, destinationSettings({ n: 200, client: "one" }))
    const worker = yield* acquire(tenantId)
    yield* settle(worker, { destinations: [...many, 200].map((n) => changeOf(n, { pause: "The receiver answered 410 Gone." })) })
    const { destinations } = yield* control.troubles
    assert.include(destinations.filter((each) => each.tenantId === tenantId).map(({ destinationId }) => destinationId), idOf(200))
  })

  test("returns the worst destinations in trouble, tenants and their clients in turn: most dead letters first, then the oldest entry", function*({ other, queue, store: control, tenantId }) {
    const healthy = Array.from({ length: mostTroubled + 1 }, (_, index) => index + 1)
    for (const n of healthy) yield* queue.openDestination(tenantId, destinationSettings({ n }))
    yield* queue.openDestination(tenantId, destinationSettings({ n: 301, client: "other" }))
    yield* letSee(tenantId, "other", ["A"])
    yield* subscribe(tenantId, { n: 300, client: "other" })
    const worker = yield* seededWorker(tenantId, { S: 1, T: 1 }, { ...single, numbers: [204, 205] })
    const { deliveries: [once, ...others] } = yield* take(worker, { from: [from(204), from(205)] })
    yield* end(worker, others, { state: "dead" })
    yield* end(worker, [once!])
    const queued = Effect.fnUntraced(function*(n: number) {
      yield* subscribe(tenantId, { n })
      yield* publish(tenantId, [{ shipmentId: "S" }])
      yield* storeLater(tenantId)
    })
    yield* queued(203)
    yield* queued(202)
    yield* settle(worker, { destinations: [...healthy, 202, 203, 300, 301].map((n) => changeOf(n, { pause: "The receiver answered 410 Gone." })) })
    yield* seed(other, { A: 1, B: 1, C: 1 }, single)
    yield* deliverEach(other, ["dead", "dead", "dead"])
    const { destinations } = yield* control.troubles
    assert.lengthOf(destinations, mostTroubled)
    const found = destinations.flatMap((each): ReadonlyArray<number | string> => each.tenantId === other ? ["other"] : each.tenantId === tenantId ? [Number(each.destinationId.slice(-12))] : [])
    assert.deepStrictEqual(found.slice(0, 9), ["other", 205, 300, 204, 301, 203, 202, 1, 2])
  })

  test("returns dead letters until they are dismissed or their destination is closed, and the age of the oldest entry", function*({ store: control, queue, tenantId }) {
    yield* seed(tenantId, { A: 1, B: 1, C: 1 }, single)
    const { ids: [first], worker } = yield* deliverEach(tenantId, ["dead", "dead"])
    yield* subscribe(tenantId, { n: 2 })
    yield* settle(worker, { destinations: [changeOf(2, { pause: "The receiver answered 410 Gone." })] })
    const own = Effect.map(control.troubles, ({ destinations }) => destinations.filter((each) => each.tenantId === tenantId))
    const [before, empty] = yield* own
    assert.deepStrictEqual([before?.destinationId, before?.dead], [idOf(1), 2])
    assert.deepStrictEqual([empty?.destinationId, empty?.waitingMillis], [idOf(2), undefined])
    assert.isAtLeast(before!.waitingMillis!, 0)
    yield* control.dismiss(tenantId, [first!])
    assert.deepStrictEqual((yield* own).map(({ dead }) => dead), [1, 0])
    for (const n of [1, 2]) yield* queue.closeDestination(tenantId, idOf(n))
    assert.deepStrictEqual(yield* own, [])
  })

  test("lists destinations and deliveries of one client only", function*({ queue, tenantId }) {
    yield* seed(tenantId, { A: 1, B: 1, C: 1 }, single)
    const { ids } = yield* deliverEach(tenantId, ["dead", "delivered", "waiting"])
    yield* subscribe(tenantId, { n: 2, client: "other" })
    const destinations = (client: string) =>
      Effect.map(queue.destinations(tenantId, { client, state: undefined, after: undefined, limit: 10 }), (found) => found.destinations.map(({ destinationId }) => destinationId))
    assert.deepStrictEqual([yield* destinations("client"), yield* destinations("other"), yield* destinations("nobody")], [[idOf(1)], [idOf(2)], []])
    const deliveries = (client: string, order: "oldest" | "newest" = "newest", limit = 10) =>
      Effect.map(queue.list(tenantId, { client, state: undefined, destinationId: undefined, since: undefined, order, after: undefined, limit }), ({ deliveries: found }) =>
        found.map(({ deliveryId }) => ids.indexOf(deliveryId)))
    assert.deepStrictEqual(yield* deliveries("client"), [2, 1, 0])
    assert.deepStrictEqual(yield* deliveries("client", "oldest", 2), [0, 1])
    assert.deepStrictEqual(yield* deliveries("other"), [])
    const { deliveries: dead } = yield* queue.list(tenantId, { client: "client", state: "dead", destinationId: undefined, since: undefined, order: "newest", after: undefined, limit: 10 })
    assert.lengthOf(dead, 1)
  })
})
