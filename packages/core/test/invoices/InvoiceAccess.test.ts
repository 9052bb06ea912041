import { assert, describe, it } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { InvoiceDocuments, Invoices } from "@waybill/core/invoices"
import { documentsSample, invoiceSample, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { listOf, oneOf } from "../arbitraries.ts"
import { inService } from "../inService.ts"
import { faultsOf, jsonOf, own, setup, tagOf } from "./Billing.ts"

const accounts = listOf(oneOf(["A", "B", "C"]), 0, 2)

const written = Arbitrary.map(
  Arbitrary.all([oneOf(["one", "other"]), oneOf(["1", "2", ""]), oneOf(["1", "2"]), oneOf(["S", "T", "U"]), accounts]),
  ([tenantId, dot, mc, shipmentId, named]) => ({ tenantId, dot, mc, shipmentId, named })
)

const viewers: ReadonlyArray<{ readonly who: Partial<Principal>; readonly sees: (dot: string, mc: string, owners: ReadonlySet<string>) => boolean }> = [
  { who: { roles: ["carrier"] }, sees: () => true },
  { who: { roles: ["carrier"], dot: "USDOT 01" }, sees: (dot) => dot === "1" },
  { who: { roles: ["carrier", "customer"], mc: "MC-2", accounts: ["A"] }, sees: (_, mc) => mc === "2" },
  { who: { roles: ["carrier"], dot: "2", mc: "1" }, sees: (dot, mc) => mc === "1" && (dot === "2" || dot === "") },
  { who: { roles: ["carrier"], dot: "-" }, sees: () => false },
  { who: { roles: ["customer"], accounts: ["A"] }, sees: (_, __, owners) => owners.has("A") },
  { who: { roles: ["customer"], accounts: ["B", "C"], dot: "1" }, sees: (_, __, owners) => owners.has("B") || owners.has("C") },
  { who: { roles: ["customer"], accounts: [] }, sees: () => false },
  { who: { roles: ["customer"], accounts: ["D"] }, sees: () => false }
]

const tenants = ["one", "other"]

describe("read access in area B", () => {
  it.effect.prop("covers exactly the caller's carrier numbers, accounts and shipments, in its tenant", [
    listOf(written, 1, 12),
    accounts,
    accounts
  ], ([rows, ownersOfS, ownersOfT]) =>
    inService(Effect.gen(function*() {
      const invoices = yield* Invoices
      const documents = yield* InvoiceDocuments
      const owners: Readonly<Record<string, ReadonlyArray<string>>> = { S: ownersOfS, T: ownersOfT, U: [] }
      const carriers = new Map<string, Principal>()
      for (const tenantId of tenants) {
        const { carrier } = yield* TestWaybill.tenant(tenantId)
        carriers.set(tenantId, carrier)
        // the other tenant's shipments have other accounts
        for (const [shipmentId, each] of Object.entries(owners)) yield* own(carrier, shipmentId, tenantId === "one" ? each : ["B"])
      }
      for (const [n, { dot, mc, named, shipmentId, tenantId }] of rows.entries()) {
        const parts = { DOT: dot, MC: mc, shipmentID: shipmentId, accounts: named }
        yield* invoices.create(carriers.get(tenantId)!, invoiceSample({ ...parts, uniqueID: `I${10 + n}`, invoiceNumber: `N${10 + n}` }))
        yield* documents.upload(carriers.get(tenantId)!, documentsSample({ ...parts, accounts: [], invoiceNumber: `N${10 + n}` }))
      }
      for (const tenantId of tenants) {
        for (const { sees, who } of viewers) {
          const viewer: Principal = { tenantId, client: "client", roles: [], accounts: [], origin: "token", ...who }
          const expected = rows.map((row, n) => ({ ...row, n: 10 + n })).filter((row) =>
            row.tenantId === tenantId && sees(row.dot, row.mc, new Set(row.named.length > 0 ? row.named : tenantId === "one" ? owners[row.shipmentId]! : ["B"])))
          const listed = (yield* invoices.list(viewer, {})).data.map((each) => jsonOf(each).uniqueID)
          assert.deepStrictEqual(listed, expected.map(({ n }) => `I${n}`))
          const documentNumbers = (yield* documents.list(viewer, {})).data.map((each) => each.record["invoiceNumber"])
          assert.deepStrictEqual(documentNumbers, expected.map(({ n }) => `N${n}`))
          for (const n of rows.keys()) {
            const isSeen = expected.some((each) => each.n === 10 + n)
            assert.strictEqual((yield* Effect.result(invoices.get(viewer, `I${10 + n}`)))._tag, isSeen ? "Success" : "Failure")
            assert.strictEqual((yield* Effect.result(documents.get(viewer, `N${10 + n}`)))._tag, isSeen ? "Success" : "Failure")
          }
        }
      }
    })))
})

describe("write access in area B", () => {
  it.effect("excludes customers, also from the history", Effect.fnUntraced(function*() {
    const { carrier, customer, documents, invoices } = yield* setup
    const client = customer("client", ["A"])
    yield* invoices.create(carrier, invoiceSample({ accounts: ["A"] }))
    yield* documents.upload(carrier, documentsSample({ accounts: ["A"] }))
    const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
      invoices.create(client, invoiceSample({ uniqueID: "INV-2" })),
      invoices.replace(client, "INV-1", invoiceSample()),
      invoices.remove(client, "INV-1"),
      invoices.history(client, "INV-1"),
      documents.upload(client, documentsSample()),
      Effect.scoped(documents.begin(client)),
      documents.remove(client, "4711"),
      documents.history(client, "4711")
    ]
    for (const call of calls) assert.strictEqual(yield* tagOf(call), "NotPermitted")
    assert.lengthOf(yield* invoices.history(carrier, "INV-1"), 1)
    assert.lengthOf(yield* documents.history(carrier, "4711"), 1)
  }, inService))

  it.effect("excludes operators", Effect.fnUntraced(function*() {
    const { carrier, documents, invoices } = yield* setup
    const operator: Principal = { ...carrier, tenantId: "", roles: ["operator"] }
    const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
      invoices.create(operator, invoiceSample()),
      invoices.list(operator, {}),
      invoices.get(operator, "INV-1"),
      invoices.history(operator, "INV-1"),
      documents.upload(operator, documentsSample()),
      documents.list(operator, {}),
      documents.get(operator, "4711"),
      documents.remove(operator, "4711")
    ]
    for (const call of calls) assert.strictEqual(yield* tagOf(call), "NotPermitted")
  }, inService))

  it.effect("lets a carrier with numbers write what has one of them and no other number of the same kind, in any spelling", Effect.fnUntraced(function*() {
    const { documents, invoices, of } = yield* setup
    const ownNumbers = of({ dot: "USDOT0012", mc: "34" })
    yield* invoices.create(ownNumbers, invoiceSample({ DOT: "12", MC: "MC 34" }))
    for (const [DOT, MC] of [["13", "34"], ["12", "35"], ["13", ""], ["", "35"]] as const) {
      assert.strictEqual(yield* tagOf(invoices.create(ownNumbers, invoiceSample({ DOT, MC }))), "InvoiceNotYours")
      assert.strictEqual(yield* tagOf(invoices.replace(ownNumbers, "INV-1", invoiceSample({ DOT, MC }))), "InvoiceNotYours")
      assert.strictEqual(yield* tagOf(documents.upload(ownNumbers, documentsSample({ DOT, MC }))), "InvoiceNotYours")
    }
    yield* invoices.create(of({ dot: "12" }), invoiceSample({ uniqueID: "INV-2", DOT: "12", MC: "35" }))
    yield* invoices.create(ownNumbers, invoiceSample({ uniqueID: "INV-3", DOT: "12", MC: "" }))
    yield* invoices.create(ownNumbers, invoiceSample({ uniqueID: "INV-4", DOT: "", MC: "34" }))
    for (const [who, numbers] of [[of({ mc: "34" }), "MC 34"], [of({ dot: "13" }), "DOT 13"], [of({ dot: "13", mc: "34" }), "DOT 13 and MC 34"]] as const) {
      const refused = yield* Effect.flip(invoices.create(who, invoiceSample({ DOT: "12", MC: "35" })))
      assert.strictEqual(refused._tag === "InvoiceNotYours" && refused.numbers, numbers)
    }
  }, inService))

  it.effect("answers other carriers' invoices and documents like unknown ones", Effect.fnUntraced(function*() {
    const { carrier, documents, invoices, of } = yield* setup
    const other = of({ dot: "99" })
    const from = { DOT: "1234567", MC: "765432" }
    yield* invoices.create(carrier, invoiceSample())
    yield* documents.upload(carrier, documentsSample())
    for (const named of [undefined, from]) {
      assert.strictEqual(yield* tagOf(invoices.get(other, "INV-1", named)), "InvoiceNotFound")
      assert.strictEqual(yield* tagOf(invoices.remove(other, "INV-1", named)), "InvoiceNotFound")
      assert.strictEqual(yield* tagOf(invoices.history(other, "INV-1", named)), "InvoiceNotFound")
      assert.strictEqual(yield* tagOf(documents.get(other, "4711", named)), "DocumentNotFound")
      assert.strictEqual(yield* tagOf(documents.remove(other, "4711", named)), "DocumentNotFound")
      assert.strictEqual(yield* tagOf(documents.history(other, "4711", named)), "DocumentNotFound")
    }
    assert.lengthOf((yield* invoices.list(carrier, {})).data, 1)
    assert.lengthOf((yield* documents.list(carrier, {})).data, 1)
  }, inService))
})

