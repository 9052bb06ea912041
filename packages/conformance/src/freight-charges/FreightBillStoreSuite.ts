/** Conformance of `FreightBillStore`. `ChargeWindowsSuite.ts` tests windows. */
import { DeliveryStore } from "@waybill/core/delivery"
import { type BillRow, FreightBillStore } from "@waybill/core/freight-charges"
import { assert } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { acquire, drain, drainedBodies, end, takeOne } from "../WorkerFixtures.ts"
import { bytesOf, freshTenant, idOf, letSee, letSeeAll, rolledBack, seed, storeLater, textOf } from "../StorageFixtures.ts"
import { chargeDestination, chargeRecord, inFlightBodies, minutes, prune, publishBills, subscribedClient, subscribeToCharges } from "./ChargeFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

/** Subscriptions (by number) that see freight of these accounts, with the accounts by which they see it. */
const viewers = (tenantId: string, ...accounts: ReadonlyArray<string>) =>
  Effect.flatMap(FreightBillStore, (store) =>
    Effect.map(store.viewers(tenantId, accounts), (found) =>
      Object.fromEntries(found.map((each) => [Number(each.subscriptionId.slice(-4)), [...each.accounts].sort().join(" ")]))))

const row = (billId: string, parts: Partial<BillRow> = {}): BillRow => ({ billId, version: 1, state: "open", accounts: ["A"], doc: "{}", ...parts })

const append = (tenantId: string, ...bills: ReadonlyArray<BillRow>) =>
  Effect.flatMap(FreightBillStore, (store) => store.append(tenantId, { bills, notices: [], notifications: [], traceparent: undefined }))

const openIds = (tenantId: string, ...accounts: ReadonlyArray<string>) =>
  Effect.flatMap(FreightBillStore, (store) => Effect.map(store.open(tenantId, accounts, { after: undefined, limit: 1000 }), (bills) => bills.map((each) => each.billId)))

