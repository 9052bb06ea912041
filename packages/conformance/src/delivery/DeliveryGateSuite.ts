/** Conformance of `DeliveryStore`: access is checked at the moment of sending. */
import { AccessStore } from "@waybill/core"
import { DeliveryQueue, DeliveryStore, type SecretOwner } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { bytesOf, claim, destinationSettings, freshTenant, idOf, letSee, letSeeAll, publish, seed, single, storedSecret, subscribe } from "../StorageFixtures.ts"
import { acquire, drain, drainedEvents, drop, end, eventIdsOf, find, from, hasWork, outcomeOf, release, seededWorker, settle, stateOf, take, takeFrom, takeOne } from "../WorkerFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

/** Ends the access of a client; what it saw last stays. */
const endAccess = (tenantId: string, client: string, accounts: ReadonlyArray<string>) =>
  Effect.flatMap(AccessStore, (access) =>
    access.putClientAccess(tenantId, { client, origin: "key", seesAll: false, accounts, live: { until: 0 } }))

/** Gives a client access and notifies the queue. */
const giveAccess = (tenantId: string, client: string, accounts: ReadonlyArray<string>) =>
  Effect.andThen(letSee(tenantId, client, accounts), Effect.flatMap(DeliveryQueue, (queue) => queue.accessRestored(tenantId, client)))

const reassign = (tenantId: string, shipmentId: string, accounts: ReadonlyArray<string>) =>
  publish(tenantId, [{ shipmentId, eventId: `${shipmentId} of ${accounts.join()}` }], { accounts })

/** Drops entries of shipments that destination 1 may not see. */
const dropKeys = (worker: Parameters<typeof drop>[0], keys: ReadonlyArray<string>) =>
  Effect.map(drop(worker, { keys: keys.map((key) => ({ destinationId: idOf(1), key })) }), ({ dropped }) => dropped)

