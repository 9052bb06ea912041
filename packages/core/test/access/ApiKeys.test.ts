import { assert, describe, it } from "@effect/vitest"
import { AccessStore, ApiKeys, type InvalidInput } from "@waybill/core"
import { TransitEvents, TransitSubscriptions } from "@waybill/core/transit-events"
import { reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect, Option, Redacted } from "effect"
import { json } from "../arbitraries.ts"
import { untyped } from "../untyped.ts"
import { inService } from "../inService.ts"

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  return { tenant, keys: yield* ApiKeys }
})

describe("ApiKeys", () => {
  it.effect("creates a key that identifies its client", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    const { id, key } = yield* keys.create("acme", { name: "warehouse", roles: ["customer", "carrier"], accounts: ["A", "B"], dot: "123", mc: "MC-9" })
    assert.deepStrictEqual(yield* keys.principalOf(key), {
      tenantId: "acme",
      client: "key:warehouse",
      roles: ["customer", "carrier"],
      accounts: ["A", "B"],
      dot: "123",
      mc: "MC-9",
      origin: "key"
    })
    assert.include(Redacted.value(key), id)
    assert.notInclude(String(key), Redacted.value(key))
    assert.notInclude(JSON.stringify({ key }), Redacted.value(key))
  }, inService))

  it.effect("accepts no DOT or MC number of a key without the role carrier, which it would not limit", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    for (const [member, number] of [["dot", "77"], ["mc", "MC-9"]] as const) {
      const { faults } = yield* Effect.flip(keys.create("acme", { name: "shop", roles: ["customer"], accounts: ["A"], [member]: number })) as Effect.Effect<InvalidInput>
      assert.deepStrictEqual(faults.map(({ detail, pointer }) => [pointer, detail]), [[`/${member}`, "Only a carrier has a DOT or MC number. Add the role carrier, or leave the number out."]])
    }
  }, inService))

  it.effect("accepts no DOT or MC number without a digit, nor a longer one than carriers have", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    for (const dot of ["abc", "USDOT", "-", "", "1 2", "1".repeat(21)]) {
      const { faults } = yield* Effect.flip(keys.create("acme", { name: "tms", roles: ["carrier"], dot })) as Effect.Effect<InvalidInput>
      assert.deepStrictEqual(faults.map(({ detail, pointer }) => [pointer, detail]), [["/dot", "A DOT or MC number is at most 20 letters, digits or hyphens, with a digit among them, such as 1234567 or MC-765432."]], dot)
    }
    for (const dot of ["USDOT-0123456", "1".repeat(20)]) yield* keys.create("acme", { name: "tms", roles: ["carrier"], dot })
  }, inService))

  it.effect("stores only a hash", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    const { id, key } = yield* keys.create("acme", { name: "warehouse", roles: ["customer"] })
    const stored = Option.getOrThrow((yield* (yield* AccessStore).findKeys("acme", [id]))[0]!)
    const secret = Redacted.value(key).split(".").at(-1)!
    assert.strictEqual(stored.hash.length, 32)
    assert.notInclude(JSON.stringify(stored), secret)
    assert.notInclude(Buffer.from(stored.hash).toString("base64url"), secret)
  }, inService))

  it.effect("refuses every key that it did not create", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    yield* TestWaybill.tenant("other")
    const { key } = yield* keys.create("acme", { name: "warehouse", roles: ["customer"] })
    const text = Redacted.value(key)
    const [, , id, secret] = text.split(".")
    const otherTenant = `wb.${Buffer.from("other").toString("base64url")}.${id!}.${secret!}`
    const wrong = ["", "garbage", text.slice(0, -1), `${text}x`, `${text.slice(0, -1)}${text.endsWith("A") ? "B" : "A"}`, text.toUpperCase(), ` ${text}`, otherTenant, text.replace(id!, "-".repeat(36)), `wb.!!.${id!}.${secret!}`]
    for (const each of wrong) {
      assert.strictEqual((yield* Effect.flip(keys.principalOf(Redacted.make(each))))._tag, "Unauthenticated", each)
    }
  }, inService))

  it.effect("revokes a key immediately, and only once", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    const { id, key } = yield* keys.create("acme", { name: "warehouse", roles: ["customer"] })
    yield* keys.revoke("acme", id)
    assert.strictEqual((yield* Effect.flip(keys.principalOf(key)))._tag, "Unauthenticated")
    assert.strictEqual((yield* Effect.flip(keys.revoke("acme", id)))._tag, "ApiKeyNotFound")
    for (const unknown of ["", "garbage", "-".repeat(36)]) assert.strictEqual((yield* Effect.flip(keys.revoke("acme", unknown)))._tag, "ApiKeyNotFound")
    assert.strictEqual((yield* Effect.flip(keys.revoke("other", id)))._tag, "ApiKeyNotFound")
  }, inService))

  it.effect("refuses to create a key for an unknown tenant", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    assert.strictEqual((yield* Effect.flip(keys.create("nobody", { name: "x", roles: ["carrier"] })))._tag, "TenantNotFound")
  }, inService))

  it.effect("refuses unknown roles and the operator role", Effect.fnUntraced(function*() {
    const { keys } = yield* setup
    for (const request of [{ name: "x", roles: ["operator"] }, { name: "x", roles: [] }, { roles: ["carrier"] }, { name: "x", roles: ["carrier"], admin: true }]) {
      assert.strictEqual((yield* Effect.flip(keys.create("acme", untyped(request))))._tag, "InvalidInput")
    }
  }, inService))

  it.effect("gives all keys with one name to one client, which sees the union of its live keys", Effect.fnUntraced(function*() {
    const { keys, tenant } = yield* setup
    const receivers = yield* ScriptedReceivers
    const events = yield* TransitEvents
    const old = yield* keys.create("acme", { name: "client", roles: ["customer"], accounts: ["A"] })
    const principal = yield* keys.principalOf(old.key)
    const url = "https://receiver.example/"
    yield* (yield* TransitSubscriptions).create(principal, { endpointUrl: url, hmacSecretId: "main" })
    yield* TestWaybill.run
    const receives = Effect.fnUntraced(function*(shipmentId: string, account: string) {
      const before = (yield* receivers.deliveredEvents(url)).length
      yield* events.append(tenant.carrier, [reportedEvent(shipmentId, { accounts: [account] })])
      yield* TestWaybill.pass(1000)
      return (yield* receivers.deliveredEvents(url)).length > before
    })
    assert.deepStrictEqual([yield* receives("S1", "A"), yield* receives("S2", "B")], [true, false])
    const added = yield* keys.create("acme", { name: "client", roles: ["customer"], accounts: ["B"] })
    assert.deepStrictEqual([yield* receives("S3", "A"), yield* receives("S4", "B")], [true, true])
    yield* keys.revoke("acme", old.id)
    assert.deepStrictEqual([yield* receives("S5", "A"), yield* receives("S6", "B")], [false, true])
    yield* keys.revoke("acme", added.id)
    const [client] = yield* (yield* AccessStore).pageClients("acme", { after: undefined, limit: 1 })
    assert.deepStrictEqual([client?.client, client?.live, client?.accounts], ["key:client", false, ["B"]])
  }, inService))

  it.effect.prop("handles arbitrary input", [json], Effect.fnUntraced(function*([input]) {
    const { keys } = yield* setup
    assert.strictEqual((yield* Effect.flip(keys.create("acme", untyped(input))))._tag, "InvalidInput")
    const text = typeof input === "string" ? input : JSON.stringify(input) ?? ""
    assert.strictEqual((yield* Effect.flip(keys.principalOf(Redacted.make(text))))._tag, "Unauthenticated")
  }, inService))
})
