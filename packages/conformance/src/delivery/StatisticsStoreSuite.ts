/** Conformance of `StatisticsStore`. */
import { hourMillis, type MinuteCounts, minuteMillis, type StatisticsRange, StatisticsStore, totalOf } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { storeSuite } from "../StoreSuite.ts"

/** The beginning of an hour. */
const start = Math.floor(1_763_600_000_000 / hourMillis) * hourMillis

const counts = (destinationId: string, minute: number, parts: Partial<MinuteCounts> = {}): MinuteCounts =>
  ({ destinationId, at: start + minute * minuteMillis, deliveries: 1, failures: 0, latencyMillis: 10, maxLatencyMillis: 10, ...parts })

const minutes = (of: StatisticsRange["of"], from: number, to: number, step = 1): StatisticsRange =>
  ({ of, from: start + from * minuteMillis, to: start + to * minuteMillis, stepMillis: step * minuteMillis, resolution: "minutes" })

const read = (tenantId: string, range: StatisticsRange) =>
  Effect.map(Effect.flatMap(StatisticsStore, (store) => store.read(tenantId, range)), (rows) =>
    rows
      .map((row) => [row.destinationId, (row.at - start) / minuteMillis, row.deliveries, row.failures, row.latencyMillis, row.maxLatencyMillis, row.waiting] as const)
      .toSorted((a, b) => a[1] - b[1] || (a[0]! < b[0]! ? -1 : 1)))

