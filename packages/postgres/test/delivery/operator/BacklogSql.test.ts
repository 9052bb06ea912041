import { layer } from "@effect/vitest"
import { DeliveryControl, pauseForPurge, purgeStep } from "@waybill/core/delivery"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { freshTenant, idOf, subscribe } = fixtures

const schema = freshSchema()
const rows = rowsIn(schema)

layer(testStorage(schema), { excludeTestServices: true })("a purge", (it) => {
  it.effect("cancels 5,000 retries in each step, until none waits", Effect.fnUntraced(function*() {
    const control = yield* DeliveryControl
    const tenantId = freshTenant()
    yield* subscribe(tenantId)
    yield* rows(
      `INSERT INTO @deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, due_at)
       SELECT $1, gen_random_uuid(), $2::uuid, 'waiting', 1, 1, '{1,2}', '{}', now(), now() FROM generate_series(0, $3::int)`,
      [tenantId, idOf(1), purgeStep]
    )
    yield* control.pause(tenantId, idOf(1), pauseForPurge)
    const first = yield* control.purgeNext(tenantId, idOf(1), undefined)
    assert.deepStrictEqual([first.dropped, first.next !== undefined], [2 * purgeStep, true])
    assert.deepStrictEqual(yield* control.purgeNext(tenantId, idOf(1), first.next), { dropped: 2, next: undefined })
    assert.deepStrictEqual(yield* rows("SELECT state, count(*)::int AS n FROM @deliveries WHERE tenant_id = $1 GROUP BY state", [tenantId]), [{ state: "cancelled", n: purgeStep + 1 }])
  }))
})
