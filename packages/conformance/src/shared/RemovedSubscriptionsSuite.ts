/** Conformance of `EditableSubscriptionStore.prune`, for each area's suite. */
import type { EditableSubscriptionStore, StoragePorts, SubscriptionRow } from "@waybill/core"
import { assert } from "@effect/vitest"
import type { Effect } from "effect"
import { idOf, storeLater } from "../StorageFixtures.ts"
import type { Test } from "../StoreSuite.ts"

/** `subscribe` creates subscription `n` of the client `client`. */
export const testPruning = <Store extends Pick<EditableSubscriptionStore<SubscriptionRow>, "prune" | "remove">>(
  test: Test<Store>,
  subscribe: (tenantId: string, n: number) => Effect.Effect<unknown, unknown, StoragePorts>
): void => {
  test("forgets a removed subscription when it is pruned, and no other one", function*({ other, store, tenantId }) {
    for (const n of [1, 2, 3]) yield* subscribe(tenantId, n)
    yield* subscribe(other, 1)
    const remove = (n: number, tenant = tenantId) => store.remove(tenant, "client", idOf(n))
    yield* remove(1)
    yield* remove(1, other)
    const between = yield* storeLater(tenantId)
    yield* remove(2)
    assert.deepStrictEqual([yield* store.prune(tenantId, between), yield* store.prune(tenantId, between)], [1, 0])
    assert.deepStrictEqual([yield* remove(1), yield* remove(2), yield* remove(3), yield* remove(1, other)], ["unknown", "gone", "removed", "gone"])
  })
}
