/** Conformance of `TransitEventStore`. */
import { maxHistoryBytes, type Visibility } from "@waybill/core"
import { type EventFilter, type PageCursor, type PageRequest, TransitEventStore } from "@waybill/core/transit-events"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { allSince, eventOf, freshTenant, letSee, letSeeAll, occurredAt, publish, seed, subscribe, textOf } from "../StorageFixtures.ts"
import { byDestination, drain, drainedBodies, drainedEvents, eventIdsOf } from "../WorkerFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const everything: EventFilter = {
  shipmentId: undefined,
  eventTypes: undefined,
  occurredFrom: undefined,
  occurredTo: undefined,
  order: "asc"
}

const sees = (...accounts: ReadonlyArray<string>): Visibility => ({ _tag: "Granted", grants: accounts })

const page = (tenantId: string, request: Partial<PageRequest> & { readonly where?: Partial<EventFilter> } = {}) =>
  Effect.flatMap(TransitEventStore, (store) => {
    const { where, ...rest } = request
    return store.page({
      tenantId,
      visibility: { _tag: "All" },
      filter: { ...everything, ...where },
      snapshot: undefined,
      after: undefined,
      skip: 0,
      limit: 100,
      count: false,
      ...rest
    })
  })

const ids = (found: { readonly rows: ReadonlyArray<{ readonly eventId: string }> }) => found.rows.map((each) => each.eventId)

