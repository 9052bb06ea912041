/** A claim reads lanes and then locks them. It must not rely on rows that changed in between. */
import { layer } from "@effect/vitest"
import { type ClaimedLane, DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { pauseNextRead } from "../PausedReads.ts"
import { untilOneIsBlocked } from "../OpenTransaction.ts"

const { claim, claimOne, freezeOf, freshTenant, idOf, letSee, occurredAt, publish, releaseOf, seed, settlementOf, subscribe } = fixtures

const schema = freshSchema()

const one = (lane: ClaimedLane, n: number, at: number) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [lane.waiting[at]!], traceparent: undefined })

const handed = ({ lanes }: Effect.Success<ReturnType<typeof claim>>) =>
  lanes.map(({ laneId, waiting }) => [laneId, waiting.map(({ key, sequence }) => `${key}/${sequence}`)])

layer(testStorage(schema), { excludeTestServices: true })("a claim", (it) => {
  it.effect("concurrent with a release leaves new entries of the lane to the next claim", () =>
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
      // the claim has read that S is in flight, and that the lane has new entries
      yield* queue.settle(tenantId, { deliveries: [settlementOf(first, idOf(101))], lanes: [releaseOf(first)] })
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
      yield* queue.settle(tenantId, { deliveries: [settlementOf(held, idOf(101))], lanes: [] })
      yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
      const resume = yield* pauseNextRead(schema, "delivery_arrivals")
      const crossing = yield* Effect.forkChild(claim(tenantId, { maxLanes: 0, refill: [held] }))
      yield* untilOneIsBlocked
      yield* publish(tenantId, [{ shipmentId: "S" }])
      assert.deepStrictEqual(handed(yield* claim(tenantId)), [[idOf(2), ["T/1"]]])
      yield* resume
      const { lanes: [refilled] } = yield* Fiber.join(crossing)
      // as a worker does that has nothing left to send
      yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(refilled ?? held, { progress: false })] })
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
          lanes: [releaseOf(first)]
        })
        yield* publish(tenantId, [{ shipmentId: "S" }])
        const resume = yield* pauseNextRead(schema, "delivery_arrivals")
        const crossing = yield* Effect.forkChild(claimOne(tenantId))
        yield* untilOneIsBlocked
        if (act === "retry") yield* queue.retry(tenantId, idOf(101))
        else yield* queue.recover(tenantId, idOf(1), 0)
        yield* resume
        const lane = yield* Fiber.join(crossing)
        // either S/1 again or S/2, never both
        assert.deepStrictEqual([lane.due.map((d) => d.deliveryId), lane.waiting.map((e) => e.orderId)], [[idOf(101)], []])
        assert.strictEqual(lane.more, true)
      }))
  }

  it.effect("of due tenants returns a lane that becomes due meanwhile as due or as next", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(`UPDATE "${schema}".delivery_lanes SET due_at = NULL, wake_at = NULL`).unprepared
      yield* sql.unsafe(`DELETE FROM "${schema}".delivery_arrivals`).unprepared
      yield* seed(tenantId, { S: 1 })
      const first = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
      yield* queue.settle(tenantId, {
        deliveries: [settlementOf(first, idOf(101), { state: "waiting", dueInMillis: 1500 })],
        lanes: [releaseOf(first)]
      })
      yield* seed(freshTenant(), { S: 1 })
      const resume = yield* pauseNextRead(schema, "delivery_arrivals")
      const asking = yield* Effect.forkChild(queue.tenantsDue(10))
      yield* untilOneIsBlocked
      yield* fixtures.eventually(sql.unsafe<{ due: boolean }>(`SELECT due_at <= now() AS due FROM "${schema}".delivery_lanes WHERE tenant_id = '${tenantId}'`), ([row]) => row!.due)
      yield* resume
      const { due, nextDueInMillis } = yield* Fiber.join(asking)
      assert.isTrue(due.includes(tenantId) || nextDueInMillis !== undefined, JSON.stringify([due, nextDueInMillis]))
    }), 20_000)
})
