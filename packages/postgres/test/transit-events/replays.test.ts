/** Replays of events that were stored exactly at an end of the time, and of logs that are too long for one statement. */
import { layer } from "@effect/vitest"
import { TransitSubscriptionStore } from "@waybill/core/transit-events"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Option } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { freshTenant, idOf, occurredAt, seed } = fixtures
const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("a replay", (it) => {
  it.effect("has the events that were stored at its start, and not those at its end", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* TransitSubscriptionStore, freshTenant()]
    yield* seed(tenantId, { S: 1 })
    yield* workerFixtures.drain(tenantId)
    yield* rowsIn(schema)("UPDATE @transit_events SET recorded_at = $2 WHERE tenant_id = $1", [tenantId, new Date(occurredAt)])
    const replay = (from: number, to: number) => store.replay(tenantId, idOf(1), { from, to, shipmentIds: undefined })
    assert.deepStrictEqual(yield* replay(occurredAt - 1, occurredAt), Option.some(0))
    assert.deepStrictEqual(yield* replay(occurredAt, occurredAt + 1), Option.some(1))
  }))

  it.effect("of a long log commits in steps", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* TransitSubscriptionStore, freshTenant()]
    yield* seed(tenantId, { S: 1 })
    yield* workerFixtures.drain(tenantId)
    const rows = rowsIn(schema)
    yield* rows(`INSERT INTO @transit_events (tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, body)
      SELECT $1, 'long ' || n, 'S', n + 1, 1, now(), '' FROM generate_series(1, 24999) AS n`, [tenantId])
    assert.deepStrictEqual(yield* store.replay(tenantId, idOf(1), { from: 0, to: undefined, shipmentIds: undefined }), Option.some(25_000))
    const transactions = yield* rows("SELECT count(*)::int4 AS entries FROM @delivery_entries WHERE tenant_id = $1 GROUP BY xmin::text ORDER BY min(sequence)", [tenantId])
    assert.deepStrictEqual(transactions, [{ entries: 10_000 }, { entries: 10_000 }, { entries: 5000 }])
    // what waits is not queued again
    assert.deepStrictEqual(yield* store.replay(tenantId, idOf(1), { from: 0, to: undefined, shipmentIds: ["S"] }), Option.some(0))
  }))
})
