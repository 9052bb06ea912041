/** Conformance of `PickupSubscriptionStore`, and of the changes that `PickupStore` queues for subscriptions. */
import type { SubscriptionRow } from "@waybill/core"
import { DeliveryQueue, type DestinationState } from "@waybill/core/delivery"
import { pickupBatchEnvelope, pickupSource, PickupSubscriptionStore } from "@waybill/core/pickups"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { acquire, end, takeOne } from "../WorkerFixtures.ts"
import { destinationSettings, freshTenant, idOf, letSee, letSeeAll, occurredAt, openWith, textOf } from "../StorageFixtures.ts"
import { testPruning } from "../shared/RemovedSubscriptionsSuite.ts"
import { foreignIds, testDocuments } from "../shared/SubscriptionDocumentsSuite.ts"
import { change, historyEntry, order, pickupRow } from "./PickupFixtures.ts"
import { storeSuite, unchanged } from "../StoreSuite.ts"

const record = (n: number, parts: Partial<SubscriptionRow> = {}): SubscriptionRow =>
  ({ id: idOf(n), client: "carrier", doc: `{"n":${n}}`, createdAt: occurredAt, updatedAt: occurredAt, matched: true, ...parts })

const subscribe = (tenantId: string, n: number, parts: Partial<SubscriptionRow> = {}, state: DestinationState = "active") => {
  const own = record(n, parts)
  const destination = { ...destinationSettings({ n, client: own.client, state }), source: pickupSource, envelope: pickupBatchEnvelope }
  return openWith(tenantId, destination, PickupSubscriptionStore.use((store) => store.insert(tenantId, own)))
}

/** How many entries wait for each subscription. */
const waiting = Effect.fnUntraced(function*(tenantId: string) {
  const queue = yield* DeliveryQueue
  const { destinations } = yield* queue.destinations(tenantId, { state: undefined, after: undefined, limit: 10 })
  return Object.fromEntries(destinations.map((each) => [Number(each.destinationId.slice(-4)), each.waiting]))
})

