/** What a `DeliveryQueue` promises of deliveries: frozen, settled, given back, seen and sent again. */
import { type ClaimedDestination, type DeliveryQuery, DeliveryQueue, type DeliveryState, doubtMillis, type StoragePorts } from "@waybill/core"
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
  destinationSettings,
  letSee,
  occurredAt,
  publish,
  releaseOf,
  seed,
  settlementOf,
  subscribe,
  textOf
} from "../StorageFixtures.ts"

const everything: DeliveryQuery = { state: undefined, destinationId: undefined, since: undefined, order: "oldest", after: undefined, limit: 100 }

const find = (tenantId: string, deliveryId: string) =>
  Effect.flatMap(DeliveryQueue, (queue) => Effect.map(queue.find(tenantId, deliveryId), Option.getOrThrow))

const stateOf = (tenantId: string, deliveryId: string) => Effect.map(find(tenantId, deliveryId), (delivery) => delivery.state)

/** A destination under lease with one delivery (number 101) of one shipment under way. */
const sending = Effect.fnUntraced(function*(tenantId: string, leaseMillis = 60_000) {
  const queue = yield* DeliveryQueue
  yield* seed(tenantId, { S: 1 })
  const destination = yield* claimOne(tenantId, { leaseMillis })
  yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])
  return destination
})

/** The same, taken over by somebody else after the lease ran out. */
const takenOver = Effect.fnUntraced(function*(tenantId: string) {
  const stale = yield* sending(tenantId, 20)
  const { destinations } = yield* eventually(claim(tenantId), (claimed) => claimed.destinations.length > 0)
  return { stale, current: destinations[0]! }
})

const release = (tenantId: string, destination: ClaimedDestination, parts: Parameters<typeof releaseOf>[1] = {}) =>
  Effect.flatMap(DeliveryQueue, (queue) => queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination, parts)] }))

