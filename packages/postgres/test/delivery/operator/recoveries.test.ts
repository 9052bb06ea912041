/** Recoveries of more dead letters than one statement should change. */
import { layer } from "@effect/vitest"
import { DeliveryQueue } from "@waybill/core/delivery"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { freshTenant, idOf, seed } = fixtures
const { acquire, end, takeFrom } = workerFixtures
const schema = freshSchema()
const rows = rowsIn(schema)

/** A destination with this many dead letters, ended two hours ago, but every tenth now. */
const withDeadLetters = Effect.fnUntraced(function*(count: number) {
  const tenantId = freshTenant()
  yield* seed(tenantId, { S: 1 }, { policy: { batchMaxSize: 1 } })
  const worker = yield* acquire(tenantId)
  const { deliveries } = yield* takeFrom(worker)
  yield* end(worker, deliveries, { state: "dead" })
  yield* rows(`INSERT INTO @deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, settled_at)
    SELECT tenant_id, lpad(to_hex(n), 32, '0')::uuid, destination_id, state, attempt, tries, refs, keys, sent_at, now() - CASE WHEN n % 10 = 0 THEN interval '0' ELSE interval '2 hours' END
    FROM @deliveries, generate_series(1, $2::int4 - 1) AS n WHERE tenant_id = $1`, [tenantId, count])
  return tenantId
})

/** The number of deliveries that each transaction made due again. */
const transactionsOf = (tenantId: string) =>
  Effect.map(rows<{ readonly again: number }>("SELECT count(*)::int4 AS again FROM @deliveries WHERE tenant_id = $1 AND state = 'waiting' GROUP BY xmin::text ORDER BY min(delivery_id::text)", [tenantId]),
    (transactions) => transactions.map(({ again }) => again))

layer(testStorage(schema), { excludeTestServices: true })("a recovery", (it) => {
  it.effect("of many dead letters commits in steps", Effect.fnUntraced(function*() {
    const [queue, tenantId] = [yield* DeliveryQueue, yield* withDeadLetters(25_000)]
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 25_000)
    assert.deepStrictEqual(yield* transactionsOf(tenantId), [10_000, 10_000, 5000])
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 0)
  }))

  it.effect("counts only what died since then in a step, and ends after one that is full", Effect.fnUntraced(function*() {
    const [queue, tenantId] = [yield* DeliveryQueue, yield* withDeadLetters(20_000)]
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), Date.now() - 3_600_000), 2000)
    assert.deepStrictEqual(yield* transactionsOf(tenantId), [2000])
    assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 18_000)
    assert.deepStrictEqual(yield* transactionsOf(tenantId), [10_000, 2000, 8000])
  }))
})
