/** Conformance of `DeliveryStore`: a partition has one owner at a time, and nothing is lost when the owner changes. */
import { DeliveryStore, type WrittenOutcome } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { destinationSettings, eventually, freshTenant, idOf, letSee, occurredAt, publish, seed, single, subscribe } from "../StorageFixtures.ts"
import { acquire, changeOf, drop, end, eventIdsOf, everyPartition, find, from, hasWork, load, nothingDropped, outcomeOf, type OwningWorker, release, seededWorker, settle, take, takeFrom, takeOne, takeRequest, waitingIn, workerId } from "../WorkerFixtures.ts"
import { allOf, storeSuite } from "../StoreSuite.ts"

const look = (worker: string, tenantId: string) =>
  Effect.flatMap(DeliveryStore, (store) => Effect.map(store.look(worker, 100_000), ({ free, signalled }) => ({
    free: free.filter((each) => each.tenantId === tenantId).map(({ partition }) => partition),
    signalled: signalled.filter((each) => each.tenantId === tenantId).map(({ partition }) => partition)
  })))

/** Waits until leases are over, and acquires what they were of. */
const takeOver = (tenantId: string) => eventually(acquire(tenantId), ({ owned }) => owned.length === everyPartition.length)

/** A worker whose lease is over soon, with deliveries of shipments `A`, `B` and `C` in flight: B in its second attempt. */
const dying = Effect.fnUntraced(function*(tenantId: string) {
  yield* seed(tenantId, { A: 2, B: 1, C: 1 }, single)
  const worker = yield* acquire(tenantId, { leaseMillis: 1 })
  const { deliveries: [a, b, c] } = yield* takeFrom(worker)
  yield* settle(worker, { outcomes: [outcomeOf(b!, { state: "waiting" })] })
  const again = yield* takeOne(worker, 1, { again: [b!.deliveryId], batches: 0 })
  return { worker, a: a!, b: again, c: c! }
})

