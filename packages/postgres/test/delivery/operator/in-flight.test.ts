/** Deliveries in flight for the first time are stored in their flight only, and operators still see them. */
import { layer } from "@effect/vitest"
import { DeliveryControl, type DeliveryQuery, DeliveryQueue, deliveryIdOf, partitionOf } from "@waybill/core/delivery"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Option } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { freshTenant, idOf, seed, textOf } = fixtures

const schema = freshSchema()
const rows = rowsIn(schema)

const moment = Date.now().toString(16).padStart(12, "0")
const flight = `${moment.slice(0, 8)}-${moment.slice(8)}-7000-8000-0000000a0000`
const [first, second] = [deliveryIdOf(flight, 0), deliveryIdOf(flight, 1)]

/** Moves all entries of the first destination into one flight: a delivery for each shipment. */
const takeAll = (tenantId: string) =>
  rows(
    `WITH gone AS (DELETE FROM @delivery_entries WHERE tenant_id = $1 RETURNING destination_id, key, sequence, ref),
     grouped AS (SELECT row_number() OVER (ORDER BY key) - 1 AS ordinal, destination_id, key, array_agg(ref ORDER BY sequence) AS refs FROM gone GROUP BY destination_id, key)
     INSERT INTO @delivery_flights (tenant_id, partition, flight, sent_at, entries, deliveries)
     SELECT $1, $2::int, $3::uuid, now(), 0, array_agg((ordinal::int, destination_id, NULL, refs, ARRAY[key], 1, 1, NULL)::@flown_delivery) FROM grouped`,
    [tenantId, partitionOf(idOf(1)), flight]
  )

/** Writes the outcome of the first delivery, as its owner does while the second one is in flight. */
const settleFirst = (tenantId: string, state: "delivered" | "waiting") =>
  rows(
    `INSERT INTO @deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, due_at, settled_at)
     SELECT $1, $2::uuid, u.destination_id, $3, 1, 1, u.refs, u.keys, f.sent_at, CASE WHEN $3 = 'waiting' THEN now() END, CASE WHEN $3 <> 'waiting' THEN now() END
     FROM @delivery_flights AS f CROSS JOIN LATERAL unnest(f.deliveries) AS u WHERE f.tenant_id = $1 AND u.ordinal = 0`,
    [tenantId, first, state]
  )

const list = (tenantId: string, query: Partial<DeliveryQuery> = {}) =>
  Effect.flatMap(DeliveryQueue, (queue) => queue.list(tenantId, { state: undefined, destinationId: undefined, since: undefined, order: "newest", after: undefined, limit: 10, ...query })).pipe(Effect.map(({ deliveries }) => deliveries))

const idsAndStates = (tenantId: string, query: Partial<DeliveryQuery> = {}) =>
  Effect.map(list(tenantId, query), (all) => all.map(({ deliveryId, state }) => [deliveryId, state] as const))

const setup = Effect.gen(function*() {
  const tenantId = freshTenant()
  yield* seed(tenantId, { S: 2, T: 1 })
  yield* takeAll(tenantId)
  return tenantId
})

const filters: ReadonlyArray<Partial<DeliveryQuery>> = [
  {},
  { destinationId: idOf(1) },
  { client: "client" },
  { state: "sending" },
  { state: "sending", client: "client" },
  { since: 0 }
]

