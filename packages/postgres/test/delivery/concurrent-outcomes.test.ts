/** An outcome that waits for a concurrent write to the same delivery is applied to the row after that write. */
import { layer } from "@effect/vitest"
import { DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Fiber, Option } from "effect"
import { assert } from "vitest"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"

const { claimOne, freezeOf, freshTenant, idOf, occurredAt, seed, settlementOf } = fixtures

const record = (durationMillis: number) => ({ attempt: 1, at: occurredAt, durationMillis, outcome: "accepted" as const, status: 200 })

layer(testStorage(freshSchema()), { excludeTestServices: true })("an outcome that waits for a delivery's row", (it) => {
  it.effect("does not undo the concurrent write, and the other outcomes of the call are written", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1, T: 1 })
      const destination = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(destination, {
        fresh: [0, 1].map((n) => ({ deliveryId: idOf(101 + n), sentAt: occurredAt, entries: [destination.waiting[n]!], traceparent: undefined }))
      })])
      const commit = yield* openTransaction(
        queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "dead", record: record(1) })], destinations: [] })
      )
      const second = yield* Effect.forkChild(queue.settle(tenantId, {
        deliveries: [102, 101].map((n) => settlementOf(destination, idOf(n), { record: record(2) })),
        destinations: []
      }))
      yield* untilOneIsBlocked
      yield* commit
      yield* Fiber.join(second)
      const found = yield* Effect.forEach([101, 102], (n) => Effect.map(queue.find(tenantId, idOf(n)), Option.getOrThrow))
      assert.deepStrictEqual(
        found.map(({ attempts, state }) => [state, attempts.map((each) => each.durationMillis)]),
        [["dead", [1, 2]], ["delivered", [2]]]
      )
    }))
})
