/** What a `DeliveryQueue` promises of deliveries: frozen, settled, given back, seen and sent again. */
import { type ClaimedLane, type DeliveryQuery, DeliveryQueue, type DeliveryState, doubtMillis, type StoragePorts } from "@waybill/core"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, type Layer, Option } from "effect"
import {
  claim,
  claimOne,
  eventually,
  freezeOf,
  freshTenant,
  hasTurn,
  idOf,
  laneSettings,
  letSee,
  occurredAt,
  publish,
  releaseOf,
  seed,
  settlementOf,
  subscribe,
  textOf
} from "../StorageFixtures.ts"

const everything: DeliveryQuery = { state: undefined, laneId: undefined, since: undefined, order: "oldest", after: undefined, limit: 100 }

const find = (tenantId: string, deliveryId: string) =>
  Effect.flatMap(DeliveryQueue, (queue) => Effect.map(queue.find(tenantId, deliveryId), Option.getOrThrow))

const stateOf = (tenantId: string, deliveryId: string) => Effect.map(find(tenantId, deliveryId), (delivery) => delivery.state)

/** A lane under lease with one delivery (number 101) of one shipment under way. */
const sending = Effect.fnUntraced(function*(tenantId: string, leaseMillis = 60_000) {
  const queue = yield* DeliveryQueue
  yield* seed(tenantId, { S: 1 })
  const lane = yield* claimOne(tenantId, { leaseMillis })
  yield* queue.freeze(tenantId, [freezeOf(lane, { deliveryId: idOf(101) })])
  return lane
})

/** The same, taken over by somebody else after the lease ran out. */
const takenOver = Effect.fnUntraced(function*(tenantId: string) {
  const stale = yield* sending(tenantId, 20)
  const { lanes } = yield* eventually(claim(tenantId), (claimed) => claimed.lanes.length > 0)
  return { stale, current: lanes[0]! }
})

const release = (tenantId: string, lane: ClaimedLane, parts: Parameters<typeof releaseOf>[1] = {}) =>
  Effect.flatMap(DeliveryQueue, (queue) => queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(lane, parts)] }))

