/** The quota of bytes of a client's pickups. */
import { assert, describe, it } from "@effect/vitest"
import { TenantLimits } from "@waybill/core"
import { PickupStore } from "@waybill/core/pickups"
import { pickupRequest } from "@waybill/testkit"
import { Effect } from "effect"
import { setup, withDesk } from "./Desk.ts"

const allow = (pickupBytesPerClient: number | null) => Effect.flatMap(TenantLimits, (limits) => limits.put("acme", { pickupBytesPerClient }))

describe("pickups above their client's quota of bytes", () => {
  it.effect("are refused before the desk is asked, as are changes; others, retries, reports and cancellations go on", withDesk(function*(desk) {
    const { carrier, order, pickups, shipper, tenant } = yield* setup
    const answer = yield* order({}, "key")
    const number = answer.carrierPickupNumber!
    const store = yield* PickupStore
    const used = yield* store.storedBytes("acme", shipper.client)
    assert.isAbove(used, 500)
    yield* allow(used)
    const change = pickupRequest({ number, more: { trailerNumber: "T9" } })
    for (const refused of [Effect.asVoid(order()), Effect.asVoid(pickups.update(shipper, number, change))]) {
      assert.deepInclude(yield* Effect.flip(refused), { _tag: "QuotaExceeded", quota: "pickupBytesPerClient", limit: used })
    }
    assert.lengthOf(desk.asked, 1)
    assert.deepStrictEqual(yield* order({}, "key"), answer)
    assert.strictEqual((yield* order({}, undefined, tenant.customer("other", ["A"]))).pickupStatus, "Accept")
    assert.strictEqual((yield* pickups.report(carrier, number, { status: "En Route" })).result, "accepted")
    yield* pickups.cancel(shipper, number)
    assert.isAbove(yield* store.storedBytes("acme", shipper.client), used)
    yield* allow(null)
    assert.strictEqual((yield* order()).pickupStatus, "Accept")
  }))
})