export const suite = storeSuite("StatisticsStore", StatisticsStore, (test) => {
  test("adds counts of the same minute, and separates minutes, destinations and tenants", function*({ other, store, tenantId }) {
    const [one, two] = [crypto.randomUUID(), crypto.randomUUID()].toSorted() as [string, string]
    yield* store.add(tenantId, [])
    yield* store.add(tenantId, [counts(one, 1, { failures: 1 }), counts(two, 1, { failures: 2 }), counts(one, 2)])
    yield* store.add(tenantId, [counts(one, 1, { deliveries: 3, failures: 1, latencyMillis: 90, maxLatencyMillis: 70 }), counts(totalOf(7), 1), counts(totalOf(7), 1, { maxLatencyMillis: 5 })])
    yield* store.add(other, [counts(one, 1)])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [one, two] }, 0, 3)), [
      [one, 1, 4, 2, 100, 70, undefined],
      [two, 1, 1, 2, 10, 10, undefined],
      [one, 2, 1, 0, 10, 10, undefined]
    ])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [one] }, 2, 3)), [[one, 2, 1, 0, 10, 10, undefined]])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [totalOf(7)] }, 0, 60)), [[totalOf(7), 1, 2, 0, 20, 10, undefined]])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [two] }, 0, 1)), [])
    assert.deepStrictEqual(yield* read(other, minutes({ destinationIds: [one] }, 0, 60)), [[one, 1, 1, 0, 10, 10, undefined]])
  })

  test("adds up the minutes of a step, and keeps hours beside them", function*({ store, tenantId }) {
    const id = crypto.randomUUID()
    yield* store.add(tenantId, [counts(id, 0, { failures: 1 }), counts(id, 4, { maxLatencyMillis: 8, latencyMillis: 8 }), counts(id, 61)])
    yield* store.add(tenantId, [counts(id, 5, { failures: 2 })])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [id] }, 0, 60, 5)), [[id, 0, 2, 1, 18, 10, undefined], [id, 5, 1, 2, 10, 10, undefined]])
    const hours = { of: { destinationIds: [id] }, from: start, to: start + 2 * hourMillis, stepMillis: hourMillis, resolution: "hours" } as const
    assert.deepStrictEqual(yield* read(tenantId, hours), [[id, 0, 3, 3, 28, 10, undefined], [id, 60, 1, 0, 10, 10, undefined]])
  })

  test("keeps the largest sample of a minute, of a step and of an hour", function*({ store, tenantId }) {
    const id = crypto.randomUUID()
    yield* store.add(tenantId, [counts(id, 1)])
    yield* store.sample(tenantId, start + 1.2 * minuteMillis, [])
    yield* store.sample(tenantId, start + 1.2 * minuteMillis, [{ destinationId: id, waiting: 7 }])
    yield* store.sample(tenantId, start + 1.8 * minuteMillis, [{ destinationId: id, waiting: 5 }])
    yield* store.sample(tenantId, start + 3 * minuteMillis, [{ destinationId: id, waiting: 0 }])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [id] }, 0, 5)), [[id, 1, 1, 0, 10, 10, 7], [id, 3, 0, 0, 0, 0, 0]])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [id] }, 0, 5, 5)), [[id, 0, 1, 0, 10, 10, 7]])
    const hours = { of: { destinationIds: [id] }, from: start, to: start + hourMillis, stepMillis: hourMillis, resolution: "hours" } as const
    assert.deepStrictEqual(yield* read(tenantId, hours), [[id, 0, 1, 0, 10, 10, 7]])
  })

  test("adds up a client's totals of all partitions, apart from those of other clients and of the tenant", function*({ other, store, tenantId }) {
    const [acme, beta] = ["key:acme", "key:beta"]
    yield* store.add(tenantId, [
      counts(totalOf(1), 1),
      counts(totalOf(1), 1, { client: acme, failures: 2, maxLatencyMillis: 40 }),
      counts(totalOf(1), 1, { client: beta }),
      counts(totalOf(7), 1, { client: acme }),
      counts(totalOf(7), 3, { client: acme })
    ])
    yield* store.add(tenantId, [counts(totalOf(1), 1, { client: acme })])
    yield* store.add(other, [counts(totalOf(1), 1, { client: acme })])
    yield* store.sample(tenantId, start + minuteMillis, [
      { destinationId: totalOf(1), waiting: 9 },
      { destinationId: totalOf(1), client: acme, waiting: 2 },
      { destinationId: totalOf(7), client: acme, waiting: 3 },
      { destinationId: totalOf(1), client: beta, waiting: 4 }
    ])
    yield* store.sample(tenantId, start + minuteMillis, [{ destinationId: totalOf(7), client: acme, waiting: 1 }])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ client: acme }, 0, 5)), [[undefined, 1, 3, 2, 30, 40, 5], [undefined, 3, 1, 0, 10, 10, undefined]])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ client: acme }, 0, 5, 5)), [[undefined, 0, 4, 2, 40, 40, 5]])
    const hours = { of: { client: acme }, from: start, to: start + hourMillis, stepMillis: hourMillis, resolution: "hours" } as const
    assert.deepStrictEqual(yield* read(tenantId, hours), [[undefined, 0, 4, 2, 40, 40, 5]])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ client: beta }, 0, 5)), [[undefined, 1, 1, 0, 10, 10, 4]])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ client: "key:none" }, 0, 5)), [])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [totalOf(1), totalOf(7)] }, 0, 5)), [[totalOf(1), 1, 1, 0, 10, 10, 9]])
  })

  test("removes old minutes and old hours of a tenant", function*({ other, store, tenantId }) {
    const id = crypto.randomUUID()
    const ofClient = (minute: number) => counts(totalOf(2), minute, { client: "key:acme" })
    for (const each of [tenantId, other]) yield* store.add(each, [counts(id, 0), counts(id, 61), ofClient(0), ofClient(61)])
    const before = { minutes: start + 61 * minuteMillis, hours: start }
    assert.strictEqual(yield* store.prune(tenantId, before), 2)
    assert.strictEqual(yield* store.prune(tenantId, before), 0)
    assert.deepStrictEqual(yield* read(tenantId, minutes({ destinationIds: [id] }, 0, 120)), [[id, 61, 1, 0, 10, 10, undefined]])
    assert.deepStrictEqual(yield* read(tenantId, minutes({ client: "key:acme" }, 0, 120)), [[undefined, 61, 1, 0, 10, 10, undefined]])
    assert.strictEqual(yield* store.prune(tenantId, { minutes: 0, hours: start + hourMillis }), 2)
    const hours = { of: { destinationIds: [id] }, from: start, to: start + 2 * hourMillis, stepMillis: hourMillis, resolution: "hours" } as const
    assert.deepStrictEqual(yield* read(tenantId, hours), [[id, 60, 1, 0, 10, 10, undefined]])
    assert.strictEqual((yield* read(other, minutes({ destinationIds: [id] }, 0, 120))).length, 2)
  })
})
