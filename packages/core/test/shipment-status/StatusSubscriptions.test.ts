import { assert, describe, it } from "@effect/vitest"
import { ApiKeys, type Principal } from "@waybill/core"
import { SigningSecrets } from "@waybill/core/delivery"
import { jsonOf, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { json } from "../arbitraries.ts"
import { inService } from "../inService.ts"
import { faultsOf, hook, makeCarrier, tagOf, wordOf } from "./Carrier.ts"
import { untyped } from "../untyped.ts"

const wanted = { referenceNumbers: ["PRO-1"], webhookUrl: hook }

describe("subscribing to shipment status", () => {
  it.effect("returns a transaction id, and notifies later changes", Effect.fnUntraced(function*() {
    const { follow, happen, post, notified } = yield* makeCarrier
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    const { message, transactionId } = yield* follow("s 1")
    assert.match(transactionId, /^[0-9a-f-]{36}$/)
    assert.strictEqual(message, "Subscribed to 1 reference number.")
    yield* happen("S1", { type: "OUT_FOR_DELIVERY" })
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Out for Delivery"])
  }, inService))

  it.effect("accepts references of every kind, also of unknown shipments (SPEC-GAP-A14)", Effect.fnUntraced(function*() {
    const { follow, post, notified } = yield* makeCarrier
    yield* follow("extra-9")
    for (const reference of ["BOL-S1", "po-s1", "S1WAYB20261120", "S1", "load 7"]) yield* follow(reference)
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up", references: [{ type: "Load", value: "LOAD-7" }, { type: "x", value: "EXTRA9" }] })
    assert.lengthOf(yield* notified, 6)
  }, inService))

  it.effect("accepts the PRO that a shipment gets in transit", Effect.fnUntraced(function*() {
    const { customer, follow, post, statuses, notified, update } = yield* makeCarrier
    yield* follow("partner-7")
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    yield* update({ shipmentId: "S1", shipmentMilestoneStatus: "Interline", UpdatedPro: "PARTNER 7", PartnerCarrierName: "Other Lines", PartnerCarrierSCAC: "OTHR" })
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Interline"])
    assert.strictEqual((yield* statuses.verified(customer, { kind: "pro", proNumber: "Partner7" }))._tag, "Verified")
  }, inService))

  it.effect("knows a shipment by the PROs that it had in transit before, until the carrier withdraws them (SPEC-GAP-A34)", Effect.fnUntraced(function*() {
    const { customer, follow, post, statuses, notified, update } = yield* makeCarrier
    const tagsOf = (...pros: ReadonlyArray<string>) =>
      Effect.forEach(pros, (proNumber) => Effect.match(statuses.verified(customer, { kind: "pro", proNumber }), { onFailure: ({ _tag }) => _tag, onSuccess: ({ _tag }) => _tag }))
    yield* follow("new-1")
    yield* post("S1", { ShipmentMilestoneStatus: "In Transit" })
    yield* update({ shipmentId: "S1", shipmentMilestoneStatus: "In Transit", terminalStatus: "Reconsigned", UpdatedPro: "NEW-1" })
    yield* update({ shipmentId: "S1", shipmentMilestoneStatus: "Interline", UpdatedPro: "PARTNER 7", PartnerCarrierName: "Other Lines", PartnerCarrierSCAC: "OTHR" })
    yield* update({ proNumber: "new 1", shipmentMilestoneStatus: "Out for Delivery" })
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Reconsigned", "Interline", "Out for Delivery"])
    assert.deepStrictEqual(yield* tagsOf("S1", "NEW1", "PARTNER7"), ["Verified", "Verified", "Verified"])
    yield* post("S1", { UpdatedPro: "PARTNER 7" })
    yield* post("S1", { UpdatedPro: null })
    assert.deepStrictEqual(yield* tagsOf("S1", "NEW1", "PARTNER7"), ["Verified", "ShipmentNotFound", "ShipmentNotFound"])
  }, inService))

  it.effect("notifies each subscription once, even if several references match", Effect.fnUntraced(function*() {
    const { follow, post, notified } = yield* makeCarrier
    yield* follow("S1", "s-1", "PO-S1", "BOL-S1")
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    assert.lengthOf(yield* notified, 1)
  }, inService))

  it.effect("notifies no client that may not see the shipment at that time", Effect.fnUntraced(function*() {
    const { follow, happen, post, notified } = yield* makeCarrier
    yield* follow("S1")
    yield* post("S1", { accounts: ["B"], ShipmentMilestoneStatus: "Picked-up" })
    assert.deepStrictEqual(yield* notified, [])
    yield* happen("S1", { type: "OUT_FOR_DELIVERY", accounts: ["A", "B"] })
    assert.lengthOf(yield* notified, 1)
  }, inService))

  it.effect("sends each notification as its own delivery, in order, signed if a secret exists (SPEC-GAP-A13)", Effect.fnUntraced(function*() {
    const { customer, follow, happen, post, receivers, subscriptions, tenant, notified } = yield* makeCarrier
    yield* follow("S1")
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    yield* happen("S1", { type: "ARRIVED_AT_TERMINAL", occurredAt: "2026-11-20T15:00:00Z" })
    yield* happen("S1", { type: "OUT_FOR_DELIVERY", occurredAt: "2026-11-20T16:00:00Z" })
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up", "Arrived", "Out for Delivery"])
    const unsigned = yield* receivers.requests(hook)
    assert.isTrue(unsigned.every(({ headers }) => headers["webhook-id"] !== undefined && headers["webhook-signature"] === undefined))
    assert.notProperty(jsonOf(unsigned[0]!) as object, "deliveryId")
    // the operator registers a secret for the client
    yield* (yield* SigningSecrets).put(tenant.tenantId, "client:client", {})
    yield* subscriptions.subscribe(customer, { ...wanted, referenceNumbers: ["S1"], webhookUrl: "https://named.example/", hmacSecretId: "main" })
    yield* happen("S1", { type: "DELIVERED", occurredAt: "2026-11-20T17:00:00Z" })
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up", "Arrived", "Out for Delivery", "Delivered"])
    assert.property((yield* receivers.requests(hook))[3]!.headers, "webhook-signature")
    assert.property((yield* receivers.requests("https://named.example/"))[0]!.headers, "webhook-signature")
  }, inService))

  it.effect("lists every fault at once, and ignores unknown fields (SPEC-GAP-A26)", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* makeCarrier
    const refused = (input: unknown) => faultsOf(subscriptions.subscribe(customer, untyped(input)))
    assert.deepStrictEqual(yield* refused({}), ["/referenceNumbers required", "/webhookUrl required"])
    assert.deepStrictEqual(yield* refused({ referenceNumbers: [], webhookUrl: "http://plain.example/", hmacSecretId: "none" }), [
      "/referenceNumbers out_of_bounds",
      "/webhookUrl not_allowed",
      "/hmacSecretId unknown_reference"
    ])
    assert.deepStrictEqual(yield* refused({ ...wanted, referenceNumbers: ["ok", " - "] }), ["/referenceNumbers/1 invalid"])
    yield* refused({ ...wanted, referenceNumbers: Array.from({ length: 1001 }, (_, n) => `R${n}`) })
    yield* subscriptions.subscribe(customer, untyped({ ...wanted, items: [], propertyName: "x" }))
  }, inService))

  it.effect("answers a secret of another client like an unknown one", Effect.fnUntraced(function*() {
    const { customer, subscriptions, tenant } = yield* makeCarrier
    yield* (yield* SigningSecrets).put(tenant.tenantId, "bound", { accounts: ["B"] })
    assert.deepStrictEqual(yield* faultsOf(subscriptions.subscribe(customer, { ...wanted, hmacSecretId: "bound" })), ["/hmacSecretId unknown_reference"])
  }, inService))

  it.effect("is allowed to customers and carriers only", Effect.fnUntraced(function*() {
    const { subscriptions, tenant } = yield* makeCarrier
    yield* subscriptions.subscribe(tenant.carrier, wanted)
    const operator: Principal = { tenantId: "acme", client: "", roles: ["operator"], accounts: [], origin: "key" }
    assert.strictEqual(yield* tagOf(subscriptions.subscribe(operator, wanted)), "NotPermitted")
    assert.strictEqual(yield* tagOf(subscriptions.unsubscribe(operator, "x")), "NotPermitted")
  }, inService))

  it.effect.prop("handles arbitrary input", [json], Effect.fnUntraced(function*([input]) {
    const { customer, subscriptions } = yield* makeCarrier
    assert.strictEqual(yield* tagOf(subscriptions.subscribe(customer, untyped(input))), "InvalidInput")
  }, inService))

  it.effect("sends nothing while the client has no key, and the waiting notifications when it has one again", Effect.fnUntraced(function*() {
    const { happen, post, subscriptions, notified } = yield* makeCarrier
    const keys = yield* ApiKeys
    const { id } = yield* keys.create("acme", { name: "keyed", roles: ["customer"], accounts: ["A"] })
    yield* subscriptions.subscribe({ tenantId: "acme", client: "key:keyed", roles: ["customer"], accounts: ["A"], origin: "key" }, { ...wanted, referenceNumbers: ["S1"] })
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up"])
    yield* happen("S1", { type: "OUT_FOR_DELIVERY" })
    yield* keys.revoke("acme", id)
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up"])
    yield* keys.create("acme", { name: "keyed", roles: ["customer"], accounts: ["A"] })
    assert.deepStrictEqual((yield* notified).map(wordOf), ["Picked-up", "Out for Delivery"])
  }, inService))
})

