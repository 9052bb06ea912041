import { layer } from "@effect/vitest"
import { type DeliveryMatch, DeliveryQueue } from "@waybill/core/delivery"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { freshTenant, idOf, subscribe } = fixtures

const schema = freshSchema()
const rows = rowsIn(schema)

/** Deliveries `from` to `to` of destination `n`, which wait after a timeout. Their ids are in the order of their numbers. */
const wait = (tenantId: string, n: number, from: number, to: number) =>
  rows(
    `INSERT INTO @deliveries (tenant_id, delivery_id, destination_id, state, attempt, tries, refs, keys, sent_at, due_at, attempts)
     SELECT $1, lpad(n::text, 32, '0')::uuid, $2::uuid, 'waiting', 1, 1, '{}', '{}', now(), now(), ARRAY['{"outcome":"timeout"}'] FROM generate_series($3::int, $4::int) AS n`,
    [tenantId, idOf(n), from, to]
  )

layer(testStorage(schema), { excludeTestServices: true })("deliveries by a filter", (it) => {
  it.effect("of a destination with more than 5,000 that are not settled are found among those of its tenant", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const tenantId = freshTenant()
    for (const n of [1, 2]) yield* subscribe(tenantId, { n, client: `client ${n}` })
    yield* wait(tenantId, 1, 1, 5000)
    yield* wait(tenantId, 2, 6000, 6002)
    const list = (match: Partial<DeliveryMatch>) =>
      Effect.map(queue.list(tenantId, { state: undefined, ...match, order: "newest", after: undefined, limit: 2, passOver: 4 }), ({ deliveries, passedOver }) => ({
        found: deliveries.map(({ deliveryId }) => Number(deliveryId.replaceAll("-", ""))),
        passedOver
      }))
    const filters: ReadonlyArray<Partial<DeliveryMatch>> = [{ destinationId: idOf(1) }, { client: "client 1" }, { client: "client 1", state: "waiting" }, { destinationId: idOf(1), error: "timeout" }]
    const count = (match: Partial<DeliveryMatch>) => queue.count(tenantId, { state: undefined, ...match })
    for (const match of filters) assert.deepStrictEqual([yield* list(match), yield* count(match)], [{ found: [5000, 4999], passedOver: 0 }, 5000], JSON.stringify(match))
    yield* wait(tenantId, 1, 5001, 5001)
    for (const match of filters) assert.deepStrictEqual([yield* list(match), yield* count(match)], [{ found: [5001], passedOver: 3 }, undefined], JSON.stringify(match))
    // deliveries that are settled are in order, however many others the destination has
    assert.deepStrictEqual(yield* list({ destinationId: idOf(1), state: "delivered" }), { found: [], passedOver: 0 })
  }))
})
