/** Conformance of `InvoiceStore`. */
import { maxHistoryBytes } from "@waybill/core"
import { type InvoiceFilter, type InvoiceHistoryEntry, InvoiceStore, type InvoiceViewer } from "@waybill/core/invoices"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { allPages, allSince, bytesOf, claim, freshTenant, occurredAt, publish, rolledBack, textOf } from "../StorageFixtures.ts"
import { accountsOf, acme, carrierOf, documentRecord, everything, invoiceRow, putInvoices } from "./InvoiceFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const anything: InvoiceFilter = { uniqueId: undefined, shipmentId: undefined, dot: undefined, mc: undefined, invoiceNumber: undefined }

/** The rows that a viewer sees, as `id dot/mc`. */
const seen = (tenantId: string, viewer: InvoiceViewer, filter: Partial<InvoiceFilter> = {}) =>
  Effect.flatMap(InvoiceStore, (store) =>
    Effect.map(store.list(tenantId, viewer, { ...anything, ...filter }, { after: undefined, limit: 1000 }), (rows) =>
      rows.map(({ carrier, uniqueId }) => `${uniqueId} ${carrier.dot}/${carrier.mc}`)))

const entry = (n: number, parts: Partial<InvoiceHistoryEntry> = {}): InvoiceHistoryEntry => ({
  at: occurredAt + n,
  client: "client",
  action: "replaced",
  doc: `{"n":${n}}`,
  ...parts
})