describe("unsubscribing from shipment status", () => {
  it.effect("stops waiting notifications, and succeeds only once", Effect.fnUntraced(function*() {
    const { customer, follow, happen, post, subscriptions, notified } = yield* makeCarrier
    const { transactionId } = yield* follow("S1")
    yield* post("S1", { ShipmentMilestoneStatus: "Picked-up" })
    const { message } = yield* subscriptions.unsubscribe(customer, transactionId)
    assert.isString(message)
    yield* happen("S1", { type: "OUT_FOR_DELIVERY" })
    assert.deepStrictEqual(yield* notified, [])
    assert.strictEqual(yield* tagOf(subscriptions.unsubscribe(customer, transactionId)), "StatusSubscriptionNotFound")
  }, inService))

  it.effect("answers another client's id and an invalid id like an unknown one", Effect.fnUntraced(function*() {
    const { customer, follow, subscriptions, tenant } = yield* makeCarrier
    const { transactionId } = yield* follow("S1")
    yield* TestWaybill.tenant("other")
    for (const [who, id] of [[tenant.customer("other", ["A"]), transactionId], [{ ...customer, tenantId: "other" }, transactionId], [customer, "1234"], [customer, ""]] as const) {
      assert.strictEqual(yield* tagOf(subscriptions.unsubscribe(who, id)), "StatusSubscriptionNotFound")
    }
    yield* subscriptions.unsubscribe(customer, transactionId)
  }, inService))
})
