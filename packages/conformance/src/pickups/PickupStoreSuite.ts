/** Conformance of `PickupStore`. */
import { maxHistoryBytes } from "@waybill/core"
import { type PickupHistoryEntry, type PickupRow, PickupStore, type PickupViewer } from "@waybill/core/pickups"
import { assert } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { freshTenant, idOf, inTransaction, occurredAt, rolledBack, storeLater } from "../StorageFixtures.ts"
import { historyEntry as entry, pickupRow as pickup } from "./PickupFixtures.ts"
import { storeSuite, whileOpen } from "../StoreSuite.ts"

const seed = Effect.fnUntraced(function*(tenantId: string, ...pickups: ReadonlyArray<PickupRow>) {
  const store = yield* PickupStore
  for (const each of pickups) {
    yield* inTransaction(store.insert(tenantId, each, { pickupId: each.pickupId, position: 1, at: each.createdAt, doc: "{\"at\":1}" }))
  }
})

const findable = (tenantId: string, viewer: PickupViewer, number: string, isTest = false) =>
  Effect.flatMap(PickupStore, (store) => Effect.map(store.find(tenantId, viewer, { number, isTest }), (found) => Option.getOrUndefined(found)?.pickupId))

const carrying = (tenantId: string, viewer: PickupViewer, pro: string, isTest = false) =>
  Effect.flatMap(PickupStore, (store) => Effect.map(store.findByPro(tenantId, viewer, { pro, isTest }), (found) => Option.getOrUndefined(found)?.pickupId))

