import { assert, describe, it } from "@effect/vitest"
import { AccessStore, ApiKeys, Clients, makeRememberAccess, NoticeStore, TenantRemoval, Tenants, tokenClient } from "@waybill/core"
import { defaultPolicy, DeliveryQueue } from "@waybill/core/delivery"
import { eventBatchEnvelope, TransitEvents, transitEventSource, TransitSubscriptions, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { inService } from "../inService.ts"

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const [keys, clients, subscriptions] = [yield* ApiKeys, yield* Clients, yield* TransitSubscriptions]
  const url = "https://receiver.example/"
  const customer = (accounts: ReadonlyArray<string>, expiresAt?: string) =>
    keys.create("acme", { name: "shipper", roles: ["customer"], accounts, ...(expiresAt === undefined ? {} : { expiresAt }) })
  const standing = Effect.map(clients.list("acme", {}), ({ data }) => data.find(({ client }) => client === "key:shipper"))
  const publish = Effect.fnUntraced(function*(shipmentId: string) {
    yield* (yield* TransitEvents).append(tenant.carrier, [reportedEvent(shipmentId, { accounts: ["A"] })])
  })
  return { clients, customer, keys, publish, standing, subscriptions, tenant, url }
})

const days = (count: number) => `${count} days` as const

describe("access of an API key client", () => {
  it.effect("is the union of its keys, ends with the last key, and returns with a new key", Effect.fnUntraced(function*() {
    const { customer, keys, standing } = yield* setup
    const first = yield* customer(["A"])
    const second = yield* customer(["B"])
    const shown = (each: { readonly accounts: ReadonlyArray<string>; readonly keys: number; readonly state: string } | undefined) =>
      [each?.accounts, each?.keys, each?.state]
    assert.deepStrictEqual(shown(yield* standing), [["A", "B"], 2, "live"])
    yield* keys.revoke("acme", first.id)
    assert.deepStrictEqual(shown(yield* standing), [["B"], 1, "live"])
    yield* keys.revoke("acme", second.id)
    assert.deepStrictEqual(shown(yield* standing), [["B"], 0, "held"])
    yield* customer(["C"])
    assert.deepStrictEqual(shown(yield* standing), [["C"], 1, "live"])
  }, inService))

  it.effect("ends with the expiry of a key, which is refused from then on", Effect.fnUntraced(function*() {
    const { clients, customer, keys, standing } = yield* setup
    const brief = yield* customer(["A"], "1970-01-02T00:00:00Z")
    yield* customer(["B"], "1970-01-03T00:00:00Z")
    assert.strictEqual((yield* keys.principalOf(brief.key)).client, "key:shipper")
    yield* TestClock.adjust("1 day")
    assert.strictEqual((yield* Effect.flip(keys.principalOf(brief.key)))._tag, "Unauthenticated")
    yield* clients.sweep
    assert.deepStrictEqual([(yield* standing)?.accounts, (yield* standing)?.state], [["B"], "live"])
    yield* TestClock.adjust("1 day")
    assert.strictEqual((yield* standing)?.state, "held")
    assert.strictEqual((yield* Effect.flip(customer(["A"], "1970-01-03T00:00:00Z")))._tag, "InvalidInput")
  }, inService))

  it.effect("is deleted with its subscriptions 30 days after it ended", Effect.fnUntraced(function*() {
    const { clients, customer, keys, standing, subscriptions, url } = yield* setup
    const key = yield* customer(["A"])
    yield* subscriptions.create(yield* keys.principalOf(key.key), { endpointUrl: url, hmacSecretId: "main" })
    yield* keys.revoke("acme", key.id)
    yield* TestClock.adjust(days(29))
    yield* clients.sweep
    assert.deepStrictEqual([(yield* standing)?.state, (yield* standing)?.subscriptions], ["held", 1])
    yield* TestClock.adjust(days(2))
    yield* clients.sweep
    assert.isUndefined(yield* standing)
    const again = yield* customer(["A"])
    assert.strictEqual((yield* subscriptions.list(yield* keys.principalOf(again.key), {})).totalCount, 0)
  }, inService))

  it.effect("ends at once when the client is removed, with keys, subscriptions and waiting entries", Effect.fnUntraced(function*() {
    const { clients, customer, keys, publish, standing, subscriptions, url } = yield* setup
    const key = yield* customer(["A"])
    const principal = yield* keys.principalOf(key.key)
    for (let n = 0; n < 3; n++) yield* subscriptions.create(principal, { endpointUrl: url, hmacSecretId: "main" })
    yield* publish("S1")
    const notices = yield* NoticeStore
    yield* notices.setContacts("acme", "key:shipper", { email: "edi@shipper.example", emailKinds: undefined, webhookId: undefined, webhookKinds: undefined })
    yield* clients.remove("acme", "shipper")
    assert.isUndefined((yield* notices.contacts("acme", "key:shipper")).email)
    assert.strictEqual((yield* Effect.flip(keys.principalOf(key.key)))._tag, "Unauthenticated")
    assert.isUndefined(yield* standing)
    yield* TestWaybill.run
    yield* TestWaybill.pass(60_000)
    assert.deepStrictEqual(yield* (yield* ScriptedReceivers).deliveredEvents(url), [])
    for (const unknown of ["shipper", "key:nobody", "jwt:idp:nobody", "", " "]) {
      assert.strictEqual((yield* Effect.flip(clients.remove("acme", unknown)))._tag, "ClientNotFound", unknown)
    }
  }, inService))

  it.effect("creates nothing for a call that was authenticated before the removal", Effect.fnUntraced(function*() {
    const { clients, customer, keys, subscriptions, url } = yield* setup
    const principal = yield* keys.principalOf((yield* customer(["A"])).key)
    yield* clients.remove("acme", "shipper")
    const refused = yield* Effect.flip(subscriptions.create(principal, { endpointUrl: url, hmacSecretId: "main" }))
    assert.strictEqual(refused._tag, "StorageError")
    const next = yield* keys.principalOf((yield* customer(["B"])).key)
    assert.strictEqual((yield* subscriptions.list(next, {})).totalCount, 0)
  }, inService))

  it.effect("ends with a subscription that a process whose clock is ahead has created", Effect.fnUntraced(function*() {
    const { clients, customer, subscriptions, url } = yield* setup
    yield* customer(["A"])
    const id = "7fffffff-ffff-7000-8000-000000000000"
    const settings = { endpointUrl: url, hmacSecretId: "main" }
    const client = "key:shipper"
    yield* (yield* DeliveryQueue).openDestination("acme", {
      ...settings, destinationId: id, client, source: transitEventSource, policy: defaultPolicy, envelope: eventBatchEnvelope, signing: "required", whenDead: "continue", state: "active"
    })
    yield* (yield* TransitSubscriptionStore).insert("acme", { id, client, doc: JSON.stringify(settings), createdAt: 0, updatedAt: 0, typeMask: 1, shipmentIds: undefined, matched: true })
    yield* clients.remove("acme", "shipper")
    yield* customer(["B"])
    assert.strictEqual((yield* subscriptions.list({ tenantId: "acme", client, roles: ["customer"], accounts: ["B"], origin: "key" }, {})).totalCount, 0)
  }, inService))

  it.effect("is removed in the background if the process stopped during the removal", Effect.fnUntraced(function*() {
    const { clients, customer, keys, standing, subscriptions, url } = yield* setup
    const key = yield* customer(["A"])
    const { id } = yield* subscriptions.create(yield* keys.principalOf(key.key), { endpointUrl: url, hmacSecretId: "main" })
    yield* keys.revoke("acme", key.id)
    yield* (yield* AccessStore).markEnding("acme", "key:shipper", id)
    yield* clients.sweep
    assert.isUndefined(yield* standing)
  }, inService))
})

