/** What the health of a small tenant reads beside a large one. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import { raw } from "../../../src/client/SqlStatement.ts"
import { tenantHealth } from "../../../src/delivery/operator/DeliveryControlSql.ts"
import { planOf, seqScans } from "../../PlanScans.ts"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const schema = freshSchema()
const rows = rowsIn(schema)

layer(testStorage(schema), { excludeTestServices: true })("the health of a tenant", (it) => {
  it.effect("does not read the entries of a larger one", Effect.fnUntraced(function*() {
    yield* rows(`INSERT INTO @delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
      SELECT CASE WHEN n = 1 THEN 'small' ELSE 'large' END, gen_random_uuid(), n::text, 1, n, 1 FROM generate_series(1, 40000) AS n`)
    yield* rows("ANALYZE @delivery_entries")
    assert.deepStrictEqual(seqScans(yield* planOf(tenantHealth(raw(`"${schema}"`), "small").text)).filter((each) => each.startsWith("delivery_entries")), [])
  }))
})
