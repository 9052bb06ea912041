/** Conformance of `DeliveryQueue` and `DeliveryControl`: how operators find and change deliveries by a filter. */
import { type DeliveryMatch, type DeliveryQuery, DeliveryQueue, type DestinationMatch, endpointFilterOf, mostPassedOver } from "@waybill/core/delivery"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { destinationSettings, freshTenant, idOf, letSee, publish, single, subscribe } from "../StorageFixtures.ts"
import { acquire, outcomeOf, type OwningWorker, seededWorker, settle, takeFrom } from "../WorkerFixtures.ts"
import { beginning, storeSuite } from "../StoreSuite.ts"

const everything = { state: undefined, order: "oldest", after: undefined, limit: 100 } as const

/** Deliveries of destination `n`, one for each of these results, which are a state and the outcome of the last attempt. */
const deliver = Effect.fnUntraced(function*(worker: OwningWorker, n: number, results: ReadonlyArray<readonly [state: "dead" | "delivered" | "sending" | "waiting", outcome: string]>) {
  const { deliveries } = yield* takeFrom(worker, n, { batches: results.length })
  yield* settle(worker, {
    outcomes: deliveries.flatMap((delivery, at) => {
      const [state, outcome] = results[at]!
      const record = { attempt: 1, at: 0, durationMillis: 1, outcome }
      return state === "sending" ? [] : [outcomeOf(delivery, { state, dueInMillis: 600_000, record })]
    })
  })
  return deliveries.map(({ deliveryId }) => deliveryId)
})

/**
 * Destination 1 at one.example has two dead letters and a delivery of each other state, destination 2 at two.example:8443 has a dead letter, and
 * destination 3 is of another client at one.example.
 */
const prepare = Effect.fnUntraced(function*(tenantId: string) {
  yield* letSee(tenantId, "client", ["A"])
  yield* letSee(tenantId, "other", ["A"])
  yield* subscribe(tenantId, { n: 1, endpointUrl: "https://ONE.example/hook?a=b", ...single })
  const worker = yield* acquire(tenantId)
  yield* publish(tenantId, ["A", "B", "C", "D", "E"].map((shipmentId) => ({ shipmentId })), { accounts: ["A"] })
  const first = yield* deliver(worker, 1, [["dead", "timeout"], ["dead", "http_5xx"], ["delivered", "accepted"], ["waiting", "timeout"], ["sending", ""]])
  yield* subscribe(tenantId, { n: 2, endpointUrl: "https://two.example:8443/", ...single })
  yield* publish(tenantId, [{ shipmentId: "F" }], { accounts: ["A"] })
  const second = yield* deliver(worker, 2, [["dead", "timeout"]])
  yield* subscribe(tenantId, { n: 3, client: "other", endpointUrl: "http://one.example", ...single })
  yield* publish(tenantId, [{ shipmentId: "G" }], { accounts: ["A"] })
  const third = yield* deliver(worker, 3, [["dead", "tls"]])
  const ids = [...first, ...second, ...third]
  const queue = yield* DeliveryQueue
  const list = (match: Partial<DeliveryMatch>) =>
    Effect.gen(function*() {
      const { deliveries: found } = yield* queue.list(tenantId, { ...everything, ...match })
      const known = found.filter(({ deliveryId }) => ids.includes(deliveryId))
      assert.strictEqual(yield* queue.count(tenantId, { state: undefined, ...match }), found.length)
      return known.map(({ deliveryId }) => ids.indexOf(deliveryId)).sort((a, b) => a - b)
    })
  return { ids, list }
})

/** The ids of all that match, read page by page, in the order in which they were listed. */
const pagesOf = Effect.fnUntraced(function*(tenantId: string, query: Pick<DeliveryQuery, "order" | "limit" | "passOver"> & Partial<DeliveryMatch>) {
  const queue = yield* DeliveryQueue
  const found: Array<string> = []
  for (let after: string | undefined, rounds = 0; rounds < 50; rounds++) {
    const { deliveries, lookedTo } = yield* queue.list(tenantId, { ...everything, ...query, after })
    found.push(...deliveries.map(({ deliveryId }) => deliveryId))
    if (deliveries.length < query.limit && lookedTo === undefined) return found
    after = deliveries.length === query.limit ? deliveries.at(-1)!.deliveryId : lookedTo
  }
  return assert.fail("The pages do not end.")
})

