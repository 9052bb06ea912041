/** Conformance of hourly and daily windows: filled by a `FreightBillStore`, closed by a `ChargeSubscriptionStore`. */
import { ChargeSubscriptionStore, FreightBillStore } from "@waybill/core/freight-charges"
import { assert } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { acquire, drain, drainedBodies, drop, end, hasWork, takeFrom, takeOne } from "../WorkerFixtures.ts"
import { bytesOf, eventually, freshTenant, idOf, letSee, rolledBack, textOf } from "../StorageFixtures.ts"
import { chargeDestination, minutes, prune, publishBills, subscribedClient, subscribeToCharges, type WindowOf } from "./ChargeFixtures.ts"
import { beginning, storeSuite } from "../StoreSuite.ts"

/** Ends while a test runs, but not before it has filled the window. */
const soon = 700

/** A window that ends the given number of milliseconds after each call. */
const window = Effect.fnUntraced(function*(inMillis: number, following = inMillis + 60 * minutes): Effect.fn.Return<WindowOf> {
  const now = yield* Clock.currentTimeMillis
  return () => ({ closesAt: now + inMillis, following: now + following })
})

/** A client with these accounts, and its subscription to them. */
const collecting = Effect.fnUntraced(function*(tenantId: string, n = 1, client = "client", accounts = ["A"]) {
  yield* letSee(tenantId, client, accounts)
  yield* subscribeToCharges(tenantId, { n, client, accounts, source: "freight-charge-windows" })
})

const close = (tenantId: string) =>
  Effect.flatMap(ChargeSubscriptionStore, (store) => Effect.map(store.closeWindows(tenantId), ({ closed }) => closed))

/** Waits until a window can be closed, and closes it. */
const closeDue = (tenantId: string) => eventually(close(tenantId), (count) => count > 0)

/** Runs a test with longer and longer windows, until one did not close before the test expects it. A busy machine takes seconds for a few calls. */
const inTime = Effect.fnUntraced(function*<R>(test: (millis: number) => Effect.Effect<boolean, unknown, R>) {
  for (const millis of [1500, 5000, 15_000]) if (yield* test(millis)) return
  assert.fail("Each window closed too early.")
})

const all = { after: undefined, limit: 100_000 }

const isDue = (tenantId: string) =>
  Effect.flatMap(ChargeSubscriptionStore, (store) => Effect.map(store.windowsDue(all), ({ tenantIds }) => tenantIds.includes(tenantId)))

/** Prunes the notices that are stored now. */
const pruneNotices = (tenantId: string) => prune(tenantId, { noticed: 10 })