layer(testStorage(schema), { excludeTestServices: true })("a delivery in flight for the first time", (it) => {
  it.effect("is listed as sending, by every filter and in both orders, on every page", Effect.fnUntraced(function*() {
    const tenantId = yield* setup
    for (const query of filters) {
      assert.deepStrictEqual(yield* idsAndStates(tenantId, query), [[second, "sending"], [first, "sending"]], JSON.stringify(query))
      assert.deepStrictEqual(yield* idsAndStates(tenantId, { ...query, order: "oldest", limit: 1 }), [[first, "sending"]])
      assert.deepStrictEqual(yield* idsAndStates(tenantId, { ...query, order: "oldest", after: first }), [[second, "sending"]])
    }
    assert.deepStrictEqual(yield* idsAndStates(tenantId, { state: "waiting" }), [])
    assert.deepStrictEqual(yield* idsAndStates(tenantId, { client: "other" }), [])
    assert.deepStrictEqual(yield* idsAndStates(tenantId, { destinationId: idOf(2) }), [])
    assert.deepStrictEqual((yield* list(tenantId)).map(({ attempts, events }) => [attempts, events]), [[[], 1], [[], 2]])
  }))

  it.effect("is listed once when others of its flight have outcomes", Effect.fnUntraced(function*() {
    for (const state of ["delivered", "waiting"] as const) {
      const tenantId = yield* setup
      yield* settleFirst(tenantId, state)
      for (const query of [{}, { destinationId: idOf(1) }, { client: "client" }]) {
        assert.deepStrictEqual(yield* idsAndStates(tenantId, query), [[second, "sending"], [first, state]])
      }
      assert.deepStrictEqual(yield* idsAndStates(tenantId, { state: "sending" }), [[second, "sending"]])
    }
  }))

  it.effect("shows its exact bytes", Effect.fnUntraced(function*() {
    const tenantId = yield* setup
    const found = Option.getOrThrow(yield* (yield* DeliveryQueue).find(tenantId, first))
    assert.strictEqual(textOf(found.body), "{\"eventId\":\"S/1\",\"sequence\":1},{\"eventId\":\"S/2\",\"sequence\":2}")
    assert.deepStrictEqual([found.state, found.attempts], ["sending", []])
    assert.isTrue(Option.isNone(yield* (yield* DeliveryQueue).find(tenantId, deliveryIdOf(flight, 2))))
    assert.isTrue(Option.isNone(yield* (yield* DeliveryQueue).find(freshTenant(), first)))
  }))

  it.effect("counts as in flight, in overviews and metrics", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const before = (yield* queue.depth).unsettled
    const tenantId = yield* setup
    const overview = () => Effect.map(queue.destinations(tenantId, { state: undefined, after: undefined, limit: 10 }), ({ destinations }) => destinations.map((each) => [each.inFlight, each.waiting, each.dueAt !== undefined]))
    assert.deepStrictEqual(yield* overview(), [[2, 0, false]])
    assert.strictEqual((yield* queue.depth).unsettled, before + 2)
    yield* settleFirst(tenantId, "waiting")
    assert.deepStrictEqual(yield* overview(), [[2, 0, true]])
    assert.strictEqual((yield* queue.depth).unsettled, before + 2)
  }))

  it.effect("is found by its shipment", Effect.fnUntraced(function*() {
    const tenantId = yield* setup
    const queue = yield* DeliveryQueue
    const carrying = (newest: number) => queue.carrying(tenantId, [{ sources: ["transit-events"], keys: ["S"] }], { newest, limit: 10 })
    assert.deepStrictEqual((yield* carrying(2)).deliveries.map(({ deliveryId, source }) => [deliveryId, source]), [[first, "transit-events"]])
    const newest = yield* carrying(1)
    assert.deepStrictEqual(newest.deliveries, [])
    assert.isDefined(newest.since)
    const control = yield* DeliveryControl
    const trace = yield* control.trace(tenantId, idOf(1), { key: "S", orderIds: ["S/2"] })
    assert.deepStrictEqual(trace.deliveries.map(({ attempt, deliveryId, state }) => [deliveryId, state, attempt]), [[first, "sending", 1]])
    assert.deepStrictEqual((yield* control.trace(tenantId, idOf(1), { key: "S", orderIds: ["S/3"] })).deliveries, [])
    assert.lengthOf(trace.recent, 2)
    yield* rows("UPDATE @delivery_flights SET sent_at = now() - interval '61 seconds' WHERE tenant_id = $1", [tenantId])
    assert.deepStrictEqual((yield* control.trace(tenantId, idOf(1), { key: "S", orderIds: undefined })).recent, [])
  }))

  it.effect("can neither be retried nor dismissed", Effect.fnUntraced(function*() {
    const tenantId = yield* setup
    const queue = yield* DeliveryQueue
    assert.deepStrictEqual(yield* queue.retry(tenantId, first), Option.some("sending" as const))
    assert.strictEqual(yield* (yield* DeliveryControl).dismiss(tenantId, [first]), 0)
    assert.deepStrictEqual(yield* queue.retry(tenantId, deliveryIdOf(flight, 2)), Option.none())
  }))

  it.effect("keeps the records of its flight until all of them have outcomes", Effect.fnUntraced(function*() {
    const tenantId = yield* setup
    const queue = yield* DeliveryQueue
    yield* settleFirst(tenantId, "delivered")
    assert.strictEqual(yield* queue.prune(tenantId, Date.now() + 60_000), 0)
    assert.deepStrictEqual(yield* idsAndStates(tenantId), [[second, "sending"], [first, "delivered"]])
    yield* rows("DELETE FROM @delivery_flights WHERE tenant_id = $1", [tenantId])
    assert.strictEqual(yield* queue.prune(tenantId, Date.now() + 60_000), 1)
  }))
})
