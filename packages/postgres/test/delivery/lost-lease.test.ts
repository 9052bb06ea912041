/** A settlement or freeze whose lease or destination changed while it waited for a lock is applied completely or not at all. */
import { layer } from "@effect/vitest"
import { type ClaimedDestination, DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Exit, Fiber, Option } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"

const { claim, claimOne, eventually, freezeOf, freshTenant, idOf, occurredAt, publish, releaseOf, seed, settlementOf, subscribe } = fixtures

const schema = freshSchema()

const one = (destination: ClaimedDestination, n: number, at: number) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [destination.waiting[at]!], traceparent: undefined })

layer(testStorage(schema), { excludeTestServices: true })("a settlement that waits for a lock", (it) => {
  it.effect("sends no event after its shipment's dead letter if the settlement pauses the destination, in any number of statements", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 2, T: 1 }, { shipmentIds: ["S", "T"] })
      yield* subscribe(tenantId, { n: 0, shipmentIds: ["Z"] })
      yield* publish(tenantId, [{ shipmentId: "Z" }], { accounts: ["A"] })
      const { destinations } = yield* claim(tenantId)
      const other = destinations.find((each) => each.destinationId === idOf(0))!
      const destination = destinations.find((each) => each.destinationId === idOf(1))!
      assert.deepStrictEqual(destination.waiting.map((each) => each.orderId), ["S/1", "S/2", "T/1"])
      yield* queue.freeze(tenantId, [freezeOf(destination, { fresh: [one(destination, 101, 0), one(destination, 102, 2)] }), freezeOf(other, { deliveryId: idOf(103) })])
      // the settling loop's second statement waits for another destination
      const commit = yield* openTransaction(sql.unsafe(`SELECT 1 FROM "${schema}".delivery_destinations WHERE tenant_id = '${tenantId}' AND destination_id = '${idOf(0)}' FOR UPDATE`).unprepared)
      const record = (attempt: number) => ({ attempt, at: occurredAt, durationMillis: 5, outcome: "status" })
      const settling = yield* Effect.forkChild(queue.settle(tenantId, {
        deliveries: [
          // repeated, and its next attempt
          settlementOf(destination, idOf(102), { state: "waiting", record: record(1) }),
          settlementOf(destination, idOf(101), { state: "dead", record: record(1) }),
          settlementOf(destination, idOf(102), { state: "waiting", record: record(2) })
        ],
        destinations: [
          { destinationId: destination.destinationId, token: destination.token, breaker: { failures: 1, openUntil: undefined }, pause: "A delivery was not accepted.", release: undefined },
          releaseOf(other)
        ]
      }))
      yield* untilOneIsBlocked
      const { destinations: [refilled] } = yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })
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
      const { destinations } = yield* claim(tenantId, { leaseMillis: 1 })
      const other = destinations.find((each) => each.destinationId === idOf(0))!
      const destination = destinations.find((each) => each.destinationId === idOf(1))!
      yield* queue.freeze(tenantId, [freezeOf(destination, { fresh: [one(destination, 101, 0)] }), freezeOf(other, { deliveryId: idOf(103) })])
      const commit = yield* openTransaction(sql.unsafe(`SELECT 1 FROM "${schema}".delivery_destinations WHERE tenant_id = '${tenantId}' AND destination_id = '${idOf(0)}' FOR UPDATE`).unprepared)
      const settling = yield* Effect.forkChild(queue.settle(tenantId, {
        deliveries: [settlementOf(destination, idOf(101), { state: "dead" })],
        destinations: [releaseOf(destination, { pause: "A delivery was not accepted." }), releaseOf(other)]
      }))
      yield* untilOneIsBlocked
      const { destinations: [taken] } = yield* eventually(claim(tenantId), ({ destinations }) => destinations.length > 0)
      const next = taken!
      assert.deepStrictEqual(next.due.map((d) => d.deliveryId), [idOf(101)])
      yield* commit
      yield* Fiber.join(settling)
      const { state } = Option.getOrThrow(yield* queue.find(tenantId, idOf(101)))
      const destination2 = Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1)))
      const { destinations: [refilled] } = yield* claim(tenantId, { maxDestinations: 0, refill: [next] })
      assert.deepStrictEqual([state, destination2.state, refilled?.waiting.map((e) => e.orderId)], ["sending", "active", []])
    }))

  it.effect("ends a delivery that the next owner of the lease then does not send", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { R: 1, S: 2 })
      const destination = yield* claimOne(tenantId, { leaseMillis: 1 })
      yield* queue.freeze(tenantId, [freezeOf(destination, { fresh: [one(destination, 100, 0), one(destination, 101, 1)] })])
      const commit = yield* openTransaction(sql.unsafe(`SELECT 1 FROM "${schema}".deliveries WHERE tenant_id = '${tenantId}' AND delivery_id = '${idOf(100)}' FOR UPDATE`).unprepared)
      const settling = yield* Effect.forkChild(queue.settle(tenantId, { deliveries: [100, 101].map((n) => settlementOf(destination, idOf(n), { state: "dead" })), destinations: [] }))
      yield* untilOneIsBlocked
      const { destinations: [taken] } = yield* eventually(claim(tenantId), ({ destinations }) => destinations.length > 0)
      const next = taken!
      assert.deepStrictEqual(next.due.map((d) => d.deliveryId), [idOf(100), idOf(101)])
      yield* commit
      yield* Fiber.join(settling)
      const frozen = yield* Effect.exit(queue.freeze(tenantId, [freezeOf(next, { fresh: [], again: [idOf(101)] })]))
      const sends = Exit.isSuccess(frozen) && frozen.value.size === 1
      const { destinations: [refilled] } = yield* claim(tenantId, { maxDestinations: 0, refill: [next] })
      // not S/1 in flight and S/2 returned by the claim
      assert.isFalse(sends && refilled!.waiting.some((e) => e.orderId === "S/2"))
    }))
})
