/** Access that is given while workers find none. */
import { layer } from "@effect/vitest"
import { AccessStore } from "@waybill/core"
import { DeliveryQueue } from "@waybill/core/delivery"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { openTransaction } from "../OpenTransaction.ts"
import { testStorage } from "../TestStorage.ts"

const { eventually, freshTenant, idOf, publish, subscribe } = fixtures
const { acquire, eventIdsOf, from, take } = workerFixtures

layer(testStorage(), { excludeTestServices: true })("access that ends while it is renewed", (it) => {
  it.effect("leaves a signal for the owner that found none", Effect.fnUntraced(function*() {
    const [access, queue] = [yield* AccessStore, yield* DeliveryQueue]
    const tenantId = freshTenant()
    const renew = (forMillis: number) =>
      Effect.tap(access.putClientAccess(tenantId, { client: "client", origin: "token", seesAll: false, accounts: ["A"], live: { forMillis } }), (wasHeld) =>
        wasHeld ? queue.accessRestored(tenantId, "client") : Effect.void)
    yield* renew(500)
    yield* subscribe(tenantId)
    yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
    const worker = yield* acquire(tenantId)
    yield* take(worker)
    const commit = yield* openTransaction(renew(600_000))
    yield* eventually(access.findClientState(tenantId, "client"), (state) => state === "held")
    assert.deepStrictEqual((yield* take(worker, { from: [from(1)] })).from.map(({ sends }) => sends), [false])
    yield* commit
    const { deliveries, signals } = yield* take(worker, { from: [from(1)] })
    assert.deepStrictEqual([signals, deliveries.map(eventIdsOf)], [[{ destinationId: idOf(1), key: undefined }], [["S/1"]]])
  }))
})