const leases = storeSuite("DeliveryStore, partitions", DeliveryStore, (test) => {
  test("assigns a partition to one worker at a time, each under a higher epoch", function*({ tenantId }) {
    const first = yield* seededWorker(tenantId, { S: 1 })
    assert.deepStrictEqual(first.owned.map(({ partition }) => partition).sort(), everyPartition)
    assert.deepStrictEqual([first.takenOver, first.waiting, first.destinations], [[], [], [idOf(1)]])
    assert.deepStrictEqual((yield* acquire(tenantId)).owned, [])
    const again = yield* acquire(tenantId, { worker: first.workerId })
    assert.deepStrictEqual(again.takenOver, [])
    for (const { epoch, partition } of again.owned) assert.isAbove(epoch, first.owned.find((each) => each.partition === partition)!.epoch)
    assert.deepStrictEqual((yield* take(first, { from: [from(1)] })).owned, [])
    assert.lengthOf((yield* takeFrom(again)).deliveries, 1)
  })

  test("returns the waiting deliveries of each destination once to a new owner", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    for (const n of [1, 9, 2]) yield* subscribe(tenantId, { n })
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    const worker = yield* acquire(tenantId)
    const { deliveries } = yield* take(worker, { from: [from(1), from(9), from(2)] })
    yield* end(worker, deliveries, { state: "waiting", dueInMillis: 600_000 })
    yield* release(worker, false)
    const named = (rows: ReadonlyArray<{ readonly destinationId: string; readonly deliveryId: string }>) =>
      rows.map(({ deliveryId, destinationId }) => [destinationId, deliveryId]).sort()
    assert.lengthOf(deliveries, 3)
    assert.deepStrictEqual(named((yield* acquire(tenantId)).waiting), named(deliveries))
  })

  test("assigns each partition to one of many concurrent workers", function*({ tenantId }) {
    const all = yield* Effect.all(Array.from({ length: 8 }, () => acquire(tenantId)), { concurrency: "unbounded" })
    const owned = all.flatMap((worker) => worker.owned.map(({ partition }) => partition))
    const rest = yield* acquire(tenantId)
    assert.deepStrictEqual([...owned, ...rest.owned.map(({ partition }) => partition)].sort(), everyPartition)
  })

  test("returns partitions with signals to their owner, and those without an owner to every worker", function*({ store, tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    for (const n of [1, 2, 3]) yield* subscribe(tenantId, { n })
    const worker = workerId()
    yield* store.acquire({ workerId: worker, leaseMillis: 600_000 }, tenantId, [1, 3, 4])
    assert.deepStrictEqual(yield* look(worker, tenantId), { signalled: [], free: [] })
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    const found = yield* look(worker, tenantId)
    assert.deepStrictEqual([found.signalled.toSorted(), found.free], [[1, 3], [2]])
    assert.deepStrictEqual(yield* look(workerId(), tenantId), { signalled: [], free: [2] })
  })

  test("returns the partitions that wait longest first, and no more than asked for", function*({ store }) {
    // before all other tenants
    const tenantId = `0 ${freshTenant()}`
    for (const n of [1, 2, 3, 6]) {
      yield* letSee(tenantId, `client ${n}`, [`A${n}`])
      yield* subscribe(tenantId, { n, client: `client ${n}` })
    }
    const signal = (n: number) => publish(tenantId, [{ shipmentId: `S${n}` }], { accounts: [`A${n}`] })
    yield* Effect.forEach([3, 1, 2, 3, 1], signal)
    assert.deepStrictEqual((yield* look(workerId(), tenantId)).free, [3, 1, 2])
    const worker = workerId()
    const own = (leaseMillis: number, ...partitions: ReadonlyArray<number>) => store.acquire({ workerId: worker, leaseMillis }, tenantId, partitions)
    yield* own(600_000, 1, 2, 3)
    assert.deepStrictEqual(yield* look(worker, tenantId), { signalled: [3, 1, 2], free: [] })
    assert.deepStrictEqual((yield* store.look(worker, 2)).signalled, [{ tenantId, partition: 3 }, { tenantId, partition: 1 }])
    yield* own(1, 6)
    yield* own(1, 5)
    yield* eventually(look(workerId(), tenantId), ({ free }) => free.length === 2)
    yield* signal(6)
    assert.deepStrictEqual(yield* look(worker, tenantId), { signalled: [3, 1, 2], free: [6, 5] })
    assert.lengthOf((yield* store.look(worker, 1)).free, 1)
  })

  test("extends the leases of a worker, and returns its partitions", function*({ store, tenantId }) {
    const worker = yield* acquire(tenantId, { leaseMillis: 5000 })
    const { owned } = yield* store.renew({ workerId: worker.workerId, leaseMillis: 600_000 })
    assert.deepStrictEqual(owned.toSorted((a, b) => a.partition - b.partition), worker.owned.toSorted((a, b) => a.partition - b.partition))
    yield* release(worker, false)
    assert.deepStrictEqual((yield* store.renew({ workerId: worker.workerId, leaseMillis: 600_000 })).owned, [], "given back")
    yield* acquire(tenantId, { worker: worker.workerId, leaseMillis: 1 })
    const other = yield* takeOver(tenantId)
    assert.deepStrictEqual((yield* store.renew({ workerId: worker.workerId, leaseMillis: 600_000 })).owned, [], "taken over")
    assert.lengthOf((yield* store.renew({ workerId: other.workerId, leaseMillis: 600_000 })).owned, everyPartition.length)
  })

  test("extends the leases of one worker only", function*({ store, tenantId }) {
    const extended = freshTenant()
    const { workerId: worker } = yield* acquire(extended, { leaseMillis: 300 })
    yield* acquire(tenantId, { leaseMillis: 300 })
    yield* store.renew({ workerId: worker, leaseMillis: 600_000 })
    assert.isTrue(yield* eventually(hasWork(tenantId), (isFree) => isFree))
    assert.isFalse(yield* hasWork(extended))
  })

  test("extends no expired lease of another worker, and returns the epoch of each partition", function*({ store, tenantId }) {
    yield* acquire(tenantId, { leaseMillis: -1 })
    const worker = { workerId: workerId(), leaseMillis: 600_000 }
    const acquired = yield* Effect.forEach([[1], [2, 3]], (partitions) => Effect.map(store.acquire(worker, tenantId, partitions), (found) => found.partitions))
    const { owned } = yield* store.renew(worker)
    assert.deepStrictEqual(
      owned.toSorted((a, b) => a.partition - b.partition),
      acquired.flat().map(({ epoch, partition }) => ({ tenantId, partition, epoch })).toSorted((a, b) => a.partition - b.partition)
    )
    assert.lengthOf((yield* acquire(tenantId)).owned, everyPartition.length - 3)
  })

  test("counts no released partition as one with an owner", function*({ store, tenantId }) {
    const worker = yield* acquire(tenantId)
    const active = Effect.map(store.renew({ workerId: worker.workerId, leaseMillis: 600_000 }), (answer) => answer.active)
    const before = yield* active
    yield* release(worker, false)
    // leases of other tests may end as well
    assert.isAtMost(yield* active, before - everyPartition.length)
  })

  test("counts workers that are alive, and partitions with an owner", function*({ store }) {
    const [one, other] = [workerId(), workerId()]
    const { workers: before } = yield* store.renew({ workerId: one, leaseMillis: 600_000 })
    assert.isAtLeast(before, 1)
    const { workers } = yield* store.renew({ workerId: other, leaseMillis: 600_000 })
    assert.isAtLeast(workers, 2)
    yield* acquire(freshTenant(), { worker: one })
    assert.isAtLeast((yield* store.renew({ workerId: one, leaseMillis: 600_000 })).active, everyPartition.length)
    yield* store.renew({ workerId: other, leaseMillis: -1 })
    assert.isBelow((yield* store.renew({ workerId: one, leaseMillis: 600_000 })).workers, workers)
    assert.isAtLeast((yield* store.renew({ workerId: other, leaseMillis: 600_000 })).workers, workers)
  })

  test("does not count a worker that is stopping, and extends its leases", function*({ store, tenantId }) {
    const lease = { workerId: workerId(), leaseMillis: 600_000 }
    const { workers } = yield* store.renew(lease)
    yield* acquire(tenantId, { worker: lease.workerId, leaseMillis: 5000 })
    const stopping = yield* store.renew({ ...lease, isStopping: true })
    assert.isBelow(stopping.workers, workers)
    assert.lengthOf(stopping.owned, everyPartition.length)
    assert.deepStrictEqual((yield* acquire(tenantId)).owned, [])
    assert.isAtLeast((yield* store.renew(lease)).workers, workers)
  })

  test("returns no partition that was released as idle, until it has new work", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const { deliveries } = yield* take(worker, { unrequested: 1 })
    yield* end(worker, deliveries)
    yield* release(worker, true)
    assert.isFalse(yield* hasWork(tenantId))
    yield* publish(tenantId, [{ shipmentId: "S" }])
    assert.deepStrictEqual((yield* look(workerId(), tenantId)).free, [1])
    const next = yield* acquire(tenantId)
    assert.deepStrictEqual([next.takenOver, next.destinations], [[], [idOf(1)]])
    yield* store.release(tenantId, next.owned.map((each) => ({ ...each, idle: each.partition !== 2, othersUntil: undefined })), [])
    assert.deepStrictEqual((yield* look(workerId(), tenantId)).free.toSorted(), [1, 2])
  })

  test("loses no work of a partition that was wrongly released as idle", function*({ queue }) {
    const prepare = {
      "a signal": () => Effect.void,
      "an entry": (worker: Effect.Success<ReturnType<typeof acquire>>) => take(worker),
      "a flight": (worker: Effect.Success<ReturnType<typeof acquire>>) => take(worker, { unrequested: 1 }),
      "a delivery that waits": (worker: Effect.Success<ReturnType<typeof acquire>>) =>
        Effect.flatMap(take(worker, { unrequested: 1 }), ({ deliveries }) => end(worker, deliveries, { state: "waiting", dueInMillis: 600_000 }))
    }
    for (const [what, work] of Object.entries(prepare)) {
      const tenantId = freshTenant()
      const worker = yield* seededWorker(tenantId, { S: 1 })
      yield* work(worker)
      yield* release(worker, true)
      assert.deepStrictEqual((yield* look(workerId(), tenantId)).free, [1], what)
      const next = yield* acquire(tenantId)
      assert.deepStrictEqual([next.takenOver, next.destinations], [[], [idOf(1)]], what)
      yield* queue.closeDestination(tenantId, idOf(1))
    }
  })

  test("needs no owner for destinations that may not send, and returns the partition when they may", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 2 }, single)
    const delivery = yield* takeOne(worker)
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    yield* end(worker, [delivery], { state: "waiting" })
    yield* take(worker)
    yield* release(worker, true)
    assert.isFalse(yield* hasWork(tenantId))
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "active" }))
    assert.isTrue(yield* hasWork(tenantId))
    const next = yield* acquire(tenantId)
    assert.deepStrictEqual([next.waiting.map(({ deliveryId }) => deliveryId), next.destinations], [[delivery.deliveryId], [idOf(1)]])
  })

  test("returns until when previous owners may have sent, after a release with or without work", function*({ store }) {
    for (const idle of [true, false]) {
      const tenantId = freshTenant()
      const worker = yield* acquire(tenantId)
      assert.deepStrictEqual(worker.othersUntil, everyPartition.map(() => undefined))
      yield* store.release(tenantId, worker.owned.map((each) => ({ ...each, idle, othersUntil: occurredAt + each.partition })), [])
      const next = yield* acquire(tenantId)
      assert.deepStrictEqual([next.takenOver, next.othersUntil.toSorted()], [[], everyPartition.map((partition) => occurredAt + partition)])
      // the worker before is fenced
      yield* store.release(tenantId, worker.owned.map((each) => ({ ...each, idle, othersUntil: 1 })), [])
      yield* release(next, idle)
      const last = yield* acquire(tenantId)
      assert.deepStrictEqual(last.othersUntil.toSorted(), next.othersUntil.toSorted())
      // those without a time keep theirs
      yield* store.release(tenantId, last.owned.map((each) => ({ ...each, idle, othersUntil: each.partition === 0 ? occurredAt + 100 : undefined })), [])
      assert.deepStrictEqual((yield* acquire(tenantId)).othersUntil.toSorted(), [...everyPartition.slice(1), 100].map((later) => occurredAt + later))
    }
  })

  test("is free at once when it is released with work, and returns rate marks", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    yield* subscribe(tenantId, { n: 2 })
    const marks = [{ destinationId: idOf(1), mark: occurredAt + 123.5 }, { destinationId: idOf(2), mark: occurredAt + 7 }, { destinationId: idOf(9), mark: 1 }]
    yield* store.release(tenantId, worker.owned.map((each) => ({ ...each, idle: false, othersUntil: undefined })), marks)
    assert.deepStrictEqual([(yield* load(tenantId)).rateMark, (yield* load(tenantId, 2)).rateMark], [occurredAt + 123.5, occurredAt + 7])
    const next = yield* acquire(tenantId)
    assert.deepStrictEqual([next.owned.length, next.takenOver], [everyPartition.length, []])
    // the worker before is fenced
    yield* store.release(tenantId, worker.owned.map((each) => ({ ...each, idle: false, othersUntil: undefined })), [{ destinationId: idOf(1), mark: 1 }])
    assert.deepStrictEqual((yield* acquire(tenantId)).owned, [])
    assert.strictEqual((yield* load(tenantId)).rateMark, occurredAt + 123.5)
  })
})

