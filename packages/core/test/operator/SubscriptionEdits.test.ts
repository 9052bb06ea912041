import { assert, describe, it } from "@effect/vitest"
import { SubscriptionEdits, Subscriptions } from "@waybill/core"
import { SigningSecrets } from "@waybill/core/delivery"
import { PickupSubscriptions } from "@waybill/core/pickups"
import { TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { hook, inEngine, makeEngine } from "../delivery/Engine.ts"
import { untyped } from "../untyped.ts"

const edit = (id: string, change: unknown, tenantId = "acme") => Effect.flatMap(SubscriptionEdits, (edits) => edits.edit(tenantId, id, untyped(change)))

const faultsOf = (refused: { readonly _tag: string }): ReadonlyArray<readonly [string, string]> => {
  assert.strictEqual(refused._tag, "InvalidInput")
  return (refused as unknown as { readonly faults: ReadonlyArray<{ readonly pointer: string; readonly code: string }> }).faults.map(({ code, pointer }) => [pointer, code])
}

describe("SubscriptionEdits", () => {
  it.effect("changes what is named, as its client sees it afterwards, and resets what is null", Effect.fnUntraced(function*() {
    const { customer, subscription: { id }, subscriptions } = yield* makeEngine()
    yield* edit(id, { filters: { shipmentIds: ["S"], eventTypes: ["DELAY"] }, delivery: { batchMaxSize: 5, maxAttempts: 3 } })
    const edited = yield* edit(id, { endpointUrl: "https://other.example/x", filters: { eventTypes: null }, delivery: { maxAttempts: null } })
    assert.deepStrictEqual([edited.endpointUrl, edited.filters, edited.delivery.batchMaxSize, edited.delivery.maxAttempts], ["https://other.example/x", { shipmentIds: ["S"] }, 5, 12])
    const seen = yield* subscriptions.get(customer, id)
    assert.deepStrictEqual([seen.endpointUrl, seen.filters, seen.delivery], [edited.endpointUrl, { shipmentIds: ["S"] }, edited.delivery])
    assert.deepStrictEqual(yield* Effect.flatMap(Subscriptions, (all) => all.get("acme", id)), edited)
  }, inEngine))

  it.effect("leaves a pause of an operator as it is", Effect.fnUntraced(function*() {
    const { subscription: { id } } = yield* makeEngine()
    yield* Effect.flatMap(Subscriptions, (all) => all.pause("acme", id, { reason: "It is being moved." }))
    const edited = yield* edit(id, { delivery: { rateLimitPerMinute: 60 } })
    assert.deepStrictEqual([edited.state, edited.reason, edited.delivery.rateLimitPerMinute], ["paused", "It is being moved.", 60])
  }, inEngine))

  it.effect("refuses what its client's own patch refuses: addresses, contradictions, unknown members", Effect.fnUntraced(function*() {
    const { subscription: { id } } = yield* makeEngine()
    const refused = (change: unknown) => Effect.map(Effect.flip(edit(id, change)), faultsOf)
    assert.deepStrictEqual(yield* refused({ endpointUrl: "http://plain.example/" }), [["/endpointUrl", "not_allowed"]])
    assert.deepStrictEqual(yield* refused({ endpointUrl: null }), [["/endpointUrl", "invalid"]])
    assert.deepStrictEqual(yield* refused({ delivery: { initialBackoffSeconds: 600, maxBackoffSeconds: 60 } }), [["/delivery/maxBackoffSeconds", "out_of_bounds"]])
    assert.deepStrictEqual((yield* refused({ delivery: { batchMaxSize: 0 } })).map(([pointer]) => pointer), ["/delivery/batchMaxSize"])
    for (const member of ["status", "client", "accounts"]) assert.deepStrictEqual(yield* refused({ [member]: "paused" }), [[`/${member}`, "unknown_field"]])
    yield* refused(null)
  }, inEngine))

  it.effect("takes only a secret that the subscription's client may use, whoever asks", Effect.fnUntraced(function*() {
    const { subscription: { id } } = yield* makeEngine()
    const secrets = yield* SigningSecrets
    yield* secrets.put("acme", "of-another", { client: "somebody-else" })
    yield* secrets.put("acme", "of-client", { client: "client" })
    for (const hmacSecretId of ["of-another", "unknown"]) {
      assert.deepStrictEqual(faultsOf(yield* Effect.flip(edit(id, { hmacSecretId }))), [["/hmacSecretId", "unknown_reference"]])
    }
    assert.strictEqual((yield* edit(id, { hmacSecretId: "of-client" })).hmacSecretId, "of-client")
  }, inEngine))

  it.effect("changes subscriptions to pickups, and none of an area whose interface cannot change one", Effect.fnUntraced(function*() {
    const { tenant } = yield* makeEngine()
    const secrets = yield* SigningSecrets
    yield* secrets.put("acme", "everybody", { anyClient: true })
    const pickups = yield* PickupSubscriptions
    const { id } = yield* pickups.create(tenant.carrier, { topics: ["pickups"], endpointUrl: hook, hmacSecretId: "everybody" })
    assert.strictEqual((yield* edit(id, { delivery: { batchMaxSize: 7 } })).delivery.batchMaxSize, 7)
    assert.strictEqual((yield* pickups.get(tenant.carrier, id)).delivery!.batchMaxSize, 7)
    assert.deepStrictEqual(faultsOf(yield* Effect.flip(edit(id, { filters: {} }))), [["/filters", "unknown_field"]])
    const { transactionId } = yield* TestWaybill.follow(tenant.customer("follower", ["A"]), { referenceNumbers: ["1"], webhookUrl: "https://follower.example/a" })
    const refused = yield* Effect.flip(edit(transactionId, { endpointUrl: hook }))
    assert.deepStrictEqual(faultsOf(refused), [["", "not_allowed"]])
    assert.include(refused.message, "shipment-status")
  }, inEngine))

  it.effect("knows no subscription of another tenant, and none that was deleted", Effect.fnUntraced(function*() {
    const { customer, subscription: { id }, subscriptions } = yield* makeEngine()
    assert.strictEqual((yield* Effect.flip(edit(id, { delivery: null }, "other")))._tag, "DestinationNotFound")
    yield* subscriptions.remove(customer, id)
    for (const each of [id, "garbage"]) assert.strictEqual((yield* Effect.flip(edit(each, { delivery: null })))._tag, "DestinationNotFound")
  }, inEngine))
})
