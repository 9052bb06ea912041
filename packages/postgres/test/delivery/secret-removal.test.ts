/** A secret is deleted while somebody names it: one of the two is refused, and no subscription is left without its secret. */
import { layer } from "@effect/vitest"
import { SecretStore, SigningSecrets, TransitSubscriptions } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Fiber, Option, Result } from "effect"
import { assert } from "vitest"
import { testService } from "../TestService.ts"
import { testStorage } from "../TestStorage.ts"
import { holding, somebodyWaits } from "./Holding.ts"

const endpointUrl = "https://receiver.example/hook"
const wanted = { endpointUrl, hmacSecretId: "spare" }

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant(fixtures.freshTenant())
  const secrets = yield* SigningSecrets
  yield* secrets.put(tenant.tenantId, "spare", { client: "client" })
  const customer = tenant.customer("client", ["A"])
  const stored = Effect.map(Effect.flatMap(SecretStore, (store) => store.find(tenant.tenantId, "spare")), Option.isSome)
  return { tenant, secrets, customer, subscriptions: yield* TransitSubscriptions, stored }
})

layer(testService(testStorage()), { excludeTestServices: true })("deleting a secret", (it) => {
  it.effect("waits for a subscription that is being created with it, and is refused", () =>
    Effect.gen(function*() {
      const { customer, secrets, stored, subscriptions, tenant } = yield* setup
      const commit = yield* holding(subscriptions.create(customer, wanted))
      const deleting = yield* Effect.forkChild(Effect.flip(secrets.remove(tenant.tenantId, "spare")))
      yield* somebodyWaits
      yield* commit
      assert.strictEqual((yield* Fiber.join(deleting))._tag, "SecretInUse")
      assert.isTrue(yield* stored)
    }))

  it.effect("waits for a subscription that is changed to it, and is refused", () =>
    Effect.gen(function*() {
      const { customer, secrets, stored, subscriptions, tenant } = yield* setup
      const { id } = yield* subscriptions.create(customer, { endpointUrl, hmacSecretId: tenant.hmacSecretId })
      const commit = yield* holding(subscriptions.patch(customer, id, { hmacSecretId: "spare" }))
      const deleting = yield* Effect.forkChild(Effect.flip(secrets.remove(tenant.tenantId, "spare")))
      yield* somebodyWaits
      yield* commit
      assert.strictEqual((yield* Fiber.join(deleting))._tag, "SecretInUse")
      assert.isTrue(yield* stored)
    }))

  it.effect("refuses a subscription that came a moment later", () =>
    Effect.gen(function*() {
      const { customer, secrets, stored, subscriptions, tenant } = yield* setup
      const commit = yield* holding(secrets.remove(tenant.tenantId, "spare"))
      const creating = yield* Effect.forkChild(Effect.result(subscriptions.create(customer, wanted)))
      yield* somebodyWaits
      yield* commit
      const created = yield* Fiber.join(creating)
      assert.strictEqual(Result.isFailure(created) && created.failure._tag, "InvalidInput")
      assert.isFalse(yield* stored)
      assert.deepStrictEqual((yield* subscriptions.list(customer, {})).data, [])
    }))

  it.effect("and giving it to another client at the same moment lets no subscription of the former one through", () =>
    Effect.gen(function*() {
      const { customer, secrets, subscriptions, tenant } = yield* setup
      const commit = yield* holding(secrets.put(tenant.tenantId, "spare", { client: "another", rotate: false }))
      const creating = yield* Effect.forkChild(Effect.result(subscriptions.create(customer, wanted)))
      yield* somebodyWaits
      yield* commit
      const created = yield* Fiber.join(creating)
      assert.strictEqual(Result.isFailure(created) && created.failure._tag, "InvalidInput")
    }))
})
