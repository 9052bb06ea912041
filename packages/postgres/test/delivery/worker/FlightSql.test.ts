import { layer } from "@effect/vitest"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { freshTenant } = fixtures
const { acquire, end, seededWorker, takeOne } = workerFixtures

const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("a worker that takes over after a crash of the database", (it) => {
  it.effect("makes a delivery wait that was sent again, although its flight is lost", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const delivery = yield* takeOne(worker)
    yield* end(worker, [delivery], { state: "waiting" })
    yield* takeOne(worker, 1, { again: [delivery.deliveryId], batches: 0 })
    yield* rowsIn(schema)("DELETE FROM @delivery_flights WHERE tenant_id = $1", [tenantId])
    assert.deepStrictEqual((yield* acquire(tenantId, { worker: worker.workerId })).waiting.map(({ deliveryId }) => deliveryId), [delivery.deliveryId])
  }))
})
