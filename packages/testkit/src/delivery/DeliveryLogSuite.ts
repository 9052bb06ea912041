/** What a `DeliveryQueue` promises operators who look at destinations and at what carried a shipment. */
import { type ClaimedDestination, defaultPolicy, DeliveryQueue, type DestinationOverview, type DestinationQuery, overviewCount, type StoragePorts } from "@waybill/core"
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import {
  claim,
  claimOne,
  freezeOf,
  freshTenant,
  idOf,
  destinationSettings,
  letSee,
  occurredAt,
  publish,
  releaseOf,
  seed,
  settlementOf,
  subscribe
} from "../StorageFixtures.ts"

const destinations = (tenantId: string, query: Partial<DestinationQuery> = {}) =>
  Effect.flatMap(DeliveryQueue, (queue) =>
    Effect.map(queue.destinations(tenantId, { state: undefined, after: undefined, limit: 100, ...query }), (found) => found.destinations))

const numbers = (found: ReadonlyArray<Pick<DestinationOverview, "destinationId">>) => found.map((each) => Number(each.destinationId.slice(-4)))

/** One delivery of each waiting entry, numbered from `first` on. */
const freezeEach = Effect.fnUntraced(function*(tenantId: string, destination: ClaimedDestination, first: number) {
  const queue = yield* DeliveryQueue
  yield* queue.freeze(tenantId, [freezeOf(destination, {
    fresh: destination.waiting.map((entry, at) => ({ deliveryId: idOf(first + at), sentAt: occurredAt + first + at, entries: [entry], traceparent: undefined }))
  })])
})

const carrying = (tenantId: string, keys: Readonly<Record<string, ReadonlyArray<string>>>, range: { readonly newest?: number; readonly limit?: number } = {}) =>
  Effect.flatMap(DeliveryQueue, (queue) =>
    Effect.map(
      queue.carrying(tenantId, Object.entries(keys).map(([source, keys]) => ({ sources: [source], keys })), { newest: 100, limit: 100, ...range }),
      ({ deliveries, since }) => ({ numbers: deliveries.map((each) => Number(each.deliveryId.slice(-4))), since: since === undefined ? undefined : since - occurredAt, deliveries })
    ))

