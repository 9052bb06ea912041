/** Conformance of `DeliveryQueue`: lists of destinations and of the deliveries of a shipment. */
import { defaultPolicy, DeliveryQueue, type DestinationOverview, type DestinationQuery, endpointFilterOf, overviewCount, type TakenDelivery } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { destinationSettings, idOf, letSee, occurredAt, publish, seed, single, storeNow } from "../StorageFixtures.ts"
import { acquire, changeOf, from, outcomeOf, seededWorker, settle, take, takeFrom } from "../WorkerFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const destinations = (tenantId: string, query: Partial<DestinationQuery> = {}) =>
  Effect.flatMap(DeliveryQueue, (queue) =>
    Effect.map(queue.destinations(tenantId, { state: undefined, after: undefined, limit: 100, ...query }), (found) => found.destinations))

const numbers = (found: ReadonlyArray<Pick<DestinationOverview, "destinationId">>) => found.map((each) => Number(each.destinationId.slice(-4)))

const carrying = (tenantId: string, keys: Readonly<Record<string, ReadonlyArray<string>>>, range: { readonly newest?: number; readonly limit?: number } = {}) =>
  Effect.flatMap(DeliveryQueue, (queue) =>
    Effect.map(
      queue.carrying(tenantId, Object.entries(keys).map(([source, keys]) => ({ sources: [source], keys })), { newest: 100, limit: 100, ...range }),
      ({ deliveries, since }) => ({ ids: deliveries.map(({ deliveryId }) => deliveryId), since, deliveries })
    ))