const ended = (tenantId: string, state: "delivered" | "waiting" | "dead", dueInMillis = 600_000) =>
  Effect.gen(function*() {
    const queue = yield* DeliveryQueue
    const destination = yield* sending(tenantId)
    yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state, dueInMillis })], destinations: [releaseOf(destination)] })
    return destination
  })

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: DeliveryQueue, deliveries`, (it) => {
    it.effect("freezes entries into a delivery whose bytes and order stay", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 2, B: 1 })
        const destination = yield* claimOne(tenantId)
        const entries = [destination.waiting[2]!, destination.waiting[0]!]
        const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        const fresh = [{ deliveryId: idOf(101), sentAt: occurredAt + 7, entries, traceparent }]
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [freezeOf(destination, { fresh, rateMark: 123.5, cursor: "A" })])], [idOf(1)])
        const delivery = yield* find(tenantId, idOf(101))
        assert.deepStrictEqual(
          [delivery.state, delivery.destinationId, delivery.sentAt, delivery.events, delivery.attempts, delivery.dueAt, delivery.settledAt],
          ["sending", idOf(1), occurredAt + 7, 2, [], undefined, undefined]
        )
        assert.strictEqual(delivery.payloads.map(textOf).join(","), entries.map((entry) => textOf(entry.payload)).join(","))
        assert.strictEqual(delivery.endpointUrl, "https://receiver.example/hook")
        assert.deepStrictEqual(delivery.envelope, destination.envelope)
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "waiting" })], destinations: [releaseOf(destination)] })
        const again = yield* claimOne(tenantId)
        assert.deepStrictEqual([again.rateMark, again.waiting.length], [123.5, 0])
        assert.deepStrictEqual([again.due[0]!.traceparent, again.due[0]!.sentAt, again.due[0]!.events], [traceparent, occurredAt + 7, 2])
        assert.strictEqual(again.due[0]!.payloads.map(textOf).join(","), delivery.payloads.map(textOf).join(","))
      }))

    it.effect("freezes several destinations at once, and answers those that may send", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (const n of [1, 2, 3]) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
        const { destinations } = yield* claim(tenantId)
        const freezes = destinations.map((destination) => freezeOf(destination, { deliveryId: idOf(100 + Number(destination.destinationId.slice(-4))) }))
        const ours = yield* queue.freeze(tenantId, freezes.map((each) => each.destinationId === idOf(2) ? { ...each, token: each.token - 1 } : each))
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
          const destination = yield* claimOne(tenantId)
          assert.deepStrictEqual([destination.due[0]!.attempt, destination.due[0]!.tries, destination.due[0]!.orphaned], [expected, expected, false])
          yield* queue.freeze(tenantId, [freezeOf(destination, { again: [idOf(101)] })])
          assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "sending")
          const record = { attempt: expected + 1, at: occurredAt + expected, durationMillis: 1, outcome: "http_5xx", status: 500 }
          yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "waiting", record })], destinations: [releaseOf(destination)] })
        }
        assert.deepStrictEqual((yield* find(tenantId, idOf(101))).attempts.map((each) => each.attempt), [1, 2, 3, 4])
      }))

    it.effect("does not count an attempt that was cut short by our own stop", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const destination = yield* sending(tenantId)
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "waiting", uncount: true })], destinations: [releaseOf(destination)] })
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
          const destination = yield* sending(tenantId)
          const record = { attempt: 1, at: occurredAt, durationMillis: 12.5, outcome: "http_5xx", status: 503, detail: "ä \"\\", excerpt: "<b>船" }
          yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state, dueInMillis: 600_000, record })], destinations: [] })
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
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: [0, 1].map((n) => ({ deliveryId: idOf(101 + n), sentAt: occurredAt, entries: [destination.waiting[n]!], traceparent: undefined }))
        })])
        const outcomes = {
          deliveries: [settlementOf(destination, idOf(101)), settlementOf(destination, idOf(102), { state: "waiting" as const, dueInMillis: 600_000, uncount: true })],
          destinations: [releaseOf(destination, { breaker: { failures: 3, openUntil: undefined } })]
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
        const outcome = { deliveries: [settlementOf(first, idOf(101), { state: "waiting" })], destinations: [releaseOf(first)] }
        yield* queue.settle(tenantId, outcome)
        const second = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(second, { again: [idOf(101)] })])
        yield* queue.settle(tenantId, outcome)
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "sending")
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(second, idOf(101), { record: undefined })], destinations: [] })
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "delivered")
      }))

    it.effect("takes nothing back of what happened since under the same lease either", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const destination = yield* sending(tenantId)
        const outcome = { deliveries: [settlementOf(destination, idOf(101), { state: "waiting", uncount: true })], destinations: [] }
        yield* queue.settle(tenantId, outcome)
        const [refilled] = (yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })).destinations
        assert.deepStrictEqual(refilled!.due.map((each) => [each.deliveryId, each.tries]), [[idOf(101), 0]])
        yield* queue.freeze(tenantId, [freezeOf(refilled!, { again: [idOf(101)] })])
        yield* queue.settle(tenantId, outcome)
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "sending")
        const record = { attempt: 2, at: occurredAt + 1, durationMillis: 1, outcome: "http_5xx" }
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { state: "waiting", record })], destinations: [] })
        const [again] = (yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })).destinations
        assert.deepStrictEqual(again!.due.map((each) => [each.attempt, each.tries]), [[2, 1]])
      }))

    it.effect("writes outcomes of two attempts of one delivery in their order, when both come at once", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const destination = yield* sending(tenantId)
        const first = settlementOf(destination, idOf(101), { state: "waiting" })
        yield* queue.settle(tenantId, { deliveries: [first], destinations: [] })
        const [refilled] = (yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })).destinations
        yield* queue.freeze(tenantId, [freezeOf(refilled!, { again: [idOf(101)] })])
        const second = settlementOf(destination, idOf(101), { record: { attempt: 2, at: occurredAt + 1, durationMillis: 1, outcome: "accepted" } })
        yield* queue.settle(tenantId, { deliveries: [first, second], destinations: [releaseOf(destination)] })
        const delivery = yield* find(tenantId, idOf(101))
        assert.deepStrictEqual([delivery.state, delivery.attempts.map(({ attempt }) => attempt)], ["delivered", [1, 2]])
      }))

    it.effect("lets a holder that gave its destination back freeze nothing and settle nothing, also before the next one comes", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const destination = yield* sending(tenantId)
        yield* release(tenantId, destination)
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        const late = freezeOf(destination, { again: [idOf(101)], rateMark: 9, cursor: "Z" })
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [late])], [])
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(destination, idOf(101))],
          destinations: [releaseOf(destination, { pause: "late", breaker: { failures: 9, openUntil: undefined } })]
        })
        assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1))).state, "active")
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
          destinations: [releaseOf(stale, { pause: "stale", breaker: { failures: 9, openUntil: undefined } })]
        })
        assert.isFalse(due)
        const delivery = yield* find(tenantId, idOf(101))
        assert.deepStrictEqual([delivery.state, delivery.attempts.length, delivery.settledAt], ["sending", 1, undefined])
        assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1))).state, "active")
        const [refilled] = (yield* claim(tenantId, { maxDestinations: 0, refill: [current] })).destinations
        assert.deepStrictEqual([refilled!.due.map((each) => each.deliveryId), refilled!.breaker.failures], [[idOf(101)], 0])
      }))

    it.effect("lets a holder that lost its lease freeze nothing and keep nothing", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const { current, stale } = yield* takenOver(tenantId)
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        const [refilled] = (yield* claim(tenantId, { maxDestinations: 0, refill: [current] })).destinations
        const stolen = { ...refilled!, token: stale.token }
        assert.deepStrictEqual([...yield* queue.freeze(tenantId, [freezeOf(stolen, { deliveryId: idOf(102), rateMark: 9, cursor: "Z" })])], [])
        assert.deepStrictEqual([...yield* queue.heartbeat(tenantId, [stale], 1)], [])
        assert.isTrue(Option.isNone(yield* queue.find(tenantId, idOf(102))))
        const [after] = (yield* claim(tenantId, { maxDestinations: 0, refill: [current, stale] })).destinations
        assert.deepStrictEqual([after!.token, after!.waiting.length, after!.rateMark === 9], [current.token, 1, false])
      }))

    it.effect("lets whoever took over send an orphan again, or end it without an attempt", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const again = freshTenant()
        const one = yield* takenOver(again)
        yield* queue.freeze(again, [freezeOf(one.current, { again: [idOf(101)] })])
        const [refilled] = (yield* claim(again, { maxDestinations: 0, refill: [one.current] })).destinations
        assert.deepStrictEqual(refilled!.due, [])
        const record = { attempt: 2, at: occurredAt + 1, durationMillis: 1, outcome: "accepted" }
        yield* queue.settle(again, { deliveries: [settlementOf(one.current, idOf(101), { record })], destinations: [releaseOf(one.current)] })
        assert.strictEqual(yield* stateOf(again, idOf(101)), "delivered")

        const hopeless = freshTenant()
        const other = yield* takenOver(hopeless)
        yield* queue.settle(hopeless, {
          deliveries: [settlementOf(other.current, idOf(101), { state: "dead", record: undefined })],
          destinations: [releaseOf(other.current)]
        })
        const dead = yield* find(hopeless, idOf(101))
        assert.deepStrictEqual([dead.state, dead.attempts, dead.settledAt === undefined], ["dead", [], false])
      }))

    it.effect("has a destination due that is given back with a delivery still marked as being sent", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        const destination = yield* sending(tenantId)
        assert.isTrue(yield* release(tenantId, destination, { progress: false }))
        const next = yield* claimOne(tenantId)
        assert.deepStrictEqual(next.due.map((each) => [each.deliveryId, each.orphaned]), [[idOf(101), true]])
      }))

    it.effect("hands out due deliveries oldest first, and so many at most", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1 })
        const destination = yield* claimOne(tenantId)
        const fresh = [103, 101, 102].map((n, at) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [destination.waiting[at]!], traceparent: undefined }))
        yield* queue.freeze(tenantId, [freezeOf(destination, { fresh })])
        const deliveries = [101, 102, 103].map((n) => settlementOf(destination, idOf(n), { state: "waiting" }))
        yield* queue.settle(tenantId, { deliveries, destinations: [releaseOf(destination)] })
        const next = yield* claimOne(tenantId, { deliveriesPerDestination: 2 })
        assert.deepStrictEqual(next.due.map((each) => each.deliveryId), [idOf(101), idOf(102)])
      }))

    it.effect("has a destination due when its next retry is, and not before", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: destination.waiting.slice(0, 1), traceparent: undefined }]
        })])
        const waiting = [settlementOf(destination, idOf(101), { state: "waiting", dueInMillis: 150 })]
        assert.isFalse(yield* queue.settle(tenantId, { deliveries: waiting, destinations: [releaseOf(destination, { progress: false })] }))
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        const { destinations } = yield* eventually(claim(tenantId), (claimed) => claimed.destinations.length > 0)
        assert.deepStrictEqual(destinations[0]!.due.map((each) => each.deliveryId), [idOf(101)])
        assert.deepStrictEqual(destinations[0]!.waiting, [])
      }))

    it.effect("has a destination due at once when something may have become sendable", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        assert.isTrue(yield* release(tenantId, destination, { progress: true }))
        const again = yield* claimOne(tenantId)
        assert.isFalse(yield* release(tenantId, again, { progress: false }))
        assert.isFalse(yield* hasTurn(tenantId))
      }))

    it.effect("has a destination due at once when something arrived that its holder was not told of", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        yield* publish(tenantId, [{ shipmentId: "S" }])
        // the store may tell of the arrival now, or with the next claim; either way it is not lost
        yield* release(tenantId, destination, { progress: false })
        assert.isTrue(yield* hasTurn(tenantId))
        assert.lengthOf((yield* claimOne(tenantId)).waiting, 2)
      }))

    it.effect("is not told twice of an arrival that came with a refill", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        yield* publish(tenantId, [{ shipmentId: "S" }])
        const [refilled] = (yield* claim(tenantId, { refill: [destination] })).destinations
        assert.isFalse(yield* release(tenantId, refilled!, { progress: false }))
        assert.isFalse(yield* hasTurn(tenantId))
      }))

    it.effect("has a destination looked at again in a moment whose holder sent nothing, when something of it could be sent and only then", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2 })
        const dueIn = Effect.map(queue.destinations(tenantId, { state: undefined, after: undefined, limit: 1 }), ({ destinations, now }) => destinations[0]!.dueAt! - now)
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, {
          fresh: [{ deliveryId: idOf(101), sentAt: occurredAt, entries: first.waiting.slice(0, 1), traceparent: undefined }]
        })])
        const failed = settlementOf(first, idOf(101), { state: "waiting", dueInMillis: 600_000 })
        yield* queue.settle(tenantId, { deliveries: [failed], destinations: [releaseOf(first, { progress: false })] })
        assert.isAbove(yield* dueIn, doubtMillis)
        yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
        const second = yield* claimOne(tenantId)
        assert.isFalse(yield* release(tenantId, second, { progress: false }))
        assert.isAtMost(yield* dueIn, doubtMillis)
        const { destinations: [third] } = yield* eventually(claim(tenantId), ({ destinations }) => destinations.length > 0)
        assert.deepStrictEqual(third!.waiting.map(({ key }) => key), ["T"])
        assert.isFalse(yield* release(tenantId, third!, { progress: false, notBeforeMillis: 5000 }))
        assert.isAbove(yield* dueIn, doubtMillis)
      }))

    it.effect("has nothing due before rate and breaker allow", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        const breaker = { failures: 5, openUntil: occurredAt + 150.25 }
        assert.isFalse(yield* release(tenantId, destination, { progress: true, notBeforeMillis: 150, breaker }))
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        const { destinations } = yield* eventually(claim(tenantId), (claimed) => claimed.destinations.length > 0)
        assert.deepStrictEqual([destinations[0]!.breaker, destinations[0]!.waiting.length], [breaker, 1])
      }))

    it.effect("takes what an attempt says of an endpoint for nothing once the destination has another", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1, T: 1 })
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
        yield* queue.changeDestination(tenantId, destinationSettings({ endpointUrl: "https://new.example/hook" }))
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(first, idOf(101), { state: "waiting" })],
          destinations: [{ ...releaseOf(first, { pause: "The receiver answered 410 Gone.", breaker: { failures: 7, openUntil: occurredAt * 2 }, notBeforeMillis: 3_600_000 }), endpointUrl: first.endpointUrl }]
        })
        const status = Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1)))
        const { destinations: [overview] } = yield* queue.destinations(tenantId, { state: undefined, after: undefined, limit: 5 })
        assert.deepStrictEqual([status.state, overview!.breaker], ["active", { failures: 0, openUntil: undefined }])
        const { destinations: [next] } = yield* claim(tenantId)
        assert.deepStrictEqual(next?.due.map((d) => d.deliveryId), [idOf(101)])
      }))

    it.effect("pauses for a dead letter, whichever endpoint the destination has by then", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
        yield* queue.changeDestination(tenantId, destinationSettings({ endpointUrl: "https://new.example/hook" }))
        yield* queue.settle(tenantId, {
          deliveries: [settlementOf(first, idOf(101), { state: "dead" })],
          destinations: [{ ...releaseOf(first, { pause: "A delivery was not accepted." }), endpointUrl: first.endpointUrl }]
        })
        assert.strictEqual(Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1))).state, "paused")
      }))

    it.effect("takes nothing back of a retry when a delivery that was given up is written once more", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const first = yield* claimOne(tenantId, { leaseMillis: 1 })
        yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
        const { destinations: [taken] } = yield* eventually(claim(tenantId), ({ destinations }) => destinations.length > 0)
        const destination = taken!
        assert.deepStrictEqual(destination.due.map((d) => [d.orphaned, d.attempt]), [[true, 1]])
        const dead = { deliveries: [settlementOf(destination, idOf(101), { state: "dead", record: undefined, attempt: destination.due[0]!.attempt })], destinations: [] }
        yield* queue.settle(tenantId, dead) // its answer gets lost
        yield* queue.retry(tenantId, idOf(101))
        const { destinations: [again] } = yield* claim(tenantId, { refill: [destination] })
        yield* queue.freeze(tenantId, [freezeOf(again!, { fresh: [], again: [idOf(101)] })])
        yield* queue.settle(tenantId, dead)
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101), { record: { attempt: 2, at: occurredAt, durationMillis: 1, outcome: "accepted" } })], destinations: [] })
        assert.strictEqual(Option.getOrThrow(yield* queue.find(tenantId, idOf(101))).state, "delivered")
      }))

    it.effect("freezes nothing by what was told before an operator began a new series of attempts", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 }, { policy: { maxAttempts: 2 } })
        const first = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
        yield* queue.settle(tenantId, { deliveries: [settlementOf(first, idOf(101), { state: "waiting" })], destinations: [releaseOf(first)] })
        const destination = yield* claimOne(tenantId)
        const [due] = destination.due
        assert.deepStrictEqual(Option.getOrThrow(yield* queue.retry(tenantId, idOf(101))), "waiting")
        // as the pump freezes it: with what the claim said
        const frozen = yield* Effect.exit(queue.freeze(tenantId, [{ ...freezeOf(destination, { fresh: [], again: [idOf(101)] }), againTries: [due!.tries] }]))
        assert.isTrue(Exit.isFailure(frozen), "attempt 2 of 2 goes out, and dies, although a new series was promised")
        const { destinations: [again] } = yield* claim(tenantId, { refill: [destination] })
        assert.deepStrictEqual(again!.due.map((d) => [d.deliveryId, d.tries]), [[idOf(101), 0]])
      }))

    it.effect("keeps a lease that is not given back", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const destination = yield* sending(tenantId)
        const breaker = { failures: 1, openUntil: undefined }
        assert.isFalse(yield* queue.settle(tenantId, {
          deliveries: [settlementOf(destination, idOf(101), { state: "waiting" })],
          destinations: [{ ...releaseOf(destination, { breaker }), release: undefined }]
        }))
        assert.deepStrictEqual((yield* claim(tenantId)).destinations, [])
        const [refilled] = (yield* claim(tenantId, { refill: [destination] })).destinations
        assert.deepStrictEqual([refilled!.breaker, refilled!.due.length], [breaker, 1])
      }))

    it.effect("pauses a destination for a reason, unless its owner stopped it already", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const destination = yield* sending(tenantId)
        const outcomes = { deliveries: [settlementOf(destination, idOf(101), { state: "waiting" as const })], destinations: [releaseOf(destination, { pause: "410" })] }
        assert.isFalse(yield* queue.settle(tenantId, outcomes))
        const status = Option.getOrThrow(yield* queue.destinationStatus(tenantId, idOf(1)))
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
        const { destinations } = yield* claim(tenantId)
        for (const [at, destination] of destinations.toSorted((a, b) => a.destinationId < b.destinationId ? -1 : 1).entries()) {
          const numbers = [0, 1, 2].map((n) => 101 + n * 2 + at)
          yield* queue.freeze(tenantId, [freezeOf(destination, {
            fresh: numbers.map((n, entry) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [destination.waiting[entry]!], traceparent: undefined }))
          })])
          yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(numbers[0]!), { state: "dead" })], destinations: [] })
        }
        const numbers = (query: Partial<DeliveryQuery>) =>
          Effect.map(queue.list(tenantId, { ...everything, ...query }), (rows) => rows.map((each) => Number(each.deliveryId.slice(-4))))
        assert.deepStrictEqual(yield* numbers({}), [101, 102, 103, 104, 105, 106])
        assert.deepStrictEqual(yield* numbers({ limit: 2 }), [101, 102])
        assert.deepStrictEqual(yield* numbers({ after: idOf(104) }), [105, 106])
        assert.deepStrictEqual(yield* numbers({ destinationId: idOf(2) }), [102, 104, 106])
        assert.deepStrictEqual(yield* numbers({ state: "dead" }), [101, 102])
        assert.deepStrictEqual(yield* numbers({ state: "sending", destinationId: idOf(1), after: idOf(103) }), [105])
        assert.deepStrictEqual(yield* numbers({ destinationId: idOf(9) }), [])
        const newest = { order: "newest" } as const
        assert.deepStrictEqual(yield* numbers({ ...newest, limit: 2 }), [106, 105])
        assert.deepStrictEqual(yield* numbers({ ...newest, after: idOf(103) }), [102, 101])
        assert.deepStrictEqual(yield* numbers({ ...newest, destinationId: idOf(2) }), [106, 104, 102])
        assert.deepStrictEqual(yield* numbers({ ...newest, destinationId: idOf(1), after: idOf(105), limit: 1 }), [103])
        assert.deepStrictEqual(yield* numbers({ ...newest, state: "dead" }), [102, 101])
        assert.deepStrictEqual(yield* numbers({ ...newest, state: "sending", destinationId: idOf(2) }), [106, 104])
      }))

    it.effect("lists deliveries created from an instant on", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        // an id begins with the instant it was given out at
        const deliveryId = `${occurredAt.toString(16).padStart(12, "0").replace(/^(.{8})/, "$1-")}-7000-8000-000000000001`
        yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId })])
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
          const destination = yield* claimOne(tenantId)
          assert.deepStrictEqual(destination.due.map((each) => [each.deliveryId, each.attempt, each.tries]), [[idOf(101), 1, 0]])
          assert.deepStrictEqual(destination.due[0]!.payloads.map(textOf).join(","), before.payloads.map(textOf).join(","))
        }
      }))

    it.effect("leaves a delivery alone that is being sent or was cancelled", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* sending(tenantId)
        assert.deepStrictEqual(yield* queue.retry(tenantId, idOf(101)), Option.some<DeliveryState>("sending"))
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "sending")
        yield* queue.closeDestination(tenantId, idOf(1))
        assert.deepStrictEqual(yield* queue.retry(tenantId, idOf(101)), Option.some<DeliveryState>("cancelled"))
        assert.strictEqual(yield* stateOf(tenantId, idOf(101)), "cancelled")
      }))

    it.effect("answers a delivery whose destination was closed as cancelled, for there is nowhere to send it", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* ended(tenantId, "delivered")
        yield* queue.closeDestination(tenantId, idOf(1))
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

    it.effect("makes every dead letter of a destination due again that died since an instant", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (const n of [1, 2]) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, ["A", "B", "C"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
        for (const destination of (yield* claim(tenantId)).destinations) {
          const from = destination.destinationId === idOf(1) ? 101 : 201
          yield* queue.freeze(tenantId, [freezeOf(destination, {
            fresh: [0, 1, 2].map((n) => ({ deliveryId: idOf(from + n), sentAt: occurredAt, entries: [destination.waiting[n]!], traceparent: undefined }))
          })])
          yield* queue.settle(tenantId, {
            deliveries: [0, 1, 2].map((n) => settlementOf(destination, idOf(from + n), { state: n === 2 ? "delivered" : "dead" })),
            destinations: [releaseOf(destination)]
          })
        }
        const { settledAt } = yield* find(tenantId, idOf(101))
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), settledAt! + 600_000), 0)
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), settledAt! - 600_000), 2)
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 0)
        const destination = yield* claimOne(tenantId)
        assert.deepStrictEqual(destination.due.map((each) => [each.deliveryId, each.tries]), [[idOf(101), 0], [idOf(102), 0]])
        assert.strictEqual(yield* stateOf(tenantId, idOf(201)), "dead")
        assert.strictEqual(yield* queue.recover(tenantId, idOf(9), 0), 0)
      }))

    it.effect("sends deliveries that share a shipment again one after the other, the older first, and the destination is due when that one is", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 2, T: 1 })
        const dueOf = (destination: ClaimedDestination) => destination.due.map((each) => each.deliveryId)
        for (const n of [101, 102]) {
          const destination = yield* claimOne(tenantId)
          const fresh = destination.waiting.filter(({ sequence, key }) => key === "T" ? n === 102 : sequence === n - 100)
          yield* queue.freeze(tenantId, [freezeOf(destination, { fresh: [{ deliveryId: idOf(n), sentAt: occurredAt, entries: fresh, traceparent: undefined }] })])
          yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(n), { state: "dead" })], destinations: [releaseOf(destination)] })
        }
        assert.strictEqual(yield* queue.recover(tenantId, idOf(1), 0), 2)
        const first = yield* claimOne(tenantId)
        assert.deepStrictEqual(dueOf(first), [idOf(101)])
        yield* queue.freeze(tenantId, [freezeOf(first, { again: [idOf(101)] })])
        const [beside] = (yield* claim(tenantId, { maxDestinations: 0, refill: [first] })).destinations
        assert.deepStrictEqual(dueOf(beside!), [], "not beside the older one")
        const record = (attempt: number) => ({ attempt, at: occurredAt + attempt, durationMillis: 1, outcome: "http_5xx" })
        const failed = settlementOf(first, idOf(101), { state: "waiting", dueInMillis: 150, record: record(2) })
        assert.isFalse(yield* queue.settle(tenantId, { deliveries: [failed], destinations: [releaseOf(first, { progress: false })] }))
        assert.isFalse(yield* hasTurn(tenantId), "the older one is not due yet")
        const { destinations: [second] } = yield* eventually(claim(tenantId), ({ destinations }) => destinations.length > 0)
        assert.deepStrictEqual(dueOf(second!), [idOf(101)])
        yield* queue.freeze(tenantId, [freezeOf(second!, { again: [idOf(101)] })])
        const accepted = settlementOf(second!, idOf(101), { record: { ...record(3), outcome: "accepted" } })
        assert.isTrue(yield* queue.settle(tenantId, { deliveries: [accepted], destinations: [releaseOf(second!, { progress: false })] }))
        const third = yield* claimOne(tenantId)
        assert.deepStrictEqual(dueOf(third), [idOf(102)])
        yield* queue.freeze(tenantId, [freezeOf(third, { again: [idOf(102)] })])
        // an older one that comes while it is under way waits for it
        yield* queue.retry(tenantId, idOf(101))
        const [last] = (yield* claim(tenantId, { maxDestinations: 0, refill: [third] })).destinations
        assert.deepStrictEqual(dueOf(last!), [])
      }))

    it.effect("removes deliveries that ended before an instant, and nothing else", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1, D: 1 })
        const destination = yield* claimOne(tenantId)
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: [0, 1, 2, 3].map((n) => ({ deliveryId: idOf(101 + n), sentAt: occurredAt, entries: [destination.waiting[n]!], traceparent: undefined }))
        })])
        yield* queue.settle(tenantId, {
          deliveries: [
            settlementOf(destination, idOf(101)),
            settlementOf(destination, idOf(102), { state: "dead" }),
            settlementOf(destination, idOf(103), { state: "waiting" })
          ],
          destinations: []
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
        const destination = yield* claimOne(tenantId, { deliveriesPerDestination: count, bytesPerDestination: 100_000_000 })
        assert.lengthOf(destination.waiting, count)
        yield* queue.freeze(tenantId, [freezeOf(destination, {
          fresh: destination.waiting.map((entry, n) => ({ deliveryId: idOf(n), sentAt: occurredAt, entries: [entry], traceparent: undefined }))
        })])
        const states = ["delivered", "waiting", "dead"] as const
        // 7 and 2,500 share no factor: every delivery once
        const numbers = Array.from({ length: count }, (_, at) => at * 7 % count)
        yield* queue.settle(tenantId, {
          deliveries: [
            ...numbers.map((n) =>
              settlementOf(destination, idOf(n), {
                state: states[n % 3]!,
                dueInMillis: 600_000,
                record: { attempt: 1, at: occurredAt + n, durationMillis: n, outcome: "accepted" }
              })),
            // what comes a second time changes nothing
            settlementOf(destination, idOf(1), { state: "delivered" })
          ],
          destinations: []
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
