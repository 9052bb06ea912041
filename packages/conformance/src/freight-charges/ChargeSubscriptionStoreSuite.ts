/** Conformance of `ChargeSubscriptionStore`. `ChargeWindowsSuite.ts` tests windows. */
import { ChargeSubscriptionStore } from "@waybill/core/freight-charges"
import { assert } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { drain, drainedBodies, hasWork } from "../WorkerFixtures.ts"
import { bytesOf, idOf, letSee, letSeeAll, occurredAt, rolledBack, seesShipment } from "../StorageFixtures.ts"
import { foreignIds, testDocuments } from "../shared/SubscriptionDocumentsSuite.ts"
import { chargeDestination, chargeRecord, inFlightBodies, inFlightOf, publishBills, subscribedClient, subscribeToCharges } from "./ChargeFixtures.ts"
import { storeSuite, whileOpen } from "../StoreSuite.ts"

/** The bills that a subscription has: in-flight and notified ones, with duplicates. */
const knownBills = Effect.fnUntraced(function*(tenantId: string, subscribers: ReadonlyArray<{ readonly n: number; readonly client: string }>) {
  const sent = yield* drainedBodies(tenantId)
  return yield* Effect.forEach(subscribers, ({ client, n }) =>
    Effect.map(inFlightBodies(tenantId, n, client), (inFlight) => [...inFlight, ...sent[n] ?? []].toSorted()))
})

