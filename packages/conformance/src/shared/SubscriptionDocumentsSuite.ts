/** Conformance of the documents of subscriptions; each area's own suite includes it. */
import type { StorageError, StoragePorts } from "@waybill/core"
import { assert } from "@effect/vitest"
import type { Effect } from "effect"
import { freshTenant, idOf } from "../StorageFixtures.ts"
import type { Test } from "../StoreSuite.ts"

/** Ids that belong to no subscription. */
export const foreignIds = [idOf(99), "", "garbage", "-".repeat(36), "'; DROP TABLE x"]

interface Store {
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
  readonly end: (tenantId: string, client: string, id: string) => Effect.Effect<unknown, StorageError>
}

export const testDocuments = <Port, R extends StoragePorts, E>(
  test: Test<Port>,
  ofPort: (port: Port) => Store,
  subscribe: (tenantId: string, n: number, client: string) => Effect.Effect<unknown, E, R>
): void =>
  test("returns the documents of live subscriptions, and nothing for other ids", function*({ store, tenantId }) {
    const { documents, end } = ofPort(store)
    for (const [n, client] of [[1, "client"], [2, "ä, \"other\""], [3, "client"]] as const) yield* subscribe(tenantId, n, client)
    yield* end(tenantId, "client", idOf(3))
    const found = yield* documents(tenantId, [...[1, 2, 3].map(idOf), ...foreignIds.slice(0, 1)])
    assert.deepStrictEqual([...found.keys()].sort(), [idOf(1), idOf(2)])
    for (const doc of found.values()) assert.isObject(JSON.parse(doc))
    assert.strictEqual((yield* documents(freshTenant(), [idOf(1)])).size, 0)
    assert.strictEqual((yield* documents(tenantId, [])).size, 0)
  })
