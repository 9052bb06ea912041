/** SPEC-GAP-D18: totals of long lists. */
import { layer } from "@effect/vitest"
import { countLimit, type EventType, TransitEventStore } from "@waybill/core/transit-events"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()

const store = (tenantId: string, count: number) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    sql.unsafe(
      `INSERT INTO "${schema}".transit_events (tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, body)
       SELECT $1, 'E' || n, 'SHP-' || n % 100, n, CASE WHEN n % 5000 = 0 THEN 2 ELSE 1 END, now(), '{}'::bytea FROM generate_series(1, $2::int) AS n`,
      [tenantId, count]
    ))

const total = (tenantId: string, eventTypes?: ReadonlyArray<EventType>) =>
  Effect.flatMap(TransitEventStore, (events) =>
    events.page({
      tenantId,
      visibility: { _tag: "All" },
      filter: { shipmentId: undefined, eventTypes, occurredFrom: undefined, occurredTo: undefined, order: "asc" },
      snapshot: undefined,
      after: undefined,
      skip: 0,
      limit: 11,
      count: true
    })).pipe(Effect.map((page) => page.totalCount))

layer(testStorage(schema), { excludeTestServices: true })("the total of a list", (it) => {
  it.effect("is exact up to the limit", Effect.fnUntraced(function*() {
    yield* store("full", countLimit)
    assert.strictEqual(yield* total("full"), countLimit)
  }))

  it.effect("is unknown one event beyond the limit", Effect.fnUntraced(function*() {
    yield* store("over", countLimit + 1)
    assert.isNull(yield* total("over"))
  }))

  it.effect("counts the events of some types among as many as the limit, and none among more, unless a page has them all", Effect.fnUntraced(function*() {
    yield* store("few", countLimit)
    yield* store("many", countLimit + 1)
    assert.strictEqual(yield* total("few", ["PICKUP_ATTEMPTED"]), countLimit / 5000)
    assert.isNull(yield* total("many", ["PICKUP_ATTEMPTED"]))
    assert.strictEqual(yield* total("many", ["DELIVERED"]), 0)
  }))
})
