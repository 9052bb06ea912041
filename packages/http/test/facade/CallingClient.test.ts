import { assert, it } from "@effect/vitest"
import { CallingClient, Tenants } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { as } from "../../src/facade/Run.ts"

it.effect("a call of the façade for a client names it to the pool, so that it has a share of the connections", Effect.fnUntraced(function*() {
  yield* (yield* Tenants).put("acme", { name: "Acme" })
  const caller = as({ tenantId: "acme", client: "tms", roles: ["carrier"] }, Tenants, () => Effect.map(CallingClient, (client) => client))
  assert.strictEqual(yield* caller, "[\"acme\",\"key:tms\"]")
  assert.isUndefined(yield* CallingClient)
}, Effect.provide(TestWaybill.layer())))
