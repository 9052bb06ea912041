import { layer } from "@effect/vitest"
import { DeliveryStore } from "@waybill/core/delivery"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { freshTenant } = fixtures
const { acquire } = workerFixtures

const schema = freshSchema()
const rows = rowsIn(schema)

layer(testStorage(schema), { excludeTestServices: true })("a worker", (it) => {
  it.effect("forgets others that ended an hour ago, and is alive after a pause that was longer", Effect.fnUntraced(function*() {
    const store = yield* DeliveryStore
    const renew = (workerId: string) => store.renew({ workerId, leaseMillis: 60_000 })
    yield* Effect.forEach(["now", "lately", "long ago"], renew)
    yield* rows("UPDATE @delivery_workers SET alive_until = now() - make_interval(mins => CASE worker_id WHEN 'lately' THEN 59 ELSE 61 END)")
    assert.strictEqual((yield* renew("now")).workers, 1)
    assert.deepStrictEqual(yield* rows("SELECT worker_id FROM @delivery_workers ORDER BY worker_id"), [{ worker_id: "lately" }, { worker_id: "now" }])
  }))

  it.effect("gets an epoch that nobody had before, also from a database that was restored", Effect.fnUntraced(function*() {
    const store = yield* DeliveryStore
    const tenantId = freshTenant()
    const epochsOf = ({ owned }: { readonly owned: ReadonlyArray<{ readonly epoch: number }> }) => owned.map(({ epoch }) => epoch)
    const lost = yield* acquire(tenantId)
    const restore = rows("UPDATE @delivery_partitions SET epoch = 1 WHERE tenant_id = $1", [tenantId])
    yield* restore
    const worker = yield* acquire(tenantId, { worker: lost.workerId })
    assert.isAbove(Math.min(...epochsOf(worker)), Math.max(...epochsOf(lost)))
    yield* restore
    const reclaimed = yield* store.reclaim(tenantId, worker.owned.map((each) => ({ ...each, epoch: 1 })), "00000000-0000-7000-8000-000000000000")
    assert.isAbove(Math.min(...epochsOf(reclaimed)), Math.max(...epochsOf(worker)))
  }))
})
