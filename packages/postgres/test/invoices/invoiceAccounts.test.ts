/** Invoices and documents that name no account, and changes of their shipment's accounts at the same time. Whichever commits first, the last accounts see them. */
import { layer } from "@effect/vitest"
import { fixtures, invoiceFixtures } from "@waybill/conformance/suites"
import { Transaction } from "@waybill/core"
import { DocumentStore, InvoiceStore } from "@waybill/core/invoices"
import { Effect } from "effect"
import { assert } from "vitest"
import { runBlocked } from "../OpenTransaction.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { accountsOf, documentFile, documentRecord } = invoiceFixtures
const carrier = { dot: "1", mc: "2" }
const first = { after: undefined, limit: 2 }
const isOne = (rows: ReadonlyArray<unknown>) => rows.length === 1

const kinds = {
  "an invoice": {
    put: Effect.fnUntraced(function*(tenantId: string, shipmentId: string, accounts: ReadonlyArray<string> = []) {
      const store = yield* InvoiceStore
      yield* store.lock(tenantId, carrier, "I")
      yield* store.put(tenantId, { carrier, uniqueId: "I", shipmentId, invoiceNumber: "N", accounts, body: new Uint8Array() })
    }),
    remove: Effect.fnUntraced(function*(tenantId: string) {
      const store = yield* InvoiceStore
      yield* store.lock(tenantId, carrier, "I")
      yield* store.remove(tenantId, carrier, "I")
    }),
    isListed: (tenantId: string, account: string) =>
      Effect.flatMap(InvoiceStore, (store) =>
        Effect.map(store.list(tenantId, accountsOf(account), { uniqueId: undefined, shipmentId: undefined, invoiceNumber: undefined, dot: undefined, mc: undefined }, first), isOne))
  },
  "a record of documents": {
    put: Effect.fnUntraced(function*(tenantId: string, shipmentId: string, accounts: ReadonlyArray<string> = []) {
      yield* (yield* InvoiceStore).lock(tenantId, carrier, " N")
      yield* (yield* DocumentStore).add(tenantId, documentRecord("N", { carrier, shipmentId, accounts, files: [documentFile(1)] }))
    }),
    // a record without files keeps its accounts
    remove: undefined,
    isListed: (tenantId: string, account: string) =>
      Effect.flatMap(DocumentStore, (store) =>
        Effect.map(store.list(tenantId, accountsOf(account), { invoiceNumber: undefined, dot: undefined, mc: undefined, documentTypes: undefined }, first), isOne))
  }
}

const assign = (tenantId: string, shipmentId: string, account: string) => fixtures.publish(tenantId, [{ shipmentId }], { accounts: [account] })

const inTransaction = <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.flatMap(Transaction, (transaction) => transaction.run(work))

const overlap = <R1, E1, R2, E2>(first: Effect.Effect<unknown, E1, R1>, second: Effect.Effect<unknown, E2, R2>) => runBlocked(first, inTransaction(second))

for (const [kind, { isListed, put, remove }] of Object.entries(kinds)) {
  const whoSees = Effect.fnUntraced(function*(tenantId: string) {
    const seen: Array<string> = []
    for (const account of ["A", "B", "C"]) if (yield* isListed(tenantId, account)) seen.push(account)
    return seen.join("")
  })

  layer(testStorage(freshSchema()), { excludeTestServices: true })(`${kind} and the accounts of its shipment, written at the same time`, (it) => {
    it.effect("agree if the shipment is new", Effect.fnUntraced(function*() {
      yield* overlap(put("new 1", "S"), assign("new 1", "S", "A"))
      yield* overlap(assign("new 2", "S", "A"), put("new 2", "S"))
      assert.deepStrictEqual([yield* whoSees("new 1"), yield* whoSees("new 2")], ["A", "A"])
    }))

    it.effect("agree if the shipment gets other accounts", Effect.fnUntraced(function*() {
      for (const tenantId of ["other 1", "other 2"]) yield* assign(tenantId, "S", "A")
      yield* overlap(put("other 1", "S"), assign("other 1", "S", "B"))
      yield* overlap(assign("other 2", "S", "B"), put("other 2", "S"))
      assert.deepStrictEqual([yield* whoSees("other 1"), yield* whoSees("other 2")], ["B", "B"])
    }))

    it.effect("agree if it moves to another shipment, names an account, or is removed", Effect.fnUntraced(function*() {
      const changes = { moved: (id: string) => put(id, "T"), named: (id: string) => put(id, "S", ["C"]), ...(remove === undefined ? {} : { removed: remove }) }
      for (const [name, change] of Object.entries(changes)) {
        for (const order of ["first", "last"]) {
          const tenantId = `${name} ${order}`
          yield* assign(tenantId, "S", "A")
          yield* assign(tenantId, "T", "C")
          yield* inTransaction(put(tenantId, "S"))
          const others = assign(tenantId, "S", "B")
          yield* order === "first" ? overlap(change(tenantId), others) : overlap(others, change(tenantId))
          assert.strictEqual(yield* whoSees(tenantId), name === "removed" ? "" : "C", tenantId)
        }
      }
    }))
  })
}
