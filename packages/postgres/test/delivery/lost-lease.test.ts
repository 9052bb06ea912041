/** A settlement or freeze whose lease or lane changed while it waited for a lock is applied completely or not at all. */
import { layer } from "@effect/vitest"
import { type ClaimedLane, DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Exit, Fiber, Option } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"

const { claim, claimOne, eventually, freezeOf, freshTenant, idOf, occurredAt, publish, releaseOf, seed, settlementOf, subscribe } = fixtures

const schema = freshSchema()

const one = (lane: ClaimedLane, n: number, at: number) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [lane.waiting[at]!], traceparent: undefined })

layer(testStorage(schema), { excludeTestServices: true })("a settlement that waits for a lock", (it) => {
  it.effect("sends no event after its shipment's dead letter if the settlement pauses the lane, in any number of statements", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 2, T: 1 }, { shipmentIds: ["S", "T"] })
      yield* subscribe(tenantId, { n: 0, shipmentIds: ["Z"] })
      yield* publish(tenantId, [{ shipmentId: "Z" }], { accounts: ["A"] })
      const { lanes } = yield* claim(tenantId)
      const other = lanes.find((each) => each.laneId === idOf(0))!
      const lane = lanes.find((each) => each.laneId === idOf(1))!
      assert.deepStrictEqual(lane.waiting.map((each) => each.orderId), ["S/1", "S/2", "T/1"])
      yield* queue.freeze(tenantId, [freezeOf(lane, { fresh: [one(lane, 101, 0), one(lane, 102, 2)] }), freezeOf(other, { deliveryId: idOf(103) })])
      // the settling loop's second statement waits for another lane
      const commit = yield* openTransaction(sql.unsafe(`SELECT 1 FROM "${schema}".delivery_lanes WHERE tenant_id = '${tenantId}' AND lane_id = '${idOf(0)}' FOR UPDATE`).unprepared)
      const record = (attempt: number) => ({ attempt, at: occurredAt, durationMillis: 5, outcome: "status" })
      const settling = yield* Effect.forkChild(queue.settle(tenantId, {
        deliveries: [
          // repeated, and its next attempt
          settlementOf(lane, idOf(102), { state: "waiting", record: record(1) }),
          settlementOf(lane, idOf(101), { state: "dead", record: record(1) }),
          settlementOf(lane, idOf(102), { state: "waiting", record: record(2) })
        ],
        lanes: [
          { laneId: lane.laneId, token: lane.token, breaker: { failures: 1, openUntil: undefined }, pause: "A delivery was not accepted.", release: undefined },
          releaseOf(other)
        ]
      }))
      yield* untilOneIsBlocked
      const { lanes: [refilled] } = yield* claim(tenantId, { maxLanes: 0, refill: [lane] })
      const frozen = refilled === undefined ? new Set() : yield* queue.freeze(tenantId, [freezeOf(refilled, { deliveryId: idOf(104) })])
      yield* commit
      yield* Fiber.join(settling)
      assert.deepStrictEqual([refilled?.waiting.map((each) => each.orderId) ?? [], frozen.size], [[], 0])
    }))

  it.effect("makes no dead letter without the requested pause if another worker took the lease", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 2 }, { shipmentIds: ["S"] })
      yield* subscribe(tenantId, { n: 0, shipmentIds: ["Z"] })
      yield* publish(tenantId, [{ shipmentId: "Z" }], { accounts: ["A"] })
      const { lanes } = yield* claim(tenantId, { leaseMillis: 1 })
      const other = lanes.find((each) => each.laneId === idOf(0))!
      const lane = lanes.find((each) => each.laneId === idOf(1))!
      yield* queue.freeze(tenantId, [freezeOf(lane, { fresh: [one(lane, 101, 0)] }), freezeOf(other, { deliveryId: idOf(103) })])
      const commit = yield* openTransaction(sql.unsafe(`SELECT 1 FROM "${schema}".delivery_lanes WHERE tenant_id = '${tenantId}' AND lane_id = '${idOf(0)}' FOR UPDATE`).unprepared)
      const settling = yield* Effect.forkChild(queue.settle(tenantId, {
        deliveries: [settlementOf(lane, idOf(101), { state: "dead" })],
        lanes: [releaseOf(lane, { pause: "A delivery was not accepted." }), releaseOf(other)]
      }))
      yield* untilOneIsBlocked
      const { lanes: [taken] } = yield* eventually(claim(tenantId), ({ lanes }) => lanes.length > 0)
      const next = taken!
      assert.deepStrictEqual(next.due.map((d) => d.deliveryId), [idOf(101)])
      yield* commit
      yield* Fiber.join(settling)
      const { state } = Option.getOrThrow(yield* queue.find(tenantId, idOf(101)))
      const lane2 = Option.getOrThrow(yield* queue.laneStatus(tenantId, idOf(1)))
      const { lanes: [refilled] } = yield* claim(tenantId, { maxLanes: 0, refill: [next] })
      assert.deepStrictEqual([state, lane2.state, refilled?.waiting.map((e) => e.orderId)], ["sending", "active", []])
    }))

  it.effect("ends a delivery that the next owner of the lease then does not send", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { R: 1, S: 2 })
      const lane = yield* claimOne(tenantId, { leaseMillis: 1 })
      yield* queue.freeze(tenantId, [freezeOf(lane, { fresh: [one(lane, 100, 0), one(lane, 101, 1)] })])
      const commit = yield* openTransaction(sql.unsafe(`SELECT 1 FROM "${schema}".deliveries WHERE tenant_id = '${tenantId}' AND delivery_id = '${idOf(100)}' FOR UPDATE`).unprepared)
      const settling = yield* Effect.forkChild(queue.settle(tenantId, { deliveries: [100, 101].map((n) => settlementOf(lane, idOf(n), { state: "dead" })), lanes: [] }))
      yield* untilOneIsBlocked
      const { lanes: [taken] } = yield* eventually(claim(tenantId), ({ lanes }) => lanes.length > 0)
      const next = taken!
      assert.deepStrictEqual(next.due.map((d) => d.deliveryId), [idOf(100), idOf(101)])
      yield* commit
      yield* Fiber.join(settling)
      const frozen = yield* Effect.exit(queue.freeze(tenantId, [freezeOf(next, { fresh: [], again: [idOf(101)] })]))
      const sends = Exit.isSuccess(frozen) && frozen.value.size === 1
      const { lanes: [refilled] } = yield* claim(tenantId, { maxLanes: 0, refill: [next] })
      // not S/1 in flight and S/2 returned by the claim
      assert.isFalse(sends && refilled!.waiting.some((e) => e.orderId === "S/2"))
    }))
})