export const suite = storeSuite("DeliveryQueue, operators' reads", DeliveryQueue, (test) => {
  test("shows a new destination", function*({ queue, tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
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
      whenDead: "continue",
      status: "active",
      held: false,
      breaker: { failures: 0, openUntil: undefined },
      waiting: 0,
      oldestWaitingAt: undefined,
      inFlight: 0,
      dead: 0,
      dropped: 0,
      dueAt: undefined,
      lastAttempt: undefined
    })
  })

  test("counts waiting entries, deliveries in flight and dead letters, and returns the last attempt", function*({ tenantId }) {
    yield* seed(tenantId, { A: 1, B: 1, C: 1 }, single)
    const [before] = yield* destinations(tenantId)
    assert.deepStrictEqual([before!.waiting, before!.inFlight, before!.dead, before!.lastAttempt, before!.dueAt], [3, 0, 0, undefined, undefined])
    const worker = yield* acquire(tenantId)
    const { deliveries: [a, b, c] } = yield* takeFrom(worker)
    yield* publish(tenantId, [{ shipmentId: "D" }, { shipmentId: "D" }], { accounts: ["A"] })
    const [flying] = yield* destinations(tenantId)
    assert.deepStrictEqual([flying!.waiting, flying!.inFlight, flying!.lastAttempt], [2, 3, undefined])
    const failed = { attempt: 1, at: occurredAt + 7, durationMillis: 5, outcome: "http_5xx", status: 503, detail: "It answered 503." }
    yield* settle(worker, {
      outcomes: [
        outcomeOf(a!, { state: "dead", record: { ...failed, outcome: "timeout" } }),
        outcomeOf(b!, { state: "waiting", dueInMillis: 60_000, record: failed })
      ]
    })
    const [after] = yield* destinations(tenantId)
    assert.deepStrictEqual([after!.waiting, after!.inFlight, after!.dead, after!.dueAt === undefined], [2, 2, 1, false])
    // the newest has not been attempted yet
    assert.deepStrictEqual(after!.lastAttempt, failed)
    yield* settle(worker, { outcomes: [outcomeOf(c!)] })
    const [last] = yield* destinations(tenantId)
    assert.deepStrictEqual([last!.inFlight, last!.dead], [1, 1])
    // of a newer delivery, and made earlier
    assert.deepStrictEqual(last!.lastAttempt, failed)
    // sent again, it stands in a flight and has a row
    yield* takeFrom(worker, 1, { again: [b!.deliveryId], batches: 0 })
    assert.strictEqual((yield* destinations(tenantId))[0]!.inFlight, 1)
  })

  test("counts what waits, is in flight and is dead for each destination, and returns the earliest next attempt of an active one", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1, D: 1 }, { ...single, numbers: [1, 2] })
    const { deliveries: [a, b, c] } = yield* takeFrom(worker, 1, { batches: 3 })
    yield* takeFrom(worker, 2, { batches: 1 })
    const waiting = [a!, b!].map((delivery, at) => outcomeOf(delivery, { state: "waiting", dueInMillis: at === 0 ? 600_000 : 60_000 }))
    yield* settle(worker, { outcomes: [...waiting, outcomeOf(c!, { state: "dead" })] })
    const found = yield* destinations(tenantId)
    assert.deepStrictEqual(found.map((each) => [each.waiting, each.inFlight, each.dead]), [[1, 2, 1], [3, 1, 0]])
    assert.isBelow(found[0]!.dueAt! - (yield* storeNow(tenantId)), 60_001)
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    assert.isUndefined((yield* destinations(tenantId))[0]!.dueAt)
  })

  test("reports that the client or tenant of an active destination has no access", function*({ access, queue, tenantId }) {
    yield* seed(tenantId, { S: 1 })
    const held = Effect.map(destinations(tenantId), (found) => found.map((each) => each.held))
    assert.deepStrictEqual(yield* held, [false])
    yield* access.putClientAccess(tenantId, { client: "client", origin: "key", seesAll: false, accounts: ["A"], live: { until: 0 } })
    assert.deepStrictEqual(yield* held, [true])
    yield* queue.changeDestination(tenantId, destinationSettings({ state: "paused" }))
    assert.deepStrictEqual(yield* held, [false])
  })

  test("stops counting at the displayed maximum", function*({ tenantId }) {
    yield* seed(tenantId, {})
    const events = Array.from({ length: overviewCount + 1 }, () => ({ shipmentId: "S" }))
    yield* publish(tenantId, events, { accounts: ["A"] })
    assert.deepStrictEqual((yield* destinations(tenantId)).map((each) => each.waiting), [overviewCount])
  })

  test("returns breaker, state and reason as last written", function*({ tenantId }) {
    yield* seed(tenantId, { S: 1 })
    const breaker = { failures: 7, openUntil: occurredAt + 1234.5 }
    yield* settle(yield* acquire(tenantId), { destinations: [changeOf(1, { breaker, pause: "The receiver answered 410 Gone." })] })
    const [paused] = yield* destinations(tenantId)
    assert.deepStrictEqual([paused!.breaker, paused!.status.state, paused!.status.reason], [breaker, "paused", "The receiver answered 410 Gone."])
  })

  test("lists destinations by id, page by page and state by state, and closed ones never", function*({ queue, tenantId }) {
    const states = ["active", "paused", "inactive", "active", "paused", "active"] as const
    for (const [at, state] of states.entries()) yield* queue.openDestination(tenantId, destinationSettings({ n: states.length - at, state }))
    yield* queue.closeDestination(tenantId, idOf(3))
    assert.deepStrictEqual(numbers(yield* destinations(tenantId)), [1, 2, 4, 5, 6])
    assert.deepStrictEqual(numbers(yield* destinations(tenantId, { limit: 2 })), [1, 2])
    const endpoint = endpointFilterOf("receiver.example")
    for (const match of [{}, { client: "client" }, { endpoint }, { endpoint: endpointFilterOf("https://receiver.example/hook") }, { state: "active" as const }]) {
      assert.deepStrictEqual(numbers(yield* destinations(tenantId, { ...match, limit: 1 })), [1])
    }
    assert.deepStrictEqual(numbers(yield* destinations(tenantId, { limit: 2, after: idOf(2) })), [4, 5])
    assert.deepStrictEqual(numbers(yield* destinations(tenantId, { state: "paused" })), [2, 5])
    assert.deepStrictEqual(numbers(yield* destinations(tenantId, { state: "active", after: idOf(1) })), [6])
    assert.deepStrictEqual(numbers(yield* destinations(tenantId, { state: "inactive", limit: 1 })), [4])
  })

  test("finds deliveries by their entries, newest first", function*({ tenantId }) {
    yield* seed(tenantId, {}, { ...single, numbers: [1, 2] })
    yield* publish(tenantId, ["S", "T", "S, \"odd\" {}"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
    yield* take(yield* acquire(tenantId), { from: [from(1), from(2)] })
    const { deliveries, ids: found, since } = yield* carrying(tenantId, { "transit-events": ["S", "S, \"odd\" {}"] })
    assert.lengthOf(found, 4)
    assert.deepStrictEqual(found, found.toSorted().toReversed())
    assert.isUndefined(since)
    assert.deepStrictEqual([...new Set(deliveries.map((each) => each.source))], ["transit-events"])
    assert.deepStrictEqual([...new Set(deliveries.map((each) => each.state))], ["sending"])
    assert.deepStrictEqual((yield* carrying(tenantId, { "transit-events": ["S", "T"] }, { limit: 1 })).ids.length, 1)
    assert.deepStrictEqual((yield* carrying(tenantId, { "transit-events": ["unknown"] })).ids, [])
    // the same key of another area is another shipment
    assert.deepStrictEqual((yield* carrying(tenantId, { "transit-events": ["unknown"], "freight-charges": ["S"] })).ids, [])
  })

  test("searches the newest deliveries only, and returns since when", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, { A: 1, B: 1, C: 1, D: 1 }, single)
    const deliveries: Array<TakenDelivery> = []
    for (const after of [undefined, "A", "B", "C"]) deliveries.push(...(yield* takeFrom(worker, 1, { after, batches: 1 })).deliveries)
    const [, b, , d] = deliveries
    const among = (newest: number) => Effect.map(carrying(tenantId, { "transit-events": ["B", "D"] }, { newest }), ({ ids, since }) => [ids, since])
    assert.deepStrictEqual(yield* among(1), [[d!.deliveryId], d!.sentAt])
    assert.deepStrictEqual(yield* among(3), [[d!.deliveryId, b!.deliveryId], b!.sentAt])
    assert.deepStrictEqual(yield* among(4), [[d!.deliveryId, b!.deliveryId], undefined])
    assert.deepStrictEqual(yield* among(5), [[d!.deliveryId, b!.deliveryId], undefined])
  })

  test("finds deliveries of closed destinations too", function*({ queue, tenantId }) {
    const worker = yield* seededWorker(tenantId, { S: 1 })
    const { deliveries: [delivery] } = yield* takeFrom(worker)
    yield* queue.closeDestination(tenantId, idOf(1))
    const states = Effect.map(carrying(tenantId, { "transit-events": ["S"] }), (found) => found.deliveries.map(({ source, state }) => `${source} ${state}`))
    assert.deepStrictEqual(yield* states, ["transit-events sending"])
    yield* settle(worker, { outcomes: [outcomeOf(delivery!, { state: "waiting" })] })
    assert.deepStrictEqual(yield* states, ["transit-events cancelled"])
  })

  test("isolates tenants that share ids", function*({ other, queue, tenantId: one }) {
    yield* seed(one, { S: 2 })
    yield* takeFrom(yield* acquire(one))
    yield* publish(one, [{ shipmentId: "T" }])
    assert.deepStrictEqual(yield* destinations(other), [])
    yield* queue.openDestination(other, { ...destinationSettings(), source: "shipment-status" })
    assert.deepStrictEqual((yield* destinations(other)).map((each) => [each.source, each.waiting, each.inFlight, each.lastAttempt]), [["shipment-status", 0, 0, undefined]])
    assert.deepStrictEqual(yield* carrying(other, { "transit-events": ["S"] }), { ids: [], since: undefined, deliveries: [] })
  })
})
