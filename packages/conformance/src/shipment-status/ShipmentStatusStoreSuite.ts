/** Conformance of `ShipmentStatusStore`. `StatusNoticesSuite.ts` tests notifications. */
import { maxHistoryBytes, Transaction } from "@waybill/core"
import { ShipmentStatusStore, type StatusFound, type StatusHistoryEntry, type StatusLookup } from "@waybill/core/shipment-status"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { bytesOf, eventOf, eventually, freshTenant, letSee, letSeeAll, occurredAt, publish, rolledBack, textOf } from "../StorageFixtures.ts"
import { report, statusOf } from "./StatusFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const day = 86_400_000

/** The view of a lookup: `verified`, `public`, or none. */
const shown = (found: StatusFound | undefined): string | undefined =>
  found === undefined ? undefined : textOf(found.own ? found.verified : found.public)

const find = (tenantId: string, ...lookups: ReadonlyArray<readonly [key: string, own: StatusLookup["own"]]>) =>
  Effect.flatMap(ShipmentStatusStore, (store) =>
    Effect.map(store.find(tenantId, lookups.map(([key, own]) => ({ key, own }))), (found) => found.map(shown)))

/** Positions of the newest history entries of the shipment S. */
const positions = (tenantId: string, newest?: number) =>
  Effect.flatMap(ShipmentStatusStore, (store) => Effect.map(store.record(tenantId, "S", newest), (record) => record!.history.map((each) => each.position)))

const entry = (shipmentId: string, position: number, doc = "{}"): StatusHistoryEntry => ({ shipmentId, position, occurredAt: occurredAt + position, doc })

/** Increments a counter in the state of each shipment. */
const increment = (tenantId: string, shipmentIds: ReadonlyArray<string>) =>
  Effect.flatMap(Effect.all([Transaction, ShipmentStatusStore]), ([transaction, store]) =>
    transaction.run(Effect.gen(function*() {
      const known = yield* store.lock(tenantId, shipmentIds.map((shipmentId) => ({ shipmentId, accounts: undefined })))
      yield* Effect.yieldNow
      const statuses = shipmentIds.map((shipmentId) => {
        const before = known.find((each) => each.shipmentId === shipmentId)
        return statusOf({ shipmentId, state: String(Number(before?.state ?? 0) + 1) })
      })
      yield* store.write(tenantId, { statuses, history: [], notices: [], traceparent: undefined })
    })))

