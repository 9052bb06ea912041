/** The queue depth in metrics must not include entries that are gone. */
import { layer } from "@effect/vitest"
import { DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { freshTenant, idOf, seed } = fixtures

const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("the depth of the queue", (it) => {
  it.effect("counts waiting entries, also if the planner's estimate is outdated", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 3, T: 2 })
      yield* sql.unsafe(`ANALYZE ${schema}.delivery_entries`)
      assert.strictEqual((yield* queue.depth).waitingEntries, 5)
      yield* queue.closeDestination(tenantId, idOf(1))
      assert.strictEqual((yield* queue.depth).waitingEntries, 0)
    }))
})
