/** Retention of cancelled subscriptions with long in-flight lists. */
import { layer } from "@effect/vitest"
import { ChargeSubscriptionStore, FreightBillStore } from "@waybill/core/freight-charges"
import { chargeFixtures, fixtures } from "@waybill/conformance/suites"
import { Effect, Option } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()
const { idOf, letSee } = fixtures

layer(testStorage(schema), { excludeTestServices: true })("a cancelled subscription with a long list", (it) => {
  it.effect("is removed after its list, of which each step removes a part", Effect.fnUntraced(function*() {
    const [bills, store, sql, tenantId] = [yield* FreightBillStore, yield* ChargeSubscriptionStore, yield* PgClient.PgClient, fixtures.freshTenant()]
    yield* letSee(tenantId, "client", ["A"])
    yield* chargeFixtures.subscribeToCharges(tenantId)
    yield* sql.unsafe(
      `INSERT INTO "${schema}".freight_charge_in_flight (tenant_id, subscription_id, bill_id, version, accounts, body)
       SELECT $1, $2::uuid, 'B' || n, 1, '{}', '' FROM generate_series(1, 12000) AS n`,
      [tenantId, idOf(1)]
    )
    yield* store.cancel(tenantId, "client", idOf(1))
    const step = bills.prune(tenantId, { ended: 0, noticed: Date.now() + 60_000 })
    const isKept = Effect.map(store.findAny(tenantId, idOf(1)), Option.isSome)
    assert.deepStrictEqual([yield* step, yield* isKept], [5000, true])
    assert.deepStrictEqual([yield* step, yield* isKept], [5000, true])
    assert.deepStrictEqual([yield* step, yield* isKept, yield* step], [1, false, 0])
    const [left] = yield* sql.unsafe<{ readonly n: number }>(`SELECT count(*)::int AS n FROM "${schema}".freight_charge_in_flight WHERE tenant_id = $1`, [tenantId])
    assert.strictEqual(left!.n, 0)
  }))
})