export const suite = storeSuite("DeliveryStore, access checks", DeliveryStore, (test) => {
  test("takes nothing of a client without access, has no work meanwhile, and continues when access returns", function*({ tenantId }) {
    yield* letSee(tenantId, "other", ["A"])
    yield* letSee(freshTenant(), "client", ["A"])
    yield* seed(tenantId, { S: 9 })
    yield* endAccess(tenantId, "client", ["A"])
    const worker = yield* acquire(tenantId)
    const { deliveries, from: [found], signals } = yield* take(worker, { unrequested: 1 })
    assert.deepStrictEqual([deliveries, found?.sends ?? false, signals.length], [[], false, 1])
    // entries that are queued in this time wait as well
    yield* publish(tenantId, [{ shipmentId: "S" }])
    const asked = yield* takeFrom(worker)
    assert.deepStrictEqual([asked.deliveries, asked.found!.sends], [[], false])
    yield* release(worker, true)
    assert.isFalse(yield* hasWork(tenantId))
    yield* giveAccess(tenantId, "client", ["A"])
    assert.isTrue(yield* hasWork(tenantId))
    assert.lengthOf(eventIdsOf(yield* takeOne(yield* acquire(tenantId))), 10)
  })

  test("sends nothing to a client that never had access", function*({ queue, tenantId }) {
    yield* letSee(freshTenant(), "client", ["A"])
    yield* queue.openDestination(tenantId, destinationSettings())
    assert.isFalse((yield* takeFrom(yield* acquire(tenantId))).found!.sends)
  })

  test("takes nothing of a tenant that is suspended, and of other tenants as before", function*({ access, other, queue, tenantId }) {
    yield* access.putTenant({ tenantId, name: "Acme", hosts: [] })
    yield* seed(tenantId, { S: 1 })
    yield* access.setTenantState(tenantId, "suspended")
    const worker = yield* acquire(tenantId)
    const { deliveries, found } = yield* takeFrom(worker)
    assert.deepStrictEqual([deliveries, found!.sends], [[], false])
    yield* access.putTenant({ tenantId: other, name: "Other", hosts: [] })
    assert.lengthOf((yield* takeFrom(yield* seededWorker(other, { S: 1 }))).deliveries, 1)
    yield* access.setTenantState(tenantId, "active")
    yield* queue.accessRestored(tenantId, undefined)
    assert.strictEqual((yield* takeFrom(worker)).deliveries.length, 1)
  })

  test("keeps a delivery that waits for its next attempt, without counting an attempt", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const delivery = yield* takeOne(worker)
    yield* end(worker, [delivery], { state: "waiting" })
    yield* endAccess(tenantId, "client", ["A"])
    const held = yield* takeFrom(worker, 1, { again: [delivery.deliveryId] })
    assert.deepStrictEqual([held.deliveries, held.found!.sends, held.found!.unseenDeliveries], [[], false, []])
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "waiting")
    yield* giveAccess(tenantId, "client", ["A"])
    const again = yield* takeOne(worker, 1, { again: [delivery.deliveryId] })
    assert.deepStrictEqual([again.deliveryId, again.attempt, again.tries], [delivery.deliveryId, 2, 2])
  })

  test("does not affect destinations of other clients", function*({ tenantId }) {
    yield* seed(tenantId, { S: 1 })
    yield* letSee(tenantId, "other", ["A"])
    yield* subscribe(tenantId, { n: 2, client: "other" })
    yield* publish(tenantId, [{ shipmentId: "S" }])
    yield* endAccess(tenantId, "client", ["A"])
    assert.deepStrictEqual(yield* drainedEvents(tenantId), { 2: ["S/2"] })
  })

  test("skips entries that the client may no longer see, and drops them", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A", "B"])
    yield* subscribe(tenantId)
    for (const [shipmentId, account] of [["R", "A"], ["S", "B"], ["T", "A"]] as const) {
      yield* publish(tenantId, [{ shipmentId }, { shipmentId }], { accounts: [account] })
    }
    yield* letSee(tenantId, "client", ["A"])
    const worker = yield* acquire(tenantId)
    const { deliveries, found } = yield* takeFrom(worker)
    assert.deepStrictEqual([deliveries.map(eventIdsOf), found!.unseenKeys, found!.blocked, found!.more], [[["R/1", "R/2", "T/1", "T/2"]], ["S"], false, false])
    assert.strictEqual(yield* dropKeys(worker, ["S"]), 2)
    yield* letSee(tenantId, "client", ["A", "B"])
    const again = yield* takeFrom(worker)
    assert.deepStrictEqual([again.deliveries, again.found!.unseenKeys], [[], []])
  })

  // stores may look up what clients with few accounts see in another way than what those with many see
  for (const many of [0, 1, 2, 3, 65]) {
    test(`skips entries that a client with ${many} accounts may not see`, function*({ tenantId }) {
      yield* letSee(tenantId, "client", ["D"])
      yield* subscribe(tenantId)
      for (const [shipmentId, account] of [["R", "A0"], ["S", "B"], ["T", `A${many - 1}`], ["U", "C"]] as const) {
        yield* publish(tenantId, [{ shipmentId }, { shipmentId }], { accounts: [account, "D"] })
      }
      yield* letSee(tenantId, "client", Array.from({ length: many }, (_, n) => `A${n}`))
      const { deliveries, found } = yield* takeFrom(yield* acquire(tenantId))
      assert.deepStrictEqual(
        [deliveries.map(eventIdsOf), found!.unseenKeys],
        many === 0 ? [[], ["R", "S", "T", "U"]] : [[["R/1", "R/2", "T/1", "T/2"]], ["S", "U"]]
      )
    })
  }

  for (const many of [1, 2, 3, 65]) {
    test(`sends a carrier with ${many} numbers its own freight, also that without accounts`, function*({ tenantId }) {
      yield* letSeeAll(tenantId, "client")
      yield* subscribe(tenantId)
      yield* claim(tenantId, [
        { shipmentId: "R", accounts: undefined, carrier: [" dot 1", " mc 1"] },
        { shipmentId: "S", accounts: ["A"], carrier: [" dot 2"] },
        { shipmentId: "T", accounts: ["1"] }
      ])
      for (const shipmentId of ["R", "S", "T", "U"]) yield* publish(tenantId, [{ shipmentId }])
      yield* letSee(tenantId, "client", Array.from({ length: many }, (_, n) => ` dot ${n + 1 === 2 ? 0 : n + 1}`))
      const { deliveries, found } = yield* takeFrom(yield* acquire(tenantId))
      assert.deepStrictEqual([deliveries.map(eventIdsOf), found!.unseenKeys], [[["R/1"]], ["S", "T", "U"]])
    })
  }

  test("keeps entries that the client may see again", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    yield* letSee(tenantId, "client", ["B"])
    assert.deepStrictEqual((yield* takeFrom(worker)).found!.unseenKeys, ["S"])
    yield* letSee(tenantId, "client", ["A"])
    assert.strictEqual(yield* dropKeys(worker, ["S"]), 0)
    assert.deepStrictEqual(eventIdsOf(yield* takeOne(worker)), ["S/1"])
  })

  test("drops waiting entries of a shipment that left the account", function*({ tenantId }) {
    yield* seed(tenantId, { S: 3, T: 1 })
    yield* reassign(tenantId, "S", ["B"])
    const { dropped, sent } = yield* drain(tenantId)
    assert.deepStrictEqual([dropped, sent.map(eventIdsOf)], [3, [["T/1"]]])
  })

  test("drops what one client may no longer see under the named keys only, and nothing of another client", function*({ tenantId }) {
    yield* letSee(tenantId, "other", ["A"])
    yield* subscribe(tenantId, { n: 2, client: "other" })
    yield* seed(tenantId, { S: 1, T: 1 })
    yield* letSee(tenantId, "client", ["B"])
    const worker = yield* acquire(tenantId)
    assert.deepStrictEqual((yield* takeFrom(worker)).found!.unseenKeys, ["S", "T"])
    assert.strictEqual(yield* dropKeys(worker, ["S"]), 1)
    assert.deepStrictEqual((yield* takeFrom(worker)).found!.unseenKeys, ["T"])
    assert.deepStrictEqual(eventIdsOf(yield* takeOne(worker, 2)), ["S/1", "T/1"])
    yield* publish(tenantId, [{ shipmentId: "U" }], { accounts: ["A"] })
    yield* letSee(tenantId, "other", ["B"])
    assert.strictEqual((yield* drop(worker, { keys: [{ destinationId: idOf(2), key: "U" }] })).dropped, 1)
  })

  test("sends everything to a client that sees everything", function*({ tenantId }) {
    yield* letSeeAll(tenantId, "client")
    yield* subscribe(tenantId)
    yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "T" }], { accounts: [] })
    const { dropped, sent } = yield* drain(tenantId)
    assert.deepStrictEqual([dropped, sent.map(eventIdsOf)], [0, [["S/1", "T/1"]]])
  })

  test("cancels a delivery with an entry that the client may no longer see, and queues its other entries again in order", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 2, T: 2 })
    const delivery = yield* takeOne(worker)
    yield* end(worker, [delivery], { state: "waiting" })
    yield* publish(tenantId, [{ shipmentId: "T" }])
    yield* reassign(tenantId, "S", ["B"])
    const { deliveries, found } = yield* takeFrom(worker, 1, { again: [delivery.deliveryId] })
    assert.deepStrictEqual([deliveries, found!.unseenDeliveries], [[], [delivery.deliveryId]])
    yield* drop(worker, { deliveries: [delivery] })
    const { reason, state } = yield* find(tenantId, delivery.deliveryId)
    assert.strictEqual(state, "cancelled")
    assert.match(reason!, /may no longer see/)
    const next = yield* takeFrom(worker)
    assert.deepStrictEqual([next.deliveries.map(eventIdsOf), next.found!.unseenKeys], [[["T/1", "T/2", "T/3"]], ["S"]])
    yield* queue.retry(tenantId, delivery.deliveryId)
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "cancelled")
  })

  test("does the same for a retried dead letter, and for a delivery after a takeover", function*({ queue, tenantId }) {
    const before = yield* seededWorker(tenantId, { S: 1, T: 1 }, single)
    const { deliveries } = yield* takeFrom(before)
    const ids = deliveries.map(({ deliveryId }) => deliveryId)
    yield* settle(before, { outcomes: [outcomeOf(deliveries[0]!, { state: "dead" })] })
    yield* release(before, false)
    yield* letSee(tenantId, "client", ["B"])
    yield* queue.retry(tenantId, ids[0]!)
    const worker = yield* acquire(tenantId)
    const { from: [found] } = yield* take(worker, { from: [from(1, { again: ids })] })
    assert.deepStrictEqual(found!.unseenDeliveries, ids)
    yield* drop(worker, { deliveries })
    for (const id of ids) assert.strictEqual(yield* stateOf(tenantId, id), "cancelled")
    const next = yield* takeFrom(worker)
    assert.deepStrictEqual([next.deliveries, next.found!.unseenKeys], [[], ["S", "T"]])
  })

  test("does not send a delivery again when it may not be seen by the end of its attempt", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const delivery = yield* takeOne(worker)
    yield* reassign(tenantId, "S", ["B"])
    yield* drop(worker, { deliveries: [delivery] })
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "sending")
    yield* end(worker, [delivery], { state: "waiting" })
    assert.deepStrictEqual((yield* takeFrom(worker, 1, { again: [delivery.deliveryId] })).deliveries, [])
    yield* drop(worker, { deliveries: [delivery] })
    assert.strictEqual(yield* stateOf(tenantId, delivery.deliveryId), "cancelled")
  })

  test("reports that the secret of a destination has another owner", function*({ secrets, store, tenantId }) {
    const versions = [{ sealed: bytesOf("sealed"), signsUntil: undefined }]
    yield* letSee(tenantId, "key:client", ["A"])
    yield* subscribe(tenantId, { client: "key:client" })
    const owners: ReadonlyArray<readonly [SecretOwner, boolean]> = [
      [{ _tag: "Client", client: "key:other" }, true],
      [{ _tag: "Client", client: "key:client" }, false],
      [{ _tag: "Accounts", accounts: ["B"] }, true],
      [{ _tag: "Accounts", accounts: ["A", "B"] }, false],
      [{ _tag: "AnyClient" }, false]
    ]
    const isRefused = Effect.map(store.load(tenantId, [idOf(1)]), ([loaded]) => loaded!.secretRefused)
    assert.isFalse(yield* isRefused, "a secret that nobody registered is nobody's")
    for (const [owner, refused] of owners) {
      yield* secrets.put(tenantId, "main", storedSecret(versions, { owner }))
      assert.strictEqual(yield* isRefused, refused, JSON.stringify(owner))
    }
  })
})