const takeovers = storeSuite("DeliveryStore, takeover", DeliveryStore, (test) => {
  test("makes deliveries in flight wait, due at once, with their attempt counted", function*({ tenantId }) {
    const { a, b, c, worker } = yield* dying(tenantId)
    yield* settle(worker, { outcomes: [outcomeOf(c)] })
    const before = yield* find(tenantId, a.deliveryId)
    const owner = yield* takeOver(tenantId)
    assert.deepStrictEqual(owner.takenOver.toSorted(), everyPartition)
    assert.deepStrictEqual(owner.waiting.map(({ deliveryId, destinationId }) => [destinationId, deliveryId]).sort(), [[idOf(1), a.deliveryId], [idOf(1), b.deliveryId]])
    assert.deepStrictEqual(owner.destinations, [idOf(1)])
    const found = yield* find(tenantId, a.deliveryId)
    assert.deepStrictEqual({ ...before, state: "waiting", dueAt: found.dueAt }, found)
    const { deliveries } = yield* takeFrom(owner, 1, { again: [a.deliveryId, b.deliveryId], batches: 0 })
    assert.deepStrictEqual(deliveries.map(({ flight: _, ...each }) => each), [a, b].map(({ flight: _, ...each }) => ({ ...each, attempt: each.attempt + 1, tries: each.tries + 1 })))
  })

  test("refuses takes, settlements and drops of the previous owner", function*({ queue, tenantId }) {
    const { a, b, worker } = yield* dying(tenantId)
    const owner = yield* takeOver(tenantId)
    yield* publish(tenantId, [{ shipmentId: "D" }], { accounts: ["A"] })
    const late = yield* take(worker, { from: [from(1, { again: [a.deliveryId] })], unrequested: 5 })
    assert.deepStrictEqual([late.owned, late.deliveries, late.signals, late.from], [[], [], [], []])
    const owned = yield* settle(worker, {
      outcomes: [outcomeOf(a), outcomeOf(b)],
      ended: [{ partition: 1, flight: a.flight }],
      destinations: [changeOf(1, { pause: "late", breaker: { failures: 9, openUntil: undefined } })]
    })
    assert.deepStrictEqual(owned, [])
    const found = yield* find(tenantId, a.deliveryId)
    assert.deepStrictEqual([found.state, found.attempts], ["waiting", []])
    assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1))).state, "active")
    assert.strictEqual((yield* load(tenantId)).breaker.failures, 0)
    yield* letSee(tenantId, "client", ["B"])
    assert.deepStrictEqual(yield* drop(worker, { keys: [{ destinationId: idOf(1), key: "A" }], deliveries: [a] }), nothingDropped)
    assert.deepStrictEqual((yield* take(owner)).signals.map(({ destinationId }) => destinationId), [idOf(1)])
  })

  test("writes only to partitions whose epoch is current", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 }, { numbers: [1, 2] })
    const { deliveries } = yield* take(worker, { from: [from(1), from(2)] })
    yield* store.release(tenantId, worker.owned.filter(({ partition }) => partition === 2).map((each) => ({ ...each, idle: false, othersUntil: undefined })), [])
    yield* acquire(tenantId)
    assert.notInclude(yield* end(worker, deliveries), 2)
    const states = yield* Effect.forEach(deliveries, (each) => Effect.map(find(tenantId, each.deliveryId), ({ state }) => [each.destinationId, state]))
    assert.deepStrictEqual(states.sort(), [[idOf(1), "delivered"], [idOf(2), "waiting"]])
  })

  test("leaves what other owners send again in flight", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 }, { numbers: [1, 2] })
    const { deliveries } = yield* take(worker, { from: [from(1), from(2)] })
    yield* end(worker, deliveries, { state: "waiting" })
    yield* take(worker, { from: deliveries.map(({ deliveryId, destinationId }) => ({ ...from(1), destinationId, again: [deliveryId] })) })
    yield* store.release(tenantId, worker.owned.filter(({ partition }) => partition === 2).map((each) => ({ ...each, idle: false, othersUntil: undefined })), [])
    yield* acquire(tenantId)
    const states = yield* Effect.forEach(deliveries, (each) => Effect.map(find(tenantId, each.deliveryId), ({ state }) => [each.destinationId, state]))
    assert.deepStrictEqual(states.sort(), [[idOf(1), "sending"], [idOf(2), "waiting"]])
  })

  test("makes what is in flight in one partition wait, although the same take has ended in another", function*({ tenantId }) {
    yield* seed(tenantId, { S: 1 }, { numbers: [1, 2] })
    const worker = yield* acquire(tenantId, { leaseMillis: 1 })
    const { deliveries: [one, other] } = yield* take(worker, { from: [from(1), from(2)] })
    yield* end(worker, [one!])
    assert.deepStrictEqual((yield* takeOver(tenantId)).waiting.map(({ deliveryId }) => deliveryId), [other!.deliveryId])
  })

  test("cancels deliveries in flight to a closed destination", function*({ queue, tenantId }) {
    const { a, b } = yield* dying(tenantId)
    yield* queue.closeDestination(tenantId, idOf(1))
    const owner = yield* takeOver(tenantId)
    assert.deepStrictEqual([owner.waiting, owner.destinations], [[], [idOf(1)]])
    for (const { deliveryId } of [a, b]) {
      const { dueAt, settledAt, state } = yield* find(tenantId, deliveryId)
      assert.deepStrictEqual([state, dueAt, settledAt !== undefined], ["cancelled", undefined, true])
    }
  })

  test("keeps settled deliveries, even if their flight was not removed", function*({ tenantId }) {
    const { a, b, c, worker } = yield* dying(tenantId)
    yield* settle(worker, { outcomes: [outcomeOf(a, { state: "dead" }), outcomeOf(b), outcomeOf(c, { state: "waiting", dueInMillis: 600_000, notCounted: true })] })
    const owner = yield* takeOver(tenantId)
    assert.deepStrictEqual(owner.waiting.map(({ deliveryId }) => deliveryId), [c.deliveryId])
    assert.deepStrictEqual([(yield* find(tenantId, a.deliveryId)).state, (yield* find(tenantId, b.deliveryId)).state], ["dead", "delivered"])
    // and nothing is left of the flights
    const { deliveries } = yield* takeFrom(owner, 1, { again: [c.deliveryId] })
    const again = deliveries.find(({ deliveryId }) => deliveryId === c.deliveryId)
    assert.deepStrictEqual([again?.attempt, again?.tries], [2, 1])
    yield* end(owner, deliveries)
    yield* take(owner)
    yield* release(owner, true)
    assert.isFalse(yield* hasWork(tenantId))
  })
})

