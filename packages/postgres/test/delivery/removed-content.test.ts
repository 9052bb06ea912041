/** Deliveries and entries whose content somebody removed from the database by hand. */
import { layer } from "@effect/vitest"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { freshTenant, letSee, publish, subscribe } = fixtures
const { acquire, drainedEvents, end, from, release, stateOf, take } = workerFixtures

const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("content that is no longer stored", (it) => {
  const remove = (tenantId: string, shipmentId: string) => rowsIn(schema)("DELETE FROM @transit_events WHERE tenant_id = $1 AND shipment_id = $2", [tenantId, shipmentId])
  const published = Effect.gen(function*() {
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    yield* subscribe(tenantId)
    yield* publish(tenantId, [{ shipmentId: "S" }, { shipmentId: "T" }], { accounts: ["A"] })
    return tenantId
  })
  const failedOnce = Effect.gen(function*() {
    const tenantId = yield* published
    const worker = yield* acquire(tenantId)
    const { deliveries } = yield* take(worker, { from: [from(1)] })
    yield* end(worker, deliveries, { state: "waiting" })
    yield* release(worker, true)
    return { tenantId, deliveryId: deliveries[0]!.deliveryId }
  })
  const onlyT = { 1: ["T/1"] }

  it.effect("is dropped, and what waits beside it is sent", Effect.fnUntraced(function*() {
    const tenantId = yield* published
    yield* remove(tenantId, "S")
    assert.deepStrictEqual(yield* drainedEvents(tenantId), onlyT)
  }))

  it.effect("is dropped, and what has the same number beside it is sent", Effect.fnUntraced(function*() {
    const tenantId = yield* published
    yield* publish(tenantId, ["a", "b"].map((eventId) => ({ shipmentId: "U", sequence: 7, eventId })), { accounts: ["A"] })
    yield* rowsIn(schema)("DELETE FROM @transit_events WHERE tenant_id = $1 AND event_id = 'a'", [tenantId])
    assert.deepStrictEqual(yield* drainedEvents(tenantId), { 1: ["S/1", "T/1", "b"] })
  }))

  it.effect("is dropped from a delivery that is sent again, whose other events are sent in another one", Effect.fnUntraced(function*() {
    const { deliveryId, tenantId } = yield* failedOnce
    yield* remove(tenantId, "S")
    assert.deepStrictEqual(yield* drainedEvents(tenantId), onlyT)
    assert.strictEqual(yield* stateOf(tenantId, deliveryId), "cancelled")
  }))

  it.effect("of a whole delivery does not hold up others", Effect.fnUntraced(function*() {
    const { tenantId } = yield* failedOnce
    for (const shipmentId of ["S", "T"]) yield* remove(tenantId, shipmentId)
    yield* subscribe(tenantId, { n: 2 })
    yield* publish(tenantId, [{ shipmentId: "U" }], { accounts: ["A"] })
    assert.deepStrictEqual(yield* drainedEvents(tenantId), { 1: ["U/1"], 2: ["U/1"] })
  }))
})
