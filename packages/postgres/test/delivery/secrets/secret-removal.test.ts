/** Deleting a secret while a subscription starts to use it: one of the two calls is refused, so no subscription lacks its secret. */
import { layer } from "@effect/vitest"
import { SubscriptionEdits } from "@waybill/core"
import { SecretStore, SigningSecrets } from "@waybill/core/delivery"
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Fiber, Option, Result } from "effect"
import { assert } from "vitest"
import { testService } from "../../TestService.ts"
import { testStorage } from "../../TestStorage.ts"
import { openTransaction, runBlocked, untilOneIsBlocked } from "../../OpenTransaction.ts"

const endpointUrl = "https://receiver.example/hook"
const wanted = { endpointUrl, hmacSecretId: "spare" }

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant(fixtures.freshTenant())
  const secrets = yield* SigningSecrets
  yield* secrets.put(tenant.tenantId, "spare", { client: "client" })
  const customer = tenant.customer("client", ["A"])
  const stored = Effect.map(Effect.flatMap(SecretStore, (store) => store.find(tenant.tenantId, "spare")), Option.isSome)
  return { tenant, secrets, customer, subscriptions: yield* TransitSubscriptions, edits: yield* SubscriptionEdits, stored }
})

type Setup = Effect.Success<typeof setup>

layer(testService(testStorage()), { excludeTestServices: true })("deleting a secret", (it) => {
  it.effect("waits for a subscription that is being created with it, and is refused", Effect.fnUntraced(function*() {
    const { customer, secrets, stored, subscriptions, tenant } = yield* setup
    const [, deleting] = yield* runBlocked(subscriptions.create(customer, wanted), Effect.flip(secrets.remove(tenant.tenantId, "spare")))
    assert.strictEqual(deleting._tag, "SecretInUse")
    assert.isTrue(yield* stored)
  }))

  const patch = { hmacSecretId: "spare" }
  it.effect.each([
    ["its client", ({ customer, subscriptions }: Setup, id: string) => subscriptions.patch(customer, id, patch)],
    ["an operator", ({ edits, tenant }: Setup, id: string) => edits.edit(tenant.tenantId, id, patch)]
  ] as const)("waits for a subscription that %s changes to it, and is refused", Effect.fnUntraced(function*([, change]) {
    const given = yield* setup
    const { customer, secrets, stored, subscriptions, tenant } = given
    const { id } = yield* subscriptions.create(customer, { endpointUrl, hmacSecretId: tenant.hmacSecretId })
    const commit = yield* openTransaction<unknown, unknown, never>(change(given, id))
    const deleting = yield* Effect.forkChild(Effect.flip(secrets.remove(tenant.tenantId, "spare")))
    yield* untilOneIsBlocked
    yield* commit
    assert.strictEqual((yield* Fiber.join(deleting))._tag, "SecretInUse")
    assert.isTrue(yield* stored)
  }))

  it.effect("refuses a subscription that is created just after it", Effect.fnUntraced(function*() {
    const { customer, secrets, stored, subscriptions, tenant } = yield* setup
    const [, created] = yield* runBlocked(secrets.remove(tenant.tenantId, "spare"), Effect.result(subscriptions.create(customer, wanted)))
    assert.strictEqual(Result.isFailure(created) && created.failure._tag, "InvalidInput")
    assert.isFalse(yield* stored)
    assert.deepStrictEqual((yield* subscriptions.list(customer, {})).data, [])
  }))

  it.effect("refuses a subscription of the former owner when another client becomes the owner", Effect.fnUntraced(function*() {
    const { customer, secrets, subscriptions, tenant } = yield* setup
    const [, created] = yield* runBlocked(secrets.put(tenant.tenantId, "spare", { client: "another", rotate: false }), Effect.result(subscriptions.create(customer, wanted)))
    assert.strictEqual(Result.isFailure(created) && created.failure._tag, "InvalidInput")
  }))
})