export const suite = storeSuite("windows of freight charges", ChargeSubscriptionStore, (test) => {
  const withCollector = beginning(test, ({ tenantId }) => collecting(tenantId))

  withCollector("collect bills until they close, and queue them as one entry", function*({ tenantId }) {
    const ending = yield* window(soon)
    yield* publishBills(tenantId, [{ billId: "b", body: "{\"käse\":1}" }, { billId: "B", body: "{\"船\":2}" }], { window: ending })
    yield* publishBills(tenantId, [{ billId: "10" }, { billId: "9" }], { window: ending })
    assert.deepStrictEqual(yield* drainedBodies(tenantId), {})
    assert.strictEqual(yield* closeDue(tenantId), 1)
    const delivery = yield* takeOne(yield* acquire(tenantId))
    assert.deepStrictEqual([delivery.lastKey, delivery.events, textOf(delivery.body)], ["window", 1, "10/1,9/1,{\"船\":2},{\"käse\":1}"])
  })

  withCollector("are found by a bill in them, before and after they close", function*({ control, store, tenantId }) {
    const ending = yield* window(soon)
    yield* publishBills(tenantId, [{ billId: "ONE" }, { billId: "TWO" }], { window: ending })
    assert.deepStrictEqual(yield* store.windowsWith(tenantId, idOf(1), ["ONE"]), { closesAt: ending(0)!.closesAt, orderIds: [] })
    assert.deepStrictEqual(yield* store.windowsWith(tenantId, idOf(1), ["OTHER"]), { closesAt: undefined, orderIds: [] })
    yield* closeDue(tenantId)
    const { closesAt, orderIds } = yield* store.windowsWith(tenantId, idOf(1), ["TWO", "OTHER"])
    assert.deepStrictEqual([closesAt, orderIds.length], [undefined, 1])
    assert.isTrue((yield* control.trace(tenantId, idOf(1), { key: "window", orderIds })).waiting)
    assert.deepStrictEqual((yield* store.windowsWith(tenantId, idOf(1), ["OTHER"])).orderIds, [])
    yield* drain(tenantId)
    assert.deepStrictEqual((yield* store.windowsWith(tenantId, idOf(1), ["ONE"])).orderIds, orderIds)
    const traced = yield* control.trace(tenantId, idOf(1), { key: "window", orderIds: ["no number", ...orderIds] })
    assert.deepStrictEqual([traced.waiting, traced.deliveries.map(({ state }) => state)], [false, ["delivered"]])
  })

  withCollector("are found by a bill in them while they are sent, and after they were dropped", function*({ store, tenantId }) {
    const found = Effect.map(store.windowsWith(tenantId, idOf(1), ["A"]), ({ orderIds }) => orderIds.length)
    const ended = (before: number): WindowOf => (now) => ({ closesAt: now - before, following: now + 60 * minutes })
    yield* publishBills(tenantId, [{ billId: "A" }], { window: ended(2000) })
    yield* close(tenantId)
    const worker = yield* acquire(tenantId)
    const sent = yield* takeOne(worker)
    assert.strictEqual(yield* found, 1)
    yield* end(worker, [sent], { state: "waiting" })
    assert.strictEqual(yield* found, 1)
    yield* end(worker, [yield* takeOne(worker, 1, { again: [sent.deliveryId] })], { state: "dead" })
    assert.strictEqual(yield* found, 1)
    yield* publishBills(tenantId, [{ billId: "A" }], { window: ended(1000) })
    yield* close(tenantId)
    yield* letSee(tenantId, "client", ["B"])
    assert.strictEqual((yield* drop(worker, { keys: [{ destinationId: idOf(1), key: "window" }] })).dropped, 1)
    assert.strictEqual(yield* found, 2)
  })

  test("are found by a bill in the last of many, and among the newer ones of another subscription", function*({ bills, store, tenantId }) {
    yield* collecting(tenantId, 1)
    yield* collecting(tenantId, 2, "other")
    const now = yield* Clock.currentTimeMillis
    const closed = Effect.fnUntraced(function*(subscription: number, from: number, count: number) {
      const notices = Array.from({ length: count }, (_, n) => ({ noticeId: `${subscription} ${from + n}`, billId: `${from + n}`, version: 1, accounts: ["A"], body: bytesOf("{}") }))
      const notifications = notices.map((_, notice) => ({ subscriptionId: idOf(subscription), notice, window: { closesAt: now - 1000 + from + notice, following: now } }))
      yield* bills.append(tenantId, { bills: [], notices, notifications, traceparent: undefined })
      yield* close(tenantId)
    })
    const found = (subscription: number, bill: number) => Effect.map(store.windowsWith(tenantId, idOf(subscription), [`${bill}`]), ({ orderIds }) => orderIds.length)
    yield* closed(1, 0, 101)
    yield* closed(2, 7, 1)
    assert.strictEqual(yield* found(2, 7), 1)
    yield* drain(tenantId)
    yield* closed(1, 101, 101)
    yield* drain(tenantId)
    assert.deepStrictEqual([yield* found(1, 201), yield* found(2, 7)], [1, 1])
  }, 60_000)

  withCollector("keep only the latest notice of a bill, in one call and across calls", function*({ tenantId }) {
    const ending = yield* window(soon)
    yield* publishBills(tenantId, [{ billId: "A" }, { billId: "B" }], { window: ending })
    yield* publishBills(tenantId, [{ billId: "B" }], { window: ending })
    const versions = [4, 5].map((version) => ({ noticeId: `D/${version}`, billId: "D", version, accounts: ["A"], body: bytesOf(`D/${version}`) }))
    yield* (yield* FreightBillStore).append(tenantId, {
      bills: [],
      notices: versions,
      notifications: versions.map((_, notice) => ({ subscriptionId: idOf(1), notice, window: ending(0) })),
      traceparent: undefined
    })
    yield* publishBills(tenantId, [{ billId: "B" }, { billId: "C" }], { window: ending })
    assert.strictEqual(yield* closeDue(tenantId), 1)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/1,B/3,C/1,D/5"] })
  })

  test("close once, also with concurrent closers", function*({ tenantId }) {
    for (const n of [1, 2, 3]) yield* collecting(tenantId, n, `client ${n}`)
    yield* publishBills(tenantId, [{ billId: "A" }, { billId: "B" }], { window: yield* window(200) })
    yield* eventually(isDue(tenantId), (due) => due)
    const counts = yield* Effect.all(Array.from({ length: 8 }, () => close(tenantId)), { concurrency: "unbounded" })
    assert.isAtMost(counts.reduce((sum, count) => sum + count, 0), 3)
    // a window that another process is closing may be left to the next call
    yield* eventually(Effect.andThen(close(tenantId), isDue(tenantId)), (due) => !due)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/1,B/1"], 2: ["A/1,B/1"], 3: ["A/1,B/1"] })
    assert.strictEqual(yield* close(tenantId), 0)
  })

  withCollector("close when they are due and not before", function*({ store, tenantId }) {
    yield* publishBills(tenantId, [{ billId: "A" }], { window: yield* window(10 * minutes) })
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 0, more: false })
    assert.isFalse(yield* isDue(tenantId))
    assert.deepStrictEqual(yield* drainedBodies(tenantId), {})
  })

  test("add late notices to the next window once they are closed", function*() {
    yield* inTime(Effect.fnUntraced(function*(millis) {
      const tenantId = freshTenant()
      yield* collecting(tenantId)
      const ending = yield* window(300, millis)
      const { following } = ending(0)!
      yield* publishBills(tenantId, [{ billId: "A" }], { window: ending })
      assert.strictEqual(yield* closeDue(tenantId), 1)
      yield* publishBills(tenantId, [{ billId: "A" }, { billId: "late" }], { window: ending })
      const closed = yield* close(tenantId)
      if ((yield* Clock.currentTimeMillis) >= following) return false
      assert.strictEqual(closed, 0)
      yield* publishBills(tenantId, [{ billId: "in time" }], { window: () => ({ ...ending(0)!, closesAt: following }) })
      if ((yield* Clock.currentTimeMillis) >= following) return false
      assert.strictEqual(yield* closeDue(tenantId), 1)
      assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/1", "A/2,in time/1,late/1"] })
      return true
    }))
  }, 60_000)

  withCollector("send no version after a newer one that was collected when the clock was set back", function*({ store, tenantId }) {
    yield* publishBills(tenantId, [{ billId: "A" }, { billId: "B" }], { window: yield* window(300 * minutes) })
    yield* publishBills(tenantId, [{ billId: "A" }], { window: (now) => ({ closesAt: now - 1, following: now + 60 * minutes }) })
    assert.strictEqual(yield* closeDue(tenantId), 1)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/2"] })
    const isCollected = (billId: string) => Effect.map(store.windowsWith(tenantId, idOf(1), [billId]), ({ closesAt }) => closesAt !== undefined)
    assert.deepStrictEqual([yield* isCollected("A"), yield* isCollected("B")], [false, true])
  })

  withCollector("send no version after a newer one when both of their windows close at once", function*({ tenantId }) {
    const [later, earlier] = [yield* window(-1000), yield* window(-2000)]
    yield* publishBills(tenantId, [{ billId: "A" }, { billId: "B" }], { window: later })
    yield* publishBills(tenantId, [{ billId: "A" }, { billId: "C" }], { window: earlier })
    yield* publishBills(tenantId, [{ billId: "C" }], { window: later })
    assert.strictEqual(yield* closeDue(tenantId), 2)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/2,C/1", "B/1,C/2"] })
    yield* publishBills(tenantId, [{ billId: "A" }], { window: yield* window(-100) })
    yield* publishBills(tenantId, [{ billId: "A" }], { window: yield* window(-900) })
    assert.strictEqual(yield* closeDue(tenantId), 1)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/4"] })
  })

  withCollector("stay separate from the next window while they wait to be closed", function*({ tenantId }) {
    yield* publishBills(tenantId, [{ billId: "A" }], { window: yield* window(100) })
    yield* eventually(isDue(tenantId), (due) => due)
    yield* publishBills(tenantId, [{ billId: "A" }], { window: yield* window(60 * minutes) })
    yield* close(tenantId)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/1"] })
    assert.isFalse(yield* isDue(tenantId))
  })

  test("close by their ends, whichever was opened first, and each subscription by its own", function*({ bills, store, tenantId }) {
    yield* collecting(tenantId, 1)
    yield* collecting(tenantId, 2, "other")
    const now = yield* Clock.currentTimeMillis
    const open = (subscription: number, billId: string, inMillis: number) =>
      bills.append(tenantId, {
        bills: [],
        notices: [{ noticeId: `${subscription} ${billId}`, billId, version: 1, accounts: ["A"], body: bytesOf(billId) }],
        notifications: [{ subscriptionId: idOf(subscription), notice: 0, window: { closesAt: now + inMillis, following: now + 60 * minutes } }],
        traceparent: undefined
      })
    yield* open(1, "far", 10 * minutes)
    yield* open(1, "second", -1000)
    yield* open(1, "first", -3000)
    yield* open(2, "other's", -100)
    const closesAt = Effect.map(store.windowsWith(tenantId, idOf(1), ["far", "near", "first"]), (found) => found.closesAt)
    assert.strictEqual(yield* closesAt, now - 3000)
    assert.deepStrictEqual(yield* store.windowsWith(tenantId, idOf(1), ["other's"]), { closesAt: undefined, orderIds: [] })
    assert.strictEqual(yield* close(tenantId), 3)
    // it ended before the last of the other subscription
    yield* open(1, "third", -500)
    yield* open(1, "near", soon)
    assert.isAtLeast(yield* close(tenantId), 1)
    yield* eventually(Effect.andThen(close(tenantId), closesAt), (at) => at === now + 10 * minutes)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["first", "second", "third", "near"], 2: ["other's"] })
    assert.isFalse(yield* isDue(tenantId))
  })

  test("are due of all tenants, page by page in the order of their ids, so that one whose windows stay due hides no other", function*({ store }) {
    const own = [freshTenant(), freshTenant(), freshTenant()].toSorted()
    for (const [n, tenantId] of own.entries()) {
      yield* collecting(tenantId)
      yield* publishBills(tenantId, [{ billId: "A" }], { window: (now) => ({ closesAt: now - 60_000 * n - 1000, following: now + 60 * minutes }) })
    }
    const found: Array<string> = []
    for (let after: string | undefined;;) {
      const [next] = (yield* store.windowsDue({ after, limit: 1 })).tenantIds
      if (next === undefined) break
      found.push(next)
      after = next
    }
    assert.deepStrictEqual(found, found.toSorted())
    assert.deepStrictEqual(found.filter((tenantId) => own.includes(tenantId)), own)
    for (const tenantId of own) yield* close(tenantId)
  })

  withCollector("lose no notice of publishers that run while they close", function*({ tenantId }) {
    const ending = yield* window(150, 2500)
    const publishing = Array.from({ length: 30 }, (_, n) =>
      Effect.andThen(Effect.sleep(n * 10), publishBills(tenantId, [{ billId: `bill ${n}` }], { window: ending })))
    const closing = Array.from({ length: 30 }, (_, n) => Effect.andThen(Effect.sleep(n * 10), close(tenantId)))
    yield* Effect.all([...publishing, ...closing], { concurrency: "unbounded" })
    yield* eventually(Effect.andThen(close(tenantId), isDue(tenantId)), (due) => !due)
    // a timer may end a millisecond early, when nothing is due yet
    yield* eventually(Clock.currentTimeMillis, (now) => now > ending(0)!.following)
    yield* eventually(Effect.andThen(close(tenantId), isDue(tenantId)), (due) => !due)
    const [bodies] = Object.values(yield* drainedBodies(tenantId))
    assert.deepStrictEqual(bodies!.flatMap((body) => body.split(",")).toSorted(), Array.from({ length: 30 }, (_, n) => `bill ${n}/1`).toSorted())
  })

  test("are separate for each subscription", function*({ bills, store, tenantId }) {
    yield* collecting(tenantId, 1, "one")
    yield* collecting(tenantId, 2, "two")
    const [first, second] = [(yield* window(300))(0), (yield* window(10 * minutes))(0)]
    const notice = (billId: string) => ({ noticeId: `notice ${billId}`, billId, version: 1, accounts: ["A"], body: bytesOf(billId) })
    yield* bills.append(tenantId, {
      bills: [],
      notices: [notice("A"), notice("B")],
      notifications: [
        { subscriptionId: idOf(1), notice: 0, window: first },
        { subscriptionId: idOf(1), notice: 1, window: first },
        { subscriptionId: idOf(2), notice: 1, window: second }
      ],
      traceparent: undefined
    })
    assert.strictEqual(yield* closeDue(tenantId), 1)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A,B"] })
    const waiting = yield* Effect.forEach(["A", "B"], (billId) => store.windowsWith(tenantId, idOf(2), [billId]))
    assert.deepStrictEqual(waiting.map(({ closesAt }) => closesAt), [undefined, second!.closesAt])
  })

  test("are due by the store's clock, tenant by tenant, with the time of the next one", function*({ other, store, tenantId: one }) {
    for (const tenantId of [one, other]) yield* collecting(tenantId)
    yield* publishBills(one, [{ billId: "A" }], { window: yield* window(500) })
    yield* publishBills(other, [{ billId: "A" }], { window: yield* window(10 * minutes) })
    const isForetold = Effect.fnUntraced(function*() {
      const { nextDueInMillis } = yield* store.windowsDue(all)
      assert.isAtMost(nextDueInMillis!, 10 * minutes)
      assert.isAbove(nextDueInMillis!, 0)
    })
    yield* isForetold()
    yield* eventually(isDue(one), (due) => due)
    yield* isForetold()
    assert.isAbove((yield* store.windowsDue(all)).nextDueInMillis!, 1, "the time of the next one, not of one that is due")
    assert.isFalse(yield* isDue(other))
    assert.deepStrictEqual((yield* store.windowsDue({ ...all, limit: 0 })).tenantIds, [])
    assert.isAtMost((yield* store.windowsDue({ ...all, limit: 1 })).tenantIds.length, 1)
    yield* close(one)
    assert.isFalse(yield* isDue(one))
  })

  withCollector("make their destination due when they close", function*({ tenantId }) {
    const destinationIsDue = hasWork(tenantId)
    yield* publishBills(tenantId, [{ billId: "A" }], { window: yield* window(100) })
    assert.isFalse(yield* destinationIsDue)
    yield* closeDue(tenantId)
    assert.isTrue(yield* destinationIsDue)
  })

  test("close for a paused destination as well, and wait in it", function*({ queue, tenantId }) {
    yield* subscribedClient(tenantId, { source: "freight-charge-windows", state: "paused" })
    yield* publishBills(tenantId, [{ billId: "A" }], { window: yield* window(100) })
    yield* closeDue(tenantId)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), {})
    yield* queue.changeDestination(tenantId, chargeDestination({ source: "freight-charge-windows" }))
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/1"] })
  })

  test("are dropped with their notices when their subscription is cancelled", function*({ queue, store, tenantId, transaction }) {
    yield* collecting(tenantId, 1)
    yield* collecting(tenantId, 2, "other")
    const ending = yield* window(400)
    yield* publishBills(tenantId, [{ billId: "A" }], { window: ending })
    yield* transaction.run(Effect.andThen(store.cancel(tenantId, "client", idOf(1)), queue.closeDestination(tenantId, idOf(1))))
    // a publisher that saw it before it was cancelled
    yield* (yield* FreightBillStore).append(tenantId, {
      bills: [],
      notices: [{ noticeId: "late", billId: "B", version: 1, accounts: ["A"], body: bytesOf("late") }],
      notifications: [{ subscriptionId: idOf(1), notice: 0, window: ending(0) }],
      traceparent: undefined
    })
    assert.strictEqual(yield* closeDue(tenantId), 1)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 2: ["A/1"] })
  })

  withCollector("collect nothing from a rolled back call, and stay open when their closing is rolled back", function*({ tenantId }) {
    const ending = yield* window(500)
    const taken = publishBills(tenantId, [{ billId: "B" }], { window: ending })
    yield* rolledBack(taken)
    yield* publishBills(tenantId, [{ billId: "A" }], { window: ending })
    yield* eventually(isDue(tenantId), (due) => due)
    yield* rolledBack(close(tenantId))
    assert.isTrue(yield* isDue(tenantId))
    assert.strictEqual(yield* close(tenantId), 1)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["A/1"] })
  })

  withCollector("protect their notices from pruning, open and closed", function*({ queue, tenantId }) {
    yield* publishBills(tenantId, [{ billId: "A" }, { billId: "B" }], { window: yield* window(300) })
    assert.strictEqual(yield* pruneNotices(tenantId), 0)
    yield* closeDue(tenantId)
    assert.strictEqual(yield* pruneNotices(tenantId), 0)
    const worker = yield* acquire(tenantId)
    const delivery = yield* takeOne(worker)
    assert.strictEqual(textOf(delivery.body), "A/1,B/1")
    assert.strictEqual(yield* pruneNotices(tenantId), 0)
    yield* end(worker, [delivery], { state: "dead" })
    assert.strictEqual(yield* pruneNotices(tenantId), 0)
    yield* queue.retry(tenantId, delivery.deliveryId)
    const again = yield* takeOne(worker, 1, { again: [delivery.deliveryId] })
    assert.strictEqual(textOf(again.body), "A/1,B/1")
    yield* end(worker, [again], { state: "waiting" })
    assert.strictEqual(yield* pruneNotices(tenantId), 0)
    yield* queue.closeDestination(tenantId, idOf(1))
    assert.isAbove(yield* pruneNotices(tenantId), 0)
  })

  withCollector("protect the notices of each of several from pruning", function*({ tenantId }) {
    for (const [billId, before] of [["A", 2000], ["B", 1000]] as const) {
      yield* publishBills(tenantId, [{ billId }], { window: (now) => ({ closesAt: now - before, following: now + 60 * minutes }) })
      yield* close(tenantId)
    }
    assert.strictEqual(yield* pruneNotices(tenantId), 0)
  })

  test("open at the first end that a call gives, each subscription at its own, and stay closed for later notices", function*({ bills, store, tenantId }) {
    yield* collecting(tenantId, 1)
    yield* collecting(tenantId, 2, "other")
    const now = yield* Clock.currentTimeMillis
    const append = (...windows: ReadonlyArray<readonly [subscription: number, inMillis: number]>) =>
      bills.append(tenantId, {
        bills: [],
        notices: windows.map(([n, inMillis]) => ({ noticeId: globalThis.crypto.randomUUID(), billId: `${n} ${inMillis}`, version: 1, accounts: ["A"], body: bytesOf("{}") })),
        notifications: windows.map(([n, inMillis], notice) => ({ subscriptionId: idOf(n), notice, window: { closesAt: now + inMillis, following: now + 60 * minutes } })),
        traceparent: undefined
      })
    yield* append([1, 10 * minutes], [1, -3000], [2, 20 * minutes])
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 1, more: true })
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 0, more: false })
    yield* append([1, -2000], [2, 20 * minutes])
    assert.strictEqual(yield* close(tenantId), 1)
    yield* append([1, 20 * minutes], [2, -1000])
    assert.strictEqual(yield* close(tenantId), 1)
    yield* append([1, -2000])
    assert.strictEqual(yield* close(tenantId), 0)
  })

  test("of one tenant close without those of another", function*({ other, tenantId: one }) {
    for (const tenantId of [one, other]) {
      yield* collecting(tenantId)
      yield* publishBills(tenantId, [{ billId: "A", body: tenantId }], { window: yield* window(200) })
    }
    assert.strictEqual(yield* closeDue(one), 1)
    assert.deepStrictEqual([yield* drainedBodies(one), yield* drainedBodies(other)], [{ 1: [one] }, {}])
    assert.strictEqual(yield* closeDue(other), 1)
    assert.deepStrictEqual(yield* drainedBodies(other), { 1: [other] })
  })

  test("removes notices for accounts that the client has lost from a closed window", function*({ store, tenantId }) {
    yield* collecting(tenantId, 1, "client", ["A", "C"])
    yield* letSee(tenantId, "other", ["C"])
    yield* subscribeToCharges(tenantId, { n: 2, client: "other", accounts: ["C"], source: "freight-charge-windows" })
    const bills = [{ billId: "1", accounts: ["A"] }, { billId: "2", accounts: ["C"] }, { billId: "3", accounts: ["A"] }]
    yield* publishBills(tenantId, bills, { window: (now) => ({ closesAt: now - 1, following: now + 600_000 }) })
    yield* store.closeWindows(tenantId)
    yield* letSee(tenantId, "client", ["A"])
    const { dropped, sent } = yield* drain(tenantId)
    assert.deepStrictEqual([dropped, sent.map(({ body, destinationId }) => [destinationId, textOf(body)]).toSorted()], [1, [[idOf(1), "1/1,3/1"], [idOf(2), "2/1"]]])
  })

  test("send nothing of a later window before what is left of an earlier one", function*({ store, tenantId }) {
    yield* collecting(tenantId, 1, "client", ["A", "C"])
    yield* publishBills(tenantId, [{ billId: "1", accounts: ["A"] }, { billId: "2", accounts: ["C"] }], { window: (now) => ({ closesAt: now - 2, following: now + 600_000 }) })
    yield* store.closeWindows(tenantId)
    yield* publishBills(tenantId, [{ billId: "3", accounts: ["A"] }], { window: (now) => ({ closesAt: now - 1, following: now + 600_000 }) })
    yield* store.closeWindows(tenantId)
    yield* letSee(tenantId, "client", ["A"])
    const worker = yield* acquire(tenantId)
    const { deliveries, found } = yield* takeFrom(worker)
    assert.deepStrictEqual([deliveries, found!.unseenKeys], [[], ["window"]])
    yield* drop(worker, { keys: [{ destinationId: idOf(1), key: "window" }] })
    const first = yield* takeOne(worker)
    yield* end(worker, [first])
    assert.deepStrictEqual([textOf(first.body), textOf((yield* takeOne(worker)).body)], ["1/1", "3/1"])
  })

  test("keep the notices of what is left of them from pruning", function*({ store, tenantId }) {
    yield* collecting(tenantId, 1, "client", ["A", "C"])
    const bills = [{ billId: "1", accounts: ["A"] }, { billId: "2", accounts: ["C"] }, { billId: "3", accounts: ["A"] }]
    yield* publishBills(tenantId, bills, { window: (now) => ({ closesAt: now - 1, following: now + 600_000 }) })
    yield* store.closeWindows(tenantId)
    yield* letSee(tenantId, "client", ["A"])
    const worker = yield* acquire(tenantId)
    yield* drop(worker, { keys: [{ destinationId: idOf(1), key: "window" }] })
    yield* pruneNotices(tenantId)
    assert.strictEqual(textOf((yield* takeOne(worker)).body), "1/1,3/1")
  })

  test("drops what a window collected for accounts that its client lost before it closed", function*() {
    yield* inTime(Effect.fnUntraced(function*(millis) {
      const tenantId = freshTenant()
      let closesAt = 0
      yield* collecting(tenantId, 1, "client", ["A", "C"])
      yield* publishBills(tenantId, [{ billId: "1", accounts: ["C"] }], { window: (now) => ({ closesAt: now - 1, following: now + 600_000 }) })
      yield* publishBills(tenantId, [{ billId: "2", accounts: ["A"] }], { window: (now) => ({ closesAt: closesAt = now + millis, following: now + 600_000 }) })
      yield* letSee(tenantId, "client", ["C"])
      yield* close(tenantId)
      if ((yield* Clock.currentTimeMillis) >= closesAt) return false
      assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["1/1"] })
      yield* closeDue(tenantId)
      const { dropped, sent } = yield* drain(tenantId)
      assert.deepStrictEqual([dropped, sent], [1, []])
      return true
    }))
  }, 60_000)
})
