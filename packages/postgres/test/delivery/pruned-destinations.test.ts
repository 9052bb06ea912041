/** Closed destinations that retention removes, and what others still write for them. */
import { layer } from "@effect/vitest"
import { DeliveryControl, DeliveryQueue, pauseForPurge } from "@waybill/core/delivery"
import { TransitSubscriptionStore } from "@waybill/core/transit-events"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { openTransaction } from "../OpenTransaction.ts"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { freshTenant, idOf, publish, seed, storeNow } = fixtures
const { acquire, drain, drop, hasWork } = workerFixtures

const schema = freshSchema()
const rows = rowsIn(schema)

const countIn = (table: string, tenantId: string) => Effect.map(rows(`SELECT FROM @${table} WHERE tenant_id = $1`, [tenantId]), ({ length }) => length)

const unsubscribe = (tenantId: string) =>
  Effect.andThen(TransitSubscriptionStore.use((store) => store.remove(tenantId, "client", idOf(1))), DeliveryQueue.use((queue) => queue.closeDestination(tenantId, idOf(1))))

/** Returns how many rows retention removes that keeps nothing. */
const pruneAll = (tenantId: string) => Effect.flatMap(storeNow(tenantId), (now) => DeliveryQueue.use((queue) => queue.prune(tenantId, now + 600_000)))

layer(testStorage(schema), { excludeTestServices: true })("a destination that was closed", (it) => {
  it.effect("leaves no entries of a publisher whose transaction was open until it was removed", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, {})
    const commit = yield* openTransaction(publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] }))
    yield* unsubscribe(tenantId)
    yield* drain(tenantId)
    assert.strictEqual(yield* pruneAll(tenantId), 1)
    yield* commit
    assert.deepStrictEqual([yield* countIn("delivery_destinations", tenantId), yield* countIn("delivery_entries", tenantId), yield* hasWork(tenantId)], [0, 1, true])
    const worker = yield* acquire(tenantId)
    assert.deepStrictEqual(worker.destinations, [idOf(1)])
    assert.strictEqual((yield* drop(worker, { closed: [idOf(1)] })).dropped, 1)
    assert.strictEqual(yield* countIn("delivery_entries", tenantId), 0)
  }))

  it.effect("is kept while its entries are", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    yield* unsubscribe(tenantId)
    assert.strictEqual(yield* pruneAll(tenantId), 0)
    yield* drain(tenantId)
    assert.strictEqual(yield* pruneAll(tenantId), 1)
  }))

  it.effect("leaves no records of dropped entries", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    const control = yield* DeliveryControl
    yield* seed(tenantId, { S: 3 })
    yield* control.pause(tenantId, idOf(1), pauseForPurge)
    yield* control.purgeNext(tenantId, idOf(1), undefined)
    assert.strictEqual(yield* countIn("delivery_drops", tenantId), 3)
    yield* unsubscribe(tenantId)
    assert.strictEqual(yield* countIn("delivery_drops", tenantId), 0)
  }))
})