export const suite = storeSuite("ShipmentStatusStore", ShipmentStatusStore, (test) => {
  test("returns the statuses of the locked shipments only", function*({ store, tenantId }) {
    const odd = "{\"notes\":\"käse, \\\"船\\\" 😀 \\\\ {} NULL\"}"
    yield* report(tenantId, [{ shipmentId: "S / \"1\"", state: odd, verified: bytesOf(`${odd} verified`) }, { shipmentId: "T" }])
    yield* publish(tenantId, [{ shipmentId: "only in the log" }])
    const claims = ["S / \"1\"", "only in the log", "unknown"].map((shipmentId) => ({ shipmentId, accounts: undefined }))
    const known = yield* store.lock(tenantId, claims)
    assert.deepStrictEqual(known.map((each) => ({ ...each, verified: textOf(each.verified) })), [
      { shipmentId: "S / \"1\"", state: odd, verified: `${odd} verified` }
    ])
    assert.deepStrictEqual((yield* store.lock(tenantId, claims)).map((each) => each.shipmentId), ["S / \"1\""])
  })

  test("reports to the event log which shipments have a status, within the tenant", function*({ events: log, other, tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S" }, { shipmentId: "elsewhere" }])
    yield* report(other, [{ shipmentId: "T" }])
    const events = ["S", "T", "S"].map((shipmentId, at) => eventOf({ shipmentId, eventId: `${at}` }, at + 1))
    assert.deepStrictEqual([...yield* log.append(tenantId, events, undefined)], ["S"])
    assert.deepStrictEqual([...yield* log.append(tenantId, [eventOf({ shipmentId: "T", eventId: "3" }, 4)], undefined)], [])
  })

  test("finds shipments by id, key or key prefix, latest pickup first", function*({ store, tenantId }) {
    const nothing = { shipmentId: "", keys: [], prefixes: [] }
    const search = (said: Partial<typeof nothing> | { readonly keys?: ReadonlyArray<string>; readonly prefixes?: ReadonlyArray<string> }, limit = 10, tenant = tenantId) =>
      Effect.map(store.search(tenant, { ...nothing, ...said }, limit), (found) => found.map((each) => each.shipmentId))
    yield* report(tenantId, [
      { shipmentId: "1", keys: ["pro 7", "bol 7 60601"], pickupAt: occurredAt + day },
      { shipmentId: "2", keys: ["bol 7 10001", "po 7 10001"], pickupAt: occurredAt + 2 * day, covered: false },
      { shipmentId: "3", keys: ["bol 77 60601", "pro 77"], pickupAt: occurredAt },
      { shipmentId: "7", keys: ["pro !", "bol 7!"], pickupAt: occurredAt }
    ])
    assert.deepStrictEqual(yield* search({ shipmentId: "7", keys: ["pro 7"], prefixes: ["bol 7 ", "po 7 "] }), ["2", "1", "7"])
    assert.deepStrictEqual(yield* search({ shipmentId: "7", keys: ["pro 7"], prefixes: ["bol 7 ", "po 7 "] }, 1), ["2"])
    assert.deepStrictEqual(yield* search({ prefixes: ["bol 7 "] }), ["2", "1"])
    assert.deepStrictEqual(yield* search({ keys: ["pro 77", "pro 7", "bol 7"] }), ["1", "3"])
    assert.deepStrictEqual(yield* search({ shipmentId: "unknown", keys: ["pro %"], prefixes: ["pro _ ", "' "] }), [])
    assert.deepStrictEqual(yield* search({ shipmentId: "7", keys: ["pro 7"] }, 10, freshTenant()), [])
    const [found] = yield* store.search(tenantId, { ...nothing, shipmentId: "1" }, 1)
    assert.deepStrictEqual([found!.state, textOf(found!.verified)], ["{}", "verified 1"])
  })

  test("finds the latest pickups of more shipments with a key or prefix than were asked for", function*({ store, tenantId }) {
    const said = [["S", "bol 9 1", 0], ["T", "bol 9 3", 1], ["U", "bol 9 4", 2], ["V", "bol 9 2", 1]] as const
    yield* report(tenantId, said.map(([shipmentId, key, days]) => ({ shipmentId, keys: [key, "pro 9"], pickupAt: occurredAt + days * day })))
    for (const wanted of [{ keys: ["pro 9"], prefixes: [] }, { keys: [], prefixes: ["bol 9 "] }]) {
      for (const limit of [2, 3]) {
        const found = yield* store.search(tenantId, { shipmentId: "", ...wanted }, limit)
        assert.deepStrictEqual(found.map(({ shipmentId }) => shipmentId), ["U", "V", "T"].slice(0, limit))
      }
    }
  })

  test("returns the requested number of last history entries", function*({ tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S" }], { history: [1, 2, 3, 4].map((position) => entry("S", position)) })
    assert.deepStrictEqual(yield* positions(tenantId), [1, 2, 3, 4])
    assert.deepStrictEqual(yield* positions(tenantId, 2), [3, 4])
    assert.deepStrictEqual(yield* positions(tenantId, 9), [1, 2, 3, 4])
  })

  test("returns the newest entries of a long history", function*({ tenantId }) {
    const large = JSON.stringify("x".repeat(maxHistoryBytes / 2 - 2))
    for (const position of [1, 2, 3, 4, 5]) yield* report(tenantId, [{ shipmentId: "S" }], { history: [entry("S", position, large)] })
    assert.deepStrictEqual(yield* positions(tenantId), [3, 4, 5])
    assert.deepStrictEqual(yield* positions(tenantId, 2), [4, 5])
  })

  test("reads its own writes inside the transaction that holds the locks", function*({ store, tenantId, transaction }) {
    yield* report(tenantId, [{ shipmentId: "S", state: "before" }])
    const states = yield* transaction.run(Effect.gen(function*() {
      yield* store.lock(tenantId, [{ shipmentId: "S", accounts: undefined }, { shipmentId: "T", accounts: undefined }])
      const before = yield* store.read(tenantId, ["S", "T"])
      yield* store.write(tenantId, { statuses: ["S", "T"].map((shipmentId) => statusOf({ shipmentId, state: "after" })), history: [], notices: [], traceparent: undefined })
      return [...before, ...yield* store.read(tenantId, ["S", "T"])].map((each) => `${each.shipmentId} ${each.state}`)
    }))
    assert.deepStrictEqual(states.toSorted(), ["S after", "S before", "T after"])
  })

  test("serialises reports of one shipment, in any order of shipments", function*({ store, tenantId }) {
    const orders = [["S", "T", "U"], ["U", "T", "S"], ["T", "S"], ["U", "S"]]
    const reports = Array.from({ length: 16 }, (_, n) => increment(tenantId, orders[n % 4]!))
    yield* Effect.all(reports, { concurrency: "unbounded" })
    const states = Object.fromEntries((yield* store.read(tenantId, ["S", "T", "U"])).map((each) => [each.shipmentId, each.state]))
    assert.deepStrictEqual(states, { S: "16", T: "12", U: "12" })
  })

  test("serialises reports and publications of the same shipments", function*({ events, store, tenantId, transaction }) {
    // the event log allocates the number and the status counts it, in one transaction
    const derive = (shipmentIds: ReadonlyArray<string>) =>
      transaction.run(Effect.gen(function*() {
        yield* events.allocate(tenantId, shipmentIds.toSorted().map((shipmentId) => ({ shipmentId, needed: 1, highestGiven: 0, accounts: undefined })))
        yield* Effect.yieldNow
        const known = yield* store.read(tenantId, shipmentIds)
        const statuses = shipmentIds.map((shipmentId) =>
          statusOf({ shipmentId, state: String(Number(known.find((each) => each.shipmentId === shipmentId)?.state ?? 0) + 1) }))
        yield* store.write(tenantId, { statuses, history: [], notices: [], traceparent: undefined })
      }))
    const mixed = Array.from({ length: 12 }, (_, n) => n % 2 === 0 ? derive(["S", "T"]) : increment(tenantId, ["T", "S"]))
    yield* Effect.all(mixed, { concurrency: "unbounded" })
    assert.deepStrictEqual((yield* store.read(tenantId, ["S", "T"])).map((each) => each.state), ["12", "12"])
  })

  test("shares a shipment's accounts with the event log in both directions", function*({ events, store, tenantId }) {
    const seenBy = (account: string) =>
      Effect.map(events.page({
        tenantId,
        visibility: { _tag: "Granted", grants: [account] },
        filter: { shipmentId: "S", eventTypes: undefined, occurredFrom: undefined, occurredTo: undefined, order: "asc" },
        snapshot: undefined,
        after: undefined,
        skip: 0,
        limit: 9,
        count: false
      }), ({ rows }) => rows.length)
    const accounts = Effect.map(store.record(tenantId, "S"), (record) => record!.accounts)
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    yield* report(tenantId, [{ shipmentId: "S" }])
    assert.deepStrictEqual([yield* accounts, yield* seenBy("A")], [["A"], 1])
    yield* report(tenantId, [{ shipmentId: "S" }], { accounts: ["B", "C"] })
    assert.deepStrictEqual([(yield* accounts).toSorted(), yield* seenBy("A"), yield* seenBy("C")], [["B", "C"], 0, 1])
    yield* publish(tenantId, [{ shipmentId: "S" }])
    assert.deepStrictEqual((yield* accounts).toSorted(), ["B", "C"])
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: [] })
    assert.deepStrictEqual([yield* accounts, yield* seenBy("B")], [[], 0])
  })

  test("allocates no event number", function*({ tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    const [first] = yield* publish(tenantId, [{ shipmentId: "S" }])
    yield* report(tenantId, [{ shipmentId: "S" }])
    const [second] = yield* publish(tenantId, [{ shipmentId: "S" }])
    assert.deepStrictEqual([first!.sequence, second!.sequence], [1, 2])
  })

  test("shows the verified answer to owners of the freight, and the public one to all others", function*({ tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S", keys: ["k"] }], { accounts: ["A", "B"] })
    assert.deepStrictEqual(
      yield* find(tenantId, ["k", ["B"]], ["k", []], ["unknown", "all"], ["k", "all"], ["k", ["C"]], ["k", ["C", "A"]]),
      ["verified S", "public S", undefined, "verified S", "public S", "verified S"]
    )
    assert.deepStrictEqual(yield* find(tenantId), [])
    yield* report(tenantId, [], { accounts: ["C"], history: [entry("S", 1)] })
    assert.deepStrictEqual(yield* find(tenantId, ["k", ["B"]], ["k", ["C"]]), ["public S", "verified S"])
  })

  test("shows freight without accounts verified only to clients that see everything", function*({ tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S", keys: ["k"] }])
    assert.deepStrictEqual(yield* find(tenantId, ["k", "all"], ["k", ["A"]], ["k", []]), ["verified S", "public S", "public S"])
  })

  test("finds no shipment before its first milestone", function*({ store, tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S", keys: ["k"], covered: false }], { accounts: ["A"] })
    assert.deepStrictEqual(yield* find(tenantId, ["k", "all"], ["k", ["A"]]), [undefined, undefined])
    assert.deepStrictEqual(yield* store.resolve(tenantId, ["k"]), ["S"])
    assert.isFalse((yield* store.record(tenantId, "S"))!.covered)
    yield* report(tenantId, [{ shipmentId: "S" }])
    assert.deepStrictEqual(yield* find(tenantId, ["k", "all"]), ["verified S"])
  })

  test("prefers the caller's own of several, then the one picked up last, then the greatest id", function*({ tenantId }) {
    const keys = ["k"]
    yield* report(tenantId, [{ shipmentId: "old", keys, pickupAt: occurredAt - day }], { accounts: ["A"] })
    yield* report(tenantId, [{ shipmentId: "new", keys, pickupAt: occurredAt + day }], { accounts: ["B"] })
    yield* report(tenantId, [{ shipmentId: "newest", keys, pickupAt: occurredAt + 2 * day, covered: false }], { accounts: ["A"] })
    // U+FFEE sorts before the emoji by code point, after it by UTF-16 unit
    yield* report(tenantId, ["\uffee", "😀", "a"].map((shipmentId) => ({ shipmentId, keys: [...keys, "same"] })), { accounts: ["A", "C"] })
    assert.deepStrictEqual(
      yield* find(tenantId, ["k", ["A"]], ["k", ["B"]], ["k", ["C"]], ["k", []], ["k", "all"], ["same", []]),
      ["verified 😀", "verified new", "verified 😀", "public new", "verified new", "public 😀"]
    )
  })

  test("shows and finds a shipment by its latest report", function*({ store, tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S", keys: ["k"] }, { shipmentId: "T", keys: ["k"], pickupAt: occurredAt + 1 }])
    assert.deepStrictEqual(yield* find(tenantId, ["k", "all"]), ["verified T"])
    yield* report(tenantId, [{ shipmentId: "S", pickupAt: occurredAt + 2, deliveredAt: occurredAt + 3, verified: bytesOf("verified anew"), public: bytesOf("public anew") }])
    assert.deepStrictEqual(yield* find(tenantId, ["k", "all"], ["k", []]), ["verified anew", "public anew"])
    assert.deepStrictEqual(yield* store.resolve(tenantId, ["k"]), ["S"])
    assert.deepStrictEqual((yield* store.search(tenantId, { shipmentId: "S", keys: ["k"], prefixes: [] }, 9)).map(({ shipmentId }) => shipmentId), ["S", "T"])
    assert.isAbove(yield* store.prune(tenantId, { delivered: occurredAt + 4, noticed: 0 }), 0)
    assert.deepStrictEqual(yield* store.resolve(tenantId, ["k"]), ["T"])
  })

  test("resolves a key to the shipment picked up last, covered or not", function*({ store, tenantId }) {
    yield* report(tenantId, [
      { shipmentId: "S", keys: ["one", "both"] },
      { shipmentId: "T", keys: ["both", "same"], pickupAt: occurredAt + 1, covered: false },
      { shipmentId: "U", keys: ["same"], pickupAt: occurredAt + 1 }
    ])
    assert.deepStrictEqual(yield* store.resolve(tenantId, ["one", "unknown", "both", "same", "one"]), ["S", undefined, "T", "U", "S"])
    assert.deepStrictEqual(yield* store.resolve(tenantId, []), [])
  })

  test("finds a shipment by its latest keys, and keeps them when a call names none", function*({ tenantId }) {
    const odd = ["pro:1,2", "{k}", "\"q\"", "\\", "NULL", "ä 船 😀", "%"]
    yield* report(tenantId, [{ shipmentId: "S", keys: [...odd, "dropped"] }])
    yield* report(tenantId, [{ shipmentId: "S" }])
    assert.deepStrictEqual(yield* find(tenantId, ["dropped", "all"]), ["verified S"])
    yield* report(tenantId, [{ shipmentId: "S", keys: [...odd, "added"] }])
    assert.deepStrictEqual(yield* find(tenantId, ["dropped", "all"], ["added", "all"], ...odd.map((key) => [key, "all"] as const)), [
      undefined,
      "verified S",
      ...odd.map(() => "verified S")
    ])
    yield* report(tenantId, [{ shipmentId: "S", keys: [] }])
    assert.deepStrictEqual(yield* find(tenantId, ["added", "all"]), [undefined])
  })

  test("lists an account's shipments in an inclusive range of pickup times, by pickup time and id", function*({ store, tenantId }) {
    yield* report(tenantId, [
      { shipmentId: "late", pickupAt: occurredAt + 20 },
      { shipmentId: "b", pickupAt: occurredAt + 10 },
      { shipmentId: "a", pickupAt: occurredAt + 10 },
      { shipmentId: "early", pickupAt: occurredAt },
      { shipmentId: "hidden", pickupAt: occurredAt + 5, covered: false }
    ], { accounts: ["A", "B"] })
    yield* report(tenantId, [{ shipmentId: "foreign", pickupAt: occurredAt + 10 }], { accounts: ["B"] })
    const listed = (from: number, to: number, limit = 9, account = "A", bytes = 1e9) =>
      Effect.map(store.findPickedUp(tenantId, { account, from: occurredAt + from, to: occurredAt + to, limit, bytes }), (found) => found.map(textOf))
    assert.deepStrictEqual(yield* listed(0, 20), ["verified early", "verified a", "verified b", "verified late"])
    assert.deepStrictEqual(yield* listed(1, 19), ["verified a", "verified b"])
    assert.deepStrictEqual(yield* listed(0, 20, 2), ["verified early", "verified a"])
    const first = "verified early".length
    assert.deepStrictEqual(yield* listed(0, 20, 9, "A", 1), ["verified early"])
    assert.deepStrictEqual(yield* listed(0, 20, 9, "A", first), ["verified early"])
    assert.deepStrictEqual(yield* listed(0, 20, 9, "A", first + 1), ["verified early", "verified a"])
    assert.deepStrictEqual(yield* listed(21, 30), [])
    assert.deepStrictEqual(yield* listed(0, 20, 9, "nobody's"), [])
    yield* publish(tenantId, [{ shipmentId: "a" }], { accounts: ["B"] })
    assert.deepStrictEqual(yield* listed(10, 10), ["verified b"])
    for (const shipmentId of ["hidden", "late"]) yield* publish(tenantId, [{ shipmentId }], { accounts: ["A", "B", "C"] })
    assert.deepStrictEqual([yield* listed(0, 19, 9, "C"), yield* listed(20, 20, 9, "C")], [[], ["verified late"]])
    yield* report(tenantId, [{ shipmentId: "b", pickupAt: occurredAt + 11 }, { shipmentId: "late", pickupAt: occurredAt + 20, covered: false }, { shipmentId: "hidden", pickupAt: occurredAt + 5 }])
    assert.deepStrictEqual(yield* listed(0, 20), ["verified early", "verified hidden", "verified b"])
  })

  test("lists and finds each shipment by its own pickup, whenever the others were reported", function*({ store, tenantId }) {
    for (const shipmentId of ["T", "S"]) yield* report(tenantId, [{ shipmentId }], { accounts: ["A"] })
    const listed = yield* store.findPickedUp(tenantId, { account: "A", from: 0, to: occurredAt, limit: 9, bytes: 1e9 })
    assert.deepStrictEqual(listed.map(textOf), ["verified S", "verified T"])
    yield* report(tenantId, [{ shipmentId: "R", keys: ["k"], pickupAt: occurredAt + 1 }])
    yield* report(tenantId, [{ shipmentId: "T", keys: ["k"] }])
    assert.deepStrictEqual(yield* store.resolve(tenantId, ["k"]), ["R"])
  })

  test("knows accounts while a client or a shipment has them", function*({ store, tenantId }) {
    const known = Effect.filter(["key", "token", "report", "event", "A,{B}"], (account) => store.accountKnown(tenantId, account))
    assert.deepStrictEqual(yield* known, [])
    yield* letSee(tenantId, "anna", ["key"], "key")
    yield* letSee(tenantId, "anna", ["token"], "token")
    yield* letSeeAll(tenantId, "carrier")
    yield* report(tenantId, [{ shipmentId: "S", covered: false }], { accounts: ["report", "A,{B}"] })
    yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["event"] })
    assert.deepStrictEqual(yield* known, ["key", "token", "report", "event", "A,{B}"])
    yield* letSee(tenantId, "anna", [], "key")
    yield* report(tenantId, [{ shipmentId: "S" }], { accounts: [] })
    assert.deepStrictEqual(yield* known, ["token", "event"])
  })

  test("returns the record of a shipment with its history in order of the reports", function*({ store, tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S", state: "{\"n\":1}" }], { accounts: ["A"], history: [entry("S", 1, "{\"late\":true}"), entry("S", 2)] })
    yield* report(tenantId, [{ shipmentId: "T" }], { history: [entry("T", 1), { ...entry("S", 3), occurredAt: -1 }] })
    const { verified, ...record } = (yield* store.record(tenantId, "S"))!
    assert.strictEqual(textOf(verified), "verified S")
    assert.deepStrictEqual(record, {
      shipmentId: "S",
      state: "{\"n\":1}",
      accounts: ["A"],
      carrier: [],
      covered: true,
      history: [entry("S", 1, "{\"late\":true}"), entry("S", 2), { ...entry("S", 3), occurredAt: -1 }]
    })
    yield* publish(tenantId, [{ shipmentId: "only in the log" }])
    for (const shipmentId of ["only in the log", "unknown"]) assert.strictEqual(yield* store.record(tenantId, shipmentId), undefined)
  })

  test("leaves nothing behind when a report is rolled back", function*({ store, tenantId }) {
    yield* report(tenantId, [{ shipmentId: "S", state: "kept", keys: ["k"] }], { accounts: ["A"], history: [entry("S", 1)] })
    const taken = report(tenantId, [{ shipmentId: "S", state: "new", keys: ["new"] }, { shipmentId: "T", keys: ["new"] }], {
      accounts: ["B"],
      history: [entry("S", 2), entry("T", 1)]
    })
    yield* rolledBack(taken)
    assert.deepStrictEqual(yield* find(tenantId, ["k", ["A"]], ["new", "all"]), ["verified S", undefined])
    const kept = (yield* store.record(tenantId, "S"))!
    assert.deepStrictEqual([kept.state, kept.accounts, kept.history.length], ["kept", ["A"], 1])
    assert.strictEqual(yield* store.record(tenantId, "T"), undefined)
    assert.isFalse(yield* store.accountKnown(tenantId, "B"))
  })

  test("prunes shipments delivered long ago with history and keys, and keeps their events", function*({ events, store, tenantId }) {
    yield* publish(tenantId, [{ shipmentId: "old", eventId: "e" }], { accounts: ["A"] })
    yield* report(tenantId, [
      { shipmentId: "old", keys: ["old", "both"], deliveredAt: occurredAt - 1 },
      { shipmentId: "recent", keys: ["both"], deliveredAt: occurredAt, pickupAt: occurredAt - day },
      { shipmentId: "moving", keys: ["moving"] }
    ], { accounts: ["A"], history: [entry("old", 1), entry("recent", 1)] })
    assert.isAbove(yield* store.prune(tenantId, { delivered: occurredAt, noticed: 0 }), 0)
    yield* eventually(store.prune(tenantId, { delivered: occurredAt, noticed: 0 }), (count) => count === 0)
    assert.deepStrictEqual(yield* store.resolve(tenantId, ["old", "both", "moving"]), [undefined, "recent", "moving"])
    assert.strictEqual(yield* store.record(tenantId, "old"), undefined)
    assert.lengthOf((yield* store.record(tenantId, "recent"))!.history, 1)
    const listed = yield* store.findPickedUp(tenantId, { account: "A", from: 0, to: occurredAt + day, limit: 9, bytes: 1e9 })
    assert.deepStrictEqual(listed.map(textOf), ["verified recent", "verified moving"])
    assert.lengthOf(yield* events.withId(tenantId, "e", 9), 1)
    yield* report(tenantId, [{ shipmentId: "old" }])
    const again = (yield* store.record(tenantId, "old"))!
    assert.deepStrictEqual([again.accounts, again.history], [["A"], []])
  })

  test("finds a shipment by its keys before and after other tenants reported a shipment with the same id", function*() {
    const tenants = [freshTenant(), freshTenant(), freshTenant()].toSorted()
    const [, own] = tenants
    for (const tenantId of [...tenants, own!]) yield* report(tenantId, [{ shipmentId: "S", keys: ["k"], covered: tenantId === own }])
    yield* report(own!, [{ shipmentId: "S", keys: ["k", "new"] }])
    assert.deepStrictEqual(yield* find(own!, ["k", "all"], ["new", "all"]), ["verified S", "verified S"])
    assert.deepStrictEqual(yield* find(tenants[0]!, ["k", "all"]), [undefined])
  })

  test("isolates tenants that share ids", function*({ other, store, tenantId: one }) {
    yield* report(one, [{ shipmentId: "S", keys: ["k"], deliveredAt: occurredAt }], { accounts: ["A"], history: [entry("S", 1)] })
    assert.deepStrictEqual(yield* find(other, ["k", "all"]), [undefined])
    assert.deepStrictEqual(yield* store.resolve(other, ["k"]), [undefined])
    assert.deepStrictEqual(yield* store.lock(other, [{ shipmentId: "S", accounts: undefined }]), [])
    assert.deepStrictEqual(yield* store.read(other, ["S"]), [])
    assert.strictEqual(yield* store.record(other, "S"), undefined)
    assert.isFalse(yield* store.accountKnown(other, "A"))
    assert.deepStrictEqual(yield* store.findPickedUp(other, { account: "A", from: 0, to: occurredAt + day, limit: 9, bytes: 1e9 }), [])
    yield* report(other, [
      { shipmentId: "S", keys: ["k"], state: "other", pickupAt: occurredAt + 2 * day, deliveredAt: occurredAt },
      { shipmentId: "T", keys: ["k"], pickupAt: occurredAt + day }
    ], { accounts: ["A"], history: [entry("S", 1)] })
    assert.deepStrictEqual(yield* store.resolve(other, ["k"]), ["S"])
    const pickedUp = store.findPickedUp(one, { account: "A", from: 0, to: occurredAt + day, limit: 9, bytes: 1e9 })
    assert.lengthOf(yield* pickedUp, 1)
    yield* eventually(store.prune(other, { delivered: occurredAt + day, noticed: occurredAt + day }), (count) => count === 0)
    assert.strictEqual(yield* store.record(other, "S"), undefined)
    assert.lengthOf(yield* pickedUp, 1)
    assert.deepStrictEqual(yield* find(one, ["k", ["A"]]), ["verified S"])
    assert.lengthOf((yield* store.record(one, "S"))!.history, 1)
  })
})
