/** Conformance of `DocumentStore`. */
import { type DocumentFilter, DocumentStore, type InvoiceViewer } from "@waybill/core/invoices"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { allPages, freshTenant, publish, rolledBack } from "../StorageFixtures.ts"
import { accountsOf, acme, carrierOf, documentFile, documentRecord, everything } from "./InvoiceFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const anything: DocumentFilter = { invoiceNumber: undefined, dot: undefined, mc: undefined, documentTypes: undefined }

const add = (tenantId: string, ...records: ReadonlyArray<ReturnType<typeof documentRecord>>) =>
  Effect.flatMap(DocumentStore, (store) => Effect.forEach(records, (record) => store.add(tenantId, record), { discard: true }))

/** The rows that a viewer sees, as `number dot/mc: files`. */
const seen = (tenantId: string, viewer: InvoiceViewer, filter: Partial<DocumentFilter> = {}) =>
  Effect.flatMap(DocumentStore, (store) =>
    Effect.map(store.list(tenantId, viewer, { ...anything, ...filter }, { after: undefined, limit: 1000 }), (rows) =>
      rows.map(({ carrier, files, invoiceNumber }) => `${invoiceNumber} ${carrier.dot}/${carrier.mc}: ${files.map((each) => each.size).join(" ")}`)))

