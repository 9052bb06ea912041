/** Conformance of `DeliveryStore`: which writes leave signals, and how a take consumes them. */
import { DeliveryStore } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { bytesOf, destinationSettings, freshTenant, idOf, letSee, occurredAt, publish, seed, storedSecret, subscribe } from "../StorageFixtures.ts"
import { acquire, changeOf, end, eventIdsOf, from, hasWork, load, seededWorker, settle, take } from "../WorkerFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const versionOf = (tenantId: string) => Effect.map(load(tenantId), ({ version }) => version)

export const suite = storeSuite("DeliveryStore, signals", DeliveryStore, (test) => {
  test("consumes one signal of each published destination, with its smallest key", function*({ tenantId }) {
    yield* seed(tenantId, { T: 1, S: 1 }, { numbers: [1, 2] })
    yield* publish(tenantId, [{ shipmentId: "U" }], { accounts: ["A"] })
    const worker = yield* acquire(tenantId)
    const { moreSignals, signals } = yield* take(worker)
    assert.deepStrictEqual([signals, moreSignals], [
      [{ destinationId: idOf(1), key: "S" }, { destinationId: idOf(2), key: "S" }],
      false
    ])
    assert.deepStrictEqual((yield* take(worker)).signals, [])
    yield* publish(tenantId, [{ shipmentId: "A" }], { accounts: ["B"] })
    assert.deepStrictEqual((yield* take(worker)).signals, [])
  })

  test("consumes at most the requested number of signals, of owned partitions only", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 }, { numbers: [1, 2, 3] })
    const owned = worker.owned.filter(({ partition }) => partition !== 2)
    const first = yield* take({ ...worker, owned }, { signals: 1 })
    assert.deepStrictEqual([first.signals.length, first.moreSignals], [1, true])
    const second = yield* take({ ...worker, owned })
    assert.deepStrictEqual([[...first.signals, ...second.signals].map(({ destinationId }) => destinationId).sort(), second.moreSignals], [[idOf(1), idOf(3)], false])
    assert.deepStrictEqual((yield* take(worker)).signals.map(({ destinationId }) => destinationId), [idOf(2)])
  })

  test("consumes the oldest signal of a partition first, and leaves those beyond the requested number", function*() {
    for (const order of [[1, 3], [3, 1], [1, 9], [9, 1]]) {
      const tenantId = freshTenant()
      for (const n of order) {
        yield* letSee(tenantId, `client ${n}`, [`A${n}`])
        yield* subscribe(tenantId, { n, client: `client ${n}` })
        yield* publish(tenantId, [{ shipmentId: `S${n}` }], { accounts: [`A${n}`] })
      }
      const worker = yield* acquire(tenantId)
      const first = yield* take(worker, { signals: 1, unrequested: 5 })
      assert.deepStrictEqual(first.deliveries.map(({ destinationId }) => destinationId), first.signals.map(({ destinationId }) => destinationId))
      const signals = [...first.signals, ...(yield* take(worker)).signals].map(({ destinationId }) => destinationId)
      assert.deepStrictEqual(order.includes(9) ? signals : signals.sort(), order.includes(9) ? order.map(idOf) : [idOf(1), idOf(3)])
    }
  })

  test("takes one unrequested delivery of a destination with a signal, unless it is in skip", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    for (const n of [1, 2, 3, 4]) yield* subscribe(tenantId, { n, policy: { batchMaxSize: 2 } })
    const worker = yield* acquire(tenantId)
    yield* settle(worker, { destinations: [changeOf(4, { breaker: { failures: 5, openUntil: occurredAt + 0.5 } })] })
    yield* publish(tenantId, ["S", "T", "U"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
    const { deliveries, from: found, signals } = yield* take(worker, { from: [from(1, { batches: 0 })], skip: [idOf(2)], unrequested: 5 })
    assert.deepStrictEqual(deliveries.map((each) => [each.destinationId, eventIdsOf(each)]), [[idOf(3), ["S/1", "T/1"]]])
    assert.sameMembers(signals.map(({ destinationId }) => destinationId), [1, 2, 3, 4].map(idOf))
    const unrequested = found.find(({ destinationId }) => destinationId === idOf(3))!
    assert.deepStrictEqual([unrequested.after, unrequested.more, unrequested.blocked], ["T", true, false])
  })

  test("takes one unrequested delivery of a destination with several signals", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    const { deliveries, from: found } = yield* take(worker, { unrequested: 5 })
    assert.deepStrictEqual([deliveries.map(eventIdsOf), found.length], [[["S/1", "T/1"]], 1])
  })

  test("takes unrequested deliveries neither behind an open breaker nor a rate mark in the future, but requested ones", function*({ store, tenantId }) {
    const { owned, workerId } = yield* seededWorker(tenantId, {}, { numbers: [1, 2, 3] })
    const { now } = yield* take({ tenantId, owned })
    const marks = [{ destinationId: idOf(2), mark: now + 600_000 }, { destinationId: idOf(3), mark: now - 600_000 }]
    yield* store.release(tenantId, owned.map((each) => ({ ...each, idle: false, othersUntil: undefined })), marks)
    const worker = yield* acquire(tenantId, { worker: workerId })
    yield* settle(worker, { destinations: [changeOf(1, { breaker: { failures: 5, openUntil: occurredAt } })] })
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    const destinations = (parts: Parameters<typeof take>[1]) => Effect.map(take(worker, parts), ({ deliveries }) => deliveries.map(({ destinationId }) => destinationId))
    assert.deepStrictEqual(yield* destinations({ unrequested: 5 }), [idOf(3)])
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    assert.deepStrictEqual((yield* destinations({ from: [from(1), from(2)], unrequested: 5 })).sort(), [1, 2, 3].map(idOf))
  })

  test("takes nothing of an area that was not named, and loses nothing of it", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 }, { numbers: [1, 2] })
    for (const sources of [["shipment-status"], []]) {
      const { deliveries, from: found } = yield* take(worker, { from: [from(1)], sources, signals: 0, unrequested: 1 })
      assert.deepStrictEqual([deliveries, found], [[], []])
    }
    const { deliveries, signals } = yield* take(worker, { from: [from(1)], unrequested: 1 })
    assert.deepStrictEqual([deliveries.length, signals.length], [2, 2])
  })

  test("takes at most the allowed number of unrequested deliveries", function*({ tenantId }) {
    yield* seed(tenantId, { S: 1 }, { numbers: [1, 2, 3] })
    const { deliveries, signals } = yield* take(yield* acquire(tenantId), { unrequested: 2 })
    assert.deepStrictEqual([deliveries.length, signals.length], [2, 3])
  })

  test("leaves a signal without a key when settings, state, secret or access change", function*({ queue, secrets, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const delivery = (yield* take(worker, { unrequested: 1 })).deliveries[0]!
    yield* end(worker, [delivery], { state: "dead" })
    const changes = {
      settings: queue.changeDestination(tenantId, destinationSettings({ policy: { maxAttempts: 2 } })),
      secret: secrets.put(tenantId, "main", storedSecret([{ sealed: bytesOf("sealed"), signsUntil: undefined }])),
      access: queue.accessRestored(tenantId, "client"),
      "access of all": queue.accessRestored(tenantId, undefined),
      retry: queue.retry(tenantId, delivery.deliveryId)
    }
    for (const [what, change] of Object.entries(changes)) {
      yield* publish(tenantId, [{ shipmentId: "S" }])
      const before = yield* versionOf(tenantId)
      yield* change
      assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: undefined }], what)
      assert.strictEqual((yield* versionOf(tenantId)) > before, what === "settings" || what === "secret", what)
    }
    yield* queue.accessRestored(tenantId, "other")
    assert.deepStrictEqual((yield* take(worker)).signals, [])
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.deepStrictEqual((yield* take(worker)).signals, [{ destinationId: idOf(1), key: undefined }])
  })

  test("returns tenants with new entries, longest wait first", function*({ store }) {
    const tenants = Array.from({ length: 5 }, freshTenant)
    for (const tenantId of tenants) yield* seed(tenantId, {})
    for (const tenantId of tenants) assert.isFalse(yield* hasWork(tenantId))
    for (const tenantId of tenants.toReversed()) yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    const { free } = yield* store.look("nobody", 100_000)
    assert.deepStrictEqual(free.filter(({ tenantId }) => tenants.includes(tenantId)), tenants.toReversed().map((tenantId) => ({ tenantId, partition: 1 })))
    assert.lengthOf((yield* store.look("nobody", 2)).free, 2)
  })
})
