/** Lookups of a PRO that very many pickups share, and what the database reads for them. */
import { layer } from "@effect/vitest"
import { PickupStore } from "@waybill/core/pickups"
import { Effect, Option } from "effect"
import { assert } from "vitest"
import { raw } from "../../src/client/SqlStatement.ts"
import { pickupOfPro, pickupsOfPros } from "../../src/pickups/PickupSql.ts"
import { pagesRead } from "../invoices/PagesRead.ts"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()
const rows = rowsIn(schema)
const count = 5000

const idOf = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`

layer(testStorage(schema), { excludeTestServices: true })("a PRO of many pickups", (it) => {
  it.effect("is found by the newest that the viewer sees, and costs no more for it", Effect.fnUntraced(function*() {
    const store = yield* PickupStore
    yield* rows(
      `INSERT INTO @pickups (tenant_id, pickup_id, number, is_test, client, accounts, status, waits, doc, created_at)
       SELECT 't', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n::text, false, CASE n WHEN 7 THEN 'key:own' ELSE 'key:other' END, '{}', 'Accepted', false, '{}', now() + n * interval '1 second'
       FROM generate_series(1, ${4 * count}) AS n`
    )
    yield* rows("INSERT INTO @pickup_pros (tenant_id, pro, pickup_id) SELECT tenant_id, CASE WHEN number::int <= $1 THEN 'N/A' ELSE number END, pickup_id FROM @pickups", [count])
    yield* rows("VACUUM ANALYZE @pickups")
    yield* rows("VACUUM ANALYZE @pickup_pros")
    const pro = { isTest: false, pro: "N/A" }
    const newest = yield* store.findByPro("t", "all", pro)
    assert.strictEqual(Option.getOrThrow(newest).pickupId, idOf(count))
    const own = yield* store.findByPro("t", { client: "key:own", accounts: [] }, pro)
    assert.strictEqual(Option.getOrThrow(own).pickupId, idOf(7))
    assert.deepStrictEqual((yield* store.ofPros("t", ["N/A", "1"], 2)).map(({ pickup }) => pickup.pickupId), [idOf(count), idOf(count - 1)])
    const quoted = raw(`"${schema}"`)
    assert.isBelow(yield* pagesRead(pickupOfPro(quoted, "t", "all", pro)), 40)
    assert.isBelow(yield* pagesRead(pickupsOfPros(quoted, "t", ["N/A"], 2)), 40)
  }))
})