describe("an invoice and its documents", () => {
  it.effect("are refused if they name an account that cannot be one, rather than shown to the accounts of the shipment (SPEC-GAP-B7)", Effect.fnUntraced(function*() {
    const { carrier, documents, invoices } = yield* setup
    const more = { billToAccount: { number: "A" } }
    for (const call of [invoices.create(carrier, invoiceSample({ more })), documents.upload(carrier, documentsSample({ more }))]) {
      assert.deepStrictEqual((yield* faultsOf(call as Effect.Effect<unknown, { readonly _tag: string }>)).map((each) => each.pointer), ["/billToAccount"])
    }
  }, inService))

  it.effect("have histories of their own, also if the id could be taken for the key of the documents, and the invoice moves", Effect.fnUntraced(function*() {
    const { carrier, documents, invoices } = yield* setup
    yield* documents.upload(carrier, documentsSample())
    for (const uniqueID of ["4711", "#4711"]) {
      const invoice = { uniqueID, invoiceNumber: "1", DOT: "1", MC: "2" }
      yield* invoices.create(carrier, invoiceSample(invoice))
      yield* invoices.replace(carrier, uniqueID, invoiceSample({ ...invoice, MC: "3" }))
      assert.deepStrictEqual((yield* invoices.history(carrier, uniqueID)).map(({ action }) => action), ["created", "replaced"])
      assert.deepStrictEqual((yield* documents.history(carrier, "4711")).map(({ action }) => action), ["documents added"])
    }
    assert.isTrue((yield* faultsOf(invoices.create(carrier, invoiceSample({ uniqueID: " 4711" })))).some(({ pointer }) => pointer === "/uniqueID"))
  }, inService))
})

