/** Every claim reads destinations whose `wake_at` is past. A busy destination keeps its value, so that its row updates in place; an idle destination must not be read. */
import { layer } from "@effect/vitest"
import { type ClaimedDestination, DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { claimOne, freezeOf, freshTenant, idOf, publish, releaseOf, seed, settlementOf } = fixtures

const schema = freshSchema()

/** Less than a destination may be read too early. */
const lease = { leaseMillis: 30_000 }

/** The tenant's only destination: its `wake_at`, whether claims read it, and whether it is due. */
const wakeOf = (tenantId: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const [destination] = yield* sql.unsafe<{ wake: string; read: boolean; due: boolean }>(
      `SELECT wake_at::text AS wake, wake_at <= now() AS read, due_at <= now() AS due FROM "${schema}".delivery_destinations WHERE tenant_id = '${tenantId}'`
    )
    return destination!
  })

/** A destination that its worker has just released, with a finished delivery and a waiting event. */
const busy = (tenantId: string, parts: Parameters<typeof releaseOf>[1] = {}) =>
  Effect.gen(function*() {
    const queue = yield* DeliveryQueue
    yield* seed(tenantId, { S: 1 })
    const destination = yield* claimOne(tenantId, lease)
    yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])
    yield* publish(tenantId, [{ shipmentId: "S" }])
    yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101))], destinations: [releaseOf(destination, parts)] })
  })

const failing = { failures: 5, openUntil: 1 }

const giveBack = (tenantId: string, destination: ClaimedDestination, dueInMillis: number) =>
  Effect.gen(function*() {
    const queue = yield* DeliveryQueue
    yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(102) })])
    yield* queue.settle(tenantId, {
      deliveries: [settlementOf(destination, idOf(102), { state: "waiting", dueInMillis })],
      destinations: [releaseOf(destination, { progress: false })]
    })
  })

layer(testStorage(schema), { excludeTestServices: true })("wake_at", (it) => {
  it.effect("of a busy destination does not change while it is claimed and released", () =>
    Effect.gen(function*() {
      const tenantId = freshTenant()
      yield* busy(tenantId)
      const before = yield* wakeOf(tenantId)
      assert.deepStrictEqual([before.read, before.due], [true, true])
      const destination = yield* claimOne(tenantId, lease)
      const claimed = yield* wakeOf(tenantId)
      assert.deepStrictEqual([claimed.wake, claimed.due], [before.wake, false])
      yield* giveBack(tenantId, destination, 0)
      const after = yield* wakeOf(tenantId)
      assert.deepStrictEqual([after.wake, after.due], [before.wake, true])
    }))

  it.effect("of a destination that waits for a retry is the time of the retry", () =>
    Effect.gen(function*() {
      const tenantId = freshTenant()
      yield* busy(tenantId)
      const destination = yield* claimOne(tenantId, lease)
      assert.isTrue((yield* wakeOf(tenantId)).read)
      yield* giveBack(tenantId, destination, 30_000)
      assert.isFalse((yield* wakeOf(tenantId)).read)
    }))

  it.effect("of a destination with an extended lease is the end of the lease", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* busy(tenantId)
      const destination = yield* claimOne(tenantId, lease)
      assert.isTrue((yield* wakeOf(tenantId)).read)
      assert.strictEqual((yield* queue.heartbeat(tenantId, [destination], lease.leaseMillis)).size, 1)
      assert.isFalse((yield* wakeOf(tenantId)).read)
    }))

  it.effect("of a destination with an open circuit breaker is later while its probe is in flight", () =>
    Effect.gen(function*() {
      const tenantId = freshTenant()
      yield* busy(tenantId, { breaker: failing })
      assert.isTrue((yield* wakeOf(tenantId)).read)
      yield* claimOne(tenantId, lease)
      assert.isFalse((yield* wakeOf(tenantId)).read)
    }))
})
