/** Replays of events that were stored exactly at an end of the time. */
import { layer } from "@effect/vitest"
import { TransitSubscriptionStore } from "@waybill/core/transit-events"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Option } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { freshTenant, idOf, occurredAt, seed } = fixtures
const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("a replay", (it) => {
  it.effect("has the events that were stored at its start, and not those at its end", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* TransitSubscriptionStore, freshTenant()]
    yield* seed(tenantId, { S: 1 })
    yield* workerFixtures.drain(tenantId)
    yield* rowsIn(schema)("UPDATE @transit_events SET recorded_at = $2 WHERE tenant_id = $1", [tenantId, new Date(occurredAt)])
    const replay = (from: number, to: number) => store.replay(tenantId, idOf(1), { from, to, shipmentIds: undefined })
    assert.deepStrictEqual(yield* replay(occurredAt - 1, occurredAt), Option.some(0))
    assert.deepStrictEqual(yield* replay(occurredAt, occurredAt + 1), Option.some(1))
  }))
})
