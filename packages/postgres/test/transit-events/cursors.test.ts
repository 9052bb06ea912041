/** SPEC-GAP-D19: cursors end after half an hour, by the database's clock. */
import { layer } from "@effect/vitest"
import { fixtures } from "@waybill/conformance/suites"
import { cursorMillis, type PageCursor, TransitEventStore } from "@waybill/core/transit-events"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { openTransaction } from "../OpenTransaction.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()

const cursor = (page: number): PageCursor => ({ page, snapshot: "1:1:", after: { shipmentId: "S", sequence: page, eventId: `e${page}` }, totalCount: null })

/** Makes the cursors of a query as old as this. */
const age = (tenantId: string, queryKey: string, millis: number) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    sql.unsafe(`UPDATE "${schema}".transit_cursors SET created_at = now() - $3::float8 * interval '1 ms' WHERE tenant_id = $1 AND query_key = $2`, [tenantId, queryKey, millis]))

const stored = (tenantId: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.map(sql.unsafe<{ readonly query_key: string }>(`SELECT query_key FROM "${schema}".transit_cursors WHERE tenant_id = $1`, [tenantId]), (rows) =>
      rows.map(({ query_key: key }) => key).toSorted()))

layer(testStorage(schema), { excludeTestServices: true })("cursors of the event log", (it) => {
  it.effect("are found until they expire, and from when they were last stored", () =>
    Effect.gen(function*() {
      const [store, tenantId] = [yield* TransitEventStore, fixtures.freshTenant()]
      const found = Effect.map(store.findCursor(tenantId, "query", 9), (each) => each?.page)
      yield* store.putCursor(tenantId, "query", cursor(3))
      yield* age(tenantId, "query", cursorMillis - 60_000)
      assert.strictEqual(yield* found, 3)
      yield* age(tenantId, "query", cursorMillis + 1)
      assert.strictEqual(yield* found, undefined)
      yield* store.putCursor(tenantId, "query", cursor(3))
      assert.strictEqual(yield* found, 3)
    }))

  it.effect("are removed once they expired, when any query of the tenant starts again", () =>
    Effect.gen(function*() {
      const [store, tenantId, other] = [yield* TransitEventStore, fixtures.freshTenant(), fixtures.freshTenant()]
      for (const [tenant, key] of [[tenantId, "expired"], [tenantId, "young"], [other, "expired"]] as const) yield* store.putCursor(tenant, key, cursor(3))
      for (const tenant of [tenantId, other]) yield* age(tenant, "expired", cursorMillis + 1)
      yield* store.putCursor(tenantId, "new", cursor(3))
      assert.deepStrictEqual(yield* stored(tenantId), ["expired", "new", "young"])
      yield* store.putCursor(tenantId, "new", cursor(2))
      assert.deepStrictEqual([yield* stored(tenantId), yield* stored(other)], [["new", "young"], ["expired"]])
    }))

  it.effect("of other clients are removed in small steps, without waiting for those that another transaction has locked", () =>
    Effect.gen(function*() {
      const [store, tenantId, sql] = [yield* TransitEventStore, fixtures.freshTenant(), yield* PgClient.PgClient]
      for (const page of Array.from({ length: 500 }, (_, n) => n + 3)) yield* store.putCursor(tenantId, "expired", cursor(page))
      yield* age(tenantId, "expired", cursorMillis + 1)
      const start = store.putCursor(tenantId, "new", cursor(2))
      yield* start
      const left = (yield* stored(tenantId)).length - 1
      assert.isAbove(left, 0)
      assert.isBelow(left, 500)
      const commit = yield* openTransaction(sql.unsafe(`SELECT FROM "${schema}".transit_cursors WHERE tenant_id = $1 FOR UPDATE`, [tenantId]))
      yield* store.putCursor(tenantId, "newer", cursor(2))
      yield* commit
      for (let n = 0; n < 500; n++) {
        yield* start
        if ((yield* stored(tenantId)).length === 2) return
      }
      assert.fail("Expired cursors are left.")
    }), 20_000)
})