describe("read access to documents (SPEC-GAP-B13)", () => {
  it.effect("follows the invoices of the same number, in any order of creation", Effect.fnUntraced(function*() {
    const { carrier, customer, documents, invoices } = yield* setup
    const sees = (account: string) => Effect.map(Effect.result(documents.get(customer("client", [account]), "4711")), (each) => each._tag === "Success")
    const seenBy = Effect.forEach(["A", "B", "C"], sees)
    yield* documents.upload(carrier, documentsSample({ accounts: ["C"] }))
    assert.deepStrictEqual(yield* seenBy, [false, false, true])
    yield* invoices.create(carrier, invoiceSample({ accounts: ["A"] }))
    assert.deepStrictEqual(yield* seenBy, [true, false, true])
    yield* invoices.replace(carrier, "INV-1", invoiceSample({ accounts: ["B"] }))
    assert.deepStrictEqual(yield* seenBy, [false, true, true])
    yield* documents.upload(carrier, documentsSample({ accounts: [] }))
    assert.deepStrictEqual(yield* seenBy, [false, true, false])
    yield* invoices.create(carrier, invoiceSample({ uniqueID: "INV-2", accounts: ["A"] }))
    assert.deepStrictEqual(yield* seenBy, [true, true, false])
    yield* invoices.replace(carrier, "INV-2", invoiceSample({ uniqueID: "INV-2", accounts: ["A"], invoiceNumber: "4712" }))
    yield* invoices.create(carrier, invoiceSample({ DOT: "9", accounts: ["C"] }))
    assert.deepStrictEqual(yield* seenBy, [false, true, false])
    yield* invoices.remove(carrier, "INV-1", { DOT: "1234567" })
    assert.deepStrictEqual(yield* seenBy, [false, false, false])
  }, inService))
})