describe("access of a token client", () => {
  it.effect("ends seven days after its last token, and waiting entries are sent after the next token", Effect.fnUntraced(function*() {
    const { publish, subscriptions, tenant, url } = yield* setup
    const client = tokenClient("https://idp.example/", "shipper")!
    const principal = { ...tenant.customer("shipper", ["A"]), client, origin: "token" as const }
    const seen = yield* makeRememberAccess
    const received = Effect.gen(function*() {
      yield* TestWaybill.run
      yield* TestWaybill.pass(60_000)
      return (yield* (yield* ScriptedReceivers).deliveredEvents(url)).length
    })
    yield* seen(principal)
    yield* subscriptions.create(principal, { endpointUrl: url, hmacSecretId: "main" })
    yield* TestClock.adjust(days(6))
    yield* publish("S1")
    assert.strictEqual(yield* received, 1)
    yield* TestClock.adjust(days(1))
    yield* publish("S2")
    assert.strictEqual(yield* received, 1)
    yield* seen(principal)
    assert.strictEqual(yield* received, 2)
  }, inService))
})

describe("client names", () => {
  const part = Schema.String.check(Schema.isPattern(/^[:%3AkeyjwtI/]{1,6}$/))

  it.effect.prop("are unique per issuer and subject, and never equal to a key's client", [part, part, part, part], ([issuer, sub, otherIssuer, otherSub]) =>
    Effect.sync(() => {
      const [one, other] = [tokenClient(issuer, sub), tokenClient(otherIssuer, otherSub)]
      if (one === undefined || other === undefined) return
      assert.isTrue(one.startsWith("jwt:"))
      assert.strictEqual(one === other, issuer === otherIssuer && sub === otherSub)
    }))

  it.effect("distinguish a token from a key named like its subject", Effect.fnUntraced(function*() {
    const { customer, keys, subscriptions, tenant, url } = yield* setup
    const byKey = yield* keys.principalOf((yield* customer(["A"])).key)
    const byToken = { ...tenant.customer("shipper", ["A"]), client: tokenClient("https://idp.example/", "shipper")!, origin: "token" as const }
    const { id } = yield* subscriptions.create(byKey, { endpointUrl: url, hmacSecretId: "main" })
    assert.strictEqual((yield* subscriptions.list(byToken, {})).totalCount, 0)
    assert.strictEqual((yield* Effect.flip(subscriptions.remove(byToken, id)))._tag, "SubscriptionNotFound")
    assert.strictEqual((yield* subscriptions.list(byKey, {})).totalCount, 1)
  }, inService))

  it.effect("of keys must not start with a qualified prefix", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    for (const name of ["key:shipper", "jwt:idp:shipper", "jwt:"]) {
      assert.strictEqual((yield* Effect.flip(keys.create("acme", { name, roles: ["carrier"] })))._tag, "InvalidInput", name)
    }
    assert.strictEqual((yield* keys.principalOf((yield* keys.create("acme", { name: "a:b", roles: ["carrier"] })).key)).client, "key:a:b")
  }, inService))
})

