import { Transaction } from "@waybill/core"
import { InvoiceStore } from "@waybill/core/invoices"
import { TransitEventStore } from "@waybill/core/transit-events"
import { fixtures } from "@waybill/conformance/suites"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { openTransaction } from "../OpenTransaction.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { withSql } from "../client/database.ts"

const idsOf = ({ rows }: { readonly rows: ReadonlyArray<{ readonly eventId: string }> }) => rows.map(({ eventId }) => eventId)

const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("rows that were stored since a position", (it) => {
  const all = { _tag: "All" } as const
  const since = (tenantId: string, position: string | undefined, limit = 10) => Effect.flatMap(TransitEventStore, (store) => store.since(tenantId, all, position, limit))

  it.effect("include those of a transaction that began before it and ended after it", Effect.fnUntraced(function*() {
    const tenantId = fixtures.freshTenant()
    const start = yield* since(tenantId, undefined)
    const commit = yield* openTransaction(fixtures.publish(tenantId, [{ shipmentId: "S", eventId: "slow" }]))
    yield* fixtures.publish(tenantId, [{ shipmentId: "T", eventId: "fast" }])
    const first = yield* since(tenantId, start.position)
    assert.deepStrictEqual(idsOf(first), ["fast"])
    yield* commit
    const second = yield* since(tenantId, first.position)
    assert.deepStrictEqual(idsOf(second), ["slow"])
    assert.deepStrictEqual(idsOf(yield* since(tenantId, second.position)), [])
  }))

  it.effect("do not change while their pages are read", Effect.fnUntraced(function*() {
    const tenantId = fixtures.freshTenant()
    const start = yield* since(tenantId, undefined)
    yield* fixtures.publish(tenantId, ["A", "B", "C"].map((shipmentId) => ({ shipmentId, eventId: shipmentId })))
    const first = yield* since(tenantId, start.position, 2)
    yield* fixtures.publish(tenantId, [{ shipmentId: "A", eventId: "A2" }])
    const second = yield* since(tenantId, first.position, 2)
    assert.deepStrictEqual([idsOf(first), first.more, idsOf(second), second.more], [["A", "B"], true, ["C"], true])
    assert.deepStrictEqual(idsOf(yield* since(tenantId, second.position, 2)), ["A2"])
  }))

  it.effect("are found after hours of an open transaction, by the times of earlier looks", Effect.fnUntraced(function*() {
    const tenantId = fixtures.freshTenant()
    let { position } = yield* since(tenantId, undefined)
    const commit = yield* openTransaction(fixtures.publish(tenantId, [{ shipmentId: "S", eventId: "slow" }]))
    for (let count = 0; count < 150; count++) {
      if (count % 10 === 0) yield* fixtures.publish(tenantId, [{ shipmentId: "T", eventId: `T${count}` }])
      position = (yield* since(tenantId, position)).position
    }
    assert.isBelow((JSON.parse(position) as { readonly marks: ReadonlyArray<unknown> }).marks.length, 61)
    yield* commit
    assert.deepStrictEqual(idsOf(yield* since(tenantId, position)), ["slow"])
  }))

  it.effect("continue after a restore into a cluster whose transaction ids are lower", withSql(function*(sql) {
    const tenantId = fixtures.freshTenant()
    const { position } = yield* since(tenantId, undefined)
    yield* fixtures.publish(tenantId, [{ shipmentId: "S", eventId: "before" }])
    yield* sql.unsafe(`UPDATE "${schema}".transit_events SET xid = '3' WHERE tenant_id = '${tenantId}'`)
    yield* fixtures.publish(tenantId, [{ shipmentId: "S", eventId: "after" }])
    const elsewhere = position.replace(/"snapshot":"[^"]+"/u, "\"snapshot\":\"9000000000000000000:9000000000000000000:\"")
    assert.deepStrictEqual(idsOf(yield* since(tenantId, elsewhere)), ["after"])
  }))

  it.effect("refuse a position that the store did not return", Effect.fnUntraced(function*() {
    assert.strictEqual((yield* Effect.flip(since(fixtures.freshTenant(), "1"))).operation, "TransitEventStore.since")
  }))

  it.effect("include an invoice that is replaced in a transaction that ends later", Effect.fnUntraced(function*() {
    const store = yield* InvoiceStore
    const transaction = yield* Transaction
    const tenantId = fixtures.freshTenant()
    const row = { carrier: { dot: "1", mc: "2" }, uniqueId: "I", shipmentId: "S", invoiceNumber: "4711", accounts: [], body: new TextEncoder().encode("{}") }
    yield* transaction.run(store.put(tenantId, row))
    const start = yield* store.since(tenantId, all, undefined, 10)
    const commit = yield* openTransaction(store.put(tenantId, row))
    const first = yield* store.since(tenantId, all, start.position, 10)
    yield* commit
    const second = yield* store.since(tenantId, all, first.position, 10)
    assert.deepStrictEqual([first, second].map(({ rows }) => rows.map(({ uniqueId }) => uniqueId)), [[], ["I"]])
  }))
})