const lostTakes = storeSuite("DeliveryStore, reclaim", DeliveryStore, (test) => {
  test("makes deliveries of a lost take wait without a counted attempt, and returns them", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1, D: 1 }, { ...single, numbers: [1, 2] })
    const first = yield* takeFrom(worker, 1, { batches: 3 })
    yield* settle(worker, { outcomes: [0, 2].map((n) => outcomeOf(first.deliveries[n]!, { state: "waiting" })) })
    const repeated = yield* takeOne(worker, 1, { again: [first.deliveries[2]!.deliveryId], batches: 0 })
    const again = first.deliveries[0]!.deliveryId
    const lost = yield* take(worker, { from: [from(1, { after: "C", again: [again], batches: 1 })] })
    const { destinations, owned } = yield* store.reclaim(tenantId, worker.owned, lost.deliveries[0]!.flight)
    for (const { epoch, partition } of owned) assert.isAbove(epoch, worker.owned.find((each) => each.partition === partition)!.epoch)
    assert.deepStrictEqual(owned.map(({ partition }) => partition).sort(), everyPartition)
    const c = lost.deliveries.find(({ attempt }) => attempt === 1)!
    assert.deepStrictEqual((yield* waitingIn(tenantId, destinations)).map(({ deliveryId }) => deliveryId).sort(), [again, c.deliveryId].sort())
    // its signals were lost as well
    assert.deepStrictEqual(destinations.toSorted(), [idOf(1), idOf(2)])
    assert.deepStrictEqual((yield* take(worker, { from: [from(2)] })).owned, [])
    const taken = yield* takeFrom({ tenantId, owned }, 1, { again: [again, c.deliveryId] })
    assert.deepStrictEqual(taken.deliveries.map(({ attempt, tries }) => [attempt, tries]), [[2, 2], [1, 1]])
    // earlier deliveries in flight still exist
    const before = [first.deliveries[1]!, repeated]
    assert.deepStrictEqual(yield* end({ tenantId, owned }, before), yield* settle({ tenantId, owned }, {}))
    for (const { deliveryId } of before) assert.strictEqual((yield* find(tenantId, deliveryId)).state, "delivered")
  })

  test("fences a take that arrives later", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const late = takeRequest(worker, { from: [from(1)], unrequested: 5 })
    const { destinations, owned } = yield* store.reclaim(tenantId, worker.owned, late.flight)
    assert.deepStrictEqual([yield* waitingIn(tenantId, destinations), destinations], [[], [idOf(1)]])
    const answer = yield* store.take(late)
    assert.deepStrictEqual([answer.owned, answer.deliveries, answer.signals], [[], [], []])
    assert.deepStrictEqual(eventIdsOf(yield* takeOne({ tenantId, owned })), ["S/1"])
  })

  test("fences a settlement that arrives later, also of another take", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const delivery = yield* takeOne(worker)
    const lost = takeRequest(worker)
    const { owned } = yield* store.reclaim(tenantId, worker.owned, lost.flight)
    assert.deepStrictEqual(yield* end(worker, [delivery]), [])
    assert.strictEqual((yield* find(tenantId, delivery.deliveryId)).state, "sending")
    yield* end({ tenantId, owned }, [delivery])
    assert.strictEqual((yield* find(tenantId, delivery.deliveryId)).state, "delivered")
  })

  test("does nothing in partitions that have another owner", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const delivery = yield* takeOne(worker)
    yield* release(worker, false)
    const owner = yield* acquire(tenantId)
    const { destinations, owned } = yield* store.reclaim(tenantId, worker.owned, delivery.flight)
    assert.deepStrictEqual([owned, destinations], [[], []])
    const again = yield* takeOne(owner, 1, { again: [delivery.deliveryId] })
    assert.deepStrictEqual([again.attempt, again.tries], [2, 2])
  })
})

