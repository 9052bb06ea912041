/** What the stores of all areas' subscriptions promise about documents; each area's own suite includes it. */
import type { StorageError } from "@waybill/core"
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { freshTenant, idOf } from "../StorageFixtures.ts"

/** Ids that belong to no subscription. */
export const foreignIds = [idOf(99), "", "garbage", "-".repeat(36), "'; DROP TABLE x"]

interface Store {
  readonly documents: (tenantId: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, StorageError>
  readonly end: (tenantId: string, client: string, id: string) => Effect.Effect<unknown, StorageError>
}

export const testDocuments = <R, E>(
  it: Vitest.MethodsNonLive<R>,
  store: Effect.Effect<Store, never, R>,
  subscribe: (tenantId: string, n: number, client: string) => Effect.Effect<unknown, E, R>
): void => {
  it.effect("returns the documents of live subscriptions, and nothing for other ids", Effect.fnUntraced(function*() {
    const { documents, end } = yield* store
    const tenantId = freshTenant()
    for (const [n, client] of [[1, "client"], [2, "ä, \"other\""], [3, "client"]] as const) yield* subscribe(tenantId, n, client)
    yield* end(tenantId, "client", idOf(3))
    const found = yield* documents(tenantId, [...[1, 2, 3].map(idOf), ...foreignIds.slice(0, 1)])
    assert.deepStrictEqual([...found.keys()].sort(), [idOf(1), idOf(2)])
    for (const doc of found.values()) assert.isObject(JSON.parse(doc))
    assert.strictEqual((yield* documents(freshTenant(), [idOf(1)])).size, 0)
    assert.strictEqual((yield* documents(tenantId, [])).size, 0)
  }))
}
