/** When one node ends access, every other node refuses the next call. */
import { layer } from "@effect/vitest"
import { ApiKeys, Clients, type StoragePorts, TenantRemoval, Tenants } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/conformance/suites"
import { Context, Effect, Layer } from "effect"
import { assert } from "vitest"
import { StoragePostgres } from "../../src/index.ts"
import { testService } from "../TestService.ts"
import { freshSchema, pgLayer, testStorage } from "../TestStorage.ts"

const schema = freshSchema()

/** Another process over the same schema: nothing in memory is shared. */
const otherNode: Layer.Layer<StoragePorts, unknown> = Layer.fresh(StoragePostgres.layer({ schema }).pipe(Layer.provide(Layer.fresh(pgLayer))))

type Ending = (tenantId: string, keyId: string) => Effect.Effect<unknown, unknown, ApiKeys | Clients | TenantRemoval | Tenants>

const endings: ReadonlyArray<readonly [string, Ending, string]> = [
  ["a key is revoked", (tenantId, keyId) => Effect.flatMap(ApiKeys, (keys) => keys.revoke(tenantId, keyId)), "Unauthenticated"],
  ["a client is deleted", (tenantId) => Effect.flatMap(Clients, (clients) => clients.remove(tenantId, "shop")), "Unauthenticated"],
  ["a tenant is suspended", (tenantId) => Effect.flatMap(Tenants, (tenants) => tenants.suspend(tenantId)), "TenantSuspended"],
  ["a tenant is deleted", (tenantId) => Effect.flatMap(TenantRemoval, (removal) => removal.remove(tenantId)), "Unauthenticated"]
]

layer(testService(testStorage(schema)), { excludeTestServices: true })("on every node", (it) => {
  it.effect("the next call is refused when access ends on one of the nodes", Effect.fnUntraced(function*() {
    const keys = Context.get(yield* Layer.build(testService(otherNode)), ApiKeys)
    for (const [says, end, refusal] of endings) {
      const { tenantId } = yield* TestWaybill.tenant(fixtures.freshTenant())
      const { id, key } = yield* (yield* ApiKeys).create(tenantId, { name: "shop", roles: ["customer"], accounts: ["A"] })
      // each node has now cached what it may cache
      for (let n = 0; n < 2; n++) assert.strictEqual((yield* keys.principalOf(key)).client, "key:shop")
      yield* end(tenantId, id)
      assert.strictEqual((yield* Effect.flip(keys.principalOf(key)))._tag, refusal, says)
    }
  }))
})
