/** Conformance of status notifications: which subscribers of a `StatusSubscriptionStore` get the notices of `ShipmentStatusStore.write`. */
import { DeliveryStore } from "@waybill/core/delivery"
import { ShipmentStatusStore } from "@waybill/core/shipment-status"
import { assert } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { acquire, drain, drainedBodies, drop, end, hasWork, takeFrom, takeOne } from "../WorkerFixtures.ts"
import { idOf, letSee, letSeeAll, occurredAt, publish, rolledBack, textOf } from "../StorageFixtures.ts"
import { follow, followingClient, report, statusDestination } from "./StatusFixtures.ts"
import { beginning, storeSuite } from "../StoreSuite.ts"

const minutes = 60_000

/** Prunes notices queued before the given number of minutes from now. */
const pruneNotices = (tenantId: string, inMinutes: number) =>
  Effect.flatMap(Effect.all([ShipmentStatusStore, Clock.currentTimeMillis]), ([store, now]) =>
    store.prune(tenantId, { delivered: 0, noticed: now + inMinutes * minutes }))

export const suite = storeSuite("notices of shipment statuses", ShipmentStatusStore, (test) => {
  const withFollower = beginning(test, ({ tenantId }) => followingClient(tenantId))

  test("are queued once for each subscription that names a reference of the shipment and whose client may see it", function*({ tenantId }) {
    yield* letSee(tenantId, "anna", ["A", "B"], "key")
    yield* letSee(tenantId, "anna", ["A"], "token")
    yield* letSee(tenantId, "bert", ["C"])
    yield* letSeeAll(tenantId, "carrier")
    yield* follow(tenantId, { n: 1, client: "anna", references: ["r1", "r2", "not yet known"] })
    yield* follow(tenantId, { n: 2, client: "anna", references: ["r2"] })
    yield* follow(tenantId, { n: 3, client: "anna", references: ["r3"] })
    yield* follow(tenantId, { n: 4, client: "bert", references: ["r1"] })
    yield* follow(tenantId, { n: 5, client: "carrier", references: ["r1"] })
    yield* follow(tenantId, { n: 6, client: "nobody knows", references: ["r1"] })
    yield* report(tenantId, [{ shipmentId: "S", references: ["r1", "r2"] }], { accounts: ["A", "B"], notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/1"], 2: ["S/1"], 5: ["S/1"] })
  })

  test("are queued for no client because one of the same name may see freight of another tenant", function*({ other, tenantId }) {
    yield* letSeeAll(other, "carrier")
    yield* letSee(other, "shipper", ["A"])
    for (const [n, client] of [[1, "carrier"], [2, "shipper"]] as const) {
      yield* letSee(tenantId, client, ["Z"])
      yield* follow(tenantId, { n, client, references: ["r"] })
    }
    yield* report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.deepStrictEqual(yield* drain(tenantId), { dropped: 0, sent: [] })
  })

  test("are claimed in order of shipment and number, with the trace of their call", function*({ tenantId }) {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const body = "{\"notes\":\"käse, \\\"船\\\" 😀 \\\\ {} NULL\"}"
    yield* followingClient(tenantId)
    yield* report(tenantId, [{ shipmentId: "T", references: ["r"] }, { shipmentId: "S \"1\"", references: ["r"] }], {
      accounts: ["A"],
      notices: [{ shipmentId: "T", sequence: 1 }, { shipmentId: "S \"1\"", sequence: 1, body }, { shipmentId: "S \"1\"", sequence: 2 }],
      traceparent
    })
    yield* report(tenantId, [], { notices: [{ shipmentId: "S \"1\"", sequence: 3 }] })
    const { sent } = yield* drain(tenantId)
    assert.deepStrictEqual(sent.filter(({ lastKey }) => lastKey !== "T").map((each) => [each.lastKey, textOf(each.body), each.traceparent]), [
      ["S \"1\"", body, traceparent],
      ["S \"1\"", "S \"1\"/2", traceparent],
      ["S \"1\"", "S \"1\"/3", undefined]
    ])
    assert.deepStrictEqual(sent.filter(({ lastKey }) => lastKey === "T").map((each) => [textOf(each.body), each.traceparent]), [["T/1", traceparent]])
    const [loaded] = yield* (yield* DeliveryStore).load(tenantId, [idOf(1)])
    assert.deepStrictEqual([loaded!.envelope, loaded!.signing, loaded!.whenDead], [{ open: "", close: "" }, "whenRegistered", "continue"])
  })

  test("match subscriptions by the latest references, and keep these when a call names none", function*({ tenantId }) {
    yield* followingClient(tenantId, { n: 1, references: ["first"] })
    yield* follow(tenantId, { n: 2, references: ["second"] })
    const notify = (sequence: number, references?: ReadonlyArray<string>) =>
      report(tenantId, [{ shipmentId: "S", references }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence }] })
    yield* notify(1)
    yield* notify(2, ["first"])
    yield* notify(3)
    yield* notify(4, ["second"])
    yield* report(tenantId, [], { notices: [{ shipmentId: "S", sequence: 5 }] })
    yield* notify(6, [])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/2", "S/3"], 2: ["S/4", "S/5"] })
  })

  test("match subscriptions by the references of each shipment of a call", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    for (const [n, reference] of [[1, "s"], [2, "t"]] as const) yield* follow(tenantId, { n, references: [reference] })
    const both = [{ shipmentId: "S", references: ["s"] }, { shipmentId: "T", references: ["t"] }]
    yield* report(tenantId, both, { accounts: ["A"] })
    yield* report(tenantId, both, { notices: [{ shipmentId: "S", sequence: 1 }] })
    yield* report(tenantId, [], { notices: [{ shipmentId: "T", sequence: 1 }] })
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/1"], 2: ["T/1"] })
  })

  withFollower("check access by the current accounts, whichever area set them", function*({ tenantId }) {
    const notify = (sequence: number, accounts?: ReadonlyArray<string>) =>
      report(tenantId, [{ shipmentId: "S", references: ["r"] }], {
        ...(accounts === undefined ? {} : { accounts }),
        notices: [{ shipmentId: "S", sequence }]
      })
    yield* notify(1)
    yield* notify(2, ["A"])
    yield* notify(3, ["B"])
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    yield* notify(4)
    yield* letSee(tenantId, "client", ["Z"])
    yield* notify(5)
    yield* letSee(tenantId, "client", ["A"])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/2", "S/4"] })
  })

  test("wait in a paused destination, and are sent once it is active", function*({ queue, tenantId }) {
    yield* followingClient(tenantId, { state: "paused" })
    yield* report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.deepStrictEqual(yield* drainedBodies(tenantId), {})
    yield* queue.changeDestination(tenantId, statusDestination())
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/1"] })
  })

  withFollower("make their destination due at once", function*({ tenantId }) {
    const isSignalled = hasWork(tenantId)
    yield* report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"] })
    assert.isFalse(yield* isSignalled)
    yield* report(tenantId, [], { notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.isTrue(yield* isSignalled)
  })

  withFollower("are rolled back with their report", function*({ tenantId }) {
    const reported = report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
    yield* rolledBack(reported)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), {})
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
  })

  test("stay within their tenant when other tenants use the same references", function*({ other, tenantId: one }) {
    for (const tenantId of [one, other]) {
      yield* followingClient(tenantId)
    }
    yield* report(one, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.deepStrictEqual(yield* drainedBodies(other), {})
    assert.strictEqual(yield* pruneNotices(other, 10), 0)
    yield* report(other, [{ shipmentId: "S" }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.deepStrictEqual(yield* drainedBodies(other), {})
    assert.deepStrictEqual(yield* drainedBodies(one), { 1: ["S/1"] })
  })

  test("of many shipments are stored in one transaction", function*({ tenantId }) {
    const shipmentIds = Array.from({ length: 500 }, (_, n) => `S${n}`)
    yield* followingClient(tenantId, { references: shipmentIds.map((shipmentId) => `ref ${shipmentId}`) })
    yield* report(tenantId, shipmentIds.map((shipmentId) => ({ shipmentId, keys: [`key ${shipmentId}`], references: [`ref ${shipmentId}`] })), {
      accounts: ["A"],
      notices: shipmentIds.flatMap((shipmentId) => [1, 2].map((sequence) => ({ shipmentId, sequence })))
    })
    const bodies = (yield* drainedBodies(tenantId))[1]!
    assert.deepStrictEqual([bodies.length, new Set(bodies).size], [1000, 1000])
  })

  test("are pruned when they are old and have no subscriber", function*({ tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S" }], { notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.strictEqual(yield* pruneNotices(tenantId, -10), 0)
    assert.isAbove(yield* pruneNotices(tenantId, 10), 0)
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
  })

  withFollower("are queued for the references of a shipment after others were pruned", function*({ store, tenantId }) {
    yield* report(tenantId, [{ shipmentId: "old", references: ["o"], deliveredAt: occurredAt - 1 }, { shipmentId: "S", references: ["r"] }], { accounts: ["A"] })
    assert.isAbove(yield* store.prune(tenantId, { delivered: occurredAt, noticed: 0 }), 0)
    yield* report(tenantId, [], { notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/1"] })
  })

  withFollower("are kept from the oldest that waits, is in flight or is dead", function*({ tenantId }) {
    for (const shipmentId of ["S", "T", "U"]) yield* report(tenantId, [{ shipmentId, references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId, sequence: 1 }] })
    const worker = yield* acquire(tenantId)
    const { deliveries } = yield* takeFrom(worker, 1, { batches: 2 })
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
    yield* end(worker, deliveries, { state: "dead" })
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
  })

  withFollower("are kept while a delivery with them waits, is in flight, is retried or is dead", function*({ queue, tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
    const worker = yield* acquire(tenantId)
    const delivery = yield* takeOne(worker)
    assert.strictEqual(textOf(delivery.body), "S/1")
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
    yield* end(worker, [delivery], { state: "waiting" })
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
    const again = yield* takeOne(worker, 1, { again: [delivery.deliveryId] })
    assert.strictEqual(textOf(again.body), "S/1")
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
    yield* end(worker, [again], { state: "dead" })
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
    yield* queue.retry(tenantId, delivery.deliveryId)
    assert.strictEqual(textOf((yield* takeOne(worker, 1, { again: [delivery.deliveryId] })).body), "S/1")
  })

  test("are pruned once they are delivered or their destination is closed", function*({ queue, tenantId }) {
    yield* followingClient(tenantId, { n: 1 })
    yield* follow(tenantId, { n: 2, references: ["r"] })
    yield* follow(tenantId, { n: 3, references: ["r"] })
    yield* report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
    const worker = yield* acquire(tenantId)
    yield* end(worker, [yield* takeOne(worker)])
    yield* end(worker, [yield* takeOne(worker, 3)], { state: "dead" })
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
    yield* queue.closeDestination(tenantId, idOf(2))
    yield* drop(worker, { closed: [idOf(2)] })
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
    yield* queue.closeDestination(tenantId, idOf(3))
    assert.isAbove(yield* pruneNotices(tenantId, 10), 0)
    assert.strictEqual(yield* pruneNotices(tenantId, 10), 0)
  })

  withFollower("are sent only to clients that may still see their shipments when they are taken", function*({ tenantId }) {
    for (const shipmentId of ["S", "T"]) {
      yield* report(tenantId, [{ shipmentId, references: ["r"] }], { accounts: ["A"], notices: [{ shipmentId, sequence: 1 }] })
    }
    yield* report(tenantId, [{ shipmentId: "S", references: ["r"] }], { accounts: ["B"] })
    const { dropped, sent } = yield* drain(tenantId)
    assert.deepStrictEqual([dropped, sent.map(({ body }) => textOf(body))], [1, ["T/1"]])
  })
})