export const suite = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void =>
  layer(storage, { excludeTestServices: true })(`${name}: DeliveryQueue, as operators look at it`, (it) => {
    it.effect("shows a destination that nothing happened to", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* queue.openDestination(tenantId, destinationSettings({ endpointUrl: "https://ä.example/\"x\"?a=b" }))
        const { destinations: [destination], now } = yield* queue.destinations(tenantId, { state: undefined, after: undefined, limit: 10 })
        assert.isAtMost(destination!.status.since, now)
        assert.deepStrictEqual({ ...destination!, status: destination!.status.state }, {
          destinationId: idOf(1),
          client: "client",
          source: "transit-events",
          endpointUrl: "https://ä.example/\"x\"?a=b",
          hmacSecretId: "main",
          policy: defaultPolicy,
          whenDead: "goOn",
          status: "active",
          held: false,
          breaker: { failures: 0, openUntil: undefined },
          rateMark: undefined,
          waiting: 0,
          oldestWaitingAt: undefined,
          inFlight: 0,
          dead: 0,
          dropped: 0,
          dueAt: undefined,
          lastAttempt: undefined
        })
      }))

    it.effect("counts what waits, what is under way and what died, and tells the last attempt", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1 })
        const [before] = yield* destinations(tenantId)
        assert.deepStrictEqual([before!.waiting, before!.inFlight, before!.dead, before!.lastAttempt], [3, 0, 0, undefined])
        assert.isDefined(before!.dueAt)
        const destination = yield* claimOne(tenantId)
        yield* freezeEach(tenantId, destination, 101)
        yield* publish(tenantId, [{ shipmentId: "D" }, { shipmentId: "D" }], { accounts: ["A"] })
        const failed = { attempt: 1, at: occurredAt + 7, durationMillis: 5, outcome: "http_5xx", status: 503, detail: "It answered 503." }
        yield* queue.settle(tenantId, {
          deliveries: [
            settlementOf(destination, idOf(101), { state: "dead", record: { ...failed, outcome: "timeout" } }),
            settlementOf(destination, idOf(102), { state: "waiting", dueInMillis: 60_000, record: failed })
          ],
          destinations: []
        })
        const [after] = yield* destinations(tenantId)
        assert.deepStrictEqual([after!.waiting, after!.inFlight, after!.dead], [2, 2, 1])
        // the newest has not been attempted yet
        assert.deepStrictEqual(after!.lastAttempt, failed)
        yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(103))], destinations: [] })
        const [last] = yield* destinations(tenantId)
        assert.deepStrictEqual([last!.inFlight, last!.dead, last!.lastAttempt?.outcome], [1, 1, "accepted"])
      }))

    it.effect("stops counting where it is not shown any more", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, {})
        const events = Array.from({ length: overviewCount + 1 }, () => ({ shipmentId: "S" }))
        yield* publish(tenantId, events, { accounts: ["A"] })
        assert.deepStrictEqual((yield* destinations(tenantId)).map((each) => each.waiting), [overviewCount])
      }))

    it.effect("tells breaker, state and reason as they were written last", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        const destination = yield* claimOne(tenantId)
        const breaker = { failures: 7, openUntil: occurredAt + 1234.5 }
        yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(destination, { breaker, pause: "The receiver answered 410 Gone." })] })
        const [paused] = yield* destinations(tenantId)
        assert.deepStrictEqual([paused!.breaker, paused!.status.state, paused!.status.reason], [breaker, "paused", "The receiver answered 410 Gone."])
        // nobody looks at a destination that is paused
        assert.isUndefined(paused!.dueAt)
      }))

    it.effect("lists destinations by id, page by page and state by state, and closed ones never", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        const states = ["active", "paused", "inactive", "active", "paused", "active"] as const
        for (const [at, state] of states.entries()) yield* queue.openDestination(tenantId, destinationSettings({ n: states.length - at, state }))
        yield* queue.closeDestination(tenantId, idOf(3))
        assert.deepStrictEqual(numbers(yield* destinations(tenantId)), [1, 2, 4, 5, 6])
        assert.deepStrictEqual(numbers(yield* destinations(tenantId, { limit: 2 })), [1, 2])
        assert.deepStrictEqual(numbers(yield* destinations(tenantId, { limit: 2, after: idOf(2) })), [4, 5])
        assert.deepStrictEqual(numbers(yield* destinations(tenantId, { state: "paused" })), [2, 5])
        assert.deepStrictEqual(numbers(yield* destinations(tenantId, { state: "active", after: idOf(1) })), [6])
        assert.deepStrictEqual(numbers(yield* destinations(tenantId, { state: "inactive", limit: 1 })), [4])
      }))

    it.effect("finds deliveries by what they carry, newest first", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        for (const n of [1, 2]) yield* subscribe(tenantId, { n })
        yield* publish(tenantId, ["S", "T", "S, \"odd\" {}"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
        for (const destination of (yield* claim(tenantId)).destinations) yield* freezeEach(tenantId, destination, 100 * Number(destination.destinationId.slice(-1)) + 1)
        const { deliveries, numbers: found, since } = yield* carrying(tenantId, { "transit-events": ["S", "S, \"odd\" {}"] })
        assert.lengthOf(found, 4)
        assert.deepStrictEqual(found, found.toSorted((a, b) => b - a))
        assert.isUndefined(since)
        assert.deepStrictEqual([...new Set(deliveries.map((each) => each.source))], ["transit-events"])
        assert.deepStrictEqual([...new Set(deliveries.map((each) => each.state))], ["sending"])
        assert.deepStrictEqual((yield* carrying(tenantId, { "transit-events": ["S", "T"] }, { limit: 1 })).numbers.length, 1)
        assert.deepStrictEqual((yield* carrying(tenantId, { "transit-events": ["unknown"] })).numbers, [])
        // the same key of another area is somebody else
        assert.deepStrictEqual((yield* carrying(tenantId, { "freight-charges": ["S"] })).numbers, [])
      }))

    it.effect("looks through the newest deliveries only, and says since when", () =>
      Effect.gen(function*() {
        const tenantId = freshTenant()
        yield* seed(tenantId, { A: 1, B: 1, C: 1, D: 1 })
        yield* freezeEach(tenantId, yield* claimOne(tenantId), 101)
        const among = (newest: number) => Effect.map(carrying(tenantId, { "transit-events": ["B", "D"] }, { newest }), ({ numbers, since }) => [numbers, since])
        assert.deepStrictEqual(yield* among(1), [[104], 104])
        assert.deepStrictEqual(yield* among(3), [[104, 102], 102])
        assert.deepStrictEqual(yield* among(4), [[104, 102], undefined])
        assert.deepStrictEqual(yield* among(5), [[104, 102], undefined])
      }))

    it.effect("tells what a destination carried also when it is closed", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const tenantId = freshTenant()
        yield* seed(tenantId, { S: 1 })
        yield* freezeEach(tenantId, yield* claimOne(tenantId), 101)
        yield* queue.closeDestination(tenantId, idOf(1))
        assert.deepStrictEqual((yield* carrying(tenantId, { "transit-events": ["S"] })).deliveries.map((each) => each.state), ["cancelled"])
      }))

    it.effect("keeps tenants apart, whatever ids they share", () =>
      Effect.gen(function*() {
        const queue = yield* DeliveryQueue
        const [one, other] = [freshTenant(), freshTenant()]
        yield* seed(one, { S: 2 })
        yield* freezeEach(one, yield* claimOne(one), 101)
        yield* publish(one, [{ shipmentId: "T" }])
        assert.deepStrictEqual(yield* destinations(other), [])
        yield* queue.openDestination(other, { ...destinationSettings(), source: "shipment-status" })
        assert.deepStrictEqual((yield* destinations(other)).map((each) => [each.source, each.waiting, each.inFlight, each.lastAttempt]), [["shipment-status", 0, 0, undefined]])
        assert.deepStrictEqual(yield* carrying(other, { "transit-events": ["S"] }), { numbers: [], since: undefined, deliveries: [] })
      }))
  })