export const suite = storeSuite("ChargeSubscriptionStore", ChargeSubscriptionStore, (test) => {
  test("finds a client's own subscription with the state of its destination", function*({ store, tenantId }) {
    const doc = "{\"note\":\"ä\\\\ \\\" '\"}"
    yield* subscribeToCharges(tenantId, { doc, state: "paused" })
    const found = Option.getOrThrow(yield* store.find(tenantId, "client", idOf(1)))
    assert.deepStrictEqual({ ...found, destination: found.destination?.state }, {
      id: idOf(1),
      client: "client",
      doc,
      createdAt: occurredAt,
      destination: "paused",
      cancelledAt: undefined
    })
    assert.deepStrictEqual(yield* store.findAny(tenantId, idOf(1)), Option.some(found))
  })

  test("finds nothing for another client, an unknown id or a malformed id", function*({ store, tenantId }) {
    for (const client of ["client", "somebody else"]) yield* letSee(tenantId, client, ["A"])
    yield* publishBills(tenantId, [{ billId: "B" }])
    yield* subscribeToCharges(tenantId)
    assert.isTrue(Option.isNone(yield* store.find(tenantId, "somebody else", idOf(1))))
    assert.deepStrictEqual(yield* store.inFlight(tenantId, "somebody else", idOf(1), { after: undefined, limit: 1000, bytes: 1e9 }), [])
    for (const id of foreignIds) {
      assert.isTrue(Option.isNone(yield* store.find(tenantId, "client", id)), id)
      assert.isTrue(Option.isNone(yield* store.findAny(tenantId, id)), id)
      assert.isFalse(yield* store.cancel(tenantId, "client", id), id)
      assert.deepStrictEqual(yield* store.inFlight(tenantId, "client", id, { after: undefined, limit: 1000, bytes: 1e9 }), [], id)
    }
  })

  testDocuments(test, ({ cancel, documents }) => ({ documents, end: cancel }), (tenantId, n, client) => subscribeToCharges(tenantId, { n, client, accounts: [`A${n}`] }))

  test("returns an account that the client's live subscriptions already cover, and the subscription", function*({ store, tenantId, transaction }) {
    yield* subscribeToCharges(tenantId, { n: 1, accounts: ["A", "B"] })
    yield* subscribeToCharges(tenantId, { n: 2, accounts: ["C"] })
    yield* subscribeToCharges(tenantId, { n: 3, client: "other", accounts: ["D"] })
    const covered = (accounts: ReadonlyArray<string> | undefined, client = "client") =>
      Effect.map(transaction.run(store.covered(tenantId, client, accounts)), Option.getOrUndefined)
    assert.deepStrictEqual(yield* covered(["X", "C", "Y"]), { accountId: "C", subscriptionId: idOf(2) })
    assert.deepInclude(["A", "B"].map((accountId) => ({ accountId, subscriptionId: idOf(1) })), yield* covered(["B", "A"]))
    assert.strictEqual(yield* covered(["D", "E"]), undefined)
    assert.strictEqual(yield* covered(["A"], "other"), undefined)
    assert.deepInclude(["A", "B", "C"].map((accountId) => ({ accountId, subscriptionId: idOf(accountId === "C" ? 2 : 1) })), yield* covered(undefined))
    assert.strictEqual(yield* covered(undefined, "nobody"), undefined)
  })

  test("knows the client's own accounts, from keys and from tokens", function*({ store, tenantId }) {
    assert.deepStrictEqual(yield* store.accountsOf(tenantId, "client"), [])
    assert.isFalse(yield* seesShipment(tenantId, "client", "S"), "a client is unknown before it has access")
    yield* letSee(tenantId, "client", ["A", "B"])
    yield* letSee(tenantId, "client", ["B", "C"], "token")
    yield* letSee(tenantId, "other", ["D"])
    yield* letSeeAll(tenantId, "carrier")
    assert.deepStrictEqual((yield* store.accountsOf(tenantId, "client")).toSorted(), ["A", "B", "C"])
    assert.deepStrictEqual(yield* store.accountsOf(tenantId, "carrier"), [])
    yield* letSee(tenantId, "client", [])
    assert.deepStrictEqual((yield* store.accountsOf(tenantId, "client")).toSorted(), ["B", "C"])
  })

  test("covers every account of its client with a subscription to all accounts", function*({ store, tenantId, transaction }) {
    yield* subscribedClient(tenantId, { accounts: "all" })
    const covered = (accounts: ReadonlyArray<string> | undefined, client = "client") =>
      transaction.run(store.covered(tenantId, client, accounts))
    assert.deepStrictEqual(yield* covered(["never heard of"]), Option.some({ accountId: "never heard of", subscriptionId: idOf(1) }))
    assert.isTrue(Option.isSome(yield* covered(undefined)))
    assert.isTrue(Option.isNone(yield* covered(["A"], "other")))
    yield* subscribeToCharges(tenantId, { n: 2, client: "nobody knows", accounts: "all" })
    assert.isTrue(Option.isSome(yield* covered(undefined, "nobody knows")))
  })

  test("covers nothing once it is cancelled", function*({ store, tenantId, transaction }) {
    for (const accounts of [["A"], "all"] as const) {
      const n = accounts === "all" ? 2 : 1
      yield* subscribeToCharges(tenantId, { n, accounts })
      yield* store.cancel(tenantId, "client", idOf(n))
      assert.isTrue(Option.isNone(yield* transaction.run(store.covered(tenantId, "client", ["A"]))))
      assert.isTrue(Option.isNone(yield* transaction.run(store.covered(tenantId, "client", undefined))))
    }
  })

  test("creates one of several concurrent subscriptions of a client to the same account", function*({ store, tenantId }) {
    yield* letSee(tenantId, "client", ["A", "B", "C"])
    const wishes = [["A", "B"], "all", ["A"], ["C", "A"], "all", ["A"]] as const
    const made = yield* Effect.all(wishes.map((accounts, at) => subscribeToCharges(tenantId, { n: at + 1, accounts }, ["A", "B", "C"])), { concurrency: "unbounded" })
    assert.lengthOf(made.filter((taken) => taken === undefined), 1)
    assert.lengthOf((yield* Effect.forEach(wishes, (_, at) => store.findAny(tenantId, idOf(at + 1)))).filter(Option.isSome), 1)
  })

  test("creates one of several concurrent subscriptions that overlap only by the client's current accounts", function*({ store, tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    // they lock different accounts, so that they wait for each other only because of the client
    const wishes = [["all", ["A"]], [["B"], ["B"]], ["all", ["C"]]] as const
    const made = yield* Effect.all(wishes.map(([accounts, has], at) => subscribeToCharges(tenantId, { n: at + 1, accounts }, has)), { concurrency: "unbounded" })
    assert.lengthOf(made.filter((taken) => taken === undefined), 1)
    assert.lengthOf((yield* Effect.forEach(wishes, (_, at) => store.findAny(tenantId, idOf(at + 1)))).filter(Option.isSome), 1)
  })

  test("cancels a client's own subscription once, still shows it, and matches nothing for it", function*({ queue, store, tenantId, transaction }) {
    for (const client of ["client", "other"]) yield* letSee(tenantId, client, ["A"])
    yield* subscribeToCharges(tenantId)
    yield* subscribeToCharges(tenantId, { n: 2, client: "other" })
    assert.isFalse(yield* store.cancel(tenantId, "somebody else", idOf(1)))
    const before = yield* Clock.currentTimeMillis
    const cancel = transaction.run(Effect.andThen(store.cancel(tenantId, "client", idOf(1)), (cancelled) =>
      cancelled ? Effect.as(queue.closeDestination(tenantId, idOf(1)), true) : Effect.succeed(false)))
    const answers = yield* Effect.all(Array.from({ length: 4 }, () => cancel), { concurrency: "unbounded" })
    assert.deepStrictEqual(answers.filter((cancelled) => cancelled), [true])
    const found = Option.getOrThrow(yield* store.find(tenantId, "client", idOf(1)))
    assert.deepStrictEqual([found.destination, found.doc], [undefined, "{\"n\":1}"])
    assert.isBelow(Math.abs(found.cancelledAt! - before), 120_000)
    assert.deepStrictEqual(yield* store.findAny(tenantId, idOf(1)), Option.some(found))
    assert.deepStrictEqual(yield* store.deliveringTo(tenantId, "client", chargeRecord().webhookUrl), [])
    yield* publishBills(tenantId, [{ billId: "B" }])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 2: ["B/1"] })
  })

  test("lists a client's live subscriptions with an address, in every destination state", function*({ store, tenantId }) {
    const webhookUrl = "https://other.example/a?b=ä"
    yield* subscribeToCharges(tenantId, { n: 1, accounts: ["A"], webhookUrl })
    yield* subscribeToCharges(tenantId, { n: 2, accounts: ["B"], webhookUrl, state: "paused" })
    yield* subscribeToCharges(tenantId, { n: 3, accounts: ["C"] })
    yield* subscribeToCharges(tenantId, { n: 4, client: "other", webhookUrl })
    yield* subscribeToCharges(tenantId, { n: 5, accounts: ["E"], webhookUrl })
    yield* store.cancel(tenantId, "client", idOf(5))
    assert.strictEqual(Option.getOrThrow(yield* store.find(tenantId, "client", idOf(5))).destination, undefined)
    const found = yield* store.deliveringTo(tenantId, "client", webhookUrl)
    assert.deepStrictEqual(found.map((each) => `${each.id} ${each.destination?.state}`).toSorted(), [`${idOf(1)} active`, `${idOf(2)} paused`])
    assert.deepStrictEqual(yield* store.deliveringTo(tenantId, "client", `${webhookUrl}/`), [])
  })

  test("lists the bills in flight at its creation, in their version of that time", function*({ store, tenantId }) {
    yield* letSee(tenantId, "client", ["A", "B"])
    yield* publishBills(tenantId, [{ billId: "b" }, { billId: "a", accounts: ["B", "C"] }, { billId: "foreign", accounts: ["C"] }, { billId: "B" }])
    yield* publishBills(tenantId, [{ billId: "b" }, { billId: "final", state: "final" }])
    yield* subscribeToCharges(tenantId, { accounts: ["A", "B"] })
    yield* publishBills(tenantId, [{ billId: "a" }, { billId: "later" }])
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), ["B/1", "a/1", "b/2"])
    yield* subscribeToCharges(tenantId, { n: 2, client: "other" })
    const body = "{\"notes\":\"käse, \\\"船\\\" 😀 \\\\ {} NULL\"}"
    const given = ["b", "x", "B"].map((billId) => inFlightOf({ billId, version: 1, accounts: ["A"] }, billId === "x" ? body : billId))
    yield* store.insert(tenantId, chargeRecord({ n: 3 }))
    yield* store.addInFlight(tenantId, idOf(3), given.slice(0, 2))
    yield* store.addInFlight(tenantId, idOf(3), given.slice(2))
    assert.deepStrictEqual(yield* inFlightBodies(tenantId, 3), ["B", "b", body])
    const piece = (after: string | undefined, limit: number, bytes: number) =>
      Effect.map(store.inFlight(tenantId, "client", idOf(3), { after, limit, bytes }), (bills) => bills.map(({ billId }) => billId))
    assert.deepStrictEqual(yield* Effect.forEach([undefined, "B", "b", "x"], (after) => piece(after, 2, 1e9)), [["B", "b"], ["b", "x"], ["x"], []])
    // the first two have one byte each
    assert.deepStrictEqual(yield* Effect.forEach([1, 2, 3], (bytes) => piece(undefined, 1000, bytes)), [["B"], ["B", "b"], ["B", "b", "x"]])
    assert.deepStrictEqual(yield* piece("b", 1000, 1), ["x"])
    assert.deepStrictEqual(yield* inFlightBodies(tenantId, 2, "other"), [])
  })

  test("limits the in-flight list to the client's current accounts", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A", "B"])
    yield* publishBills(tenantId, [{ billId: "a" }, { billId: "ab", accounts: ["A", "B"] }, { billId: "b", accounts: ["B"] }])
    yield* subscribeToCharges(tenantId, { accounts: "all" }, ["A", "B"])
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), ["a/1", "ab/1", "b/1"])
    yield* letSee(tenantId, "client", ["B", "C"])
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), ["ab/1", "b/1"])
    yield* letSee(tenantId, "client", [])
    yield* letSeeAll(tenantId, "client")
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), [])
    yield* letSee(tenantId, "client", ["A"], "token")
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), ["a/1", "ab/1"])
  })

  test("neither misses nor repeats bills that are published while it is created", function*({ tenantId }) {
    const subscribers = [1, 2, 3, 4].map((n) => ({ n, client: `client ${n}` }))
    for (const { client } of subscribers) yield* letSee(tenantId, client, ["A", "B"])
    const bills = Array.from({ length: 20 }, (_, n) => publishBills(tenantId, [{ billId: `bill ${n}`, accounts: [n % 2 === 0 ? "A" : "B"] }]))
    const subscriptions = subscribers.map(({ client, n }) =>
      subscribeToCharges(tenantId, { n, client, accounts: n % 2 === 0 ? "all" : ["B", "A"] }, n % 2 === 0 ? ["A", "B"] : ["B", "A"]))
    const mixed = bills.flatMap((bill, n) => n % 5 === 2 ? [bill, subscriptions[Math.floor(n / 5)]!] : [bill])
    yield* Effect.all(mixed, { concurrency: "unbounded" })
    const everything = Array.from({ length: 20 }, (_, n) => `bill ${n}/1`).toSorted()
    for (const known of yield* knownBills(tenantId, subscribers)) assert.deepStrictEqual(known, everything)
  })

  test("neither misses nor repeats versions of a bill that are published while it is created", function*({ tenantId }) {
    const subscribers = [1, 2, 3].map((n) => ({ n, client: `client ${n}` }))
    for (const { client } of subscribers) yield* letSee(tenantId, client, ["A"])
    yield* publishBills(tenantId, [{ billId: "bill" }])
    const calls = Array.from({ length: 12 }, () => publishBills(tenantId, [{ billId: "bill" }]))
    const mixed = calls.flatMap((call, n) => n % 4 === 1 ? [call, subscribeToCharges(tenantId, subscribers[Math.floor(n / 4)]!)] : [call])
    yield* Effect.all(mixed, { concurrency: "unbounded" })
    const sent = yield* drainedBodies(tenantId)
    for (const { client, n } of subscribers) {
      const [first] = yield* inFlightBodies(tenantId, n, client)
      const version = Number(first!.slice("bill/".length))
      assert.deepStrictEqual(sent[n] ?? [], Array.from({ length: 13 - version }, (_, at) => `bill/${version + at + 1}`))
    }
  })

  test("waits for running publishers of its accounts, and lists their bills as in flight", function*({ bills, tenantId, transaction }) {
    yield* letSee(tenantId, "client", ["A"])
    const publishing = (stayOpen: Effect.Effect<void>) => Effect.gen(function*() {
      yield* bills.lock(tenantId, ["B"])
      yield* bills.gate(tenantId, ["A", "X"])
      assert.deepStrictEqual(yield* bills.viewers(tenantId, ["A", "X"]), [])
      yield* stayOpen
      yield* bills.append(tenantId, { bills: [{ billId: "B", version: 1, state: "open", accounts: ["A", "X"], doc: "{}" }], notices: [], notifications: [], traceparent: undefined })
    })
    yield* whileOpen((stayOpen) => transaction.run(publishing(stayOpen)), [subscribeToCharges(tenantId)])
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), ["B/1"])
  })

  test("makes publishers of its accounts wait until it is created, and receives their bills", function*({ store, tenantId, transaction }) {
    yield* letSee(tenantId, "client", ["A"])
    // the waiting transaction sees rows that are inserted as late as this
    const subscribing = (stayOpen: Effect.Effect<void>) => Effect.andThen(store.hold(tenantId, ["A"]), Effect.andThen(stayOpen, subscribeToCharges(tenantId)))
    yield* whileOpen((stayOpen) => transaction.run(subscribing(stayOpen)), [publishBills(tenantId, [{ billId: "B" }])])
    assert.deepStrictEqual([yield* drainedBodies(tenantId), yield* inFlightBodies(tenantId)], [{ 1: ["B/1"] }, []])
  })

  test("is cancelled after running publishers, together with their entries", function*({ bills, queue, store, tenantId, transaction }) {
    yield* letSee(tenantId, "client", ["A"])
    yield* letSee(tenantId, "other", ["A"])
    yield* subscribeToCharges(tenantId)
    yield* subscribeToCharges(tenantId, { n: 2, client: "other", source: "freight-charge-windows" })
    const closesAt = (yield* Clock.currentTimeMillis) + 3_600_000
    const append = bills.append(tenantId, {
      bills: [],
      notices: [{ noticeId: "notice", billId: "B", version: 1, accounts: ["A"], body: bytesOf("B/1") }],
      notifications: [
        { subscriptionId: idOf(1), notice: 0, window: undefined },
        { subscriptionId: idOf(2), notice: 0, window: { closesAt, following: closesAt + 1 } }
      ],
      traceparent: undefined
    })
    const cancel = (client: string, n: number) => transaction.run(Effect.andThen(store.cancel(tenantId, client, idOf(n)), queue.closeDestination(tenantId, idOf(n))))
    yield* whileOpen((stayOpen) => transaction.run(Effect.andThen(append, stayOpen)), [cancel("client", 1), cancel("other", 2)])
    yield* drain(tenantId)
    // entries that are never dropped would have workers acquire their partition again and again
    assert.isFalse(yield* hasWork(tenantId))
    // and a notice that no window holds would never be removed
    const now = yield* Clock.currentTimeMillis
    yield* bills.prune(tenantId, { ended: 0, noticed: now + 600_000 })
    assert.strictEqual(yield* bills.prune(tenantId, { ended: 0, noticed: now + 600_000 }), 0)
    yield* publishBills(tenantId, [{ billId: "C" }])
    assert.strictEqual(yield* bills.prune(tenantId, { ended: 0, noticed: now + 600_000 }), 1)
  })

  test("leaves nothing behind when its transaction is rolled back", function*({ store, tenantId, transaction }) {
    yield* letSee(tenantId, "client", ["A", "B"])
    yield* publishBills(tenantId, [{ billId: "B" }])
    yield* subscribeToCharges(tenantId, { n: 1, accounts: ["A"] })
    yield* rolledBack(Effect.gen(function*() {
      yield* subscribeToCharges(tenantId, { n: 2, accounts: ["B"] })
      yield* store.cancel(tenantId, "client", idOf(1))
    }))
    assert.isTrue(Option.isNone(yield* store.findAny(tenantId, idOf(2))))
    assert.isTrue(Option.isNone(yield* transaction.run(store.covered(tenantId, "client", ["B"]))))
    assert.strictEqual(Option.getOrThrow(yield* store.findAny(tenantId, idOf(1))).cancelledAt, undefined)
    yield* publishBills(tenantId, [{ billId: "B", accounts: ["A", "B"] }])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["B/2"] })
    assert.deepStrictEqual(yield* inFlightBodies(tenantId), ["B/1"])
  })

  test("isolates tenants that share ids", function*({ other, queue, store, tenantId: one, transaction }) {
    for (const tenantId of [one, other]) yield* letSee(tenantId, "client", ["A"])
    yield* publishBills(one, [{ billId: "B" }])
    yield* subscribeToCharges(one)
    assert.isTrue(Option.isNone(yield* store.find(other, "client", idOf(1))))
    assert.isTrue(Option.isNone(yield* store.findAny(other, idOf(1))))
    assert.isTrue(Option.isNone(yield* transaction.run(store.covered(other, "client", ["A"]))))
    assert.deepStrictEqual(yield* store.deliveringTo(other, "client", chargeRecord().webhookUrl), [])
    assert.deepStrictEqual(yield* inFlightBodies(other), [])
    assert.isFalse(yield* store.cancel(other, "client", idOf(1)))
    yield* queue.openDestination(other, chargeDestination())
    yield* store.insert(other, chargeRecord())
    assert.deepStrictEqual(yield* inFlightBodies(other), [])
    yield* store.cancel(other, "client", idOf(1))
    assert.strictEqual(Option.getOrThrow(yield* store.find(one, "client", idOf(1))).cancelledAt, undefined)
    assert.deepStrictEqual(yield* inFlightBodies(one), ["B/1"])
  })
})
