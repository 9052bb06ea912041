/** Calls that read what they are about to change hold it until their transaction ends, so that another one decides by what they wrote. They lock rows in one order. */
import { layer } from "@effect/vitest"
import { fixtures, invoiceFixtures } from "@waybill/conformance/suites"
import { AccessStore, type StoragePorts, type StoredApiKey, Transaction } from "@waybill/core"
import { DeliveryQueue, SecretStore } from "@waybill/core/delivery"
import { DocumentStore, InvoiceStore } from "@waybill/core/invoices"
import { TransitSubscriptionStore } from "@waybill/core/transit-events"
import { Effect, Fiber, Option } from "effect"
import { assert } from "vitest"
import type { PgClient } from "../../src/index.ts"
import { openTransaction, runBlocked, untilOneIsBlocked } from "../OpenTransaction.ts"
import { testStorage } from "../TestStorage.ts"

const { bytesOf, claim, destinationSettings, freshTenant, idOf, letSee, storedSecret, subscribe } = fixtures
const { documentFile, documentRecord, invoiceRow, putInvoices } = invoiceFixtures

type Services = StoragePorts | PgClient.PgClientService

/** The result of `second`, which must wait for the transaction of `first`. */
const after = <A, E, F>(first: Effect.Effect<unknown, E, Services>, second: Effect.Effect<A, F, Services>) => Effect.map(runBlocked(first, second), ([, result]) => result)

/** `both` locks what `first` has locked before what `other` locks, so `other` need not wait for it. Otherwise the two could meet in a deadlock. */
const inOrder = Effect.fnUntraced(function*<E>(first: Effect.Effect<unknown, E, Services>, both: Effect.Effect<unknown, E, Services>, other: Effect.Effect<unknown, E, Services>) {
  const commit = yield* openTransaction(first)
  const waiting = yield* Effect.forkChild(both)
  yield* untilOneIsBlocked
  yield* other
  yield* commit
  yield* Fiber.join(waiting)
})

const key = (n: number): StoredApiKey => ({ id: idOf(n), name: "warehouse", roles: ["customer"], accounts: ["A"], hash: bytesOf("hash"), expiresAt: fixtures.occurredAt * 2 })

layer(testStorage(), { excludeTestServices: true })("locks of rows", (it) => {
  const registered = Effect.fnUntraced(function*() {
    const [access, tenantId] = [yield* AccessStore, freshTenant()]
    yield* access.putTenant({ tenantId, name: "Acme", hosts: [] })
    return { access, tenantId }
  })

  it.effect("make each change of a tenant's keys see the ones before", Effect.fnUntraced(function*() {
    const { access, tenantId } = yield* registered()
    yield* after(access.lockKeys(tenantId), access.addKey(tenantId, key(1)))
    assert.isTrue(Option.isSome(yield* after(access.addKey(tenantId, key(2)), access.revokeKey(tenantId, idOf(1)))))
    yield* after(access.addKey(tenantId, key(3)), access.revokeKeysOf(tenantId, "warehouse"))
    assert.deepStrictEqual(yield* access.keysOf(tenantId, "warehouse"), [])
  }))

  it.effect("make each change of a tenant's limits start from the one before", Effect.fnUntraced(function*() {
    const { access, tenantId } = yield* registered()
    const change = Effect.andThen(access.findLimits(tenantId, true), access.putLimits(tenantId, "changed"))
    assert.deepStrictEqual(yield* after(change, access.findLimits(tenantId, true)), Option.some("changed"))
  }))

  it.effect("make each review of a client start from the one before", Effect.fnUntraced(function*() {
    const { access, tenantId } = yield* registered()
    yield* letSee(tenantId, "client", ["A"])
    const hold = Effect.andThen(access.clientRows(tenantId, "client"), access.holdClient(tenantId, { client: "client", origin: "key", until: 1000, reviewAt: 2000 }))
    const { rows } = yield* after(hold, access.clientRows(tenantId, "client"))
    assert.deepStrictEqual(rows.map(({ liveUntil }) => liveUntil), [1000])
  }))

  it.effect("are taken in the order of shipments by every call", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    const invoices = yield* InvoiceStore
    const invoice = (shipmentId: string) => putInvoices(tenantId, invoiceRow("I", { shipmentId }))
    yield* invoice("B")
    const claims = (...shipmentIds: ReadonlyArray<string>) => claim(tenantId, shipmentIds.map((shipmentId) => ({ shipmentId, accounts: undefined })))
    yield* putInvoices(tenantId, invoiceRow("J", { shipmentId: "B" }))
    const correct = (yield* Transaction).run(invoices.put(tenantId, invoiceRow("J", { carrier: { dot: "1", mc: "3" }, shipmentId: "A" }), invoiceFixtures.acme))
    for (const both of [claims("B", "A"), subscribe(tenantId, { shipmentIds: ["B", "A"] }), invoice("A"), correct]) yield* inOrder(claims("A"), both, claims("B"))
  }))

  it.effect("are taken in the order of destinations by a change of their secret", Effect.fnUntraced(function*() {
    const [queue, secrets, tenantId] = [yield* DeliveryQueue, yield* SecretStore, freshTenant()]
    for (const n of [2, 1]) yield* subscribe(tenantId, { n })
    const change = (n: number) => queue.changeDestination(tenantId, destinationSettings({ n }))
    yield* inOrder(change(1), secrets.put(tenantId, "main", storedSecret([])), change(2))
  }))

  it.effect("let one of two calls remove a subscription", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* TransitSubscriptionStore, freshTenant()]
    yield* subscribe(tenantId)
    const remove = store.remove(tenantId, "client", idOf(1))
    assert.strictEqual(yield* after(remove, remove), "gone")
  }))

  it.effect("give a file no contents that another call has claimed for removal", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* DocumentStore, freshTenant()]
    const [record, from, to] = [documentRecord("N", { files: [documentFile(1)] }), documentFile(1).contentId, documentFile(101).contentId]
    yield* store.add(tenantId, record)
    yield* store.discard(tenantId, to)
    assert.isFalse(yield* after(store.claimDiscarded(tenantId, 0, 10), store.moveContent(tenantId, record, { from, to })))
  }))
})