export const suite = storeSuite("FreightBillStore", FreightBillStore, (test) => {
  test("returns the existing ones of the locked bills with their last stored values", function*({ store, tenantId }) {
    const odd = row("041", { version: 3, state: "final", accounts: ["A,B", "{C}", "\"D\"", "NULL", "ä 船"], doc: "{\"notes\":\"käse, \\\"船\\\" 😀 \\\\\"}" })
    yield* append(tenantId, row("041"), row("B", { state: "removed", accounts: [] }))
    yield* append(tenantId, odd)
    const known = yield* store.lock(tenantId, ["unknown", "041", "B"])
    assert.deepStrictEqual(known.toSorted((a, b) => a.billId < b.billId ? -1 : 1), [odd, row("B", { state: "removed", accounts: [] })])
    assert.deepStrictEqual(yield* store.lock(tenantId, ["unknown"]), [])
  })

  test("finds bills in every state by id prefix", function*({ store, tenantId, transaction }) {
    const beginning = (prefixes: ReadonlyArray<string>, limit = 10, tenant = tenantId) =>
      Effect.map(store.beginning(tenant, prefixes, limit), (bills) => bills.map((each) => each.billId))
    const odd = row("12AAAA", { version: 3, state: "removed", accounts: [], doc: "{\"notes\":\"käse, \\\"船\\\" 😀\"}" })
    yield* append(tenantId, row("12BBBB"), odd, row("123AAAA"), row("1ZZZZ", { state: "final" }), row("9"))
    assert.deepStrictEqual((yield* store.beginning(tenantId, ["12A"], 10)), [odd])
    assert.deepStrictEqual(yield* beginning(["12", "9"]), ["123AAAA", "12AAAA", "12BBBB", "9"])
    assert.deepStrictEqual(yield* beginning(["12", "123"], 2), ["123AAAA", "12AAAA"])
    assert.deepStrictEqual(yield* beginning(["1Z"]), ["1ZZZZ"])
    assert.deepStrictEqual(yield* beginning(["%", "_", "Z"]), [])
    assert.deepStrictEqual(yield* beginning([]), [])
    assert.deepStrictEqual(yield* beginning(["1"], 10, freshTenant()), [])
    // locking a bill does not create one
    yield* transaction.run(store.lock(tenantId, ["77"]))
    assert.deepStrictEqual(yield* beginning(["77"]), [])
    assert.strictEqual(yield* prune(tenantId, {}), 0)
  })

  test("serialises publishers of a known or new bill, in any order of bills", function*({ store, tenantId }) {
    yield* append(tenantId, row("known", { version: 100 }))
    const orders = [["known", "new", "newer"], ["newer", "new", "known"], ["new", "known"]]
    const calls = Array.from({ length: 12 }, (_, n) => publishBills(tenantId, orders[n % 3]!.map((billId) => ({ billId }))))
    yield* Effect.all(calls, { concurrency: "unbounded" })
    const versions = Object.fromEntries((yield* store.lock(tenantId, ["known", "new", "newer"])).map((each) => [each.billId, each.version]))
    assert.deepStrictEqual(versions, { known: 112, new: 12, newer: 8 })
  })

  test("lets publishers that change the accounts of different bills run concurrently", function*({ tenantId }) {
    const calls = Array.from({ length: 12 }, (_, n) =>
      publishBills(tenantId, [{ billId: `bill ${n}`, accounts: n % 2 === 0 ? ["A", "B", "C"] : ["C", "B", "A"] }]))
    yield* Effect.all(calls, { concurrency: "unbounded" })
    assert.lengthOf(yield* openIds(tenantId, "A"), 12)
  })

  test("returns the store's time after it has the locks", function*({ store, tenantId, transaction }) {
    const before = yield* Clock.currentTimeMillis
    for (const accounts of [["A", "B"], []]) {
      const now = yield* transaction.run(store.gate(tenantId, accounts))
      assert.isBelow(Math.abs(now - before), 120_000)
    }
  })

  test("matches live subscriptions by accounts that they cover and their client has", function*({ tenantId }) {
    yield* letSee(tenantId, "anna", ["A", "B"], "key")
    yield* letSee(tenantId, "anna", ["C"], "token")
    yield* letSee(tenantId, "bert", ["A", "D"])
    yield* letSee(tenantId, "cleo", ["A"])
    yield* subscribeToCharges(tenantId, { n: 1, client: "anna", accounts: ["A", "C"] })
    yield* subscribeToCharges(tenantId, { n: 2, client: "anna", accounts: ["B"], state: "paused" })
    yield* subscribeToCharges(tenantId, { n: 3, client: "bert", accounts: "all" })
    yield* subscribeToCharges(tenantId, { n: 4, client: "cleo", accounts: ["D"] })
    yield* subscribeToCharges(tenantId, { n: 5, client: "nobody knows", accounts: ["A"] })
    assert.deepStrictEqual(yield* viewers(tenantId, "A"), { 1: "A", 3: "A" })
    assert.deepStrictEqual(yield* viewers(tenantId, "A", "B", "C", "D"), { 1: "A C", 2: "B", 3: "A D" })
    assert.deepStrictEqual(yield* viewers(tenantId, "D", "unknown"), { 3: "D" })
    assert.deepStrictEqual(yield* viewers(tenantId, "unknown"), {})
    assert.deepStrictEqual(yield* viewers(tenantId), {})
  })

  test("shows no charges to a client only because it sees its whole tenant", function*({ tenantId }) {
    yield* letSeeAll(tenantId, "carrier")
    yield* subscribeToCharges(tenantId, { n: 1, client: "carrier", accounts: ["A"] })
    yield* subscribeToCharges(tenantId, { n: 2, client: "other carrier", accounts: "all" })
    yield* letSeeAll(tenantId, "other carrier")
    assert.deepStrictEqual(yield* viewers(tenantId, "A"), {})
    yield* letSee(tenantId, "carrier", ["A"], "token")
    assert.deepStrictEqual(yield* viewers(tenantId, "A", "B"), { 1: "A" })
  })

  test("follows changes of a client's accounts", function*({ tenantId }) {
    yield* subscribeToCharges(tenantId, { n: 1, client: "anna", accounts: ["A"] })
    yield* subscribeToCharges(tenantId, { n: 2, client: "bert", accounts: "all" })
    assert.deepStrictEqual(yield* viewers(tenantId, "A"), {})
    for (const client of ["anna", "bert"]) yield* letSee(tenantId, client, ["A"])
    assert.deepStrictEqual(yield* viewers(tenantId, "A"), { 1: "A", 2: "A" })
    for (const client of ["anna", "bert"]) yield* letSee(tenantId, client, ["B"])
    assert.deepStrictEqual(yield* viewers(tenantId, "A", "B"), { 2: "B" })
  })

  test("returns the documents of subscriptions, without cancelled ones", function*({ chargeSubscriptions, store, tenantId }) {
    const doc = "{\"note\":\"ä\\\\ \\\" '\"}"
    yield* subscribedClient(tenantId, { doc })
    assert.deepStrictEqual(yield* store.viewers(tenantId, ["A"]), [{ subscriptionId: idOf(1), doc, accounts: ["A"] }])
    yield* chargeSubscriptions.cancel(tenantId, "client", idOf(1))
    assert.deepStrictEqual(yield* store.viewers(tenantId, ["A"]), [])
  })

  test("queues real-time notices in the subscriber's destination, with the trace of the call", function*({ store, tenantId }) {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    for (const n of [1, 2, 3]) {
      yield* letSee(tenantId, `client ${n}`, ["A"])
      yield* subscribeToCharges(tenantId, { n, client: `client ${n}` })
    }
    const body = "{\"notes\":\"käse, \\\"船\\\" 😀 \\\\ {} NULL\"}"
    const notice = (noticeId: string, billId: string, version: number, text: string) => ({ noticeId, billId, version, accounts: ["A"], body: bytesOf(text) })
    yield* store.append(tenantId, {
      bills: [row("B", { version: 2 }), row("A / 1")],
      notices: [notice("n1", "B", 2, "all of it"), notice("n2", "B", 2, "part of it"), notice("n3", "A / 1", 1, body)],
      notifications: ([[1, 0], [2, 1], [1, 2], [2, 2]] as const).map(([n, at]) => ({ subscriptionId: idOf(n), notice: at, window: undefined })),
      traceparent
    })
    const [loaded] = yield* (yield* DeliveryStore).load(tenantId, [idOf(1)])
    assert.deepStrictEqual([loaded!.envelope, loaded!.signing, loaded!.whenDead], [{ open: "[", close: "]" }, "whenRegistered", "pause"])
    const { sent } = yield* drain(tenantId)
    const found = sent.map((each) => [each.destinationId, each.lastKey, textOf(each.body), each.traceparent]).sort()
    assert.deepStrictEqual(found, [
      [idOf(1), "A / 1", body, traceparent],
      [idOf(1), "B", "all of it", traceparent],
      [idOf(2), "A / 1", body, traceparent],
      [idOf(2), "B", "part of it", traceparent]
    ])
  })

  test("delivers a bill's versions in order", function*({ tenantId }) {
    yield* subscribedClient(tenantId)
    for (const billId of ["B", "A", "B", "B", "A"]) yield* publishBills(tenantId, [{ billId }])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/1", "A/2", "B/1", "B/2", "B/3"] })
  })

  test("stores notices without subscribers, and queues nothing for cancelled subscriptions", function*({ chargeSubscriptions, queue, store, tenantId, transaction }) {
    yield* subscribeToCharges(tenantId, { n: 1 })
    yield* letSee(tenantId, "other", ["A"])
    yield* subscribeToCharges(tenantId, { n: 2, client: "other" })
    yield* transaction.run(Effect.andThen(chargeSubscriptions.cancel(tenantId, "client", idOf(1)), queue.closeDestination(tenantId, idOf(1))))
    const soon = (yield* Clock.currentTimeMillis) + 10 * minutes
    yield* store.append(tenantId, {
      bills: [row("B")],
      notices: [{ noticeId: "n", billId: "B", version: 1, accounts: ["A"], body: bytesOf("B/1") }],
      notifications: [
        { subscriptionId: idOf(1), notice: 0, window: undefined },
        { subscriptionId: idOf(1), notice: 0, window: { closesAt: soon, following: soon + 1 } },
        { subscriptionId: idOf(2), notice: 0, window: undefined }
      ],
      traceparent: undefined
    })
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 2: ["B/1"] })
    assert.deepStrictEqual(yield* openIds(tenantId, "A"), ["B"])
  })

  test("lists the current open bills of accounts, each once, by id", function*({ store, tenantId }) {
    yield* append(tenantId, row("9"), row("10", { accounts: ["A", "B"] }), row("a"), row("B"), row("ä"), row("C", { accounts: ["C"] }))
    yield* append(tenantId, row("final", { state: "final" }), row("removed", { state: "removed", accounts: [] }))
    assert.deepStrictEqual(yield* openIds(tenantId, "A", "B"), ["10", "9", "B", "a", "ä"])
    assert.deepStrictEqual(yield* openIds(tenantId, "B", "unknown"), ["10"])
    const pieceAfter = (after: string | undefined) => Effect.map(store.open(tenantId, ["A", "B"], { after, limit: 2 }), (rows) => rows.map(({ billId }) => billId))
    assert.deepStrictEqual(yield* Effect.forEach([undefined, "10", "9", "a", "ä"], pieceAfter), [["10", "9"], ["9", "B"], ["B", "a"], ["ä"], []])
    assert.deepStrictEqual(yield* openIds(tenantId), [])
    yield* append(tenantId, row("10", { version: 2, accounts: ["B"] }), row("9", { version: 2, state: "final" }), row("removed", { version: 2 }))
    assert.deepStrictEqual(yield* openIds(tenantId, "A"), ["B", "a", "removed", "ä"])
    assert.deepStrictEqual(yield* store.open(tenantId, ["B"], { after: undefined, limit: 1000 }), [row("10", { version: 2, accounts: ["B"] })])
  })

  test("leaves nothing behind when a publication is rolled back", function*({ store, tenantId }) {
    yield* letSee(tenantId, "client", ["A", "B"])
    yield* subscribeToCharges(tenantId, { accounts: "all" })
    yield* append(tenantId, row("known"))
    const published = publishBills(tenantId, [{ billId: "known", accounts: ["B"] }, { billId: "new" }])
    yield* rolledBack(published)
    assert.deepStrictEqual([yield* openIds(tenantId, "A"), yield* openIds(tenantId, "B")], [["known"], []])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), {})
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 0)
    assert.deepStrictEqual(yield* store.lock(tenantId, ["known", "new"]), [row("known")])
    assert.deepStrictEqual((yield* publishBills(tenantId, [{ billId: "new" }])).map((each) => each.version), [1])
  })

  test("stores a large publication in one transaction", function*({ tenantId }) {
    yield* subscribedClient(tenantId)
    yield* publishBills(tenantId, Array.from({ length: 1000 }, (_, n) => ({ billId: `bill ${n}`, body: "x".repeat(2000) })))
    assert.lengthOf(yield* openIds(tenantId, "A"), 1000)
    const { sent } = yield* drain(tenantId)
    assert.deepStrictEqual([sent.length, new Set(sent.map(({ lastKey }) => lastKey)).size], [1000, 1000])
  })

  test("prunes bills that were removed or invoiced long ago, and keeps open ones", function*({ store, tenantId }) {
    yield* append(tenantId, row("open"), row("final"), row("removed"), row("reopened", { state: "removed", accounts: [] }))
    yield* append(tenantId, row("final", { state: "final" }), row("removed", { state: "removed", accounts: [] }), row("reopened", { version: 2 }))
    assert.strictEqual(yield* prune(tenantId, { ended: -10 }), 0)
    assert.isAbove(yield* prune(tenantId, { ended: 10 }), 0)
    assert.strictEqual(yield* prune(tenantId, { ended: 10 }), 0)
    const left = yield* store.lock(tenantId, ["open", "final", "removed", "reopened"])
    assert.deepStrictEqual(left.map((each) => each.billId).toSorted(), ["open", "reopened"])
    assert.deepStrictEqual((yield* publishBills(tenantId, [{ billId: "final" }])).map((each) => each.version), [1])
  })

  test("prunes old notices without subscribers", function*({ tenantId }) {
    yield* publishBills(tenantId, [{ billId: "B" }])
    assert.strictEqual(yield* prune(tenantId, { noticed: -10 }), 0)
    assert.isAbove(yield* prune(tenantId, { noticed: 10 }), 0)
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 0)
    assert.deepStrictEqual(yield* openIds(tenantId, "A"), ["B"])
  })

  test("prunes old notices, and keeps younger ones", function*({ store, tenantId }) {
    yield* publishBills(tenantId, [{ billId: "old" }])
    const between = yield* storeLater(tenantId)
    yield* publishBills(tenantId, [{ billId: "young" }])
    const pruned = (noticed: number) => store.prune(tenantId, { ended: 0, noticed })
    assert.deepStrictEqual([yield* pruned(between), yield* pruned(between), yield* prune(tenantId, { noticed: 10 })], [1, 0, 1])
  })

  test("keeps notices that wait, are in flight or dead, and prunes them once delivered", function*({ queue, tenantId }) {
    yield* subscribedClient(tenantId)
    yield* publishBills(tenantId, [{ billId: "B" }])
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 0)
    const worker = yield* acquire(tenantId)
    const delivery = yield* takeOne(worker)
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 0)
    yield* end(worker, [delivery], { state: "dead" })
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 0)
    yield* queue.retry(tenantId, delivery.deliveryId)
    const again = yield* takeOne(worker, 1, { again: [delivery.deliveryId] })
    assert.strictEqual(textOf(again.body), "B/1")
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 0)
    yield* end(worker, [again])
    assert.isAbove(yield* prune(tenantId, { noticed: 10 }), 0)
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 0)
  })

  test("prunes old notices while what another area refers to waits", function*({ tenantId }) {
    yield* letSee(tenantId, "other", ["A"])
    yield* subscribeToCharges(tenantId, { n: 2, client: "other" })
    yield* seed(tenantId, { S: 1 })
    yield* publishBills(tenantId, Array.from({ length: 20 }, (_, n) => ({ billId: `B${n}`, accounts: ["B"] })))
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 20)
    yield* takeOne(yield* acquire(tenantId))
    yield* publishBills(tenantId, [{ billId: "C", accounts: ["B"] }])
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 1)
  })

  test("keeps a subscription and its in-flight list until it was cancelled long ago", function*({ chargeSubscriptions, tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    yield* append(tenantId, row("B"))
    yield* subscribeToCharges(tenantId)
    yield* letSee(tenantId, "other", ["A"])
    yield* subscribeToCharges(tenantId, { n: 2, client: "other" })
    assert.strictEqual(yield* prune(tenantId, { noticed: 10 }), 0)
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), ["B/1"])
    yield* chargeSubscriptions.cancel(tenantId, "client", idOf(1))
    assert.strictEqual(yield* prune(tenantId, { noticed: -10 }), 0)
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), ["B/1"])
    assert.deepStrictEqual([yield* prune(tenantId, { noticed: 10 }), yield* prune(tenantId, { noticed: 10 })], [1, 0])
    assert.deepStrictEqual([yield* inFlightBodies(tenantId), yield* inFlightBodies(tenantId, 2, "other")], [[], ["B/1"]])
    const found = yield* Effect.forEach([1, 2], (n) => chargeSubscriptions.findAny(tenantId, idOf(n)))
    assert.deepStrictEqual(found.map(Option.isSome), [false, true])
  })

  test("isolates tenants that share ids", function*({ chargeSubscriptions: subscriptions, other, queue, store, tenantId: one }) {
    yield* letSee(one, "client", ["A"])
    yield* subscribeToCharges(one)
    yield* queue.openDestination(other, chargeDestination())
    yield* subscriptions.insert(other, chargeRecord())
    yield* publishBills(one, [{ billId: "B" }])
    assert.deepStrictEqual(yield* store.lock(other, ["B"]), [])
    assert.deepStrictEqual(yield* openIds(other, "A"), [])
    assert.deepStrictEqual(yield* viewers(other, "A"), {})
    yield* letSee(other, "client", ["A"])
    assert.deepStrictEqual((yield* publishBills(other, [{ billId: "B", body: "other", state: "final" }])).map((each) => each.version), [1])
    assert.isAbove(yield* prune(other, { ended: 10 }), 0)
    assert.deepStrictEqual(yield* drainedBodies(one), { 1: ["B/1"] })
    assert.deepStrictEqual(yield* drainedBodies(other), { 1: ["other"] })
    assert.deepStrictEqual(yield* openIds(one, "A"), ["B"])
    // the subscription of each tenant has the same id, and covers only its own accounts
    const third = freshTenant()
    yield* letSee(third, "client", ["A", "C"])
    yield* subscribeToCharges(third, { accounts: ["C"] })
    assert.deepStrictEqual([yield* viewers(third, "A"), yield* viewers(third, "C")], [{}, { 1: "C" }])
  })

  test("checks access by the account of each notice, so that the former debtor learns of a change of debtor", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A", "C"])
    yield* subscribeToCharges(tenantId, { accounts: ["A", "C"] })
    yield* publishBills(tenantId, [{ billId: "1", accounts: ["A"] }, { billId: "2", accounts: ["C"] }])
    // the removal notice is for the account that had the bill
    yield* publishBills(tenantId, [{ billId: "1", accounts: ["B"] }])
    yield* letSee(tenantId, "client", ["A"])
    const { dropped, sent } = yield* drain(tenantId)
    assert.deepStrictEqual([dropped, sent.map(({ body }) => textOf(body))], [1, ["1/1", "1/2"]])
  })
})