export const suite = storeSuite("deliveries by a filter", DeliveryQueue, (test) => {
  const withDeliveries = beginning(test, ({ tenantId }) => prepare(tenantId))

  withDeliveries("lists and counts deliveries by the host or the whole address of their endpoint", function*({ list }) {
    assert.deepStrictEqual(yield* list({ endpoint: endpointFilterOf("one.example"), state: "dead" }), [0, 1, 6])
    assert.deepStrictEqual(yield* list({ endpoint: endpointFilterOf("One.Example") }), [0, 1, 2, 3, 4, 6])
    assert.deepStrictEqual(yield* list({ endpoint: endpointFilterOf("one.example"), client: "other" }), [6])
    assert.deepStrictEqual(yield* list({ endpoint: endpointFilterOf("two.example") }), [])
    assert.deepStrictEqual(yield* list({ endpoint: endpointFilterOf("two.example:8443") }), [5])
    assert.deepStrictEqual(yield* list({ endpoint: endpointFilterOf("https://ONE.example/hook?a=b"), state: "sending" }), [4])
    assert.deepStrictEqual(yield* list({ endpoint: endpointFilterOf("https://one.example/hook?a=b") }), [])
  })

  withDeliveries("lists and counts what failed last with an error, and is not settled otherwise since", function*({ control, ids, list, tenantId }) {
    assert.deepStrictEqual(yield* list({ error: "timeout" }), [0, 3, 5])
    assert.deepStrictEqual(yield* list({ error: "timeout", state: "dead" }), [0, 5])
    assert.deepStrictEqual(yield* list({ error: "timeout", state: "waiting" }), [3])
    assert.deepStrictEqual(yield* list({ error: "timeout", destinationId: idOf(1) }), [0, 3])
    assert.deepStrictEqual(yield* list({ error: "timeout", client: "other" }), [])
    assert.deepStrictEqual(yield* list({ error: "tls", endpoint: endpointFilterOf("one.example") }), [6])
    assert.deepStrictEqual(yield* list({ error: "accepted" }), [])
    yield* control.dismiss(tenantId, [ids[0]!])
    assert.deepStrictEqual(yield* list({ error: "timeout" }), [3, 5])
  })

  withDeliveries("lists and counts what was created in a stretch of time: since then, and before", function*({ list, queue, tenantId }) {
    const last = (yield* queue.list(tenantId, { ...everything, order: "newest", limit: 1 })).deliveries[0]!.createdAt
    assert.deepStrictEqual(yield* list({ until: last + 1, state: "dead" }), [0, 1, 5, 6])
    assert.deepStrictEqual((yield* list({ until: last })).includes(6), false)
    assert.deepStrictEqual((yield* list({ since: last })).includes(6), true)
    assert.deepStrictEqual(yield* list({ since: last, until: last }), [])
  })

  for (const [order, passOver] of [["newest", 1], ["newest", 2], ["oldest", 3], ["oldest", mostPassedOver]] as const) {
    test(`lists the ${order} first in short pages that pass over ${passOver} others, and leaves none out`, function*({ tenantId }) {
      const { ids } = yield* prepare(tenantId)
      const pages = Effect.fnUntraced(function*(match: Partial<DeliveryMatch>) {
        const found = yield* pagesOf(tenantId, { ...match, order, limit: 2, passOver })
        const inOrder = found.toSorted()
        assert.deepStrictEqual(found, order === "newest" ? inOrder.reverse() : inOrder)
        return found.map((id) => ids.indexOf(id)).sort((a, b) => a - b)
      })
      const one = endpointFilterOf("one.example")
      assert.deepStrictEqual(yield* pages({}), [0, 1, 2, 3, 4, 5, 6])
      assert.deepStrictEqual(yield* pages({ client: "client" }), [0, 1, 2, 3, 4, 5])
      assert.deepStrictEqual(yield* pages({ client: "other" }), [6])
      assert.deepStrictEqual(yield* pages({ client: "client", destinationId: idOf(2) }), [5])
      assert.deepStrictEqual(yield* pages({ endpoint: one }), [0, 1, 2, 3, 4, 6])
      assert.deepStrictEqual(yield* pages({ endpoint: one, client: "client", destinationId: idOf(1) }), [0, 1, 2, 3, 4])
      assert.deepStrictEqual(yield* pages({ client: "client", state: "dead" }), [0, 1, 5])
      assert.deepStrictEqual(yield* pages({ client: "client", state: "delivered" }), [2])
      assert.deepStrictEqual(yield* pages({ client: "other", state: "waiting" }), [])
      assert.deepStrictEqual(yield* pages({ client: "client", state: "sending" }), [4])
      assert.deepStrictEqual(yield* pages({ client: "client", state: "cancelled" }), [])
      assert.deepStrictEqual(yield* pages({ client: "client", error: "timeout" }), [0, 3, 5])
      assert.deepStrictEqual(yield* pages({ error: "timeout" }), [0, 3, 5])
      assert.deepStrictEqual(yield* pages({ state: "dismissed" }), [])
    })
  }

  test("lists deliveries of every state in order, also where each page has room for one", function*({ tenantId }) {
    const worker = yield* seededWorker(tenantId, {}, single)
    yield* publish(tenantId, Array.from({ length: 8 }, (_, n) => ({ shipmentId: `S${n}` })), { accounts: ["A"] })
    const ids = yield* deliver(worker, 1, [["delivered", "accepted"], ["dead", "timeout"], ["waiting", "timeout"], ["sending", ""], ["sending", ""], ["waiting", "timeout"], ["dead", "timeout"], ["delivered", "accepted"]])
    const cases: ReadonlyArray<readonly [match: Partial<DeliveryMatch>, expected: ReadonlyArray<number>]> = [
      [{}, [0, 1, 2, 3, 4, 5, 6, 7]],
      [{ state: "delivered" }, [0, 7]],
      [{ state: "dead" }, [1, 6]],
      [{ state: "waiting" }, [2, 5]],
      [{ state: "sending" }, [3, 4]],
      [{ error: "timeout" }, [1, 2, 5, 6]],
      [{ error: "timeout", state: "waiting" }, [2, 5]]
    ]
    for (const [match, expected] of cases) {
      for (const whose of [{}, { client: "client" }, { destinationId: idOf(1) }]) {
        for (const passOver of [1, mostPassedOver]) {
          const found = (order: "newest" | "oldest") => Effect.map(pagesOf(tenantId, { ...match, ...whose, order, limit: 1, passOver }), (listed) => listed.map((id) => ids.indexOf(id)))
          assert.deepStrictEqual([yield* found("oldest"), yield* found("newest")], [expected, expected.toReversed()], JSON.stringify({ ...match, ...whose, passOver }))
        }
      }
    }
  })

  test("ends a page where it has passed over as many as it may, with the id that it looked at last", function*({ queue, tenantId }) {
    const { ids } = yield* prepare(tenantId)
    const { deliveries, lookedTo } = yield* queue.list(tenantId, { ...everything, client: "client", state: "delivered", passOver: 1 })
    assert.isAtMost(deliveries.length, 1)
    assert.include(ids, lookedTo)
    assert.deepInclude(yield* queue.list(tenantId, { ...everything, passOver: 1 }), { lookedTo: undefined, passedOver: 0 })
  })

  withDeliveries("finds deliveries of a closed destination, but not by its client or endpoint", function*({ list, queue, tenantId }) {
    yield* queue.closeDestination(tenantId, idOf(3))
    assert.deepStrictEqual(yield* list({ destinationId: idOf(3) }), [6])
    for (const state of [undefined, "dead"] as const) {
      assert.deepStrictEqual(yield* list({ client: "other", state }), [])
      assert.deepStrictEqual(yield* list({ endpoint: endpointFilterOf("http://one.example"), state }), [])
    }
  })

  withDeliveries("sends the dead letters among some deliveries again, and no others", function*({ ids, list, queue, tenantId }) {
    yield* queue.closeDestination(tenantId, idOf(3))
    assert.strictEqual(yield* queue.retryDead(freshTenant(), ids), 0)
    assert.strictEqual(yield* queue.retryDead(tenantId, [...ids.slice(1), idOf(99)]), 2)
    assert.deepStrictEqual(yield* list({ state: "waiting" }), [1, 3, 5])
    assert.deepStrictEqual(yield* list({ state: "dead" }), [0, 6])
    assert.strictEqual(yield* queue.retryDead(tenantId, ids.slice(1)), 0)
    assert.strictEqual(yield* queue.retryDead(tenantId, []), 0)
  })

  withDeliveries("dismisses the dead letters among some deliveries, and no others", function*({ control, ids, list, tenantId }) {
    assert.strictEqual(yield* control.dismiss(freshTenant(), ids), 0)
    assert.strictEqual(yield* control.dismiss(tenantId, [...ids.slice(1), idOf(99)]), 3)
    assert.deepStrictEqual(yield* list({ state: "dismissed" }), [1, 5, 6])
    assert.deepStrictEqual(yield* list({ state: "dead" }), [0])
    assert.strictEqual(yield* control.dismiss(tenantId, ids.slice(1)), 0)
    assert.strictEqual(yield* control.dismiss(tenantId, []), 0)
  })

  test("lists and counts destinations by the host or the whole address of their endpoint", function*({ queue, tenantId }) {
    const urls = ["https://a.example/x", "HTTPS://A.Example:443/y", "https://a.example", "https://b.example/a.example"]
    for (const [at, endpointUrl] of urls.entries()) {
      yield* queue.openDestination(tenantId, destinationSettings({ n: at + 1, client: at === 2 ? "other" : "client", endpointUrl, state: at === 0 ? "paused" : "active" }))
    }
    const found = Effect.fnUntraced(function*(endpoint: string, match: Partial<DestinationMatch> = {}) {
      const asked = { state: undefined, ...match, endpoint: endpointFilterOf(endpoint) }
      const { destinations } = yield* queue.destinations(tenantId, { ...asked, after: undefined, limit: 10 })
      assert.strictEqual(yield* queue.countMatching(tenantId, asked), destinations.length)
      return destinations.map(({ destinationId }) => Number(destinationId.slice(-4)))
    })
    assert.deepStrictEqual(yield* found("A.EXAMPLE"), [1, 3])
    assert.deepStrictEqual(yield* found("a.example:443"), [2])
    assert.deepStrictEqual(yield* found("a.example", { state: "paused" }), [1])
    assert.deepStrictEqual(yield* found("a.example", { client: "other" }), [3])
    assert.deepStrictEqual(yield* found("https://b.example/a.example"), [4])
    assert.deepStrictEqual(yield* found("https://b.example/"), [])
    assert.deepStrictEqual(yield* found("a.example", { destinationIds: [3, 4, 99].map(idOf) }), [3])
    const named = (numbers: ReadonlyArray<number>, match: Partial<DestinationMatch> = {}) =>
      Effect.map(queue.destinations(tenantId, { state: undefined, ...match, destinationIds: numbers.map(idOf), after: undefined, limit: 10 }), ({ destinations }) =>
        destinations.map(({ destinationId }) => Number(destinationId.slice(-4))))
    assert.deepStrictEqual(yield* named([4, 1, 99]), [1, 4])
    assert.deepStrictEqual(yield* named([4, 1, 99], { inTrouble: true }), [])
    assert.deepStrictEqual(yield* named([4, 1], { state: "active" }), [4])
    assert.deepStrictEqual(yield* named([]), [])
    yield* queue.closeDestination(tenantId, idOf(3))
    assert.deepStrictEqual(yield* found("a.example"), [1])
    assert.deepStrictEqual(yield* named([3]), [])
    assert.strictEqual(yield* queue.countMatching(tenantId, { state: undefined }), 3)
    assert.strictEqual(yield* queue.countMatching(freshTenant(), { state: undefined }), 0)
  })
})
