/** Quotas that are counted in bytes, beside a host's open transaction. */
import { assert, layer } from "@effect/vitest"
import { DocumentStore } from "@waybill/core/invoices"
import { PickupStore } from "@waybill/core/pickups"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { openTransaction } from "../OpenTransaction.ts"
import { testStorage } from "../TestStorage.ts"

const { freshTenant, idOf, occurredAt } = fixtures

layer(testStorage(), { excludeTestServices: true })("bytes that an open transaction counts", (it) => {
  it.effect("of documents keep no other upload of the tenant waiting, and are summed once it has committed", Effect.fnUntraced(function*() {
    const store = yield* DocumentStore
    const tenantId = freshTenant()
    yield* store.changeStoredBytes(tenantId, 100)
    const first = yield* openTransaction(store.changeStoredBytes(tenantId, 10))
    const second = yield* openTransaction(store.changeStoredBytes(tenantId, 20))
    assert.strictEqual(yield* store.changeStoredBytes(tenantId, 3), 103)
    assert.strictEqual(yield* store.changeStoredBytes(tenantId, -1), 102)
    yield* first
    yield* second
    assert.strictEqual(yield* store.storedBytes(tenantId), 132)
  }))

  it.effect("of pickups keep no other pickup of the client waiting, nor a prune, which takes off what it removes", Effect.fnUntraced(function*() {
    const store = yield* PickupStore
    const tenantId = freshTenant()
    // of a test, because a change of another one waits for the work list of the tenant
    const insert = (at: number) =>
      store.insert(
        tenantId,
        { pickupId: idOf(at), number: String(at), isTest: true, client: "client", accounts: [], carrier: undefined, status: "Accepted", waits: false, doc: "{}", pros: [], createdAt: occurredAt },
        { pickupId: idOf(at), position: 1, at: occurredAt, doc: "x".repeat(at) },
        undefined
      )
    yield* insert(1)
    const commit = yield* openTransaction(insert(10))
    yield* insert(100)
    assert.strictEqual(yield* store.storedBytes(tenantId, "client"), 101)
    yield* store.prune(tenantId, { ordered: occurredAt + 1, answered: 0 })
    assert.strictEqual(yield* store.storedBytes(tenantId, "client"), 0)
    yield* commit
    assert.strictEqual(yield* store.storedBytes(tenantId, "client"), 10)
    yield* store.prune(tenantId, { ordered: occurredAt + 1, answered: 0 })
    assert.strictEqual(yield* store.storedBytes(tenantId, "client"), 0)
  }))
})
