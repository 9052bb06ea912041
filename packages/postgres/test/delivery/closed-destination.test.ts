/** Closing a destination concurrently with publishers, workers and operators leaves nothing behind. */
import { layer } from "@effect/vitest"
import { DeliveryQueue, Transaction } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Fiber, Option } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { testStorage } from "../TestStorage.ts"
import { openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"

const { claim, claimOne, freezeOf, freshTenant, idOf, publish, seed, settlementOf } = fixtures

const left = (table: string, tenantId: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => Effect.map(sql.unsafe<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE tenant_id = '${tenantId}'`), ([row]) => row!.n))

const schema = "closing_test"

layer(testStorage(schema), { excludeTestServices: true })("a destination that is closed", (it) => {
  it.effect("concurrent with a publisher that matched it keeps no entry after the next claim", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* seed(tenantId, {})
      const commit = yield* openTransaction(publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] }))
      yield* queue.closeDestination(tenantId, idOf(1))
      yield* commit
      yield* claim(tenantId)
      assert.deepStrictEqual(
        [yield* left(`${schema}.delivery_entries`, tenantId), yield* left(`${schema}.delivery_arrivals`, tenantId)],
        [0, 0]
      )
    }))

  it.effect("concurrent with a worker that freezes a batch cancels the delivery", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1 })
      const destination = yield* claimOne(tenantId)
      const commit = yield* openTransaction(queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })]))
      const closing = yield* Effect.forkChild(queue.closeDestination(tenantId, idOf(1)))
      yield* untilOneIsBlocked
      yield* commit
      yield* Fiber.join(closing)
      assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(101))).state, "cancelled")
    }))

  it.effect("concurrent with a recovery of its dead letters leaves none waiting", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const transaction = yield* Transaction
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1 })
      const destination = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])
      yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "dead" })], destinations: [] })
      const commit = yield* openTransaction(queue.closeDestination(tenantId, idOf(1)))
      const recovering = yield* Effect.forkChild(transaction.run(queue.recover(tenantId, idOf(1), 0)))
      const retrying = yield* Effect.forkChild(queue.retry(tenantId, idOf(101)))
      yield* untilOneIsBlocked
      yield* commit
      assert.strictEqual(yield* Fiber.join(recovering), 0)
      assert.deepStrictEqual(yield* Fiber.join(retrying), Option.some("cancelled"))
      assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(101))).state, "dead")
      assert.strictEqual(yield* left(`${schema}.delivery_arrivals`, tenantId), 0)
    }))
})
