/** A client that is removed at the moment at which its key creates a subscription. */
import { layer } from "@effect/vitest"
import { ApiKeys, Clients } from "@waybill/core"
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { fixtures } from "@waybill/conformance/suites"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Result } from "effect"
import { assert } from "vitest"
import { runBlocked } from "../OpenTransaction.ts"
import { testService } from "../TestService.ts"
import { testStorage } from "../TestStorage.ts"

const setup = Effect.gen(function*() {
  const { hmacSecretId, tenantId } = yield* TestWaybill.tenant(fixtures.freshTenant())
  const [keys, clients, subscriptions] = [yield* ApiKeys, yield* Clients, yield* TransitSubscriptions]
  const withKey = (accounts: ReadonlyArray<string>) =>
    Effect.flatMap(keys.create(tenantId, { name: "shipper", roles: ["customer"], accounts }), ({ key }) => keys.principalOf(key))
  return {
    create: subscriptions.create(yield* withKey(["A"]), { endpointUrl: "https://receiver.example/hook", hmacSecretId }),
    remove: clients.remove(tenantId, "shipper"),
    /** What a later client of the same name has. */
    inherited: Effect.map(Effect.flatMap(withKey(["B"]), (next) => subscriptions.list(next, {})), ({ data }) => data)
  }
})

layer(testService(testStorage()), { excludeTestServices: true })("a client that is removed", (it) => {
  it.effect("waits for a subscription that it is creating, and leaves none", Effect.fnUntraced(function*() {
    const { create, inherited, remove } = yield* setup
    yield* runBlocked(create, remove)
    assert.deepStrictEqual(yield* inherited, [])
  }))

  it.effect("makes its subscription wait, which is refused", Effect.fnUntraced(function*() {
    const { create, inherited, remove } = yield* setup
    const [, created] = yield* runBlocked(remove, Effect.result(create))
    assert.strictEqual(Result.isFailure(created) && created.failure._tag, "StorageError")
    assert.deepStrictEqual(yield* inherited, [])
  }))
})