/** The worker with the last outcome of every partition. */
const knowing = <Worker extends OwningWorker>(worker: Worker, lastOutcome: WrittenOutcome): Worker =>
  ({ ...worker, owned: worker.owned.map((each) => ({ ...each, lastOutcome })) })

const lostOutcomes = storeSuite("DeliveryStore, outcomes that a crash lost", DeliveryStore, (test) => {
  test("does nothing for an owner whose last outcome is not there", function*({ store, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1 }, single)
    const { deliveries: [a] } = yield* takeFrom(worker, 1, { batches: 1 })
    const ahead = knowing(worker, { deliveryId: a!.deliveryId.replace(/....$/, "ffff"), attempt: 1 })
    const taken = yield* take(ahead, { from: [from(1)] })
    assert.deepStrictEqual([taken.owned, taken.deliveries, taken.signals], [[], [], []])
    assert.deepStrictEqual(yield* end(ahead, [a!]), [])
    assert.deepStrictEqual((yield* store.reclaim(tenantId, ahead.owned, a!.flight)).owned, [])
    assert.deepStrictEqual(yield* drop(ahead, { closed: [idOf(1)] }), nothingDropped)
    yield* release(ahead, false)
    assert.deepStrictEqual((yield* acquire(tenantId)).owned, [])
    assert.strictEqual((yield* find(tenantId, a!.deliveryId)).state, "sending")
  })

  test("knows an outcome as long as its delivery is not sent by the same attempt", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1 }, single)
    const first = yield* takeOne(worker)
    const owns = (attempt: number) => Effect.map(settle(knowing(worker, { deliveryId: first.deliveryId, attempt }), {}), ({ length }) => length === everyPartition.length)
    assert.isFalse(yield* owns(1))
    yield* end(worker, [first], { state: "waiting" })
    assert.isTrue(yield* owns(1))
    const second = yield* takeOne(worker, 1, { again: [first.deliveryId], batches: 0 })
    assert.deepStrictEqual([yield* owns(1), yield* owns(2)], [true, false])
    yield* end(worker, [second])
    assert.deepStrictEqual([yield* owns(1), yield* owns(2)], [true, true])
  })

  test("refuses only those partitions whose last outcome is not there", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1 }, single)
    const first = yield* takeOne(worker)
    yield* end(worker, [first])
    const [known, forgotten] = [{ deliveryId: first.deliveryId, attempt: 1 }, { deliveryId: first.deliveryId.replace(/....$/, "ffff"), attempt: 1 }]
    const owned = worker.owned.map((each) => each.partition === 0 ? each : { ...each, lastOutcome: each.partition % 2 === 0 ? known : forgotten })
    assert.deepStrictEqual((yield* settle({ ...worker, owned }, {})).toSorted(), [0, 2, 4, 6])
  })
})

export const suite = allOf(leases, takeovers, lostTakes, lostOutcomes)
