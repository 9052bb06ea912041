/** A claim reads destinations and then locks them. It must not rely on rows that changed in between. */
import { layer } from "@effect/vitest"
import { type ClaimedDestination, DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { pauseNextRead } from "../PausedReads.ts"
import { untilOneIsBlocked } from "../OpenTransaction.ts"

const { claim, claimOne, freezeOf, freshTenant, idOf, letSee, occurredAt, publish, releaseOf, seed, settlementOf, subscribe } = fixtures

const schema = freshSchema()

const one = (destination: ClaimedDestination, n: number, at: number) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [destination.waiting[at]!], traceparent: undefined })

const handed = ({ destinations }: Effect.Success<ReturnType<typeof claim>>) =>
  destinations.map(({ destinationId, waiting }) => [destinationId, waiting.map(({ key, sequence }) => `${key}/${sequence}`)])

layer(testStorage(schema), { excludeTestServices: true })("a claim", (it) => {
  it.effect("concurrent with a release leaves new entries of the destination to the next claim", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1 })
      const first = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
      yield* publish(tenantId, [{ shipmentId: "S" }])
      const resume = yield* pauseNextRead(schema, "delivery_arrivals")
      const crossing = yield* Effect.forkChild(claim(tenantId))
      yield* untilOneIsBlocked
      // the claim has read that S is in flight, and that the destination has new entries
      yield* queue.settle(tenantId, { deliveries: [settlementOf(first, idOf(101))], destinations: [releaseOf(first)] })
      yield* resume
      const crossed = yield* Fiber.join(crossing)
      assert.deepStrictEqual([handed(crossed), crossed.crossed], [[], true])
      const next = yield* claim(tenantId)
      assert.deepStrictEqual([handed(next), next.crossed], [[[idOf(1), ["S/2"]]], false])
    }))

  it.effect("does not report a signal as read that another claim took during a refill", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* letSee(tenantId, "client", ["A"])
      yield* subscribe(tenantId, { n: 1, shipmentIds: ["S"] })
      yield* subscribe(tenantId, { n: 2, shipmentIds: ["T"] })
      yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
      const held = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(held, { deliveryId: idOf(101) })])
      yield* queue.settle(tenantId, { deliveries: [settlementOf(held, idOf(101))], destinations: [] })
      yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
      const resume = yield* pauseNextRead(schema, "delivery_arrivals")
      const crossing = yield* Effect.forkChild(claim(tenantId, { maxDestinations: 0, refill: [held] }))
      yield* untilOneIsBlocked
      yield* publish(tenantId, [{ shipmentId: "S" }])
      assert.deepStrictEqual(handed(yield* claim(tenantId)), [[idOf(2), ["T/1"]]])
      yield* resume
      const { destinations: [refilled] } = yield* Fiber.join(crossing)
      // as a worker does that has nothing left to send
      yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(refilled ?? held, { progress: false })] })
      assert.deepStrictEqual(handed(yield* claim(tenantId)), [[idOf(1), ["S/2"]]])
    }))

  for (const act of ["retry", "recover"] as const) {
    it.effect(`concurrent with a ${act} does not return a shipment's dead letter together with its next event`, () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, { fresh: [one(first, 101, 0), one(first, 102, 1)] })])
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(first, idOf(101), { state: "dead" }), settlementOf(first, idOf(102), { state: "waiting", dueInMillis: 3_600_000 })],
          destinations: [releaseOf(first)]
        })
        yield* publish(tenantId, [{ shipmentId: "S" }])
        const resume = yield* pauseNextRead(schema, "delivery_arrivals")
        const crossing = yield* Effect.forkChild(claimOne(tenantId))
        yield* untilOneIsBlocked
        if (act === "retry") yield* queue.retry(tenantId, idOf(101))
        else yield* queue.recover(tenantId, idOf(1), 0)
        yield* resume
        const destination = yield* Fiber.join(crossing)
        // either S/1 again or S/2, never both
        assert.deepStrictEqual([destination.due.map((d) => d.deliveryId), destination.waiting.map((e) => e.orderId)], [[idOf(101)], []])
        assert.strictEqual(destination.more, true)
      }))
  }

  it.effect("of due tenants returns a destination that becomes due meanwhile as due or as next", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(`UPDATE "${schema}".delivery_destinations SET due_at = NULL, wake_at = NULL`).unprepared
      yield* sql.unsafe(`DELETE FROM "${schema}".delivery_arrivals`).unprepared
      yield* seed(tenantId, { S: 1 })
      const first = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
      yield* queue.settle(tenantId, {
        deliveries: [settlementOf(first, idOf(101), { state: "waiting", dueInMillis: 1500 })],
        destinations: [releaseOf(first)]
      })
      yield* seed(freshTenant(), { S: 1 })
      const resume = yield* pauseNextRead(schema, "delivery_arrivals")
      const asking = yield* Effect.forkChild(queue.tenantsDue(10))
      yield* untilOneIsBlocked
      yield* fixtures.eventually(sql.unsafe<{ due: boolean }>(`SELECT due_at <= now() AS due FROM "${schema}".delivery_destinations WHERE tenant_id = '${tenantId}'`), ([row]) => row!.due)
      yield* resume
      const { due, nextDueInMillis } = yield* Fiber.join(asking)
      assert.isTrue(due.includes(tenantId) || nextDueInMillis !== undefined, JSON.stringify([due, nextDueInMillis]))
    }), 20_000)
})
