/** A worker freezes, settles and keeps leases at the same time, over many lanes each, in whatever order they come. */
import { layer } from "@effect/vitest"
import { DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { testStorage } from "../TestStorage.ts"

const { claim, freezeOf, freshTenant, letSee, publish, subscribe } = fixtures

const lanes = 100
const rounds = 100

layer(testStorage(), { excludeTestServices: true })("statements over the same lanes in different orders", (it) => {
  it.effect("wait for each other and never in a circle", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* letSee(tenantId, "client", ["A"])
      for (let n = 1; n <= lanes; n++) yield* subscribe(tenantId, { n })
      yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
      const { lanes: claimed } = yield* claim(tenantId, { maxLanes: lanes })
      assert.lengthOf(claimed, lanes)
      const forwards = claimed.toSorted((a, b) => a.laneId < b.laneId ? -1 : 1)
      const backwards = forwards.toReversed()
      const repeated = <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.repeat(statement, { times: rounds })
      yield* Effect.all([
        repeated(queue.freeze(tenantId, forwards.map((lane) => freezeOf(lane)))),
        repeated(queue.settle(tenantId, {
          deliveries: [],
          lanes: backwards.map(({ laneId, token }) => ({ laneId, token, breaker: { failures: 1, openUntil: undefined }, pause: undefined, release: undefined }))
        })),
        repeated(queue.heartbeat(tenantId, [...forwards.slice(lanes / 2), ...forwards.slice(0, lanes / 2)], 60_000))
      ], { concurrency: "unbounded" })
    }), 60_000)
})