export const suite = storeSuite("TransitEventStore", TransitEventStore, (test) => {
  test("numbers a shipment's events from 1, without gaps, across calls", function*({ tenantId }) {
    const first = yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "S" }, { shipmentId: "T" }])
    const second = yield* publish(tenantId, [{ shipmentId: "T" }, { shipmentId: "S" }])
    assert.deepStrictEqual([...first, ...second].map((each) => `${each.shipmentId}${each.sequence}`), ["S1", "S2", "T1", "T2", "S3"])
  })

  test("returns the last events of one shipment, newest first, with its accounts", function*({ store, tenantId }) {
    yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "T" }, { shipmentId: "S" }, { shipmentId: "S", sequence: 3, eventId: "S/3b" }, { shipmentId: "S", sequence: 3, eventId: "S/3a" }, { shipmentId: "S" }], { accounts: ["A", "B"] })
    const recent = (shipmentId: string, limit: number, tenant = tenantId) =>
      Effect.map(store.recent(tenant, shipmentId, limit), ({ accounts, events }) => [[...accounts].sort(), events.map((each) => each.eventId)])
    const all = yield* store.ofShipments(tenantId, ["S"])
    assert.deepStrictEqual((yield* store.recent(tenantId, "S", 10)).events, all.toReversed())
    for (const limit of [2, 4]) assert.deepStrictEqual(yield* recent("S", limit), [["A", "B"], all.toReversed().slice(0, limit).map((each) => each.eventId)])
    assert.deepStrictEqual(yield* recent("unknown", 2), [[], []])
    const large = "x".repeat(maxHistoryBytes / 2)
    yield* publish(tenantId, [1, 2, 3, 4].map((n) => ({ shipmentId: "LARGE", eventId: `L${n}`, body: large })))
    assert.deepStrictEqual((yield* recent("LARGE", 10))[1], ["L4", "L3", "L2"])
    assert.deepStrictEqual(yield* recent("S", 2, freshTenant()), [[], []])
    yield* store.allocate(tenantId, [{ shipmentId: "without events", needed: 0, highestGiven: 0, accounts: ["C"] }])
    assert.deepStrictEqual(yield* recent("without events", 2), [["C"], []])
  })

  test("returns when it stored an event", function*({ queue, store, tenantId }) {
    yield* subscribe(tenantId)
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "E" }])
    assert.isUndefined(yield* store.storedAt(tenantId, { shipmentId: "S", eventId: "F" }))
    const { now } = yield* queue.destinations(tenantId, { state: undefined, after: undefined, limit: 1 })
    assert.closeTo((yield* store.storedAt(tenantId, { shipmentId: "S", eventId: "E" }))!, now, 60_000)
    assert.isUndefined(yield* store.storedAt(tenantId, { shipmentId: "T", eventId: "E" }))
    assert.isUndefined(yield* store.storedAt(freshTenant(), { shipmentId: "S", eventId: "E" }))
  })

  test("assigns numbers above all numbers given by senders", function*({ store, tenantId }) {
    const allocate = (needed: number, highestGiven: number) =>
      Effect.map(store.allocate(tenantId, [{ shipmentId: "S", needed, highestGiven, accounts: undefined }]), ([first]) => first)
    assert.strictEqual(yield* allocate(1, 0), 1)
    assert.strictEqual(yield* allocate(2, 10), 11)
    assert.strictEqual(yield* allocate(1, 3), 13)
    assert.strictEqual(yield* allocate(0, 9_000_000_000_000_000), 9_000_000_000_000_001)
    assert.strictEqual(yield* allocate(1, 0), 9_000_000_000_000_001)
  })

  test("returns one first number for each request, in order", function*({ store, tenantId }) {
    yield* publish(tenantId, [{ shipmentId: "B" }, { shipmentId: "B" }])
    const requests = ["A", "B", "C"].map((shipmentId) => ({ shipmentId, needed: 1, highestGiven: 0, accounts: undefined }))
    assert.deepStrictEqual(yield* store.allocate(tenantId, requests), [1, 3, 1])
  })

  test("gives concurrent publications of one shipment neither a gap nor the same number twice", function*({ tenantId }) {
    const calls = Array.from({ length: 8 }, (_, n) =>
      publish(tenantId, Array.from({ length: 5 }, (_, m) => ({ shipmentId: m % 2 === 0 ? "S" : "T", eventId: `${n}-${m}` }))))
    yield* Effect.all(calls, { concurrency: "unbounded" })
    const { rows } = yield* page(tenantId)
    const numbers = (shipmentId: string) => rows.filter((each) => each.shipmentId === shipmentId).map((each) => each.sequence)
    assert.deepStrictEqual(numbers("S"), Array.from({ length: 24 }, (_, n) => n + 1))
    assert.deepStrictEqual(numbers("T"), Array.from({ length: 16 }, (_, n) => n + 1))
  })

  test("finds stored events by id, with unchanged bytes", function*({ store, tenantId }) {
    const body = "{\"notes\":\"käse, \\\"船\\\" 😀 \\\\ {} NULL\"}"
    yield* publish(tenantId, [{ shipmentId: "S / \"1\"", eventId: "e{1},\"", body }, { shipmentId: "S", eventId: "f" }])
    const key = { shipmentId: "S / \"1\"", eventId: "e{1},\"" }
    const [found] = yield* store.find(tenantId, [key, { shipmentId: "S", eventId: "unknown" }])
    assert.strictEqual(found!.shipmentId, "S / \"1\"")
    assert.strictEqual(found!.sequence, 1)
    assert.strictEqual(textOf(found!.body), body)
    assert.lengthOf(yield* store.find(tenantId, [key, { shipmentId: "S", eventId: "f" }]), 2)
    assert.lengthOf(yield* store.find(tenantId, [{ shipmentId: key.shipmentId, eventId: "f" }]), 0)
    assert.lengthOf(yield* store.find(tenantId, []), 0)
  })

  test("stores events of different shipments under one id, and finds each by its shipment", function*({ other, store, tenantId }) {
    yield* publish(tenantId, ["b", "B", "a"].map((shipmentId) => ({ shipmentId, eventId: "e", body: `"${shipmentId}"` })))
    yield* publish(other, [{ shipmentId: "c", eventId: "e" }])
    yield* publish(tenantId, [{ shipmentId: "a", eventId: "another" }])
    const found = yield* store.find(tenantId, [{ shipmentId: "a", eventId: "e" }, { shipmentId: "c", eventId: "e" }, { shipmentId: "b", eventId: "another" }])
    assert.deepStrictEqual(found.map(({ body, shipmentId }) => [shipmentId, textOf(body)]), [["a", "\"a\""]])
    const withId = (limit: number) => Effect.map(store.withId(tenantId, "e", limit), (events) => events.map(({ eventId, shipmentId }) => [shipmentId, eventId]))
    assert.deepStrictEqual(yield* withId(9), [["B", "e"], ["a", "e"], ["b", "e"]])
    assert.deepStrictEqual(yield* withId(2), [["B", "e"], ["a", "e"]])
    assert.deepStrictEqual(yield* store.withId(tenantId, "none", 9), [])
  })

  test("returns all stored events of some shipments, by shipment, number and id", function*({ store, tenantId }) {
    yield* publish(tenantId, [
      { shipmentId: "b", eventId: "b2", sequence: 2 },
      { shipmentId: "b", eventId: "b1 z", sequence: 1 },
      { shipmentId: "b", eventId: "b1 Z", sequence: 1 },
      { shipmentId: "B", eventId: "B1", body: "{\"notes\":\"käse 船\"}" },
      { shipmentId: "other", eventId: "o1" }
    ], { accounts: ["A"] })
    const stored = yield* store.ofShipments(tenantId, ["unknown", "b", "B", "b"])
    assert.deepStrictEqual(stored.map((each) => [each.shipmentId, each.sequence, each.eventId]), [
      ["B", 1, "B1"],
      ["b", 1, "b1 Z"],
      ["b", 1, "b1 z"],
      ["b", 2, "b2"]
    ])
    assert.strictEqual(textOf(stored[0]!.body), "{\"notes\":\"käse 船\"}")
    assert.deepStrictEqual(yield* store.ofShipments(tenantId, []), [])
    assert.deepStrictEqual(yield* store.ofShipments(freshTenant(), ["b"]), [])
  })

  test("refuses an event whose id its shipment has, and stores nothing of that call", function*({ store, tenantId }) {
    yield* seed(tenantId, {})
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "taken" }])
    const again = yield* Effect.flip(publish(tenantId, [{ shipmentId: "T", eventId: "taken" }, { shipmentId: "S", eventId: "taken" }], { accounts: ["A"] }))
    assert.strictEqual(again._tag, "EventIdTaken")
    assert.lengthOf(yield* store.find(tenantId, [{ shipmentId: "T", eventId: "taken" }]), 0)
    assert.deepStrictEqual(yield* drainedEvents(tenantId), {})
    const [next] = yield* publish(tenantId, [{ shipmentId: "S" }])
    assert.strictEqual(next!.sequence, 2)
  })

  test("stores one of several concurrent publications of an id, and refuses the others", function*({ tenantId }) {
    const calls = Array.from({ length: 8 }, (_, n) => Effect.exit(publish(tenantId, [{ shipmentId: `S${n}` }, { shipmentId: "S", eventId: "same" }])))
    assert.lengthOf((yield* Effect.all(calls, { concurrency: "unbounded" })).filter((each) => each._tag === "Success"), 1)
    assert.lengthOf((yield* page(tenantId)).rows, 2)
  })

  test("queues an event once for every subscription that matches, and for no other", function*({ tenantId }) {
    yield* letSee(tenantId, "anna", ["A"])
    yield* letSee(tenantId, "bert", ["B"])
    yield* letSeeAll(tenantId, "carrier")
    yield* subscribe(tenantId, { n: 1, client: "anna" })
    yield* subscribe(tenantId, { n: 2, client: "anna", types: ["DELIVERED"] })
    yield* subscribe(tenantId, { n: 3, client: "anna", shipmentIds: ["S", "other"] })
    yield* subscribe(tenantId, { n: 4, client: "anna", shipmentIds: ["other"] })
    yield* subscribe(tenantId, { n: 5, client: "anna", shipmentIds: ["S"], types: ["DELAY"] })
    yield* subscribe(tenantId, { n: 6, client: "anna", matched: false, state: "inactive" })
    yield* subscribe(tenantId, { n: 7, client: "bert" })
    yield* subscribe(tenantId, { n: 8, client: "bert", shipmentIds: ["S"] })
    yield* subscribe(tenantId, { n: 9, client: "carrier" })
    yield* subscribe(tenantId, { n: 10, client: "nobody knows" })
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "moving" }, { shipmentId: "S", eventId: "there", type: "DELIVERED" }], { accounts: ["A"] })
    assert.deepStrictEqual(yield* drainedEvents(tenantId), {
      1: ["moving", "there"],
      2: ["there"],
      3: ["moving", "there"],
      9: ["moving", "there"]
    })
  })

  test("queues no event of a shipment for a client that sees another shipment of the call only", function*({ tenantId }) {
    yield* seed(tenantId, {}, { shipmentIds: ["T"] })
    yield* subscribe(tenantId, { n: 2 })
    for (const [shipmentId, account] of [["S", "A"], ["T", "B"]] as const) yield* publish(tenantId, [{ shipmentId }], { accounts: [account] })
    yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "T" }])
    const { dropped, sent } = yield* drain(tenantId)
    assert.deepStrictEqual([dropped, byDestination(sent, eventIdsOf)], [0, { 2: ["S/1", "S/2"] }])
  })

  test("queues an event once for a client that sees its shipment by several accounts", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A", "B"], "key")
    yield* letSee(tenantId, "client", ["A"], "token")
    yield* subscribe(tenantId)
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "e" }], { accounts: ["A", "B"] })
    assert.deepStrictEqual(yield* drainedEvents(tenantId), { 1: ["e"] })
  })

  test("shows a client the union of its credentials, and removes accounts that a later update omits", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A", "Z"], "key")
    yield* letSee(tenantId, "client", ["B"], "token")
    yield* subscribe(tenantId)
    yield* publish(tenantId, [{ shipmentId: "S1", eventId: "by key" }], { accounts: ["A"] })
    yield* publish(tenantId, [{ shipmentId: "S2", eventId: "by token" }], { accounts: ["B"] })
    yield* letSee(tenantId, "client", ["Z"], "key")
    yield* publish(tenantId, [{ shipmentId: "S1", eventId: "no longer" }])
    yield* publish(tenantId, [{ shipmentId: "S3", eventId: "still" }], { accounts: ["Z"] })
    assert.deepStrictEqual(yield* drainedEvents(tenantId), { 1: ["by token", "still"] })
  })

  test("checks access by the accounts that the same call sets, and keeps them when a call names none", function*({ tenantId }) {
    yield* seed(tenantId, {})
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "1 nobody's" }])
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "2 ours" }], { accounts: ["A"] })
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "3 still ours" }])
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "4 sold" }], { accounts: ["B"] })
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "5 hidden" }], { accounts: [] })
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "6 ours again" }], { accounts: ["A"] })
    assert.deepStrictEqual(yield* drainedEvents(tenantId), { 1: ["2 ours", "3 still ours", "6 ours again"] })
  })

  test("compares account numbers literally", function*({ tenantId }) {
    const odd = ["A,B", "{C}", "\"D\"", "\\E", "NULL", "ä 船 😀", "%", "'"]
    for (const [n, account] of odd.entries()) {
      yield* letSee(tenantId, `client ${account}`, [account])
      yield* subscribe(tenantId, { n: n + 1, client: `client ${account}` })
      yield* publish(tenantId, [{ shipmentId: `S ${account}`, eventId: account }], { accounts: [account] })
    }
    assert.deepStrictEqual(yield* drainedEvents(tenantId), Object.fromEntries(odd.map((account, n) => [n + 1, [account]])))
  })

  test("keeps the trace of the call with its entries", function*({ tenantId }) {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    yield* seed(tenantId, {}, { policy: { batchMaxSize: 1 } })
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"], traceparent })
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
    const { sent } = yield* drain(tenantId)
    assert.deepStrictEqual(sent.map((delivery) => [delivery.lastKey, delivery.traceparent]), [["S", traceparent], ["T", undefined]])
  })

  test("lists by shipment, number and id in byte order, ascending and descending", function*({ tenantId }) {
    // U+FFEE sorts before the emoji by code point, after it by UTF-16 unit
    for (const shipmentId of ["a", "B", "\uffee", "😀", "ä", "a ", "10", "9"]) yield* publish(tenantId, [{ shipmentId, eventId: shipmentId }])
    yield* publish(tenantId, [
      { shipmentId: "9", sequence: 0, eventId: "zero" },
      { shipmentId: "9", sequence: 1, eventId: "8" },
      { shipmentId: "9", sequence: 1, eventId: "Z" }
    ])
    const expected = ["10", "zero", "8", "9", "Z", "B", "a", "a ", "ä", "\uffee", "😀"]
    assert.deepStrictEqual(ids(yield* page(tenantId)), expected)
    assert.deepStrictEqual(ids(yield* page(tenantId, { where: { order: "desc" } })), expected.toReversed())
    const after = { shipmentId: "9", sequence: 1, eventId: "Z" }
    assert.deepStrictEqual(ids(yield* page(tenantId, { after, limit: 2 })), ["B", "a"])
    assert.deepStrictEqual(ids(yield* page(tenantId, { after, where: { order: "desc" }, limit: 2 })), ["9", "8"])
  })

  test("filters a list by shipment, types and time range", function*({ tenantId }) {
    yield* publish(tenantId, [
      { shipmentId: "S", eventId: "a", type: "DELAY", occurredAt },
      { shipmentId: "S", eventId: "b", type: "OTHER", occurredAt: occurredAt + 1 },
      { shipmentId: "T", eventId: "c", type: "PICKUP_SCHEDULED", occurredAt: occurredAt + 2 }
    ])
    const where = (filter: Partial<EventFilter>) => Effect.map(page(tenantId, { where: filter }), ids)
    assert.deepStrictEqual(yield* where({ shipmentId: "S" }), ["a", "b"])
    assert.deepStrictEqual(yield* where({ shipmentId: "S", order: "desc" }), ["b", "a"])
    assert.deepStrictEqual(yield* where({ shipmentId: "unknown" }), [])
    assert.deepStrictEqual(yield* where({ eventTypes: ["OTHER", "PICKUP_SCHEDULED"] }), ["b", "c"])
    assert.deepStrictEqual(yield* where({ occurredFrom: occurredAt + 1 }), ["b", "c"])
    assert.deepStrictEqual(yield* where({ occurredTo: occurredAt + 2 }), ["a", "b"])
    assert.deepStrictEqual(yield* where({ occurredFrom: occurredAt + 1, occurredTo: occurredAt + 2, order: "desc" }), ["b"])
    assert.deepStrictEqual(yield* where({ occurredFrom: occurredAt + 1, occurredTo: occurredAt + 3, order: "desc" }), ["c", "b"])
    assert.deepStrictEqual(yield* where({ shipmentId: "S", eventTypes: ["DELAY"], occurredFrom: occurredAt + 1 }), [])
  })

  test("keeps times before 1970 and far in the future", function*({ tenantId }) {
    yield* publish(tenantId, [
      { shipmentId: "S", eventId: "old", occurredAt: -62_135_596_800_000 },
      { shipmentId: "S", eventId: "far", occurredAt: 253_402_300_799_999 }
    ])
    assert.deepStrictEqual(ids(yield* page(tenantId, { where: { occurredTo: 0 } })), ["old"])
    assert.deepStrictEqual(ids(yield* page(tenantId, { where: { occurredFrom: 253_402_300_799_999 } })), ["far"])
  })

  test("shows a customer only the shipments of its current accounts", function*({ tenantId }) {
    yield* publish(tenantId, [{ shipmentId: "S1", eventId: "a" }], { accounts: ["A", "B"] })
    yield* publish(tenantId, [{ shipmentId: "S2", eventId: "b" }], { accounts: ["B"] })
    yield* publish(tenantId, [{ shipmentId: "S3", eventId: "nobody's" }])
    const seenBy = (visibility: Visibility) => Effect.map(page(tenantId, { visibility, count: true }), (found) => [ids(found), found.totalCount])
    assert.deepStrictEqual(yield* seenBy(sees("A")), [["a"], 1])
    assert.deepStrictEqual(yield* seenBy(sees("A", "B")), [["a", "b"], 2])
    assert.deepStrictEqual(yield* seenBy(sees("C")), [[], 0])
    assert.deepStrictEqual(yield* seenBy(sees()), [[], 0])
    assert.deepStrictEqual(yield* seenBy({ _tag: "All" }), [["a", "b", "nobody's"], 3])
    yield* publish(tenantId, [{ shipmentId: "S1", eventId: "sold" }], { accounts: ["C"] })
    assert.deepStrictEqual(yield* seenBy(sees("A")), [[], 0])
    assert.deepStrictEqual(yield* seenBy(sees("C")), [["a", "sold"], 2])
  })

  test("skips the requested number of events from the requested position", function*({ tenantId }) {
    yield* publish(tenantId, ["a", "b", "c", "d", "e"].map((eventId) => ({ shipmentId: "S", eventId })))
    const after = { shipmentId: "S", sequence: 2, eventId: "b" }
    const listed = (request: Partial<PageRequest> & { readonly where?: Partial<EventFilter> }) => Effect.map(page(tenantId, request), ids)
    assert.deepStrictEqual(yield* listed({ skip: 1, limit: 2 }), ["b", "c"])
    assert.deepStrictEqual(yield* listed({ after, limit: 2 }), ["c", "d"])
    assert.deepStrictEqual(yield* listed({ after, skip: 2, limit: 9 }), ["e"])
    assert.deepStrictEqual(yield* listed({ after, where: { order: "desc" } }), ["a"])
    assert.deepStrictEqual(yield* listed({ skip: 5 }), [])
  })

  test("counts all results, not only those of the page, and only on request", function*({ tenantId }) {
    yield* publish(tenantId, Array.from({ length: 7 }, () => ({ shipmentId: "S" })))
    assert.strictEqual((yield* page(tenantId, { limit: 2, count: true })).totalCount, 7)
    assert.strictEqual((yield* page(tenantId, { limit: 2, skip: 4, count: true })).totalCount, 7)
    assert.strictEqual((yield* page(tenantId, { limit: 9, count: true })).totalCount, 7)
    assert.strictEqual((yield* page(tenantId, { limit: 2 })).totalCount, null)
    assert.strictEqual((yield* page(freshTenant(), { count: true })).totalCount, 0)
  })

  test("keeps the pages of one list stable while events arrive", function*({ tenantId }) {
    yield* publish(tenantId, [{ shipmentId: "M", eventId: "m1" }, { shipmentId: "M", eventId: "m2" }, { shipmentId: "Q", eventId: "q" }])
    const first = yield* page(tenantId, { limit: 2 })
    yield* publish(tenantId, [{ shipmentId: "A", eventId: "before" }, { shipmentId: "M", eventId: "between" }, { shipmentId: "Z", eventId: "behind" }])
    const walked = yield* page(tenantId, { snapshot: first.snapshot })
    assert.deepStrictEqual(ids(walked), ["m1", "m2", "q"])
    assert.strictEqual(walked.snapshot, first.snapshot)
    const rest = yield* page(tenantId, { snapshot: first.snapshot, after: { shipmentId: "M", sequence: 2, eventId: "m2" } })
    assert.deepStrictEqual(ids(rest), ["q"])
    assert.lengthOf((yield* page(tenantId)).rows, 6)
  })

  test("refuses an unknown snapshot", function*() {
    for (const snapshot of ["", "garbage", "1:2", "9;DROP TABLE", "-1", "99999999999999999999999999", "ä"]) {
      assert.strictEqual((yield* Effect.flip(page(freshTenant(), { snapshot })))._tag, "CursorExpired", snapshot)
    }
  })

  test("returns the nearest cursor at or before a page", function*({ store, tenantId }) {
    const { snapshot } = yield* page(tenantId)
    const cursor = (n: number): PageCursor => ({
      page: n,
      snapshot,
      after: { shipmentId: "S", sequence: n, eventId: `e${n}` },
      totalCount: n === 3 ? null : 40
    })
    assert.strictEqual(yield* store.findCursor(tenantId, "cursor", 2), undefined)
    for (const n of [2, 3, 5]) yield* store.putCursor(tenantId, "cursor", cursor(n))
    assert.strictEqual(yield* store.findCursor(tenantId, "cursor", 1), undefined)
    assert.deepStrictEqual(yield* store.findCursor(tenantId, "cursor", 2), cursor(2))
    assert.deepStrictEqual(yield* store.findCursor(tenantId, "cursor", 4), cursor(3))
    assert.deepStrictEqual(yield* store.findCursor(tenantId, "cursor", 1000), cursor(5))
    yield* publish(tenantId, [{ shipmentId: "T" }])
    const replaced: PageCursor = { page: 5, snapshot: (yield* page(tenantId)).snapshot, after: { shipmentId: "T", sequence: 7, eventId: "e7" }, totalCount: 41 }
    yield* store.putCursor(tenantId, "cursor", replaced)
    assert.deepStrictEqual(yield* store.findCursor(tenantId, "cursor", 5), replaced)
    assert.strictEqual(yield* store.findCursor(tenantId, "other cursor", 5), undefined)
    assert.strictEqual(yield* store.findCursor(freshTenant(), "cursor", 5), undefined)
  })

  test("removes a query's cursors when it starts again", function*({ store, tenantId }) {
    const { snapshot } = yield* page(tenantId)
    const cursor = (n: number, eventId: string): PageCursor => ({ page: n, snapshot, after: { shipmentId: "S", sequence: n, eventId }, totalCount: null })
    yield* store.putCursor(tenantId, "another", cursor(2, "kept"))
    for (const n of [2, 3, 4]) yield* store.putCursor(tenantId, "cursor", cursor(n, "old"))
    yield* store.putCursor(tenantId, "cursor", cursor(2, "new"))
    yield* store.putCursor(tenantId, "cursor", cursor(2, "newer"))
    assert.deepStrictEqual(yield* store.findCursor(tenantId, "cursor", 9), cursor(2, "newer"))
    assert.deepStrictEqual(yield* store.findCursor(tenantId, "another", 9), cursor(2, "kept"))
  })

  test("isolates tenants that share ids", function*({ other, store, tenantId: one }) {
    for (const tenantId of [one, other]) {
      yield* seed(tenantId, {})
    }
    yield* publish(one, [{ shipmentId: "S", eventId: "e", body: "\"one\"" }], { accounts: ["A"] })
    assert.lengthOf(yield* store.find(other, [{ shipmentId: "S", eventId: "e" }]), 0)
    assert.lengthOf((yield* page(other)).rows, 0)
    assert.deepStrictEqual(yield* drainedEvents(other), {})
    const [event] = yield* publish(other, [{ shipmentId: "S", eventId: "e", body: "\"other\"" }])
    assert.strictEqual(event!.sequence, 1)
    assert.deepStrictEqual(yield* drainedEvents(other), {})
    assert.strictEqual(textOf((yield* store.find(one, [{ shipmentId: "S", eventId: "e" }]))[0]!.body), "\"one\"")
    assert.deepStrictEqual(yield* drainedBodies(one), { 1: ["\"one\""] })
  })

  test("returns each event that was stored since a position once, those of a shipment in their order", function*({ other, store, tenantId }) {
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "before" }], { accounts: ["A"] })
    const start = yield* store.since(tenantId, { _tag: "All" }, undefined, 2)
    assert.deepStrictEqual([start.rows, start.more], [[], false])
    yield* publish(tenantId, ["S", "T", "S", "R", "S"].map((shipmentId, n) => ({ shipmentId, eventId: `e${n}` })), { accounts: ["A"] })
    yield* publish(other, [{ shipmentId: "S", eventId: "other" }], { accounts: ["A"] })
    const walk = (first: string, visibility: Visibility, limit: number) =>
      allSince(first, (position) => Effect.tap(store.since(tenantId, visibility, position, limit), ({ rows }) => Effect.sync(() => assert.isAtMost(rows.length, limit))))
    const all = yield* walk(start.position, { _tag: "All" }, 2)
    assert.deepStrictEqual(ids(all).sort(), ["e0", "e1", "e2", "e3", "e4"])
    assert.deepStrictEqual(ids({ rows: all.rows.filter(({ shipmentId }) => shipmentId === "S") }), ["e0", "e2", "e4"])
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "later" }, { shipmentId: "S", eventId: "last" }], { accounts: ["A"] })
    yield* publish(tenantId, [{ shipmentId: "U", eventId: "hidden" }], { accounts: ["B"] })
    assert.deepStrictEqual(ids(yield* walk(all.position, sees("A"), 10)), ["later", "last"])
    const end = yield* walk(all.position, { _tag: "All" }, 10)
    assert.deepStrictEqual(ids(end).sort(), ["hidden", "last", "later"])
    assert.deepStrictEqual((yield* walk(end.position, { _tag: "All" }, 10)).rows, [])
  })

  test("returns an event that was stored between two pages once, and events of one number by their ids", function*({ store, tenantId }) {
    const next = (position: string | undefined) => store.since(tenantId, { _tag: "All" }, position, 2)
    const start = yield* next(undefined)
    yield* publish(tenantId, ["b", "B", "a"].map((eventId) => ({ shipmentId: "S", sequence: 1, eventId })))
    const first = yield* next(start.position)
    yield* publish(tenantId, [{ shipmentId: "S", sequence: 1, eventId: "c" }])
    assert.deepStrictEqual([ids(first), ids(yield* allSince(first.position, next))], [["B", "a"], ["b", "c"]])
  })

  test("stores a large publication in one transaction", function*({ tenantId }) {
    yield* seed(tenantId, {})
    const body = JSON.stringify({ notes: "x".repeat(2000) })
    yield* publish(tenantId, Array.from({ length: 1000 }, (_, n) => ({ shipmentId: `S${n % 50}`, body })), { accounts: ["A"] })
    assert.strictEqual((yield* page(tenantId, { limit: 1, count: true })).totalCount, 1000)
    const { sent } = yield* drain(tenantId)
    assert.strictEqual(sent.reduce((sum, { events }) => sum + events, 0), 1000)
    for (const delivery of sent) assert.strictEqual(textOf(delivery.body), Array.from({ length: delivery.events }, () => body).join(","))
  })

  test("runs an append without a transaction in its own transaction", function*({ store, tenantId }) {
    const events = [eventOf({ shipmentId: "S", eventId: "a" }, 1), eventOf({ shipmentId: "S", eventId: "b" }, 2)]
    yield* store.append(tenantId, events, undefined)
    assert.strictEqual((yield* Effect.flip(store.append(tenantId, [eventOf({ shipmentId: "S", eventId: "c" }, 3), events[0]!], undefined)))._tag, "EventIdTaken")
    assert.deepStrictEqual(ids(yield* page(tenantId)), ["a", "b"])
  })

  test("continues after a refused append in the same transaction", function*({ store, tenantId, transaction }) {
    yield* publish(tenantId, [{ shipmentId: "S", eventId: "taken" }])
    yield* transaction.run(Effect.gen(function*() {
      yield* Effect.flip(publish(tenantId, [{ shipmentId: "S", eventId: "taken" }]))
      yield* publish(tenantId, [{ shipmentId: "S", eventId: "next", body: "\"kept\"" }])
    }))
    const [next] = yield* store.find(tenantId, [{ shipmentId: "S", eventId: "next" }])
    assert.deepStrictEqual([next!.sequence, textOf(next!.body)], [2, "\"kept\""])
  })
})
