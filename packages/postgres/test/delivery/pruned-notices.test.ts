/** A retry of a delivery whose payloads were pruned. */
import { layer } from "@effect/vitest"
import { DeliveryQueue, FreightBillStore } from "@waybill/core"
import { chargeFixtures, fixtures } from "@waybill/testkit/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { publishBills, subscribeToCharges } = chargeFixtures
const { claim, claimOne, freezeOf, freshTenant, idOf, letSee, releaseOf, settlementOf, textOf } = fixtures

layer(testStorage(freshSchema()), { excludeTestServices: true })("a delivered delivery whose notices were pruned", (it) => {
  it.effect("does not block later notices of the bill when it is retried", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const bills = yield* FreightBillStore
      const tenantId = freshTenant()
      yield* letSee(tenantId, "client", ["A"])
      yield* subscribeToCharges(tenantId)
      yield* publishBills(tenantId, [{ billId: "B" }])
      const destination = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(destination, { deliveryId: idOf(101) })])
      yield* queue.settle(tenantId, { deliveries: [settlementOf(destination, idOf(101))], destinations: [releaseOf(destination)] })
      assert.isAbove(yield* bills.prune(tenantId, { ended: 0, noticed: Date.now() + 60_000 }), 0)
      const retried = yield* queue.retry(tenantId, idOf(101))
      yield* publishBills(tenantId, [{ billId: "B" }])
      const seen: Array<string> = []
      let claimed = 0
      for (let turn = 0; turn < 5; turn++) {
        const { destinations } = yield* claim(tenantId)
        claimed += destinations.length
        for (const each of destinations) {
          seen.push(...each.waiting.map(({ payload }) => textOf(payload)), ...each.due.map(({ deliveryId }) => deliveryId))
          yield* queue.settle(tenantId, { deliveries: [], destinations: [releaseOf(each, { progress: false })] })
        }
      }
      assert.include(seen, "B/2", `${JSON.stringify(retried)}, claimed ${claimed} times`)
    }))
})