export const suite = storeSuite("DocumentStore", DocumentStore, (test) => {
  test("finds a record with the fields of the latest upload and the files of all uploads in order", function*({ store, tenantId }) {
    const odd = documentRecord("ä, '\\", {
      shipmentId: "S {2}",
      accounts: ["A,B", "{C}", "NULL", "ä 船"],
      doc: "{ \"text\" : \"\\u0000 😀\" }",
      files: [documentFile(9, { documentType: "W&I", mediaType: "image/png" }), documentFile(3), documentFile(5, { size: 26_214_400 })]
    })
    yield* add(tenantId, documentRecord(odd.invoiceNumber, { accounts: ["A"], files: [documentFile(7)] }), odd, documentRecord("other"))
    const expected = { ...odd, files: [documentFile(7), ...odd.files] }
    assert.deepStrictEqual(yield* store.find(tenantId, everything, odd.invoiceNumber), expected)
    yield* add(tenantId, { ...odd, accounts: [], doc: "{}", files: [] })
    assert.deepStrictEqual(yield* store.find(tenantId, everything, odd.invoiceNumber), { ...expected, accounts: [], doc: "{}" })
    assert.isUndefined(yield* store.find(tenantId, everything, "unknown"))
  })

  test("sums the bytes of each tenant, and undoes rolled back ones", function*({ store, tenantId, transaction }) {
    assert.strictEqual(yield* store.storedBytes(tenantId), 0)
    assert.strictEqual(yield* store.changeStoredBytes(tenantId, 26_214_400_000), 26_214_400_000)
    assert.strictEqual(yield* store.changeStoredBytes(tenantId, -400_000), 26_214_000_000)
    yield* rolledBack(store.changeStoredBytes(tenantId, 5))
    assert.strictEqual(yield* store.storedBytes(tenantId), 26_214_000_000)
    assert.strictEqual(yield* store.storedBytes(freshTenant()), 0)
    yield* Effect.all(
      Array.from({ length: 8 }, (_, at) => transaction.run(Effect.tap(store.changeStoredBytes(tenantId, at % 2 === 0 ? 3 : -2), () => Effect.yieldNow))),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(yield* store.storedBytes(tenantId), 26_214_000_004)
    assert.strictEqual(yield* store.changeStoredBytes(tenantId, 1), 26_214_000_005)
  })

  test("counts the files of one record", function*({ store, tenantId }) {
    const of = (dot: string, n: number) => documentRecord("N", { carrier: { dot, mc: "2" }, files: [documentFile(n)] })
    yield* add(tenantId, of("1", 1), of("2", 2), of("1", 3))
    const counts = yield* Effect.forEach(["1", "2", "3"], (dot) => store.countFiles(tenantId, { dot, mc: "2" }, "N"))
    assert.deepStrictEqual(counts, [2, 1, 0])
    assert.strictEqual(yield* store.countFiles(tenantId, { dot: "1", mc: "2" }, "M"), 0)
    yield* store.remove(tenantId, { dot: "1", mc: "2" }, "N", undefined)
    assert.strictEqual(yield* store.countFiles(tenantId, { dot: "1", mc: "2" }, "N"), 0)
  })

  test("leaves out a record without files, whatever others with its number or its carrier have", function*({ store, tenantId }) {
    const carriers = [acme, { dot: "9", mc: acme.mc }, { dot: acme.dot, mc: "9" }]
    yield* add(tenantId, ...carriers.map((carrier) => documentRecord("N", { carrier })), documentRecord("M"))
    yield* store.remove(tenantId, acme, "N", undefined)
    assert.deepStrictEqual(yield* seen(tenantId, everything), ["M 1/2: 1", "N 1/9: 1", "N 9/2: 1"])
  })

  test("separates records of several carriers with one number, and finds the latest", function*({ store, tenantId }) {
    const of = (dot: string, n: number, accounts: ReadonlyArray<string> = []) =>
      documentRecord("N", { carrier: { dot, mc: "2" }, accounts, files: [documentFile(n)] })
    yield* add(tenantId, of("1", 1, ["A"]), of("2", 2), of("3", 3, ["A"]), of("2", 4), of("1", 5, ["A"]))
    const found = (viewer: InvoiceViewer) => Effect.map(store.find(tenantId, viewer, "N"), (record) => record?.carrier.dot)
    assert.strictEqual(yield* found(everything), "1")
    assert.strictEqual(yield* found(carrierOf("2", undefined)), "2")
    assert.strictEqual(yield* found(accountsOf("A")), "1")
    assert.strictEqual(yield* found(accountsOf("B")), undefined)
    assert.deepStrictEqual(yield* seen(tenantId, everything), ["N 1/2: 1 5", "N 2/2: 2 4", "N 3/2: 3"])
  })

  test("shows carriers records with their numbers, and accounts records that name them, or name none and are of their shipments", function*({ tenantId }) {
    yield* publish(tenantId, [{ shipmentId: "of A" }], { accounts: ["A"] })
    yield* add(
      tenantId,
      documentRecord("named", { accounts: ["A", "B"] }),
      documentRecord("shipment", { shipmentId: "of A", carrier: { dot: "9", mc: "" }, files: [documentFile(2)] }),
      documentRecord("third party's", { shipmentId: "of A", accounts: ["E"], carrier: { dot: "8", mc: "" } }),
      documentRecord("nobody's", { carrier: { dot: "1", mc: "3" }, files: [documentFile(3)] }),
      documentRecord("other MC", { carrier: { dot: "", mc: "8" } })
    )
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf("1", undefined)), ["named 1/2: 1", "nobody's 1/3: 3"])
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf("1", "3")), ["nobody's 1/3: 3"])
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf(undefined, "")), ["shipment 9/: 2", "third party's 8/: 1"])
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("E")), ["third party's 8/: 1"])
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("A")), ["named 1/2: 1", "shipment 9/: 2"])
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("B", "C")), ["named 1/2: 1"])
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf()), [])
    yield* add(tenantId, documentRecord("named", { accounts: ["C"], files: [] }))
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("B")), [])
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("C")), ["named 1/2: 1"])
  })

  test("lists records that match all filters, with files of the requested types", function*({ tenantId }) {
    const files = [documentFile(1), documentFile(2, { documentType: "BOL" }), documentFile(3, { documentType: "W&I" })]
    yield* add(
      tenantId,
      documentRecord("1", { files }),
      documentRecord("2", { files: [documentFile(4)] }),
      documentRecord("2", { carrier: { dot: "9", mc: "2" }, files: [documentFile(5, { documentType: "BOL" })] })
    )
    assert.deepStrictEqual(yield* seen(tenantId, everything, { documentTypes: ["BOL", "W&I"] }), ["1 1/2: 2 3", "2 9/2: 5"])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { documentTypes: ["POD"], dot: "1", mc: "2", invoiceNumber: "2" }), ["2 1/2: 4"])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { documentTypes: ["QUO"] }), [])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { invoiceNumber: "2" }), ["2 1/2: 4", "2 9/2: 5"])
    assert.deepStrictEqual(yield* seen(tenantId, everything, { dot: "9", documentTypes: ["POD"] }), [])
  })

  test("lists records that match any combination of filters", function*({ tenantId }) {
    const base = { invoiceNumber: "N", dot: "1", mc: "2", documentType: "POD" }
    const names = Object.keys(base) as ReadonlyArray<keyof typeof base>
    const all = [base, ...names.map((name) => ({ ...base, [name]: `other ${name}` }))]
    for (const [n, { documentType, dot, invoiceNumber, mc }] of all.entries()) {
      yield* add(tenantId, documentRecord(invoiceNumber, { carrier: { dot, mc }, accounts: ["A"], files: [documentFile(n, { documentType })] }))
    }
    for (let chosen = 0; chosen < 2 ** names.length; chosen++) {
      const named = names.filter((_, at) => (chosen >> at) % 2 === 1)
      const { documentType, ...filter }: Partial<typeof base> = Object.fromEntries(named.map((name) => [name, base[name]]))
      const matching = all.flatMap((each, n) => named.every((name) => each[name] === base[name]) ? [{ ...each, n }] : [])
      for (const viewer of [everything, accountsOf("A"), carrierOf("1", undefined)]) {
        const visible = matching.filter(({ dot }) => viewer._tag !== "Carrier" || dot === "1")
        const found = yield* seen(tenantId, viewer, { ...filter, documentTypes: documentType === undefined ? undefined : [documentType] })
        const files = found.flatMap((each) => each.replace(/^.*: /, "").split(" ").map(Number))
        assert.deepStrictEqual(files.sort(), visible.map(({ n }) => n), `${viewer._tag}: ${named.join(" ")}`)
      }
    }
  })

  test("continues after any record, by number in code point order, then by carrier", function*({ store, tenantId }) {
    const records = ["10", "9", "A", "a", "ä", "😀"].flatMap((invoiceNumber) =>
      [{ dot: "", mc: "2" }, { dot: "1", mc: "" }, { dot: "1", mc: "2" }].map((carrier) => documentRecord(invoiceNumber, { carrier })))
    yield* add(tenantId, ...records.toReversed())
    for (const limit of [1, 4, 100]) {
      const walked = yield* allPages(limit, (after: typeof records[number] | undefined) => store.list(tenantId, everything, anything, { after, limit }))
      assert.deepStrictEqual(walked, records)
    }
  })

  test("gives a file other contents, and remembers the former ones until they are removed", function*({ store, tenantId }) {
    const [from, to] = [documentFile(1).contentId, documentFile(101).contentId]
    const record = documentRecord("N", { files: [documentFile(1), documentFile(2)] })
    yield* add(tenantId, record)
    // contents that nobody wrote are given to no file
    assert.isFalse(yield* store.moveContent(tenantId, record, { from, to }))
    yield* store.discard(tenantId, to)
    yield* store.discard(tenantId, to)
    assert.strictEqual(yield* store.countDiscarded(tenantId), 1)
    assert.isFalse(yield* store.moveContent(tenantId, record, { from: documentFile(9).contentId, to }))
    assert.isFalse(yield* store.moveContent(tenantId, { ...record, invoiceNumber: "other" }, { from, to }))
    for (const carrier of [{ dot: "1", mc: "9" }, { dot: "9", mc: "2" }]) assert.isFalse(yield* store.moveContent(tenantId, { ...record, carrier }, { from, to }))
    assert.isFalse(yield* store.moveContent(tenantId, record, { from, to: documentFile(102).contentId }))
    assert.isFalse(yield* store.moveContent(freshTenant(), record, { from, to }))
    assert.isTrue(yield* store.moveContent(tenantId, record, { from, to }))
    assert.deepStrictEqual((yield* store.find(tenantId, everything, "N"))?.files, [{ ...documentFile(1), contentId: to }, documentFile(2)])
    assert.deepStrictEqual(yield* store.claimDiscarded(tenantId, 3_600_000, 10), [])
    assert.deepStrictEqual(yield* store.claimDiscarded(tenantId, 0, 10), [from])
    // claimed contents are claimed again after a crash, and given to no file
    assert.deepStrictEqual(yield* store.claimDiscarded(tenantId, 3_600_000, 10), [from])
    assert.isFalse(yield* store.moveContent(tenantId, record, { from: to, to: from }))
    yield* store.forgetDiscarded(tenantId, [from])
    assert.strictEqual(yield* store.countDiscarded(tenantId), 0)
  })

  test("remembers other discarded contents when a file is given contents", function*({ store, tenantId }) {
    const [from, to, other] = [documentFile(1).contentId, documentFile(101).contentId, documentFile(102).contentId]
    const record = documentRecord("N")
    yield* add(tenantId, record)
    for (const content of [to, other]) yield* store.discard(tenantId, content)
    assert.isTrue(yield* store.moveContent(tenantId, record, { from, to }))
    assert.deepStrictEqual((yield* store.claimDiscarded(tenantId, 0, 10)).toSorted(), [from, other])
    yield* store.forgetDiscarded(tenantId, [from])
    assert.deepStrictEqual(yield* store.claimDiscarded(tenantId, 0, 10), [other])
  })

  test("claims the contents that were discarded longest ago first, and no more than asked for", function*({ store, tenantId }) {
    const contents = [3, 1, 2].map((n) => documentFile(n).contentId)
    for (const content of contents) yield* store.discard(tenantId, content)
    assert.deepStrictEqual(yield* store.claimDiscarded(tenantId, 0, 1), contents.slice(0, 1))
    yield* store.forgetDiscarded(tenantId, contents)
    assert.deepStrictEqual(yield* store.claimDiscarded(tenantId, 0, 1), contents.slice(1, 2))
  })

  test("forgets no contents that were not claimed, gives a deleted file none, and undoes what is rolled back", function*({ store, tenantId }) {
    const contents = { from: documentFile(1).contentId, to: documentFile(101).contentId }
    const record = documentRecord("N", { files: [documentFile(1)] })
    yield* add(tenantId, record)
    yield* store.discard(tenantId, contents.to)
    yield* store.forgetDiscarded(tenantId, [contents.to])
    assert.strictEqual(yield* store.countDiscarded(tenantId), 1)
    yield* rolledBack(store.moveContent(tenantId, record, contents))
    assert.strictEqual((yield* store.find(tenantId, everything, "N"))?.files[0]?.contentId, contents.from)
    yield* store.remove(tenantId, record.carrier, "N", undefined)
    assert.isFalse(yield* store.moveContent(tenantId, record, contents))
    assert.deepStrictEqual(yield* store.claimDiscarded(tenantId, 0, 10), [contents.to])
  })

  test("removes all or none of the named files, and returns them", function*({ store, tenantId }) {
    const files = [1, 2, 3, 4].map((n) => documentFile(n))
    yield* add(tenantId, documentRecord("N", { files }), documentRecord("N", { carrier: { dot: "9", mc: "2" }, files: [documentFile(5)] }), documentRecord("N", { carrier: { dot: "1", mc: "9" }, files: [documentFile(7)] }), documentRecord("M", { files: [documentFile(8)] }))
    for (const other of ["file 5", "file 7", "file 8"]) assert.deepStrictEqual(yield* store.remove(tenantId, acme, "N", ["file 1", other]), [])
    assert.deepStrictEqual(yield* store.remove(tenantId, acme, "N", ["unknown"]), [])
    assert.deepStrictEqual(yield* store.remove(tenantId, acme, "N", []), [])
    assert.deepStrictEqual(yield* store.remove(tenantId, acme, "unknown", undefined), [])
    assert.deepStrictEqual(yield* store.remove(tenantId, acme, "N", ["file 3", "file 1", "file 3"]), [files[0]!, files[2]!])
    assert.deepStrictEqual(yield* store.remove(tenantId, acme, "N", ["file 1"]), [])
    assert.deepStrictEqual(yield* seen(tenantId, everything), ["M 1/2: 8", "N 1/2: 2 4", "N 1/9: 7", "N 9/2: 5"])
    assert.deepStrictEqual(yield* store.remove(tenantId, acme, "N", undefined), [files[1]!, files[3]!])
    assert.deepStrictEqual(yield* store.remove(tenantId, acme, "N", undefined), [])
    assert.deepStrictEqual(yield* seen(tenantId, everything), ["M 1/2: 8", "N 1/9: 7", "N 9/2: 5"])
    assert.isUndefined(yield* store.find(tenantId, carrierOf("1", "2"), "N"))
    yield* add(tenantId, documentRecord("N", { files: [documentFile(6)] }))
    assert.deepStrictEqual(yield* seen(tenantId, carrierOf("1", undefined)), ["M 1/2: 8", "N 1/2: 6", "N 1/9: 7"])
  })

  test("loses no file of concurrent uploads", function*({ store, tenantId }) {
    const uploads = Array.from({ length: 12 }, (_, n) => store.add(tenantId, documentRecord("N", { files: [documentFile(n)] })))
    yield* Effect.all(uploads, { concurrency: "unbounded" })
    const record = yield* store.find(tenantId, everything, "N")
    assert.deepStrictEqual(record!.files.map((each) => each.size).toSorted((a, b) => a - b), Array.from({ length: 12 }, (_, n) => n))
  })

  test("leaves nothing behind after a rollback", function*({ store, tenantId }) {
    yield* add(tenantId, documentRecord("N"), documentRecord("gone"))
    yield* rolledBack(Effect.gen(function*() {
      yield* add(tenantId, documentRecord("N", { accounts: ["A"], files: [documentFile(2)] }), documentRecord("new"))
      yield* store.remove(tenantId, acme, "gone", undefined)
    }))
    assert.deepStrictEqual(yield* seen(tenantId, everything), ["N 1/2: 1", "gone 1/2: 1"])
    assert.deepStrictEqual(yield* seen(tenantId, accountsOf("A")), [])
  })

  test("isolates tenants that share ids", function*({ other, store, tenantId: one }) {
    yield* publish(other, [{ shipmentId: "S" }], { accounts: ["A"] })
    yield* add(one, documentRecord("N"))
    assert.isUndefined(yield* store.find(other, everything, "N"))
    assert.deepStrictEqual(yield* seen(one, accountsOf("A")), [])
    assert.deepStrictEqual(yield* store.remove(other, acme, "N", undefined), [])
    yield* add(other, documentRecord("N", { files: [documentFile(1)] }))
    assert.deepStrictEqual(yield* store.remove(other, acme, "N", ["file 1"]), [documentFile(1)])
    assert.deepStrictEqual(yield* seen(one, everything), ["N 1/2: 1"])
  })
})