export const suite = storeSuite("PickupSubscriptionStore", PickupSubscriptionStore, (test) => {
  testDocuments(test, ({ documents, remove }) => ({ documents, end: remove }), (tenantId, n, client) => subscribe(tenantId, n, { client }))

  test("finds and lists a client's own subscriptions, and no other's", function*({ other, store, tenantId }) {
    for (const n of [2, 1, 3]) yield* subscribe(tenantId, n)
    yield* subscribe(tenantId, 4, { client: "rival" })
    const { matched: _, ...first } = record(1)
    const { destination, ...found } = Option.getOrThrow(yield* store.find(tenantId, "carrier", idOf(1)))
    assert.deepStrictEqual([found, destination.state], [first, "active"])
    for (const [tenant, client, id] of [[tenantId, "rival", idOf(1)], [other, "carrier", idOf(1)], ...foreignIds.map((id) => [tenantId, "carrier", id] as const)] as const) {
      assert.isTrue(Option.isNone(yield* store.find(tenant, client, id)), id)
      assert.strictEqual(yield* store.remove(tenant, client, id), "unknown", id)
    }
    const list = (range: { readonly after: string | undefined; readonly limit: number }) => Effect.map(store.list(tenantId, "carrier", range), (rows) => rows.map(({ id }) => id))
    assert.deepStrictEqual(yield* list({ after: undefined, limit: 2 }), [idOf(1), idOf(2)])
    assert.deepStrictEqual(yield* list({ after: idOf(2), limit: 2 }), [idOf(3)])
    assert.deepStrictEqual(yield* list({ after: idOf(1), limit: 1 }), [idOf(2)])
  })

  test("replaces document, time and matching, and nothing else", function*({ store, tenantId }) {
    yield* subscribe(tenantId, 1)
    yield* store.update(tenantId, record(1, { client: "thief", doc: "{}", createdAt: 1, updatedAt: occurredAt + 5, matched: false }))
    const { destination: _, ...found } = Option.getOrThrow(yield* store.find(tenantId, "carrier", idOf(1), true))
    assert.deepStrictEqual(found, { id: idOf(1), client: "carrier", doc: "{}", createdAt: occurredAt, updatedAt: occurredAt + 5 })
  })

  test("removes once, for its client", function*({ store, tenantId }) {
    yield* subscribe(tenantId, 1)
    const remove = (client: string, id = idOf(1)) => store.remove(tenantId, client, id)
    assert.deepStrictEqual([yield* remove("rival"), yield* remove("carrier", idOf(2)), yield* remove("carrier"), yield* remove("carrier"), yield* remove("rival")], ["unknown", "unknown", "removed", "gone", "unknown"])
    assert.isTrue(Option.isNone(yield* store.find(tenantId, "carrier", idOf(1))))
    assert.deepStrictEqual(yield* store.documents(tenantId, [idOf(1)]), new Map())
  })

  testPruning(test, (tenantId, n) => subscribe(tenantId, n, { client: "client" }))

  test("changes no subscription of another tenant with the same id", function*({ other, store, tenantId }) {
    for (const each of [tenantId, other]) yield* subscribe(each, 1)
    yield* unchanged(store.find(other, "carrier", idOf(1)), Effect.gen(function*() {
      yield* store.update(tenantId, record(1, { doc: "{}" }))
      assert.strictEqual(yield* store.remove(tenantId, "carrier", idOf(1)), "removed")
    }))
  })

  test("is queued every change of a pickup that its client sees, while it matches", function*({ other, pickups, store, tenantId }) {
    yield* letSeeAll(tenantId, "all")
    yield* letSee(tenantId, "one", [" dot 1", " dot 1 A"])
    yield* letSee(tenantId, "two", [" mc 2"])
    yield* letSee(tenantId, "shipper", ["A"])
    for (const [n, client] of [[1, "all"], [2, "one"], [3, "two"], [4, "shipper"], [5, "unknown"]] as const) yield* subscribe(tenantId, n, { client })
    yield* order(tenantId, 1, { accounts: ["A"] })
    assert.deepStrictEqual(yield* waiting(tenantId), { 1: 1, 2: 1, 3: 1, 4: 0, 5: 0 })
    yield* pickups.update(tenantId, pickupRow(1, { carrier: [" dot 1"] }), historyEntry(1, 2), change("{}"))
    assert.deepStrictEqual(yield* waiting(tenantId), { 1: 2, 2: 2, 3: 1, 4: 0, 5: 0 })
    // a test has no entry
    yield* pickups.insert(tenantId, pickupRow(2, { isTest: true }), historyEntry(2))
    yield* store.update(tenantId, record(1, { matched: false }))
    yield* store.remove(tenantId, "two", idOf(3))
    yield* order(tenantId, 3)
    assert.deepStrictEqual(yield* waiting(tenantId), { 1: 2, 2: 3, 3: 1, 4: 0, 5: 0 })
    yield* letSeeAll(other, "shipper")
    yield* letSee(other, "unknown", [" dot 1"])
    yield* order(other, 4)
    yield* pickups.update(tenantId, pickupRow(3, { carrier: [" dot 1"] }), historyEntry(3, 2), change("{}"))
    assert.deepStrictEqual(yield* waiting(tenantId), { 1: 2, 2: 4, 3: 1, 4: 0, 5: 0 })
  })

  test("keeps a pickup while a change of it waits, is in flight or dead, and no other", function*({ pickups, queue, tenantId }) {
    yield* letSeeAll(tenantId, "carrier")
    yield* order(tenantId, 1)
    yield* subscribe(tenantId, 1)
    yield* order(tenantId, 2)
    const prune = pickups.prune(tenantId, { ordered: occurredAt + 1_000_000, answered: 0 })
    assert.deepStrictEqual([yield* prune, yield* prune], [1, 0])
    const worker = yield* acquire(tenantId)
    const delivery = yield* takeOne(worker)
    assert.strictEqual(yield* prune, 0)
    yield* end(worker, [delivery], { state: "dead" })
    assert.strictEqual(yield* prune, 0)
    yield* queue.retry(tenantId, delivery.deliveryId)
    const again = yield* takeOne(worker, 1, { again: [delivery.deliveryId] })
    assert.strictEqual(textOf(again.body), "ordered 2")
    yield* end(worker, [again])
    assert.strictEqual(yield* prune, 1)
  })

  test("is queued past changes again, within the time, that its client sees now and that do not wait", function*({ pickups, store, tenantId }) {
    yield* letSeeAll(tenantId, "all")
    yield* letSee(tenantId, "one", [" dot 1"])
    yield* letSee(tenantId, "two", [" dot 2"])
    yield* letSee(tenantId, "customer", ["A"])
    const changeAt = (n: number, position: number, at: number, carrier?: ReadonlyArray<string>) =>
      pickups[position === 1 ? "insert" : "update"](tenantId, pickupRow(n, { carrier }), { ...historyEntry(n, position), at }, change(`{"n":${n}}`))
    yield* changeAt(1, 1, occurredAt)
    yield* changeAt(2, 1, occurredAt + 1000)
    yield* changeAt(2, 2, occurredAt + 2000, [" dot 2"])
    yield* changeAt(3, 1, occurredAt + 3000)
    yield* changeAt(3, 2, occurredAt + 4000, [" dot 1"])
    yield* subscribe(tenantId, 1, { client: "one" })
    yield* subscribe(tenantId, 2, { client: "one" })
    const replay = (from: number, to?: number, id = idOf(1)) => store.replay(tenantId, id, { from: occurredAt + from, to: to === undefined ? undefined : occurredAt + to })
    assert.deepStrictEqual(yield* replay(1, 3000), Option.some(0))
    assert.deepStrictEqual(yield* replay(0, 4000), Option.some(2))
    assert.deepStrictEqual(yield* replay(0), Option.some(1))
    assert.deepStrictEqual(yield* waiting(tenantId), { 1: 3, 2: 0 })
    for (const [n, client, queued] of [[3, "all", 5], [4, "customer", 0], [5, "unknown", 0]] as const) {
      yield* subscribe(tenantId, n, { client })
      assert.deepStrictEqual(yield* replay(0, undefined, idOf(n)), Option.some(queued), client)
    }
    for (const id of [idOf(9), "garbage"]) assert.isTrue(Option.isNone(yield* replay(0, undefined, id)))
    yield* store.remove(tenantId, "one", idOf(2))
    assert.isTrue(Option.isNone(yield* replay(0, undefined, idOf(2))))
    assert.isTrue(Option.isNone(yield* store.replay(freshTenant(), idOf(1), { from: 0, to: undefined })))
  })

  test("says which pickups a client sees now", function*({ tenantId }) {
    const { clientSees } = yield* PickupSubscriptionStore
    yield* letSeeAll(tenantId, "all")
    yield* letSee(tenantId, "one", [" dot 1"])
    yield* letSee(tenantId, "two", [" mc 2"])
    yield* letSee(tenantId, "customer", ["A"])
    yield* order(tenantId, 1)
    yield* order(tenantId, 2, { carrier: [" dot 1"] })
    const seen = (client: string, tenant = tenantId) => Effect.forEach([idOf(1), idOf(2), "garbage"], (id) => clientSees(tenant, client, id))
    assert.deepStrictEqual((yield* seen("all")).slice(0, 2), [true, true])
    assert.deepStrictEqual([yield* seen("one"), yield* seen("two"), yield* seen("unknown")], [[true, true, false], [true, false, false], [false, false, false]])
    assert.deepStrictEqual(yield* seen("customer"), [false, false, false])
    assert.deepStrictEqual(yield* seen("one", freshTenant()), [false, false, false])
  })
})