export const suite = storeSuite("InvoiceStore", InvoiceStore, (test) => {
  test("returns the locked invoice as last stored, byte for byte", function*({ store, tenantId }) {
    const odd = invoiceRow("ä 船 '\\", {
      shipmentId: "S {1}",
      invoiceNumber: "4711, \"x\"",
      accounts: ["A,B", "{C}", "\"D\"", "NULL", "ä 船"],
      body: bytesOf("{ \"uniqueID\" : \"ä 船 '\\\\\", \"more\":\"\\u0000 😀\" }\n")
    })
    yield* putInvoices(tenantId, invoiceRow("ä 船 '\\"), odd, invoiceRow("other"))
    assert.deepStrictEqual(yield* store.lock(tenantId, acme, odd.uniqueId), Option.some(odd))
    assert.deepStrictEqual(yield* store.find(tenantId, everything, odd.uniqueId), Option.some(odd))
    assert.isTrue(Option.isNone(yield* store.lock(tenantId, acme, "unknown")))
    assert.isTrue(Option.isNone(yield* store.find(tenantId, everything, "unknown")))
  })

  test("separates invoices of several carriers with one id", function*({ store, tenantId }) {
    const rows = [{ dot: "1", mc: "2" }, { dot: "1", mc: "3" }, { dot: "2", mc: "" }, { dot: "", mc: "2" }].map((carrier) =>
      invoiceRow("I", { carrier, body: bytesOf(JSON.stringify(carrier)) }))
    yield* putInvoices(tenantId, ...rows)
    for (const row of rows) assert.deepStrictEqual(yield* store.lock(tenantId, row.carrier, "I"), Option.some(row))
    yield* store.remove(tenantId, rows[0]!.carrier, "I")
    assert.deepStrictEqual(yield* seen(tenantId, everything), ["I /2", "I 1/3", "I 2/"])
  })

  test("moves an invoice to corrected numbers, and no other one of its id", function*({ store, tenantId, transaction }) {
    const [corrected, other] = [{ dot: "1", mc: "3" }, { dot: "1", mc: "4" }]
    yield* putInvoices(tenantId, invoiceRow("I", { accounts: ["A"] }), invoiceRow("I", { carrier: other, accounts: ["A"] }))
    yield* transaction.run(store.put(tenantId, invoiceRow("I", { carrier: corrected, accounts: ["B"] }), acme))
    assert.deepStrictEqual([yield* seen(tenantId, everything), yield* seen(tenantId, accountsOf("A")), yield* seen(tenantId, accountsOf("B"))], [["I 1/3", "I 1/4"], ["I 1/4"], ["I 1/3"]])
    assert.isTrue(Option.isNone(yield* store.lock(tenantId, acme, "I")))
  })

  test("replaces and removes the accounts of one carrier's invoice, and none of another carrier's with the same id", function*({ store, tenantId }) {
    const of = (dot: string, mc: string, account: string) => invoiceRow("I", { carrier: { dot, mc }, accounts: [account] })
    yield* putInvoices(tenantId, of("1", "2", "A"), of("1", "3", "B"), of("2", "2", "C"))
    yield* putInvoices(tenantId, of("1", "2", "D"))
    const seenBy = (account: string) => seen(tenantId, accountsOf(account))
    assert.deepStrictEqual([yield* seenBy("A"), yield* seenBy("B"), yield* seenBy("C"), yield* seenBy("D")], [[], ["I 1/3"], ["I 2/2"], ["I 1/2"]])
    yield* store.remove(tenantId, acme, "I")
    assert.deepStrictEqual([yield* seenBy("B"), yield* seenBy("C"), yield* seenBy("D")], [["I 1/3"], ["I 2/2"], []])
  })

  test("finds the latest of several carriers' invoices that the viewer may see", function*({ store, tenantId }) {
    const of = (dot: string, parts = {}) => invoiceRow("I", { carrier: { dot, mc: "2" }, ...parts })
    yield* putInvoices(tenantId, of("1", { accounts: ["A"] }), of("2"), of("3", { accounts: ["B"] }), of("1", { accounts: ["A"], shipmentId: "again" }))
    const found = (viewer: InvoiceViewer) =>
      Effect.map(store.find(tenantId, viewer, "I"), (row) => Option.getOrUndefined(Option.map(row, (each) => each.carrier.dot)))
    assert.strictEqual(yield* found(everything), "1")
    assert.strictEqual(yield* found(carrierOf("2", undefined)), "2")
    assert.strictEqual(yield* found(accountsOf("B", "A")), "1")
    assert.strictEqual(yield* found(accountsOf("B")), "3")
    assert.strictEqual(yield* found(accountsOf("C")), undefined)
  })

  test("shows a carrier invoices with one of its numbers and no other number of the same kind", function*({ tenantId }) {
    yield* putInvoices(tenantId, ...[["1", "2"], ["1", "3"], ["4", "2"], ["", "2"]].map(([dot, mc], n) => invoiceRow(`I${n}`, { carrier: { dot: dot!, mc: mc! } })))
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf("1", undefined)), ["I0 1/2", "I1 1/3"])
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf(undefined, "2")), ["I0 1/2", "I2 4/2", "I3 /2"])
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf("1", "2")), ["I0 1/2", "I3 /2"])
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf("9", undefined)), [])
  })

  test("shows an account invoices that name it, and invoices of its current shipments that name none", function*({ store, tenantId }) {
    yield* publish(tenantId, [{ shipmentId: "of A" }], { accounts: ["A", "C"] })
    yield* putInvoices(
      tenantId,
      invoiceRow("both", { accounts: ["A"], shipmentId: "of A" }),
      invoiceRow("third party's", { accounts: ["E"], shipmentId: "of A" }),
      invoiceRow("named", { accounts: ["A", "B"] }),
      invoiceRow("shipment", { shipmentId: "of A" }),
      invoiceRow("nobody's", { shipmentId: "unknown" })
    )
    const ids = (...accounts: ReadonlyArray<string>) =>
      Effect.map(seen(tenantId, accountsOf(...accounts)), (rows) => rows.map((each) => each.slice(0, -4)))
    assert.deepStrictEqual(yield* ids("A"), ["both", "named", "shipment"])
    assert.deepStrictEqual(yield* ids("B"), ["named"])
    assert.deepStrictEqual(yield* ids("B", "C"), ["named", "shipment"])
    assert.deepStrictEqual(yield* ids("E"), ["third party's"])
    const found = yield* Effect.forEach(["E", "A"], (account) => store.find(tenantId, accountsOf(account), "third party's"))
    assert.deepStrictEqual(found.map(Option.isSome), [true, false])
    assert.deepStrictEqual(yield* ids("D"), [])
    assert.deepStrictEqual(yield* ids(), [])
    yield* publish(tenantId, [{ shipmentId: "of A" }], { accounts: ["D"] })
    yield* putInvoices(tenantId, invoiceRow("named", { accounts: ["B"] }))
    assert.deepStrictEqual(yield* ids("A"), ["both"])
    assert.deepStrictEqual(yield* ids("D"), ["shipment"])
  })

  test("shows invoices that name no account to the accounts of their shipment, whichever arrived first, and after each change of either", function*({ store, tenantId }) {
    const whoSees = Effect.gen(function*() {
      const listed = yield* Effect.forEach(["A", "B", "C", "D"], (account) => Effect.map(seen(tenantId, accountsOf(account)), (rows) => rows.map(() => account)))
      const found = yield* Effect.forEach(["A", "B", "C", "D"], (account) => Effect.map(store.find(tenantId, accountsOf(account), "I"), (row) => Option.isSome(row) ? [account] : []))
      assert.deepStrictEqual(listed, found)
      return listed.flat().join("")
    })
    yield* putInvoices(tenantId, invoiceRow("I", { shipmentId: "late" }), invoiceRow("named", { shipmentId: "late", accounts: ["E"] }))
    assert.strictEqual(yield* whoSees, "")
    yield* publish(tenantId, [{ shipmentId: "late" }], { accounts: ["A", "B"] })
    yield* publish(tenantId, [{ shipmentId: "other" }], { accounts: ["C"] })
    assert.strictEqual(yield* whoSees, "AB")
    yield* publish(tenantId, [{ shipmentId: "late" }], { accounts: ["B", "D"] })
    assert.strictEqual(yield* whoSees, "BD")
    yield* publish(tenantId, [{ shipmentId: "late" }])
    assert.strictEqual(yield* whoSees, "BD")
    yield* putInvoices(tenantId, invoiceRow("I", { shipmentId: "other" }))
    assert.strictEqual(yield* whoSees, "C")
    yield* publish(tenantId, [{ shipmentId: "late" }], { accounts: ["A"] })
    assert.strictEqual(yield* whoSees, "C")
    yield* putInvoices(tenantId, invoiceRow("I", { shipmentId: "other", accounts: ["D"] }))
    yield* publish(tenantId, [{ shipmentId: "other" }], { accounts: ["B"] })
    assert.strictEqual(yield* whoSees, "D")
    yield* putInvoices(tenantId, invoiceRow("I", { shipmentId: "late" }))
    assert.strictEqual(yield* whoSees, "A")
    yield* store.remove(tenantId, acme, "I")
    assert.strictEqual(yield* whoSees, "")
    yield* putInvoices(tenantId, invoiceRow("I", { shipmentId: "other" }))
    assert.strictEqual(yield* whoSees, "B")
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("A", "B", "E")), ["I 1/2", "named 1/2"])
  })

  test("shows an invoice to none that it names no longer, and those of several shipments to the accounts of their own", function*({ tenantId }) {
    yield* putInvoices(tenantId, invoiceRow("named", { shipmentId: "unknown", accounts: ["A"] }))
    yield* putInvoices(tenantId, invoiceRow("named", { shipmentId: "unknown" }), invoiceRow("S", { shipmentId: "S" }), invoiceRow("T", { shipmentId: "T" }))
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("A")), [])
    yield* claim(tenantId, [{ shipmentId: "S", accounts: ["A"] }, { shipmentId: "T", accounts: ["B"] }])
    yield* claim(tenantId, [{ shipmentId: "S", accounts: ["A", "C"] }, { shipmentId: "T", accounts: ["B", "D"] }])
    assert.deepStrictEqual(yield* Effect.forEach(["A", "B", "C", "D"], (account) => seen(tenantId, accountsOf(account))), [["S 1/2"], ["T 1/2"], ["S 1/2"], ["T 1/2"]])
  })

  test("lists invoices that match all filters", function*({ tenantId }) {
    yield* putInvoices(
      tenantId,
      invoiceRow("a", { shipmentId: "S1", invoiceNumber: "1" }),
      invoiceRow("b", { shipmentId: "S1", invoiceNumber: "2" }),
      invoiceRow("b", { shipmentId: "S1", invoiceNumber: "2", carrier: { dot: "9", mc: "2" } }),
      invoiceRow("B", { shipmentId: "S2", invoiceNumber: "2" })
    )
    assert.deepStrictEqual(yield* seen(tenantId, everything), ["B 1/2", "a 1/2", "b 1/2", "b 9/2"])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { uniqueId: "b" }), ["b 1/2", "b 9/2"])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { shipmentId: "S2" }), ["B 1/2"])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { dot: "9" }), ["b 9/2"])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { mc: "2", invoiceNumber: "2", shipmentId: "S1" }), ["b 1/2", "b 9/2"])
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf("1", undefined), { uniqueId: "b", dot: "9" }), [])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { uniqueId: "a", invoiceNumber: "2" }), [])
  })

  test("lists invoices that match any combination of filters", function*({ tenantId }) {
    const base = { uniqueId: "I", shipmentId: "S", dot: "1", mc: "2", invoiceNumber: "N" }
    const all = [base, { ...base, dot: "8" }, { ...base, mc: "9" }, { ...base, uniqueId: "J", shipmentId: "T" }, { ...base, uniqueId: "K", invoiceNumber: "M" }]
    yield* putInvoices(tenantId, ...all.map(({ dot, invoiceNumber, mc, shipmentId, uniqueId }) => invoiceRow(uniqueId, { carrier: { dot, mc }, shipmentId, invoiceNumber, accounts: ["A"] })))
    const names = Object.keys(base) as ReadonlyArray<keyof typeof base>
    const subsets = Array.from({ length: 2 ** names.length }, (_, chosen) => names.filter((_, at) => (chosen >> at) % 2 === 1))
    for (const [named, uniqueId] of subsets.flatMap((named) => (named.includes("uniqueId") ? ["I", "J", "K"] : ["I"]).map((id) => [named, id] as const))) {
      const filter: Partial<typeof base> = Object.fromEntries(named.map((name) => [name, { ...base, uniqueId }[name]]))
      for (const viewer of [everything, accountsOf("A"), carrierOf("1", undefined)]) {
        const visible = all.filter((each) => named.every((name) => each[name] === filter[name]) && (viewer._tag !== "Carrier" || each.dot === "1"))
        const found = yield* seen(tenantId, viewer, filter)
        assert.deepStrictEqual(found, visible.map(({ dot, mc, uniqueId }) => `${uniqueId} ${dot}/${mc}`).sort(), JSON.stringify([viewer, filter]))
      }
    }
  })

  test("continues after any invoice, by id in code point order, then by carrier", function*({ store, tenantId }) {
    const rows = ["10", "9", "A", "a", "a b", "ä", "😀"].flatMap((uniqueId) =>
      [{ dot: "", mc: "2" }, { dot: "1", mc: "" }, { dot: "1", mc: "2" }].map((carrier) => invoiceRow(uniqueId, { carrier })))
    yield* putInvoices(tenantId, ...rows.toReversed())
    for (const limit of [1, 2, 5, 100]) {
      const walked = yield* allPages(limit, (after: typeof rows[number] | undefined) => store.list(tenantId, everything, anything, { after, limit }))
      assert.deepStrictEqual(walked, rows)
    }
  })

  test("removes an invoice, and accepts its id again", function*({ store, tenantId }) {
    yield* putInvoices(tenantId, invoiceRow("I", { accounts: ["A"] }), invoiceRow("J", { accounts: ["A"] }))
    yield* store.remove(tenantId, acme, "I")
    yield* store.remove(tenantId, acme, "unknown")
    assert.isTrue(Option.isNone(yield* store.lock(tenantId, acme, "I")))
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("A")), ["J 1/2"])
    yield* putInvoices(tenantId, invoiceRow("I", { accounts: ["B"] }))
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("A")), ["J 1/2"])
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("B")), ["I 1/2"])
  })

  test("keeps the history of each carrier's id in order, also after the invoice is removed", function*({ store, tenantId }) {
    const entries = [entry(9, { action: "created" }), entry(3), entry(3), entry(5, { action: "deleted", client: "ä '\\", doc: "{\"text\":\"\\u0000 😀\"}" })]
    yield* putInvoices(tenantId, invoiceRow("I"))
    for (const each of entries) yield* store.record(tenantId, acme, "I", each)
    yield* store.record(tenantId, { dot: "9", mc: "" }, "I", entry(1))
    yield* store.record(tenantId, acme, " I", entry(2, { action: "documents added" }))
    yield* store.remove(tenantId, acme, "I")
    assert.deepStrictEqual(yield* store.history(tenantId, acme, "I"), entries)
    assert.deepStrictEqual(yield* store.history(tenantId, { dot: "9", mc: "" }, "I"), [entry(1)])
    assert.deepStrictEqual(yield* store.history(tenantId, acme, " I"), [entry(2, { action: "documents added" })])
    assert.deepStrictEqual(yield* store.history(tenantId, acme, "unknown"), [])
  })

  test("returns the newest entries of a long history, oldest first", function*({ store, tenantId }) {
    for (const at of [1, 2, 3, 4, 5]) yield* store.record(tenantId, acme, "L", { ...entry(at), doc: JSON.stringify("x".repeat(maxHistoryBytes / 2 - 2)) })
    assert.deepStrictEqual((yield* store.history(tenantId, acme, "L")).map(({ at }) => at - entry(0).at), [3, 4, 5])
  })

  test("moves the history of one id to corrected numbers, in order of time", function*({ store, tenantId }) {
    const corrected = { dot: "3", mc: "5" }
    yield* store.record(tenantId, corrected, "I", entry(1, { action: "deleted" }))
    yield* store.record(tenantId, acme, "I", entry(2, { action: "created" }))
    yield* store.record(tenantId, acme, "I", entry(3))
    yield* store.record(tenantId, acme, " I", entry(4, { action: "documents added" }))
    for (const carrier of [{ dot: "1", mc: "4" }, { dot: "9", mc: "2" }]) yield* store.record(tenantId, carrier, "I", entry(5))
    yield* store.moveHistory(tenantId, "I", acme, corrected)
    yield* store.moveHistory(tenantId, "unknown", acme, corrected)
    yield* store.moveHistory(freshTenant(), " I", acme, corrected)
    assert.deepStrictEqual(yield* store.history(tenantId, acme, "I"), [])
    assert.deepStrictEqual(yield* store.history(tenantId, corrected, "I"), [entry(1, { action: "deleted" }), entry(2, { action: "created" }), entry(3)])
    assert.deepStrictEqual(yield* store.history(tenantId, acme, " I"), [entry(4, { action: "documents added" })])
  })

  test("returns the history of invoices and documents that name a shipment, newest first", function*({ documents, store, tenantId }) {
    const other = { dot: "9", mc: "" }
    yield* putInvoices(tenantId, invoiceRow("I"), invoiceRow("I", { carrier: other }), invoiceRow("moved"), invoiceRow("elsewhere", { shipmentId: "T" }))
    for (const carrier of [{ dot: "1", mc: "7" }, { dot: "7", mc: "2" }]) {
      yield* putInvoices(tenantId, invoiceRow("I", { carrier, shipmentId: "U" }))
      yield* store.record(tenantId, carrier, "I", entry(6))
    }
    yield* documents.add(tenantId, documentRecord("N"))
    yield* store.record(tenantId, acme, "I", entry(1, { action: "created" }))
    yield* store.record(tenantId, other, "I", entry(4))
    yield* store.record(tenantId, acme, " N", entry(3, { action: "documents added" }))
    yield* store.record(tenantId, acme, "I", entry(5))
    for (const id of ["moved", "elsewhere"]) yield* store.record(tenantId, acme, id, entry(2))
    yield* putInvoices(tenantId, invoiceRow("moved", { shipmentId: "T" }))
    const historyOf = (shipmentId: string, limit = 10, tenant = tenantId) =>
      Effect.map(store.historyOfShipment(tenant, shipmentId, limit), (found) => found.map(({ at, carrier, uniqueId }) => `${uniqueId} ${carrier.dot} ${at - entry(0).at}`))
    assert.deepStrictEqual(yield* historyOf("S"), ["I 1 5", "I 9 4", " N 1 3", "I 1 1"])
    assert.deepStrictEqual(yield* historyOf("S", 2), ["I 1 5", "I 9 4"])
    assert.deepStrictEqual((yield* historyOf("T")).toSorted(), ["elsewhere 1 2", "moved 1 2"])
    assert.deepStrictEqual(yield* historyOf("unknown"), [])
    assert.deepStrictEqual(yield* historyOf("S", 10, freshTenant()), [])
    yield* putInvoices(tenantId, invoiceRow("L", { shipmentId: "LARGE" }))
    for (const at of [1, 2, 3, 4]) yield* store.record(tenantId, acme, "L", { ...entry(at), doc: JSON.stringify("x".repeat(maxHistoryBytes / 2 - 2)) })
    assert.deepStrictEqual(yield* historyOf("LARGE"), ["L 1 4", "L 1 3", "L 1 2"])
    const [last] = yield* store.historyOfShipment(tenantId, "S", 1)
    assert.deepStrictEqual(last, { ...entry(5), carrier: acme, uniqueId: "I" })
  })

  test("serialises writers of one id, whether it exists or not", function*({ store, tenantId, transaction }) {
    const write = transaction.run(Effect.gen(function*() {
      const known = yield* store.lock(tenantId, acme, "I")
      const n = Option.match(known, { onNone: () => 0, onSome: ({ body }) => Number(textOf(body)) }) + 1
      yield* Effect.yieldNow
      yield* store.put(tenantId, invoiceRow("I", { body: bytesOf(String(n)), accounts: [`A${n}`] }))
      yield* store.record(tenantId, acme, "I", entry(n))
    }))
    yield* Effect.all(Array.from({ length: 12 }, () => write), { concurrency: "unbounded" })
    assert.strictEqual(textOf(Option.getOrThrow(yield* store.lock(tenantId, acme, "I")).body), "12")
    assert.deepStrictEqual(yield* store.history(tenantId, acme, "I"), Array.from({ length: 12 }, (_, n) => entry(n + 1)))
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf(...Array.from({ length: 11 }, (_, n) => `A${n + 1}`))), [])
  })

  test("leaves nothing behind after a rollback", function*({ store, tenantId }) {
    yield* putInvoices(tenantId, invoiceRow("I", { accounts: ["A"] }), invoiceRow("gone", { accounts: ["A"] }))
    yield* rolledBack(Effect.gen(function*() {
      yield* putInvoices(tenantId, invoiceRow("I", { accounts: ["B"] }), invoiceRow("new", { accounts: ["A"] }))
      yield* store.remove(tenantId, acme, "gone")
      yield* store.record(tenantId, acme, "I", entry(1))
    }))
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("A")), ["I 1/2", "gone 1/2"])
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("B")), [])
    assert.deepStrictEqual(yield* store.history(tenantId, acme, "I"), [])
  })

  test("returns each invoice that was written since a position, as it is now", function*({ other, store, tenantId }) {
    yield* putInvoices(tenantId, invoiceRow("old", { accounts: ["A"] }))
    const start = yield* store.since(tenantId, everything, undefined, 2)
    assert.deepStrictEqual([start.rows, start.more], [[], false])
    yield* putInvoices(tenantId, ...["I1", "I2", "I3"].map((id) => invoiceRow(id, { accounts: ["A"] })), invoiceRow("I2", { accounts: ["A"], body: bytesOf("{}") }))
    yield* putInvoices(other, invoiceRow("I4", { accounts: ["A"] }))
    const walk = (first: string, viewer: InvoiceViewer) =>
      Effect.map(allSince(first, (position) => store.since(tenantId, viewer, position, 2)), ({ position, rows }) =>
        ({ position, found: new Map(rows.map(({ body, uniqueId }) => [uniqueId, textOf(body)])) }))
    const all = yield* walk(start.position, everything)
    assert.deepStrictEqual([...all.found.keys()].sort(), ["I1", "I2", "I3"])
    assert.strictEqual(all.found.get("I2"), "{}")
    yield* putInvoices(tenantId, invoiceRow("old", { accounts: ["A"], body: bytesOf("{}") }), invoiceRow("hidden", { accounts: ["B"] }))
    assert.deepStrictEqual([...(yield* walk(all.position, accountsOf("A"))).found.keys()], ["old"])
    const end = yield* walk(all.position, everything)
    assert.deepStrictEqual([...end.found.keys()].sort(), ["hidden", "old"])
    assert.deepStrictEqual((yield* walk(end.position, everything)).found.size, 0)
  })

  test("isolates tenants that share ids", function*({ other, store, tenantId: one }) {
    yield* publish(other, [{ shipmentId: "S" }], { accounts: ["A"] })
    yield* putInvoices(one, invoiceRow("I", { accounts: ["B"] }))
    yield* store.record(one, acme, "I", entry(1))
    assert.isTrue(Option.isNone(yield* store.lock(other, acme, "I")))
    assert.isTrue(Option.isNone(yield* store.find(other, everything, "I")))
    assert.deepStrictEqual(yield* store.history(other, acme, "I"), [])
    assert.deepStrictEqual(yield* seen(other, everything), [])
    assert.deepStrictEqual(yield* seen(one, accountsOf("A")), [])
    yield* store.remove(other, acme, "I")
    yield* putInvoices(other, invoiceRow("I", { accounts: ["C"] }))
    assert.deepStrictEqual(yield* seen(one, accountsOf("B")), ["I 1/2"])
  })
})