export const suite = storeSuite("PickupStore", PickupStore, (test) => {
  test("finds a stored pickup by number and by id", function*({ store, tenantId }) {
    const row = pickup(1, {
      number: "0012-ä b/7",
      client: "Spedition Müller #4",
      accounts: ["0815", "O'Neil, \"B\" {}", "NULL"],
      carrier: [" dot 1", " mc 2"],
      pros: ["0418367745", "828561881X"],
      status: "En Route",
      waits: true,
      doc: "{\"note\":\"ä\\\\ \\\" ' 😀 \\u0000\"}"
    })
    yield* seed(tenantId, row)
    assert.deepStrictEqual(yield* store.find(tenantId, "all", { number: "0012-ä b/7", isTest: false }), Option.some(row))
    assert.deepStrictEqual(yield* store.findById(tenantId, "all", row.pickupId), Option.some(row))
    assert.deepStrictEqual(yield* store.history(tenantId, row.pickupId), [{ pickupId: idOf(1), position: 1, at: row.createdAt, doc: "{\"at\":1}" }])
  })

  test("shows carriers with a number pickups that they or no carrier has decided", function*({ store, tenantId, transaction }) {
    const one: PickupViewer = { carrier: [" dot 1"] }
    const other: PickupViewer = { carrier: [" dot 2", " mc 1"] }
    yield* seed(tenantId, pickup(1, { accounts: ["A"], pros: ["P"] }), pickup(2, { accounts: ["A"], pros: ["P"], carrier: [" dot 2"] }))
    const seen = (viewer: PickupViewer) =>
      Effect.all([
        Effect.forEach([1, 2], (n) => findable(tenantId, viewer, `10000000${n}`)),
        Effect.forEach([1, 2], (n) => Effect.map(store.findById(tenantId, viewer, idOf(n)), (found) => Option.getOrUndefined(found)?.pickupId)),
        carrying(tenantId, viewer, "P")
      ])
    assert.deepStrictEqual(yield* seen(one), [[idOf(1), undefined], [idOf(1), undefined], idOf(1)])
    assert.deepStrictEqual(yield* seen(other), [[idOf(1), idOf(2)], [idOf(1), idOf(2)], idOf(2)])
    yield* transaction.run(store.update(tenantId, pickup(1, { pros: ["P"], carrier: [" dot 1"] }), entry(1, 2)))
    assert.deepStrictEqual(yield* seen(other), [[undefined, idOf(2)], [undefined, idOf(2)], idOf(2)])
    assert.deepStrictEqual(yield* seen("all"), [[idOf(1), idOf(2)], [idOf(1), idOf(2)], idOf(2)])
    assert.deepStrictEqual(yield* seen({ carrier: [] }), [[undefined, undefined], [undefined, undefined], undefined])
  })

  test("finds a pickup without a number only by its id", function*({ store, tenantId }) {
    yield* seed(tenantId, pickup(1, { number: undefined, pros: ["P"] }), pickup(2, { number: undefined }))
    assert.strictEqual(Option.getOrThrow(yield* store.findById(tenantId, "all", idOf(1))).number, undefined)
    assert.strictEqual(yield* findable(tenantId, "all", "undefined"), undefined)
    assert.strictEqual(yield* carrying(tenantId, "all", "P"), undefined)
  })

  test("finds real pickups with their history by several PROs, latest order first", function*({ store, tenantId, transaction }) {
    const second = pickup(2, { number: undefined, pros: ["P", "Q"] })
    yield* seed(tenantId, pickup(1, { pros: ["P"] }), second, pickup(3, { pros: ["R"] }), pickup(4, { pros: ["P"], isTest: true }))
    yield* transaction.run(store.update(tenantId, second, entry(2, 2)))
    const found = (pros: ReadonlyArray<string>, limit = 10, tenant = tenantId) =>
      Effect.map(store.ofPros(tenant, pros, limit), (all) => all.map(({ pickup }) => Number(pickup.pickupId.slice(-4))))
    assert.deepStrictEqual(yield* found(["P", "Q", "unknown"]), [2, 1])
    assert.deepStrictEqual(yield* found(["P", "R"], 1), [3])
    assert.deepStrictEqual(yield* found([]), [])
    assert.deepStrictEqual(yield* found(["P"], 10, freshTenant()), [])
    const [followed] = yield* store.ofPros(tenantId, ["Q"], 10)
    assert.deepStrictEqual(followed, { pickup: second, history: [{ pickupId: idOf(2), position: 1, at: second.createdAt, doc: "{\"at\":1}" }, entry(2, 2)] })
  })

  test("returns the newest entries of long histories, oldest first", function*({ store, tenantId, transaction }) {
    const [first, second] = [pickup(1, { pros: ["P"] }), pickup(2, { pros: ["P"] })]
    yield* seed(tenantId, first, second)
    const large = JSON.stringify("x".repeat(maxHistoryBytes / 2 - 2))
    const changed = (row: PickupRow, n: number, position: number) =>
      transaction.run(store.update(tenantId, row, { ...entry(n, position), at: row.createdAt + 1_000 * n, doc: large }))
    for (const position of [2, 3, 4, 5]) yield* changed(first, 1, position)
    const positions = (history: ReadonlyArray<PickupHistoryEntry>) => history.map(({ position }) => position)
    assert.deepStrictEqual(positions(yield* store.history(tenantId, first.pickupId)), [3, 4, 5])
    for (const position of [6, 7]) yield* changed(second, 2, position)
    const followed = yield* store.ofPros(tenantId, ["P"], 10)
    assert.deepStrictEqual(followed.map(({ history, pickup }) => [pickup.pickupId, positions(history)]), [[second.pickupId, [6, 7]], [first.pickupId, [5]]])
  })

  test("lists pickups that wait, oldest first, or all, latest first, page by page", function*({ store, tenantId, transaction }) {
    const third = pickup(3, { number: undefined, waits: true, carrier: [" dot 1"], pros: ["P", "Q"] })
    yield* seed(tenantId, pickup(2, { isTest: true }), pickup(4, { waits: true }), third, pickup(1, { waits: true }))
    yield* seed(freshTenant(), pickup(5, { waits: true }))
    const listed = (waiting: boolean, after?: number, limit = 10) =>
      Effect.map(store.list(tenantId, { waiting, after: after === undefined ? undefined : idOf(after), limit }), (rows) =>
        rows.map(({ pickupId }) => Number(pickupId.slice(-4))))
    assert.deepStrictEqual(yield* listed(true), [1, 3, 4])
    assert.deepStrictEqual(yield* listed(true, 1, 1), [3])
    assert.deepStrictEqual(yield* listed(true, 4), [])
    assert.deepStrictEqual(yield* listed(false), [4, 3, 2, 1])
    assert.deepStrictEqual(yield* listed(false, 4, 2), [3, 2])
    assert.deepStrictEqual(yield* listed(false, 1), [])
    assert.deepStrictEqual((yield* store.list(tenantId, { waiting: true, after: idOf(1), limit: 1 })), [third])
    yield* transaction.run(store.update(tenantId, { ...third, waits: false }, entry(3, 2)))
    assert.deepStrictEqual(yield* listed(true), [1, 4])
    assert.deepStrictEqual(yield* listed(false), [4, 3, 2, 1])
  })

  test("compares numbers as text", function*({ tenantId }) {
    yield* seed(tenantId, pickup(1, { number: "007" }), pickup(2, { number: "7" }), pickup(3, { number: "7a" }))
    for (const [number, n] of [["007", 1], ["7", 2], ["7a", 3]] as const) assert.strictEqual(yield* findable(tenantId, "all", number), idOf(n))
    for (const number of ["07", "7.0", "7A", "7 ", " 7", "", "'; DROP TABLE x"]) {
      assert.strictEqual(yield* findable(tenantId, "all", number), undefined, number)
    }
  })

  test("shows a pickup to its client, to clients with one of its accounts, and to carriers", function*({ tenantId }) {
    yield* seed(tenantId, pickup(1, { number: "1", accounts: ["A", "B"], pros: ["P"] }), pickup(2, { number: "2", pros: ["Q"] }))
    const sees = (viewer: PickupViewer) =>
      Effect.map(Effect.all([findable(tenantId, viewer, "1"), carrying(tenantId, viewer, "P"), findable(tenantId, viewer, "2"), carrying(tenantId, viewer, "Q")]), (found) =>
        found.map((each) => each !== undefined))
    assert.deepStrictEqual(yield* sees("all"), [true, true, true, true])
    assert.deepStrictEqual(yield* sees({ client: "client", accounts: [] }), [true, true, true, true])
    assert.deepStrictEqual(yield* sees({ client: "other", accounts: ["B", "C"] }), [true, true, false, false])
    assert.deepStrictEqual(yield* sees({ client: "other", accounts: ["C"] }), [false, false, false, false])
    assert.deepStrictEqual(yield* sees({ client: "other", accounts: [] }), [false, false, false, false])
  })

  test("isolates tenants", function*({ other, store, tenantId: one }) {
    yield* seed(one, pickup(1, { number: "1", pros: ["P"] }))
    assert.strictEqual(yield* findable(other, "all", "1"), undefined)
    assert.strictEqual(yield* carrying(other, "all", "P"), undefined)
    assert.isTrue(Option.isNone(yield* store.findById(other, "all", idOf(1))))
    assert.deepStrictEqual(yield* store.history(other, idOf(1)), [])
    yield* seed(other, pickup(1, { number: "1" }))
    assert.strictEqual(yield* findable(other, "all", "1"), idOf(1))
  })

  test("separates test pickups from real ones", function*({ tenantId }) {
    yield* seed(tenantId, pickup(1, { number: "1", pros: ["P"] }), pickup(2, { number: "1", isTest: true, pros: ["P", "T"] }))
    assert.deepStrictEqual([yield* findable(tenantId, "all", "1", false), yield* findable(tenantId, "all", "1", true)], [idOf(1), idOf(2)])
    assert.deepStrictEqual([yield* carrying(tenantId, "all", "P", false), yield* carrying(tenantId, "all", "P", true)], [idOf(1), idOf(2)])
    assert.deepStrictEqual([yield* carrying(tenantId, "all", "T", false), yield* carrying(tenantId, "all", "T", true)], [undefined, idOf(2)])
  })

  test("finds the latest order of several with a PRO that the caller may see (SPEC-GAP-C39)", function*({ store, tenantId }) {
    yield* seed(
      tenantId,
      pickup(2, { pros: ["X", "P"], createdAt: occurredAt + 30, accounts: ["A"] }),
      pickup(1, { pros: ["P"], createdAt: occurredAt + 20 }),
      pickup(3, { pros: ["P"], createdAt: occurredAt + 40, client: "other" }),
      pickup(4, { pros: ["P"], createdAt: occurredAt + 50, number: undefined }),
      ...[6, 7, 5].map((n) => pickup(n, { pros: ["Q"], createdAt: occurredAt }))
    )
    assert.strictEqual(yield* carrying(tenantId, "all", "Q"), idOf(7))
    assert.deepStrictEqual((yield* store.ofPros(tenantId, ["Q"], 2)).map(({ pickup }) => pickup.pickupId), [idOf(7), idOf(6)])
    assert.strictEqual(yield* carrying(tenantId, "all", "P"), idOf(3))
    assert.strictEqual(yield* carrying(tenantId, { client: "client", accounts: [] }, "P"), idOf(2))
    assert.strictEqual(yield* carrying(tenantId, { client: "nobody", accounts: ["A"] }, "P"), idOf(2))
    assert.strictEqual(yield* carrying(tenantId, "all", "p"), undefined)
  })

  test("replaces everything but id, client, test flag and creation, and adds to the history", function*({ store, tenantId, transaction }) {
    yield* seed(tenantId, pickup(1, { number: "1", accounts: ["A"], pros: ["P"] }))
    const changed = pickup(1, { number: "2", accounts: ["B"], pros: ["Q"], status: "Cancelled", waits: true, doc: "{\"changed\":true}", client: "thief", createdAt: 5 })
    yield* transaction.run(store.update(tenantId, changed, entry(1, 2)))
    const after = { ...changed, client: "client", createdAt: pickup(1).createdAt }
    assert.deepStrictEqual(yield* store.find(tenantId, "all", { number: "2", isTest: false }), Option.some(after))
    assert.strictEqual(yield* findable(tenantId, "all", "1"), undefined)
    assert.deepStrictEqual([yield* carrying(tenantId, "all", "P"), yield* carrying(tenantId, "all", "Q")], [undefined, idOf(1)])
    assert.deepStrictEqual([yield* findable(tenantId, { client: "x", accounts: ["A"] }, "2"), yield* findable(tenantId, { client: "x", accounts: ["B"] }, "2")], [undefined, idOf(1)])
    assert.deepStrictEqual((yield* store.history(tenantId, idOf(1))).map((each) => [each.position, each.doc]), [[1, "{\"at\":1}"], [2, "{\"at\":2}"]])
  })

  test("uses a number once among real pickups and once among tests", function*({ store, tenantId, transaction }) {
    yield* seed(tenantId, pickup(1, { number: "1" }), pickup(2, { number: "2" }), pickup(3, { number: undefined }))
    const taken = yield* Effect.flip(transaction.run(store.insert(tenantId, pickup(4, { number: "1" }), entry(4))))
    assert(taken._tag === "PickupNumberTaken")
    assert.strictEqual(taken.number, "1")
    assert.isTrue(Option.isNone(yield* store.findById(tenantId, "all", idOf(4))))
    assert.deepStrictEqual(yield* store.history(tenantId, idOf(4)), [])
    assert.strictEqual((yield* Effect.flip(transaction.run(store.update(tenantId, pickup(3, { number: "2" }), entry(3, 2)))))._tag, "PickupNumberTaken")
    assert.lengthOf(yield* store.history(tenantId, idOf(3)), 1)
    yield* transaction.run(store.update(tenantId, pickup(2, { number: "2" }), entry(2, 2)))
    yield* seed(tenantId, pickup(5, { number: "1", isTest: true }))
  })

  test("gives a number to one of several concurrent pickups", function*({ store, tenantId, transaction }) {
    const results = yield* Effect.all(
      [1, 2, 3, 4].map((n) => Effect.result(transaction.run(store.insert(tenantId, pickup(n, { number: "same" }), entry(n))))),
      { concurrency: "unbounded" }
    )
    assert.lengthOf(results.filter((each) => each._tag === "Success"), 1)
    for (const each of results) if (each._tag === "Failure") assert.strictEqual(each.failure._tag, "PickupNumberTaken")
  })

  test("counts numbers from 1 for each tenant, separately for tests, without repeats", function*({ other, store, tenantId: one, transaction }) {
    const next = (tenantId: string, isTest = false) => transaction.run(store.nextNumber(tenantId, isTest))
    const given = yield* Effect.all(Array.from({ length: 12 }, () => next(one)), { concurrency: "unbounded" })
    assert.deepStrictEqual(given.toSorted((a, b) => a - b), Array.from({ length: 12 }, (_, n) => n + 1))
    assert.deepStrictEqual([yield* next(one, true), yield* next(one, true), yield* next(other)], [1, 2, 1])
    assert.isAtLeast(yield* next(one), 13)
  })

  test("stores the answer of a client's idempotency key", function*({ store, tenantId, transaction }) {
    const answered = { fingerprint: "f", answer: "[{\"note\":\"ä \\\" '\"}]" }
    const asked = (client: string, key: string, tenant = tenantId) => transaction.run(store.answered(tenant, client, key))
    assert.isTrue(Option.isNone(yield* asked("client", "key")))
    yield* transaction.run(store.remember(tenantId, "client", "key", answered))
    assert.deepStrictEqual(yield* asked("client", "key"), Option.some(answered))
    assert.isTrue(Option.isNone(yield* asked("client", "Key")))
    assert.isTrue(Option.isNone(yield* asked("other", "key")))
    assert.isTrue(Option.isNone(yield* asked("client", "key", freshTenant())))
    // two names whose concatenations are equal
    yield* transaction.run(store.remember(tenantId, "a", "b c", answered))
    assert.isTrue(Option.isNone(yield* asked("a b", "c")))
    yield* transaction.run(store.remember(tenantId, "client", "key", { ...answered, answer: "later" }))
    assert.deepStrictEqual(yield* asked("client", "key"), Option.some({ ...answered, answer: "later" }))
  })

  test("runs one of several concurrent requests with one key", function*({ store, tenantId, transaction }) {
    let carriedOut = 0
    const call = (key: string) =>
      transaction.run(Effect.gen(function*() {
        const known = yield* store.answered(tenantId, "client", key)
        if (Option.isSome(known)) return known.value.answer
        carriedOut++
        yield* Effect.sleep(20)
        const answer = `answer ${carriedOut}`
        yield* store.remember(tenantId, "client", key, { fingerprint: "f", answer })
        return answer
      }))
    const answers = yield* Effect.all(Array.from({ length: 5 }, () => call("key")), { concurrency: "unbounded" })
    assert.strictEqual(carriedOut, 1)
    assert.deepStrictEqual(new Set(answers), new Set(["answer 1"]))
  })

  test("runs the next request with a key when the first one failed", function*({ store, tenantId, transaction }) {
    const failing = (stayOpen: Effect.Effect<void>) => rolledBack(Effect.gen(function*() {
      yield* store.answered(tenantId, "client", "key")
      yield* store.remember(tenantId, "client", "key", { fingerprint: "f", answer: "never" })
      yield* stayOpen
    }))
    const [second] = yield* whileOpen(failing, [transaction.run(store.answered(tenantId, "client", "key"))])
    assert.isTrue(Option.isNone(second!))
  })

  for (const way of ["number", "id"] as const) {
    test(`locks a pickup found by ${way} for a change until the transaction ends`, function*({ store, tenantId, transaction }) {
      yield* seed(tenantId, pickup(1, { number: "1", doc: "0" }))
      const locked = way === "id" ? store.findById(tenantId, "all", idOf(1), true) : store.find(tenantId, "all", { number: "1", isTest: false }, true)
      const add = transaction.run(Effect.gen(function*() {
        const row = Option.getOrThrow(yield* locked)
        yield* Effect.sleep(5)
        const n = Number(row.doc) + 1
        yield* store.update(tenantId, { ...row, doc: String(n) }, entry(1, n + 1))
      }))
      yield* Effect.all(Array.from({ length: 6 }, () => add), { concurrency: "unbounded" })
      assert.strictEqual(Option.getOrThrow(yield* store.findById(tenantId, "all", idOf(1))).doc, "6")
      assert.deepStrictEqual((yield* store.history(tenantId, idOf(1))).map((each) => each.position), [1, 2, 3, 4, 5, 6, 7])
    })
  }

  test("leaves nothing of a failed transaction", function*({ store, tenantId, transaction }) {
    yield* rolledBack(Effect.gen(function*() {
      yield* store.insert(tenantId, pickup(1, { number: "1", pros: ["P"] }), entry(1))
      yield* store.remember(tenantId, "client", "key", { fingerprint: "f", answer: "a" })
    }))
    assert.strictEqual(yield* findable(tenantId, "all", "1"), undefined)
    assert.strictEqual(yield* carrying(tenantId, "all", "P"), undefined)
    assert.isTrue(Option.isNone(yield* transaction.run(store.answered(tenantId, "client", "key"))))
    yield* seed(tenantId, pickup(1, { number: "1" }))
  })

  test("counts the bytes of a client's pickups until they are pruned", function*({ store, tenantId, transaction }) {
    const bytes = Effect.forEach(["client", "other"], (client) => store.storedBytes(tenantId, client))
    assert.deepStrictEqual(yield* bytes, [0, 0])
    const change = { body: new TextEncoder().encode("{}"), traceparent: undefined }
    const history = (n: number, position: number, doc: string) => ({ ...entry(n, position), doc })
    yield* transaction.run(store.insert(tenantId, pickup(1, { client: "client", createdAt: 1000 }), history(1, 1, "\"é\""), change))
    yield* transaction.run(store.insert(tenantId, pickup(2, { client: "client", createdAt: 3000 }), history(2, 1, "\"1234\"")))
    yield* transaction.run(store.insert(tenantId, pickup(3, { client: "other", createdAt: 1000 }), history(3, 1, "3")))
    yield* transaction.run(store.update(tenantId, pickup(1, { client: "client", createdAt: 1000 }), history(1, 2, "\"2\""), change))
    yield* rolledBack(store.update(tenantId, pickup(1, { client: "client", createdAt: 1000 }), history(1, 3, "\"3\""), change))
    assert.deepStrictEqual(yield* bytes, [4 + 2 + 6 + 3 + 2, 1])
    assert.strictEqual(yield* store.prune(tenantId, { ordered: 2000, answered: 0 }), 2)
    assert.deepStrictEqual(yield* bytes, [6, 0])
  })

  test("prunes old answers of each client and key, and keeps younger ones", function*({ store, tenantId, transaction }) {
    const remember = (client: string, key: string) => transaction.run(store.remember(tenantId, client, key, { fingerprint: "f", answer: "a" }))
    yield* remember("client", "old")
    yield* remember("other", "young")
    const between = yield* storeLater(tenantId)
    for (const key of ["old", "young"]) yield* remember(key === "old" ? "other" : "client", key)
    assert.strictEqual(yield* store.prune(tenantId, { ordered: 0, answered: between }), 2)
    const left = yield* Effect.forEach(["client", "other"], (client) =>
      Effect.forEach(["old", "young"], (key) => Effect.map(transaction.run(store.answered(tenantId, client, key)), Option.isSome)))
    assert.deepStrictEqual(left, [[false, true], [true, false]])
  })

  test("prunes old pickups and answers", function*({ store, tenantId, transaction }) {
    const now = yield* Clock.currentTimeMillis
    yield* seed(tenantId, pickup(1, { number: "1", pros: ["P"], createdAt: 1000 }), pickup(2, { number: "2", pros: ["P"], createdAt: 2000 }))
    yield* transaction.run(store.remember(tenantId, "client", "key", { fingerprint: "f", answer: "a" }))
    const hour = 3_600_000
    assert.strictEqual(yield* store.prune(tenantId, { ordered: 1000, answered: now - hour }), 0)
    assert.strictEqual(yield* store.prune(freshTenant(), { ordered: now, answered: now + hour }), 0)
    assert.strictEqual(yield* store.prune(tenantId, { ordered: 2000, answered: now - hour }), 1)
    assert.deepStrictEqual([yield* findable(tenantId, "all", "1"), yield* findable(tenantId, "all", "2")], [undefined, idOf(2)])
    assert.strictEqual(yield* carrying(tenantId, "all", "P"), idOf(2))
    assert.deepStrictEqual(yield* store.history(tenantId, idOf(1)), [])
    assert.isTrue(Option.isSome(yield* transaction.run(store.answered(tenantId, "client", "key"))))
    assert.strictEqual(yield* store.prune(tenantId, { ordered: 0, answered: now + hour }), 1)
    assert.isTrue(Option.isNone(yield* transaction.run(store.answered(tenantId, "client", "key"))))
    yield* seed(tenantId, pickup(1, { number: "1" }))
  })
})