describe("a tenant", () => {
  it.effect("is refused while suspended, and served again after it is resumed", Effect.fnUntraced(function*() {
    const { customer, keys } = yield* setup
    const tenants = yield* Tenants
    const { key } = yield* customer(["A"])
    assert.strictEqual((yield* tenants.suspend("acme")).state, "suspended")
    assert.strictEqual((yield* Effect.flip(keys.principalOf(key)))._tag, "TenantSuspended")
    assert.strictEqual((yield* Effect.flip(tenants.admit("acme")))._tag, "TenantSuspended")
    assert.strictEqual((yield* tenants.resume("acme")).state, "active")
    assert.strictEqual((yield* keys.principalOf(key)).client, "key:shipper")
    assert.strictEqual((yield* Effect.flip(tenants.suspend("nobody")))._tag, "TenantNotFound")
  }, inService))

  it.effect("is unknown immediately after its deletion, and its id is free when its data is deleted", Effect.fnUntraced(function*() {
    const { customer, keys, publish, subscriptions, url } = yield* setup
    const [tenants, removal, store] = [yield* Tenants, yield* TenantRemoval, yield* AccessStore]
    const { key } = yield* customer(["A"])
    yield* subscriptions.create(yield* keys.principalOf(key), { endpointUrl: url, hmacSecretId: "main" })
    yield* publish("S1")
    yield* removal.remove("acme")
    assert.strictEqual((yield* Effect.flip(keys.principalOf(key)))._tag, "Unauthenticated")
    assert.isTrue(Option.isNone(yield* tenants.admit("acme")))
    assert.strictEqual((yield* Effect.flip(tenants.put("acme", { name: "Again" })))._tag, "TenantBeingRemoved")
    assert.strictEqual((yield* Effect.flip(removal.remove("acme")))._tag, "TenantNotFound")
    assert.strictEqual(yield* removal.sweep, 0)
    yield* TestClock.adjust("61 seconds")
    assert.strictEqual(yield* removal.sweep, 1)
    assert.strictEqual(yield* store.purgeTenant("acme", 1), 0)
    yield* tenants.put("acme", { name: "Again" })
    assert.deepStrictEqual((yield* (yield* Clients).list("acme", {})).data, [])
  }, inService))
})
