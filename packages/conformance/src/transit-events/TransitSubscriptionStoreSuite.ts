/** Conformance of `TransitSubscriptionStore`. */
import { type NewEvent, type ReplayRequest, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { assert } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import {
  freshTenant,
  idOf,
  destinationSettings,
  letSee,
  letSeeAll,
  occurredAt,
  publish,
  recordOf,
  seed,
  subscribe,
  type SubscriptionFixture,
  textOf
} from "../StorageFixtures.ts"
import { testPruning } from "../shared/RemovedSubscriptionsSuite.ts"
import { foreignIds, testDocuments } from "../shared/SubscriptionDocumentsSuite.ts"
import { byDestination, drain, drainedEvents, eventIdsOf, hasWork } from "../WorkerFixtures.ts"
import { storeSuite, unchanged, whileOpen } from "../StoreSuite.ts"

/** Sends all entries, and returns the event ids that subscription 1 received. */
const sentTo = (tenantId: string) => Effect.map(drainedEvents(tenantId), (found) => found[1] ?? [])

const replayAll: ReplayRequest = { from: 0, to: undefined, shipmentIds: undefined }

export const suite = storeSuite("TransitSubscriptionStore", TransitSubscriptionStore, (test) => {
  test("finds a client's own subscription with the state of its destination", function*({ queue, store, tenantId, transaction }) {
    const record = { ...recordOf(), doc: "{\"note\":\"ä\\\\ \\\" '\"}", createdAt: occurredAt + 1, updatedAt: occurredAt + 2 }
    yield* transaction.run(Effect.andThen(queue.openDestination(tenantId, destinationSettings({ state: "paused" })), store.insert(tenantId, record)))
    const found = Option.getOrThrow(yield* store.find(tenantId, "client", idOf(1)))
    assert.deepStrictEqual(
      { ...found, destination: found.destination.state },
      { id: idOf(1), client: "client", doc: record.doc, createdAt: occurredAt + 1, updatedAt: occurredAt + 2, destination: "paused" }
    )
    assert.deepStrictEqual(yield* store.find(tenantId, "client", idOf(1), true), Option.some(found))
  })

  test("finds nothing for another client, an unknown id or a malformed id", function*({ store, tenantId }) {
    yield* subscribe(tenantId)
    assert.isTrue(Option.isNone(yield* store.find(tenantId, "somebody else", idOf(1))))
    for (const id of foreignIds) {
      assert.isTrue(Option.isNone(yield* store.find(tenantId, "client", id)), id)
      assert.isTrue(Option.isNone(yield* store.find(tenantId, "client", id, true)), id)
      assert.strictEqual(yield* store.remove(tenantId, "client", id), "unknown", id)
      assert.isTrue(Option.isNone(yield* store.replay(tenantId, id, replayAll)), id)
    }
  })

  test("lists a client's own subscriptions of one state by id, page by page, with their total", function*({ queue, store, tenantId }) {
    for (const n of [3, 1, 5, 2]) yield* subscribe(tenantId, { n })
    yield* subscribe(tenantId, { n: 4, state: "paused" })
    yield* subscribe(tenantId, { n: 6, client: "somebody else" })
    yield* queue.openDestination(tenantId, { ...destinationSettings({ n: 7 }), source: "pickups" })
    const page = (state: "active" | "paused" | "inactive", skip: number, limit: number) =>
      Effect.map(store.page(tenantId, "client", state, { skip, limit }), ({ rows, totalCount }) => [rows.map((each) => Number(each.id.slice(-4))), totalCount])
    assert.deepStrictEqual(yield* page("active", 0, 3), [[1, 2, 3], 4])
    assert.deepStrictEqual(yield* page("active", 3, 3), [[5], 4])
    assert.deepStrictEqual(yield* page("active", 9, 3), [[], 4])
    assert.deepStrictEqual(yield* page("paused", 0, 3), [[4], 1])
    assert.deepStrictEqual(yield* page("inactive", 0, 3), [[], 0])
  })

  test("matches by the settings of the last update", function*({ store, tenantId }) {
    yield* seed(tenantId, {})
    yield* subscribe(tenantId, { n: 2, client: "other" })
    const update = (fixture: SubscriptionFixture) => store.update(tenantId, { ...recordOf(fixture), doc: "{\"n\":2}", updatedAt: occurredAt + 9 })
    const event = (shipmentId: string, eventId: string, type: "DELAY" | "DELIVERED" = "DELAY") =>
      publish(tenantId, [{ shipmentId, eventId, type }], { accounts: ["A"] })
    yield* event("S", "1 all")
    yield* update({ types: ["DELIVERED"] })
    yield* event("S", "2 filtered")
    yield* event("S", "3 type", "DELIVERED")
    yield* update({ shipmentIds: ["T"] })
    yield* event("S", "4 other shipment")
    yield* event("T", "5 shipment")
    yield* update({ matched: false })
    yield* event("T", "6 off")
    yield* update({})
    yield* event("S", "7 on again")
    assert.deepStrictEqual(yield* sentTo(tenantId), ["1 all", "3 type", "7 on again", "5 shipment"])
    const found = Option.getOrThrow(yield* store.find(tenantId, "client", idOf(1)))
    assert.deepStrictEqual([found.doc, found.createdAt, found.updatedAt], ["{\"n\":2}", occurredAt, occurredAt + 9])
    assert.strictEqual(Option.getOrThrow(yield* store.find(tenantId, "other", idOf(2))).doc, recordOf().doc)
    yield* update({ types: ["DELAY"], shipmentIds: ["S"] })
    assert.deepStrictEqual(yield* store.replay(tenantId, idOf(1), replayAll), Option.some(4))
    yield* store.remove(tenantId, "client", idOf(1))
    yield* update({})
    assert.isTrue(Option.isNone(yield* store.replay(tenantId, idOf(1), replayAll)))
  })

  test("queues the history of named shipments", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    yield* publish(tenantId, [
      { shipmentId: "S", eventId: "s1", type: "PICKED_UP" },
      { shipmentId: "S", eventId: "s2", type: "DELAY" },
      { shipmentId: "S", eventId: "s3", type: "DELIVERED" },
      { shipmentId: "T", eventId: "t1", type: "DELIVERED" }
    ], { accounts: ["A"] })
    yield* publish(tenantId, [{ shipmentId: "foreign", eventId: "f1" }], { accounts: ["B"] })
    yield* subscribe(tenantId, { n: 1, shipmentIds: ["S", "foreign", "unknown"] })
    yield* subscribe(tenantId, { n: 2, shipmentIds: ["S", "T"], types: ["DELIVERED"] })
    yield* subscribe(tenantId, { n: 3 })
    const { dropped, sent } = yield* drain(tenantId)
    assert.deepStrictEqual([byDestination(sent, eventIdsOf), dropped], [{ 1: ["s1", "s2", "s3"], 2: ["s3", "t1"] }, 0])
  })

  test("queues the history of named shipments for a client that sees everything", function*({ tenantId }) {
    yield* letSeeAll(tenantId, "client")
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "nobody's" }])
    yield* subscribe(tenantId, { shipmentIds: ["S"] })
    assert.deepStrictEqual(yield* sentTo(tenantId), ["nobody's"])
  })

  test("neither misses nor repeats events that are published while it is created", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    const events = Array.from({ length: 20 }, (_, n) =>
      publish(tenantId, [{ shipmentId: "S", eventId: `e${String(n).padStart(2, "0")}` }], { accounts: ["A"] }))
    const subscriptions = [1, 2, 3, 4].map((n) => subscribe(tenantId, { n, shipmentIds: ["S", "not yet known"] }))
    const mixed = events.flatMap((event, n) => n % 5 === 2 ? [event, subscriptions[Math.floor(n / 5)]!] : [event])
    yield* Effect.all(mixed, { concurrency: "unbounded" })
    const { sent } = yield* drain(tenantId)
    const sequences = byDestination(sent, ({ body }) => (JSON.parse(`[${textOf(body)}]`) as ReadonlyArray<NewEvent>).map(({ sequence }) => sequence))
    const all = Array.from({ length: 20 }, (_, n) => n + 1)
    assert.deepStrictEqual(sequences, { 1: all, 2: all, 3: all, 4: all })
    const [first] = yield* publish(tenantId, [{ shipmentId: "not yet known" }])
    assert.strictEqual(first!.sequence, 1)
  })

  test("removes once, and succeeds again only for the same client", function*({ queue, store, tenantId }) {
    yield* subscribe(tenantId)
    assert.strictEqual(yield* store.remove(tenantId, "somebody else", idOf(1)), "unknown")
    assert.strictEqual(yield* store.remove(tenantId, "client", idOf(1)), "removed")
    assert.strictEqual(yield* store.remove(tenantId, "client", idOf(1)), "gone")
    assert.strictEqual(yield* store.remove(tenantId, "somebody else", idOf(1)), "unknown")
    assert.isTrue(Option.isNone(yield* store.find(tenantId, "client", idOf(1))))
    assert.isTrue(Option.isNone(yield* store.replay(tenantId, idOf(1), replayAll)))
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.deepStrictEqual(yield* store.page(tenantId, "client", "active", { skip: 0, limit: 9 }), { rows: [], totalCount: 0 })
  })

  testPruning(test, (tenantId, n) => subscribe(tenantId, { n }))

  test("is removed by one of two calls at the same time", function*({ store, tenantId, transaction }) {
    yield* subscribe(tenantId)
    const remove = store.remove(tenantId, "client", idOf(1))
    assert.deepStrictEqual(yield* whileOpen((stayOpen) => transaction.run(Effect.andThen(remove, stayOpen)), [remove]), ["gone"])
  })

  test("matches nothing once it is removed", function*({ store, tenantId }) {
    yield* seed(tenantId, {}, { n: 1 })
    yield* subscribe(tenantId, { n: 2, shipmentIds: ["S"] })
    yield* store.remove(tenantId, "client", idOf(1))
    yield* store.remove(tenantId, "client", idOf(2))
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    assert.deepStrictEqual((yield* drain(tenantId)).sent, [])
  })

  test("replays delivered events, and returns their number", function*({ store, tenantId }) {
    yield* seed(tenantId, { S: 2, T: 1 })
    yield* drain(tenantId)
    assert.deepStrictEqual(yield* sentTo(tenantId), [])
    assert.deepStrictEqual(yield* store.replay(tenantId, idOf(1), { ...replayAll, shipmentIds: ["S", "unknown"] }), Option.some(2))
    assert.deepStrictEqual(yield* sentTo(tenantId), ["S/1", "S/2"])
  })

  test("does not repeat waiting entries in a replay", function*({ store, tenantId }) {
    yield* seed(tenantId, { S: 1 })
    yield* drain(tenantId)
    yield* publish(tenantId, [{ shipmentId: "S" }])
    assert.deepStrictEqual(yield* store.replay(tenantId, idOf(1), replayAll), Option.some(1))
    assert.deepStrictEqual(yield* store.replay(tenantId, idOf(1), replayAll), Option.some(0))
    assert.deepStrictEqual(yield* sentTo(tenantId), ["S/1", "S/2"])
  })

  test("replays only events that match the filters and that the client may see now", function*({ store, tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    yield* letSee(tenantId, "buyer", ["B"])
    yield* letSeeAll(tenantId, "all")
    yield* subscribe(tenantId, { types: ["DELIVERED"], shipmentIds: ["S", "sold"] })
    yield* publish(tenantId, [
      { shipmentId: "S", eventId: "s", type: "DELIVERED" },
      { shipmentId: "S", eventId: "other type", type: "DELAY" },
      { shipmentId: "T", eventId: "other shipment", type: "DELIVERED" },
      { shipmentId: "sold", eventId: "sold before", type: "DELIVERED" }
    ], { accounts: ["A"] })
    yield* drain(tenantId)
    yield* publish(tenantId, [{ shipmentId: "sold", type: "DELIVERED" }], { accounts: ["B"] })
    assert.deepStrictEqual(yield* store.replay(tenantId, idOf(1), replayAll), Option.some(1))
    assert.deepStrictEqual(yield* store.replay(tenantId, idOf(1), { ...replayAll, shipmentIds: ["T"] }), Option.some(0))
    assert.deepStrictEqual(yield* sentTo(tenantId), ["s"])
  })

  test("replays events by storage time, from the start up to and excluding the end", function*({ store, tenantId }) {
    const now = yield* Clock.currentTimeMillis
    yield* seed(tenantId, { S: 1 })
    yield* drain(tenantId)
    const minute = 60_000
    const replay = (from: number, to?: number) => store.replay(tenantId, idOf(1), { from, to, shipmentIds: undefined })
    assert.deepStrictEqual(yield* replay(now + 10 * minute), Option.some(0))
    assert.deepStrictEqual(yield* replay(0, now - 10 * minute), Option.some(0))
    assert.deepStrictEqual(yield* replay(now - 10 * minute, now + 10 * minute), Option.some(1))
  })

  test("wakes the destination for a replay", function*({ store, tenantId }) {
    yield* seed(tenantId, { S: 1 })
    yield* drain(tenantId)
    assert.isFalse(yield* hasWork(tenantId))
    yield* store.replay(tenantId, idOf(1), replayAll)
    assert.isTrue(yield* hasWork(tenantId))
  })

  test("returns whether a client may see a shipment now", function*({ other, store, tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    yield* letSeeAll(tenantId, "carrier")
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["B"] })
    const sees = (client: string, shipmentId: string) => store.clientSees(tenantId, client, shipmentId)
    assert.deepStrictEqual([yield* sees("client", "S"), yield* sees("client", "T"), yield* sees("client", "none")], [true, false, false])
    assert.deepStrictEqual([yield* sees("carrier", "T"), yield* sees("nobody", "S")], [true, false])
    yield* letSee(other, "client", ["B"])
    yield* letSeeAll(other, "nobody")
    yield* publish(other, [{ shipmentId: "T" }], { accounts: ["A"] })
    assert.deepStrictEqual([yield* sees("client", "T"), yield* sees("nobody", "S")], [false, false])
    assert.isFalse(yield* store.clientSees(freshTenant(), "client", "S"))
  })

  testDocuments(test, ({ documents, remove }) => ({ documents, end: remove }), (tenantId, n, client) => subscribe(tenantId, { n, client }))

  test("isolates tenants that share ids", function*({ events, other, store, tenantId: one }) {
    yield* seed(one, { S: 1 }, { shipmentIds: ["S"] })
    assert.isTrue(Option.isNone(yield* store.find(other, "client", idOf(1))))
    assert.strictEqual(yield* store.remove(other, "client", idOf(1)), "unknown")
    assert.isTrue(Option.isNone(yield* store.replay(other, idOf(1), replayAll)))
    assert.strictEqual((yield* store.page(other, "client", "active", { skip: 0, limit: 9 })).totalCount, 0)
    yield* seed(other, {}, { shipmentIds: ["S"] })
    assert.deepStrictEqual(yield* sentTo(other), [])
    yield* unchanged(store.find(one, "client", idOf(1)), Effect.gen(function*() {
      yield* store.update(other, { ...recordOf(), doc: "{\"of\":\"other\"}", matched: false })
      assert.strictEqual(yield* store.remove(other, "client", idOf(1)), "removed")
    }))
    yield* publish(one, [{ shipmentId: "S" }])
    assert.deepStrictEqual(yield* sentTo(one), ["S/1", "S/2"])
    assert.lengthOf(yield* events.find(other, [{ shipmentId: "S", eventId: "S/1" }]), 0)
  })
})