const ended = (tenantId: string, state: "delivered" | "waiting" | "dead", dueInMillis = 600_000) =>
  Effect.gen(function*() {
    const queue = yield* DeliveryQueue
    const lane = yield* sending(tenantId)
    yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101), { state, dueInMillis })], lanes: [releaseOf(lane)] })
    return lane
  })

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: DeliveryQueue, deliveries`, (it) => {
    it.effect("freezes entries into a delivery whose bytes and order stay", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 2, B: 1 })
        const lane = yield* claimOne(tenantId)
        const entries = [lane.waiting[2]!, lane.waiting[0]!]
        const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        const fresh = [{ deliveryId: idOf(101), sentAt: occurredAt + 7, entries, traceparent }]
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [freezeOf(lane, { fresh, rateMark: 123.5, cursor: "A" })])], [idOf(1)])
        const delivery = yield* find(tenantId, idOf(101))
        assert.deepStrictEqual(
          [delivery.state, delivery.laneId, delivery.sentAt, delivery.events, delivery.attempts, delivery.dueAt, delivery.settledAt],
          ["sending", idOf(1), occurredAt + 7, 2, [], undefined, undefined]
        )
        assert.strictEqual(delivery.payloads.map(textOf).join(","), entries.map((entry) => textOf(entry.payload)).join(","))
        assert.strictEqual(delivery.endpointUrl, "https://receiver.example/hook")
        assert.deepStrictEqual(delivery.envelope, lane.envelope)
        yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101), { state: "waiting" })], lanes: [releaseOf(lane)] })
        const again = yield* claimOne(tenantId)
        assert.deepStrictEqual([again.rateMark, again.waiting.length], [123.5, 0])
        assert.deepStrictEqual([again.due[0]!.traceparent, again.due[0]!.sentAt, again.due[0]!.events], [traceparent, occurredAt + 7, 2])
        assert.strictEqual(again.due[0]!.payloads.map(textOf).join(","), delivery.payloads.map(textOf).join(","))
      }))

    it.effect("freezes several lanes at once, and answers those that may send", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (const n of [1, 2, 3]) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const { lanes } = yield* claim(tenantId)
        const freezes = lanes.map((lane) => freezeOf(lane, { deliveryId: idOf(100 + Number(lane.laneId.slice(-4))) }))
        const ours = yield* queue.freeze(tenantId, freezes.map((each) => each.laneId === idOf(2) ? { ...each, token: each.token - 1 } : each))
        assert.deepStrictEqual([...ours].sort(), [idOf(1), idOf(3)])
        assert.isTrue(Option.isNone(yield* queue.find(tenantId, idOf(102))))
        assert.strictEqual(yield* stateOf(tenantId, idOf(103)), "sending")
      }))

    it.effect("counts an attempt when it is frozen", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* ended(tenantId, "waiting", 0)
        for (const expected of [1, 2, 3]) {
          const lane = yield* claimOne(tenantId)
          assert.deepStrictEqual([lane.due[0]!.attempt, lane.due[0]!.tries, lane.due[0]!.orphaned], [expected, expected, false])
          yield* queue.freeze(tenantId, [freezeOf(lane, { again: [idOf(101)] })])
          assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "sending")
          const record = { attempt: expected + 1, at: occurredAt + expected, durationMillis: 1, outcome: "http_5xx", status: 500 }
          yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101), { state: "waiting", record })], lanes: [releaseOf(lane)] })
        }
        assert.deepStrictEqual((yield* find(tenantId, idOf(101))).attempts.map((each) => each.attempt), [1, 2, 3, 4])
      }))

    it.effect("does not count an attempt that was cut short by our own stop", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const lane = yield* sending(tenantId)
        yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101), { state: "waiting", uncount: true })], lanes: [releaseOf(lane)] })
        const again = yield* claimOne(tenantId)
        assert.strictEqual(again.due[0]!.tries, 0)
      }))

    it.effect("writes an outcome with its record, and shows both", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const cases: ReadonlyArray<["delivered" | "waiting" | "dead", boolean, boolean]> = [
          ["delivered", true, false],
          ["waiting", false, true],
          ["dead", true, false]
        ]
        for (const [state, settled, due] of cases) {
          const tenantId = freshTenant()
          const lane = yield* sending(tenantId)
          const record = { attempt: 1, at: occurredAt, durationMillis: 12.5, outcome: "http_5xx", status: 503, detail: "ä \"\\", excerpt: "<b>船" }
          yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101), { state, dueInMillis: 600_000, record })], lanes: [] })
          const delivery = yield* find(tenantId, idOf(101))
          assert.deepStrictEqual([delivery.state, delivery.settledAt !== undefined, delivery.dueAt !== undefined], [state, settled, due])
          assert.deepStrictEqual(delivery.attempts, [record])
        }
      }))

    it.effect("changes nothing more when the same outcome is written again", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const lane = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: [0, 1].map((n) => ({ deliveryId: idOf(101 + n), sentAt: occurredAt, entries: [lane.waiting[n]!], traceparent: undefined }))
        })])
        const outcomes = {
          deliveries: [settlementOf(lane, idOf(101)), settlementOf(lane, idOf(102), { state: "waiting" as const, dueInMillis: 600_000, uncount: true })],
          lanes: [releaseOf(lane, { breaker: { failures: 3, openUntil: undefined } })]
        }
        yield* queue.settle(tenantId, outcomes)
        const before = yield* queue.list(tenantId, everything)
        yield* queue.settle(tenantId, outcomes)
        assert.deepStrictEqual(yield* queue.list(tenantId, everything), before)
        assert.isFalse(yield* hasTurn(tenantId))
        yield* queue.retry(tenantId, idOf(102))
        const again = yield* claimOne(tenantId)
        assert.deepStrictEqual([again.due.length, again.due[0]!.tries, again.breaker.failures], [1, 0, 3])
      }))

    it.effect("takes nothing back of what happened since when an old outcome comes once more", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const first = yield* sending(tenantId)
        const outcome = { deliveries: [settlementOf(first, idOf(101), { state: "waiting" })], lanes: [releaseOf(first)] }
        yield* queue.settle(tenantId, outcome)
        const second = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(second, { again: [idOf(101)] })])
        yield* queue.settle(tenantId, outcome)
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "sending")
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(second, idOf(101), { record: undefined })], lanes: [] })
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "delivered")
      }))

    it.effect("takes nothing back of what happened since under the same lease either", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const lane = yield* sending(tenantId)
        const outcome = { deliveries: [settlementOf(lane, idOf(101), { state: "waiting", uncount: true })], lanes: [] }
        yield* queue.settle(tenantId, outcome)
        const [refilled] = (yield* claim(tenantId, { maxLanes: 0, refill: [lane] })).lanes
        assert.deepStrictEqual(refilled!.due.map((each) => [each.deliveryId, each.tries]), [[idOf(101), 0]])
        yield* queue.freeze(tenantId, [freezeOf(refilled!, { again: [idOf(101)] })])
        yield* queue.settle(tenantId, outcome)
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "sending")
        const record = { attempt: 2, at: occurredAt + 1, durationMillis: 1, outcome: "http_5xx" }
        yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101), { state: "waiting", record })], lanes: [] })
        const [again] = (yield* claim(tenantId, { maxLanes: 0, refill: [lane] })).lanes
        assert.deepStrictEqual(again!.due.map((each) => [each.attempt, each.tries]), [[2, 1]])
      }))

    it.effect("writes outcomes of two attempts of one delivery in their order, when both come at once", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const lane = yield* sending(tenantId)
        const first = settlementOf(lane, idOf(101), { state: "waiting" })
        yield* queue.settle(tenantId, { deliveries: [first], lanes: [] })
        const [refilled] = (yield* claim(tenantId, { maxLanes: 0, refill: [lane] })).lanes
        yield* queue.freeze(tenantId, [freezeOf(refilled!, { again: [idOf(101)] })])
        const second = settlementOf(lane, idOf(101), { record: { attempt: 2, at: occurredAt + 1, durationMillis: 1, outcome: "accepted" } })
        yield* queue.settle(tenantId, { deliveries: [first, second], lanes: [releaseOf(lane)] })
        const delivery = yield* find(tenantId, idOf(101))
        assert.deepStrictEqual([delivery.state, delivery.attempts.map(({ attempt }) => attempt)], ["delivered", [1, 2]])
      }))

    it.effect("lets a holder that gave its lane back freeze nothing and settle nothing, also before the next one comes", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const lane = yield* sending(tenantId)
        yield* release(tenantId, lane)
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        const late = freezeOf(lane, { again: [idOf(101)], rateMark: 9, cursor: "Z" })
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [late])], [])
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(lane, idOf(101))],
          lanes: [releaseOf(lane, { pause: "late", breaker: { failures: 9, openUntil: undefined } })]
        })
        assert.strictEqual(Option.getOrThrow(yield* queue.laneStatus(tenantId, idOf(1))).state, "active")
        const next = yield* claimOne(tenantId)
        assert.deepStrictEqual(
          [next.due.map((each) => [each.deliveryId, each.tries]), next.waiting.length, next.breaker.failures, next.rateMark === 9],
          [[[idOf(101), 1]], 1, 0, false]
        )
      }))

    it.effect("records the attempt of a holder that lost its lease, and changes nothing else", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const { current, stale } = yield* takenOver(tenantId)
        const due = yield* queue.settle(tenantId, {
          deliveries: [settlementOf(stale, idOf(101))],
          lanes: [releaseOf(stale, { pause: "stale", breaker: { failures: 9, openUntil: undefined } })]
        })
        assert.isFalse(due)
        const delivery = yield* find(tenantId, idOf(101))
        assert.deepStrictEqual([delivery.state, delivery.attempts.length, delivery.settledAt], ["sending", 1, undefined])
        assert.strictEqual(Option.getOrThrow(yield* queue.laneStatus(tenantId, idOf(1))).state, "active")
        const [refilled] = (yield* claim(tenantId, { maxLanes: 0, refill: [current] })).lanes
        assert.deepStrictEqual([refilled!.due.map((each) => each.deliveryId), refilled!.breaker.failures], [[idOf(101)], 0])
      }))

    it.effect("lets a holder that lost its lease freeze nothing and keep nothing", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const { current, stale } = yield* takenOver(tenantId)
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        const [refilled] = (yield* claim(tenantId, { maxLanes: 0, refill: [current] })).lanes
        const stolen = { ...refilled!, token: stale.token }
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [freezeOf(stolen, { deliveryId: idOf(102), rateMark: 9, cursor: "Z" })])], [])
        assert.deepStrictEqual([...yield* queue.heartbeat(tenantId, [stale], 1)], [])
        assert.isTrue(Option.isNone(yield* queue.find(tenantId, idOf(102))))
        const [after] = (yield* claim(tenantId, { maxLanes: 0, refill: [current, stale] })).lanes
        assert.deepStrictEqual([after!.token, after!.waiting.length, after!.rateMark === 9], [current.token, 1, false])
      }))

    it.effect("lets whoever took over send an orphan again, or end it without an attempt", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const again = freshTenant()
        const one = yield* takenOver(again)
        yield* queue.freeze(again, [freezeOf(one.current, { again: [idOf(101)] })])
        const [refilled] = (yield* claim(again, { maxLanes: 0, refill: [one.current] })).lanes
        assert.deepStrictEqual(refilled!.due, [])
        const record = { attempt: 2, at: occurredAt + 1, durationMillis: 1, outcome: "accepted" }
        yield* queue.settle(again, { deliveries: [settlementOf(one.current, idOf(101), { record })], lanes: [releaseOf(one.current)] })
        assert.strictEqual(yield* stateOf(again, idOf(101)), "delivered")

        const hopeless = freshTenant()
        const other = yield* takenOver(hopeless)
        yield* queue.settle(hopeless, {
          deliveries: [settlementOf(other.current, idOf(101), { state: "dead", record: undefined })],
          lanes: [releaseOf(other.current)]
        })
        const dead = yield* find(hopeless, idOf(101))
        assert.deepStrictEqual([dead.state, dead.attempts, dead.settledAt === undefined], ["dead", [], false])
      }))

    it.effect("has a lane due that is given back with a delivery still marked as being sent", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        const lane = yield* sending(tenantId)
        assert.isTrue(yield* release(tenantId, lane, { progress: false }))
        const next = yield* claimOne(tenantId)
        assert.deepStrictEqual(next.due.map((each) => [each.deliveryId, each.orphaned]), [[idOf(101), true]])
      }))

    it.effect("hands out due deliveries oldest first, and so many at most", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1 })
        const lane = yield* claimOne(tenantId)
        const fresh = [103, 101, 102].map((n, at) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [lane.waiting[at]!], traceparent: undefined }))
        yield* queue.freeze(tenantId, [freezeOf(lane, { fresh })])
        const deliveries = [101, 102, 103].map((n) => settlementOf(lane, idOf(n), { state: "waiting" }))
        yield* queue.settle(tenantId, { deliveries, lanes: [releaseOf(lane)] })
        const next = yield* claimOne(tenantId, { deliveriesPerLane: 2 })
        assert.deepStrictEqual(next.due.map((each) => each.deliveryId), [idOf(101), idOf(102)])
      }))

    it.effect("has a lane due when its next retry is, and not before", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2 })
        const lane = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: lane.waiting.slice(0, 1), traceparent: undefined }]
        })])
        const waiting = [settlementOf(lane, idOf(101), { state: "waiting", dueInMillis: 150 })]
        assert.isFalse(yield* queue.settle(tenantId, { deliveries: waiting, lanes: [releaseOf(lane, { progress: false })] }))
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        const { lanes } = yield* eventually(claim(tenantId), (claimed) => claimed.lanes.length > 0)
        assert.deepStrictEqual(lanes[0]!.due.map((each) => each.deliveryId), [idOf(101)])
        assert.deepStrictEqual(lanes[0]!.waiting, [])
      }))

    it.effect("has a lane due at once when something may have become sendable", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const lane = yield* claimOne(tenantId)
        assert.isTrue(yield* release(tenantId, lane, { progress: true }))
        const again = yield* claimOne(tenantId)
        assert.isFalse(yield* release(tenantId, again, { progress: false }))
        assert.isFalse(yield* hasTurn(tenantId))
      }))

    it.effect("has a lane due at once when something arrived that its holder was not told of", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const lane = yield* claimOne(tenantId)
        yield* publish(tenantId, [{ shipmentId: "S" }])
        // the store may tell of the arrival now, or with the next claim; either way it is not lost
        yield* release(tenantId, lane, { progress: false })
        assert.isTrue(yield* hasTurn(tenantId))
        assert.lengthOf((yield* claimOne(tenantId)).waiting, 2)
      }))

    it.effect("is not told twice of an arrival that came with a refill", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const lane = yield* claimOne(tenantId)
        yield* publish(tenantId, [{ shipmentId: "S" }])
        const [refilled] = (yield* claim(tenantId, { refill: [lane] })).lanes
        assert.isFalse(yield* release(tenantId, refilled!, { progress: false }))
        assert.isFalse(yield* hasTurn(tenantId))
      }))

    it.effect("has a lane looked at again in a moment whose holder sent nothing, when something of it could be sent and only then", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2 })
        const dueIn = Effect.map(queue.lanes(tenantId, { state: undefined, after: undefined, limit: 1 }), ({ lanes, now }) => lanes[0]!.dueAt! - now)
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: first.waiting.slice(0, 1), traceparent: undefined }]
        })])
        const failed = settlementOf(first, idOf(101), { state: "waiting", dueInMillis: 600_000 })
        yield* queue.settle(tenantId, { deliveries: [failed], lanes: [releaseOf(first, { progress: false })] })
        assert.isAbove(yield* dueIn, doubtMillis)
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        const second = yield* claimOne(tenantId)
        assert.isFalse(yield* release(tenantId, second, { progress: false }))
        assert.isAtMost(yield* dueIn, doubtMillis)
        const { lanes: [third] } = yield* eventually(claim(tenantId), ({ lanes }) => lanes.length > 0)
        assert.deepStrictEqual(third!.waiting.map(({ key }) => key), ["T"])
        assert.isFalse(yield* release(tenantId, third!, { progress: false, notBeforeMillis: 5000 }))
        assert.isAbove(yield* dueIn, doubtMillis)
      }))

    it.effect("has nothing due before rate and breaker allow", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const lane = yield* claimOne(tenantId)
        const breaker = { failures: 5, openUntil: occurredAt + 150.25 }
        assert.isFalse(yield* release(tenantId, lane, { progress: true, notBeforeMillis: 150, breaker }))
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        const { lanes } = yield* eventually(claim(tenantId), (claimed) => claimed.lanes.length > 0)
        assert.deepStrictEqual([lanes[0]!.breaker, lanes[0]!.waiting.length], [breaker, 1])
      }))

    it.effect("takes what an attempt says of an endpoint for nothing once the lane has another", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
        yield* queue.changeLane(tenantId, laneSettings({ endpointUrl: "https://new.example/hook" }))
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(first, idOf(101), { state: "waiting" })],
          lanes: [{ ...releaseOf(first, { pause: "The receiver answered 410 Gone.", breaker: { failures: 7, openUntil: occurredAt * 2 }, notBeforeMillis: 3_600_000 }), endpointUrl: first.endpointUrl }]
        })
        const status = Option.getOrThrow(yield* queue.laneStatus(tenantId, idOf(1)))
        const { lanes: [overview] } = yield* queue.lanes(tenantId, { state: undefined, after: undefined, limit: 5 })
        assert.deepStrictEqual([status.state, overview!.breaker], ["active", { failures: 0, openUntil: undefined }])
        const { lanes: [next] } = yield* claim(tenantId)
        assert.deepStrictEqual(next?.due.map((d) => d.deliveryId), [idOf(101)])
      }))

    it.effect("pauses for a dead letter, whichever endpoint the lane has by then", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
        yield* queue.changeLane(tenantId, laneSettings({ endpointUrl: "https://new.example/hook" }))
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(first, idOf(101), { state: "dead" })],
          lanes: [{ ...releaseOf(first, { pause: "A delivery was not accepted." }), endpointUrl: first.endpointUrl }]
        })
        assert.strictEqual(Option.getOrThrow(yield* queue.laneStatus(tenantId, idOf(1))).state, "paused")
      }))

    it.effect("takes nothing back of a retry when a delivery that was given up is written once more", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const first = yield* claimOne(tenantId, { leaseMillis: 1 })
        yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
        const { lanes: [taken] } = yield* eventually(claim(tenantId), ({ lanes }) => lanes.length > 0)
        const lane = taken!
        assert.deepStrictEqual(lane.due.map((d) => [d.orphaned, d.attempt]), [[true, 1]])
        const dead = { deliveries: [settlementOf(lane, idOf(101), { state: "dead", record: undefined, attempt: lane.due[0]!.attempt })], lanes: [] }
        yield* queue.settle(tenantId, dead) // its answer gets lost
        yield* queue.retry(tenantId, idOf(101))
        const { lanes: [again] } = yield* claim(tenantId, { refill: [lane] })
        yield* queue.freeze(tenantId, [freezeOf(again!, { fresh: [], again: [idOf(101)] })])
        yield* queue.settle(tenantId, dead)
        yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(101), { record: { attempt: 2, at: occurredAt, durationMillis: 1, outcome: "accepted" } })], lanes: [] })
        assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(101))).state, "delivered")
      }))

    it.effect("freezes nothing by what was told before an operator began a new series of attempts", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 }, { policy: { maxAttempts: 2 } })
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(first, idOf(101), { state: "waiting" })], lanes: [releaseOf(first)] })
        const lane = yield* claimOne(tenantId)
        const [due] = lane.due
        assert.deepStrictEqual(Option.getOrThrow(yield* queue.retry(tenantId, idOf(101))), "waiting")
        // as the pump freezes it: with what the claim said
        const frozen = yield* Effect.exit(queue.freeze(tenantId, [{ ...freezeOf(lane, { fresh: [], again: [idOf(101)] }), againTries: [due!.tries] }]))
        assert.isTrue(Exit.isFailure(frozen), "attempt 2 of 2 goes out, and dies, although a new series was promised")
        const { lanes: [again] } = yield* claim(tenantId, { refill: [lane] })
        assert.deepStrictEqual(again!.due.map((d) => [d.deliveryId, d.tries]), [[idOf(101), 0]])
      }))

    it.effect("keeps a lease that is not given back", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const lane = yield* sending(tenantId)
        const breaker = { failures: 1, openUntil: undefined }
        assert.isFalse(yield* queue.settle(tenantId, {
          deliveries: [settlementOf(lane, idOf(101), { state: "waiting" })],
          lanes: [{ ...releaseOf(lane, { breaker }), release: undefined }]
        }))
        assert.deepStrictEqual((yield* claim(tenantId)).lanes, [])
        const [refilled] = (yield* claim(tenantId, { refill: [lane] })).lanes
        assert.deepStrictEqual([refilled!.breaker, refilled!.due.length], [breaker, 1])
      }))

    it.effect("pauses a lane for a reason, unless its owner stopped it already", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const lane = yield* sending(tenantId)
        const outcomes = { deliveries: [settlementOf(lane, idOf(101), { state: "waiting" as const })], lanes: [releaseOf(lane, { pause: "410" })] }
        assert.isFalse(yield* queue.settle(tenantId, outcomes))
        const status = Option.getOrThrow(yield* queue.laneStatus(tenantId, idOf(1)))
        assert.deepStrictEqual([status.state, status.reason], ["paused", "410"])
        assert.isFalse(yield* hasTurn(tenantId))
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "waiting")
      }))

    it.effect("lists deliveries by id, from a place on, and by what they are", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (const n of [1, 2]) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, ["A", "B", "C"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
        const { lanes } = yield* claim(tenantId)
        for (const [at, lane] of lanes.toSorted((a, b) => a.laneId < b.laneId ? -1 : 1).entries()) {
          const numbers = [0, 1, 2].map((n) => 101 + n * 2 + at)
          yield* queue.freeze(tenantId, [freezeOf(lane, {
            fresh: numbers.map((n, entry) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [lane.waiting[entry]!], traceparent: undefined }))
          })])
          yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(numbers[0]!), { state: "dead" })], lanes: [] })
        }
        const numbers = (query: Partial<DeliveryQuery>) =>
          Effect.map(queue.list(tenantId, { ...everything, ...query }), (rows) => rows.map((each) => Number(each.deliveryId.slice(-4))))
        assert.deepStrictEqual(yield* numbers({}), [101, 102, 103, 104, 105, 106])
        assert.deepStrictEqual(yield* numbers({ limit: 2 }), [101, 102])
        assert.deepStrictEqual(yield* numbers({ after: idOf(104) }), [105, 106])
        assert.deepStrictEqual(yield* numbers({ laneId: idOf(2) }), [102, 104, 106])
        assert.deepStrictEqual(yield* numbers({ state: "dead" }), [101, 102])
        assert.deepStrictEqual(yield* numbers({ state: "sending", laneId: idOf(1), after: idOf(103) }), [105])
        assert.deepStrictEqual(yield* numbers({ laneId: idOf(9) }), [])
        const newest = { order: "newest" } as const
        assert.deepStrictEqual(yield* numbers({ ...newest, limit: 2 }), [106, 105])
        assert.deepStrictEqual(yield* numbers({ ...newest, after: idOf(103) }), [102, 101])
        assert.deepStrictEqual(yield* numbers({ ...newest, laneId: idOf(2) }), [106, 104, 102])
        assert.deepStrictEqual(yield* numbers({ ...newest, laneId: idOf(1), after: idOf(105), limit: 1 }), [103])
        assert.deepStrictEqual(yield* numbers({ ...newest, state: "dead" }), [102, 101])
        assert.deepStrictEqual(yield* numbers({ ...newest, state: "sending", laneId: idOf(2) }), [106, 104])
      }))

    it.effect("lists deliveries created from an instant on", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const lane = yield* claimOne(tenantId)
        // an id begins with the instant it was given out at
        const deliveryId = `${occurredAt.toString(16).padStart(12, "0").replace(/^(.{8})/, "$1-")}-7000-8000-000000000001`
        yield* queue.freeze(tenantId, [freezeOf(lane, { deliveryId })])
        const { createdAt } = yield* find(tenantId, deliveryId)
        assert.strictEqual(createdAt, occurredAt)
        assert.lengthOf(yield* queue.list(tenantId, { ...everything, since: createdAt }), 1)
        assert.lengthOf(yield* queue.list(tenantId, { ...everything, since: createdAt + 1 }), 0)
      }))

    it.effect("finds nothing under an id that was never given out", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        assert.isTrue(Option.isNone(yield* queue.find(freshTenant(), idOf(101))))
        assert.isTrue(Option.isNone(yield* queue.retry(freshTenant(), idOf(101))))
      }))

    it.effect("makes a delivery that ended, or waits, due now with a full series of attempts", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        for (const state of ["delivered", "waiting", "dead"] as const) {
          const tenantId = freshTenant()
          yield* ended(tenantId, state)
          const before = yield* find(tenantId, idOf(101))
          assert.deepStrictEqual(yield* queue.retry(tenantId, idOf(101)), Option.some<DeliveryState>(state))
          assert.isTrue(yield* hasTurn(tenantId))
          const waiting = yield* find(tenantId, idOf(101))
          assert.deepStrictEqual([waiting.state, waiting.settledAt, waiting.dueAt !== undefined, waiting.attempts.length], ["waiting", undefined, true, 1])
          const lane = yield* claimOne(tenantId)
          assert.deepStrictEqual(lane.due.map((each) => [each.deliveryId, each.attempt, each.tries]), [[idOf(101), 1, 0]])
          assert.deepStrictEqual(lane.due[0]!.payloads.map(textOf).join(","), before.payloads.map(textOf).join(","))
        }
      }))

    it.effect("leaves a delivery alone that is being sent or was cancelled", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* sending(tenantId)
        assert.deepStrictEqual(yield* queue.retry(tenantId, idOf(101)), Option.some<DeliveryState>("sending"))
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "sending")
        yield* queue.closeLane(tenantId, idOf(1))
        assert.deepStrictEqual(yield* queue.retry(tenantId, idOf(101)), Option.some<DeliveryState>("cancelled"))
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "cancelled")
      }))

    it.effect("answers a delivery whose lane was closed as cancelled, for there is nowhere to send it", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* ended(tenantId, "delivered")
        yield* queue.closeLane(tenantId, idOf(1))
        assert.deepStrictEqual(yield* queue.retry(tenantId, idOf(101)), Option.some<DeliveryState>("cancelled"))
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "delivered")
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 0)
      }))

    it.effect("holds a shipment while a delivery of it goes out again", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* ended(tenantId, "dead")
        yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "T" }], { accounts: ["A"] })
        yield* queue.retry(tenantId, idOf(101))
        assert.deepStrictEqual((yield* claimOne(tenantId)).waiting.map((entry) => entry.key), ["T"])
      }))

    it.effect("makes every dead letter of a lane due again that died since an instant", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (const n of [1, 2]) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, ["A", "B", "C"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
        for (const lane of (yield* claim(tenantId)).lanes) {
          const from = lane.laneId === idOf(1) ? 101 : 201
          yield* queue.freeze(tenantId, [freezeOf(lane, {
            fresh: [0, 1, 2].map((n) => ({ deliveryId: idOf(from + n), sentAt: occurredAt, entries: [lane.waiting[n]!], traceparent: undefined }))
          })])
          yield* queue.settle(tenantId, {
            deliveries: [0, 1, 2].map((n) => settlementOf(lane, idOf(from + n), { state: n === 2 ? "delivered" : "dead" })),
            lanes: [releaseOf(lane)]
          })
        }
        const { settledAt } = yield* find(tenantId, idOf(101))
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), settledAt! + 600_000), 0)
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), settledAt! - 600_000), 2)
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 0)
        const lane = yield* claimOne(tenantId)
        assert.deepStrictEqual(lane.due.map((each) => [each.deliveryId, each.tries]), [[idOf(101), 0], [idOf(102), 0]])
        assert.strictEqual(yield* stateOf(tenantId, idOf(201)), "dead")
        assert.strictEqual(yield* queue.recover(tenantId, idOf(9), 0), 0)
      }))

    it.effect("sends deliveries that share a shipment again one after the other, the older first, and the lane is due when that one is", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2, T: 1 })
        const dueOf = (lane: ClaimedLane) => lane.due.map((each) => each.deliveryId)
        for (const n of [101, 102]) {
          const lane = yield* claimOne(tenantId)
          const fresh = lane.waiting.filter(({ sequence, key }) => key === "T" ? n === 102 : sequence === n - 100)
          yield* queue.freeze(tenantId, [freezeOf(lane, { fresh: [{ deliveryId: idOf(n), sentAt: occurredAt, entries: fresh, traceparent: undefined }] })])
          yield* queue.settle(tenantId, { deliveries: [settlementOf(lane, idOf(n), { state: "dead" })], lanes: [releaseOf(lane)] })
        }
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 2)
        const first = yield* claimOne(tenantId)
        assert.deepStrictEqual(dueOf(first), [idOf(101)])
        yield* queue.freeze(tenantId, [freezeOf(first, { again: [idOf(101)] })])
        const [beside] = (yield* claim(tenantId, { maxLanes: 0, refill: [first] })).lanes
        assert.deepStrictEqual(dueOf(beside!), [], "not beside the older one")
        const record = (attempt: number) => ({ attempt, at: occurredAt + attempt, durationMillis: 1, outcome: "http_5xx" })
        const failed = settlementOf(first, idOf(101), { state: "waiting", dueInMillis: 150, record: record(2) })
        assert.isFalse(yield* queue.settle(tenantId, { deliveries: [failed], lanes: [releaseOf(first, { progress: false })] }))
        assert.isFalse(yield* hasTurn(tenantId), "the older one is not due yet")
        const { lanes: [second] } = yield* eventually(claim(tenantId), ({ lanes }) => lanes.length > 0)
        assert.deepStrictEqual(dueOf(second!), [idOf(101)])
        yield* queue.freeze(tenantId, [freezeOf(second!, { again: [idOf(101)] })])
        const accepted = settlementOf(second!, idOf(101), { record: { ...record(3), outcome: "accepted" } })
        assert.isTrue(yield* queue.settle(tenantId, { deliveries: [accepted], lanes: [releaseOf(second!, { progress: false })] }))
        const third = yield* claimOne(tenantId)
        assert.deepStrictEqual(dueOf(third), [idOf(102)])
        yield* queue.freeze(tenantId, [freezeOf(third, { again: [idOf(102)] })])
        // an older one that comes while it is under way waits for it
        yield* queue.retry(tenantId, idOf(101))
        const [last] = (yield* claim(tenantId, { maxLanes: 0, refill: [third] })).lanes
        assert.deepStrictEqual(dueOf(last!), [])
      }))

    it.effect("removes deliveries that ended before an instant, and nothing else", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1, D: 1 })
        const lane = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: [0, 1, 2, 3].map((n) => ({ deliveryId: idOf(101 + n), sentAt: occurredAt, entries: [lane.waiting[n]!], traceparent: undefined }))
        })])
        yield* queue.settle(tenantId, {
          deliveries: [
            settlementOf(lane, idOf(101)),
            settlementOf(lane, idOf(102), { state: "dead" }),
            settlementOf(lane, idOf(103), { state: "waiting" })
          ],
          lanes: []
        })
        const { settledAt } = yield* find(tenantId, idOf(101))
        assert.strictEqual(yield* queue.prune(tenantId, settledAt! - 600_000), 0)
        assert.strictEqual(yield* queue.prune(tenantId, settledAt! + 600_000), 2)
        const left = yield* queue.list(tenantId, everything)
        assert.deepStrictEqual(left.map((each) => each.state), ["waiting", "sending"])
      }))

    it.effect("writes thousands of outcomes at once, in whatever order they come, each to its own delivery", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const count = 2_500
        yield* seed(tenantId, Object.fromEntries(Array.from({ length: count }, (_, n) => [`S${n}`, 1])))
        const lane = yield* claimOne(tenantId, { deliveriesPerLane: count, bytesPerLane: 100_000_000 })
        assert.lengthOf(lane.waiting, count)
        yield* queue.freeze(tenantId, [freezeOf(lane, {
          fresh: lane.waiting.map((entry, n) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [entry], traceparent: undefined }))
        })])
        const states = ["delivered", "waiting", "dead"] as const
        // 7 and 2,500 share no factor: every delivery once
        const numbers = Array.from({ length: count }, (_, at) => at * 7 % count)
        yield* queue.settle(tenantId, {
          deliveries: [
            ...numbers.map((n) =>
              settlementOf(lane, idOf(n), {
                state: states[n % 3]!,
                dueInMillis: 600_000,
                record: { attempt: 1, at: occurredAt + n, durationMillis: n, outcome: "accepted" }
              })),
            // what comes a second time changes nothing
            settlementOf(lane, idOf(1), { state: "delivered" })
          ],
          lanes: []
        })
        const found: Array<readonly [string, DeliveryState, number | undefined]> = []
        for (let after: string | undefined; found.length < count;) {
          const page = yield* queue.list(tenantId, { ...everything, after, limit: 500 })
          if (page.length === 0) break
          for (const each of page) found.push([each.deliveryId, each.state, each.attempts[0]?.durationMillis])
          after = page[page.length - 1]!.deliveryId
        }
        assert.deepStrictEqual(found, Array.from({ length: count }, (_, n) => [idOf(n), states[n % 3]!, n]))
      }))

    it.effect("tells how much waits and how much died", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* ended(tenantId, "dead")
        yield* publish(tenantId, [{ shipmentId: "S" }])
        const depth = yield* queue.depth
        assert.isAtLeast(depth.lagMillis, 0)
        for (const count of [depth.waitingEntries, depth.unsettled, depth.dead]) assert.isTrue(Number.isFinite(count) && count >= 0)
      }))
  })
