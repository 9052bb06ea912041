/** The queue's depth and unhealthy destinations, in metrics. */
import { layer } from "@effect/vitest"
import { DeliveryControl, DeliveryQueue, pauseByOperator } from "@waybill/core/delivery"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { freshTenant, idOf, seed } = fixtures

const schema = freshSchema()
const rows = rowsIn(schema)

layer(testStorage(schema), { excludeTestServices: true })("the depth of the queue", (it) => {
  it.effect("counts waiting entries, also if the planner's estimate is outdated", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 3, T: 2 })
    yield* rows("ANALYZE @delivery_entries")
    assert.strictEqual((yield* queue.depth).waitingEntries, 5)
    yield* rows("DELETE FROM @delivery_entries WHERE tenant_id = $1", [tenantId])
    assert.strictEqual((yield* queue.depth).waitingEntries, 0)
  }))

  it.effect("counts 50,000 waiting entries, and estimates more from the planner's statistics", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const waiting = Effect.map(queue.depth, ({ waitingEntries }) => waitingEntries)
    // nothing else analyses the table
    yield* rows("ALTER TABLE @delivery_entries SET (autovacuum_enabled = false)")
    yield* rows("TRUNCATE @delivery_entries")
    yield* rows("INSERT INTO @delivery_entries (tenant_id, destination_id, key, sequence, ref, size) SELECT 't', $1::uuid, n::text, 1, n, 1 FROM generate_series(1, 50010) AS n", [idOf(1)])
    assert.strictEqual(yield* waiting, 50_000)
    yield* rows("ANALYZE @delivery_entries")
    assert.strictEqual(yield* waiting, 50_010)
    yield* rows("DELETE FROM @delivery_entries WHERE ref > 50000")
    assert.strictEqual(yield* waiting, 50_010)
    yield* rows("DELETE FROM @delivery_entries WHERE ref = 1")
    assert.strictEqual(yield* waiting, 49_999)
    yield* rows("TRUNCATE @delivery_entries")
  }))

  it.effect("counts 50,000 dead letters, and 50,000 deliveries that are not settled, and estimates more", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const counts = Effect.map(queue.depth, ({ dead, unsettled }) => ({ dead, unsettled }))
    yield* rows("ALTER TABLE @deliveries SET (autovacuum_enabled = false)")
    yield* rows("TRUNCATE @deliveries")
    yield* rows(
      `INSERT INTO @deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at)
       SELECT 't', gen_random_uuid(), $1::uuid, state, 1, 1, '{}', '{}', now() FROM unnest(ARRAY['dead', 'waiting']) AS state CROSS JOIN generate_series(1, 50010)`,
      [idOf(1)]
    )
    assert.deepStrictEqual(yield* counts, { dead: 50_000, unsettled: 50_000 })
    yield* rows("ANALYZE @deliveries")
    const { dead, unsettled } = yield* counts
    assert.isAtLeast(Math.min(dead, unsettled), 50_000)
    assert.closeTo(dead + unsettled, 100_020, 2_000)
    yield* rows("TRUNCATE @deliveries")
  }))

  it.effect("lags behind the oldest signal, and behind due retries that have no worker", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1 })
      yield* rows("UPDATE @delivery_signals SET signalled_at = now() - interval '1 minute' WHERE tenant_id = $1", [tenantId])
      const lag = Effect.map(queue.depth, ({ lagMillis }) => Math.floor(lagMillis / 60_000))
      assert.strictEqual(yield* lag, 1)
      yield* rows("TRUNCATE @delivery_signals")
      assert.strictEqual((yield* queue.depth).lagMillis, 0)
      yield* rows(
        `INSERT INTO @deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, due_at)
         VALUES ($1, gen_random_uuid(), $2::uuid, 'waiting', 1, 1, '{}', '{}', now(), now() - interval '2 minutes')`,
        [tenantId, idOf(1)]
      )
      assert.strictEqual(yield* lag, 2)
      const nothingLags = Effect.map(queue.depth, ({ lagMillis }) => assert.strictEqual(lagMillis, 0))
      yield* rows("UPDATE @deliveries SET due_at = now() + interval '1 minute' WHERE tenant_id = $1", [tenantId])
      yield* nothingLags
      yield* rows("UPDATE @deliveries SET due_at = now() - interval '2 minutes' WHERE tenant_id = $1", [tenantId])
      yield* rows("UPDATE @delivery_destinations SET state = 'paused' WHERE tenant_id = $1", [tenantId])
      yield* nothingLags
      yield* rows("UPDATE @delivery_destinations SET state = 'active' WHERE tenant_id = $1", [tenantId])
      yield* rows("INSERT INTO @delivery_leases (tenant_id, partition, worker_id, leased_until, lease) VALUES ($1, 2, 'worker', now() + interval '1 minute', interval '1 minute')", [tenantId])
      assert.strictEqual(yield* lag, 2)
      yield* rows("INSERT INTO @delivery_leases (tenant_id, partition, worker_id, leased_until, lease) VALUES ($1, 1, 'worker', now() + interval '1 minute', interval '1 minute')", [tenantId])
      yield* nothingLags
      yield* rows("UPDATE @delivery_leases SET leased_until = now() - interval '1 minute' WHERE tenant_id = $1", [tenantId])
      assert.strictEqual(yield* lag, 2)
    }))

  it.effect("reports destinations whose entries are late, and dead letters of the last day", Effect.fnUntraced(function*() {
    const control = yield* DeliveryControl
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 2 })
    const own = Effect.map(control.troubles, ({ destinations, sources }) => ({
      late: destinations.filter((each) => each.tenantId === tenantId).map(({ dead, waitingMillis = 0 }) => [Math.round(waitingMillis / 60_000), dead]),
      oldest: Math.max(...sources.map(({ waitingMillis = 0 }) => Math.round(waitingMillis / 60_000)))
    }))
    assert.deepStrictEqual((yield* own).late, [])
    yield* rows("UPDATE @delivery_entries SET queued_at = now() - make_interval(mins => 84 / sequence::int) WHERE tenant_id = $1", [tenantId])
    assert.deepStrictEqual(yield* own, { late: [[84, 0]], oldest: 84 })
    yield* rows(
      `INSERT INTO @deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, settled_at)
       SELECT $1, gen_random_uuid(), $2::uuid, 'dead', 1, 1, '{}', '{}', now(), now() - make_interval(hours => h) FROM unnest(ARRAY[1, 23, 25]) AS h`,
      [tenantId, idOf(1)]
    )
    assert.deepStrictEqual((yield* own).late, [[84, 2]])
    // entries that wait on purpose are not late
    yield* control.pause(tenantId, idOf(1), pauseByOperator("Its receiver moves."))
    assert.deepStrictEqual((yield* own).late, [[0, 2]])
  }))
})
