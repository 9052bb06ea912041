import { assert, describe, it } from "@effect/vitest"
import { type Principal, Retention, Subscriptions } from "@waybill/core"
import { DeliveryWorker, SigningSecrets } from "@waybill/core/delivery"
import { TransitEvents, TransitSubscriptions } from "@waybill/core/transit-events"
import { reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { TestClock } from "effect/testing"
import { int, json, listOf, oneOf } from "../arbitraries.ts"
import { untyped } from "../untyped.ts"
import { inService } from "../inService.ts"

const wanted = { endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" }

const setup = Effect.gen(function*() {
  yield* TestClock.setTime(1_763_626_500_000)
  const tenant = yield* TestWaybill.tenant()
  const subscriptions = yield* TransitSubscriptions
  return { tenant, customer: tenant.customer("client", ["A"]), other: tenant.customer("other", ["A"]), subscriptions }
})

const faultsOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error._tag, "InvalidInput", JSON.stringify(error))
    return (error as unknown as { faults: ReadonlyArray<{ pointer: string; code: string }> }).faults.map((each) => [each.pointer, each.code])
  })

const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) => Effect.map(Effect.flip(effect), (error) => error._tag)

describe("creating a subscription", () => {
  it.effect("returns it with id, defaults and times", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const created = yield* subscriptions.create(customer, { ...wanted, filters: { eventTypes: ["DELIVERED"] }, delivery: { batchMaxSize: 5 } })
    assert.match(created.id, /^[0-9a-f-]{36}$/)
    assert.deepStrictEqual(created, {
      id: created.id,
      ...wanted,
      filters: { eventTypes: ["DELIVERED"] },
      delivery: { maxAttempts: 12, initialBackoffSeconds: 5, maxBackoffSeconds: 3600, batchMaxSize: 5, rateLimitPerMinute: 600 },
      status: "active",
      createdAt: "2025-11-20T08:15:00.000Z",
      updatedAt: "2025-11-20T08:15:00.000Z"
    })
    assert.deepStrictEqual(yield* subscriptions.get(customer, created.id), created)
  }, inService))

  it.effect("lists every member that is missing, unknown or out of bounds (SPEC-GAP-D8)", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    assert.deepStrictEqual(yield* faultsOf(subscriptions.create(customer, untyped({}))), [["/endpointUrl", "required"], ["/hmacSecretId", "required"]])
    const faults = yield* faultsOf(subscriptions.create(customer, untyped({
      ...wanted,
      status: "paused",
      filters: { eventTypes: ["LOST"], shipmentIds: [""], carriers: [] },
      delivery: { batchMaxSize: 1001, retries: 3 }
    })))
    assert.deepStrictEqual([...new Set(faults.map(([pointer]) => pointer))].toSorted(), [
      "/delivery/batchMaxSize",
      "/delivery/retries",
      "/filters/carriers",
      "/filters/eventTypes/0",
      "/filters/shipmentIds/0",
      "/status"
    ])
  }, inService))

  it.effect("refuses an address that webhooks may not reach, and a contradictory policy", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    assert.deepStrictEqual(yield* faultsOf(subscriptions.create(customer, { ...wanted, endpointUrl: "http://receiver.example/" })), [["/endpointUrl", "not_allowed"]])
    const impatient = { initialBackoffSeconds: 60, maxBackoffSeconds: 5 }
    assert.deepStrictEqual(yield* faultsOf(subscriptions.create(customer, { ...wanted, delivery: impatient })), [["/delivery/maxBackoffSeconds", "out_of_bounds"]])
    // the default of maxBackoffSeconds is 3600
    yield* faultsOf(subscriptions.create(customer, { ...wanted, delivery: { initialBackoffSeconds: 3601 } }))
  }, inService))

  it.effect("answers a secret of another client like an unknown one (SPEC-GAP-D20)", Effect.fnUntraced(function*() {
    const { customer, subscriptions, tenant } = yield* setup
    yield* (yield* SigningSecrets).put(tenant.tenantId, "bound", { accounts: ["B"] })
    const bound = yield* Effect.flip(subscriptions.create(customer, { ...wanted, hmacSecretId: "bound" }))
    const unknown = yield* Effect.flip(subscriptions.create(customer, { ...wanted, hmacSecretId: "unknown" }))
    assert.strictEqual(bound.message.replaceAll("bound", "?"), unknown.message.replaceAll("unknown", "?"))
    yield* subscriptions.create(tenant.customer("owner", ["B", "C"]), { ...wanted, hmacSecretId: "bound" })
  }, inService))

  it.effect("reports a refused address and an unknown secret together with malformed members", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const faults = yield* faultsOf(subscriptions.create(customer, { endpointUrl: "http://plain.example/", hmacSecretId: "none", delivery: { batchMaxSize: 0 } }))
    assert.deepStrictEqual(faults.map(([pointer]) => pointer).toSorted(), ["/delivery/batchMaxSize", "/endpointUrl", "/hmacSecretId"])
  }, inService))

  it.effect("is allowed to customers and carriers, not to operators", Effect.fnUntraced(function*() {
    const { subscriptions, tenant } = yield* setup
    yield* subscriptions.create(tenant.carrier, wanted)
    const operator: Principal = { tenantId: "acme", client: "", roles: ["operator"], accounts: [], origin: "key" }
    for (const call of [subscriptions.create(operator, wanted), subscriptions.list(operator, {}), subscriptions.get(operator, "x"), subscriptions.patch(operator, "x", {}), subscriptions.remove(operator, "x")]) {
      assert.strictEqual(yield* tagOf(call as Effect.Effect<unknown, { readonly _tag: string }>), "NotPermitted")
    }
  }, inService))

  it.effect("accepts up to 1,000 shipments, and counts duplicates once", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const shipmentIds = Array.from({ length: 1000 }, (_, n) => `S${n}`)
    yield* subscriptions.create(customer, { ...wanted, filters: { shipmentIds } })
    yield* faultsOf(subscriptions.create(customer, { ...wanted, filters: { shipmentIds: [...shipmentIds, "one more"] } }))
    const twice = yield* subscriptions.create(customer, { ...wanted, filters: { shipmentIds: ["S", "S"] } })
    yield* (yield* TransitEvents).append((yield* TestWaybill.tenant()).carrier, [reportedEvent("S", { accounts: ["A"] })])
    assert.strictEqual(yield* Effect.flatMap(Subscriptions, (all) => all.replay("acme", twice.id, { from: "2020-01-01T00:00:00Z" })), 0)
  }, inService))

  it.effect.prop("handles arbitrary input, and stores nothing when it refuses", [json], Effect.fnUntraced(function*([input]) {
    const { customer, subscriptions } = yield* setup
    yield* faultsOf(subscriptions.create(customer, untyped(input)))
    for (const status of ["active", "paused", "inactive"]) assert.strictEqual((yield* subscriptions.list(customer, untyped({ status }))).totalCount, 0)
  }, inService))
})

describe("the filters of a subscription", () => {
  const types = ["DELAY", "DELIVERED", "OTHER"] as const
  const shipments = ["S", "T", "U"] as const

  it.effect.prop("match events of their types and shipments; an empty list matches everything (SPEC-GAP-D14)", [
    listOf(Arbitrary.all([oneOf(types), oneOf(shipments)]), 1, 12),
    listOf(oneOf(types), 0, 2),
    listOf(oneOf(shipments), 0, 2)
  ], ([sent, eventTypes, shipmentIds]) =>
    inService(Effect.gen(function*() {
      const { customer, tenant } = yield* setup
      const events = yield* TransitEvents
      yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: wanted.endpointUrl, filters: { eventTypes, shipmentIds } })
      yield* events.append(tenant.carrier, sent.map(([type, shipmentId], at) => reportedEvent(shipmentId, { type, eventId: `e${at}`, accounts: ["A"] })))
      yield* (yield* DeliveryWorker).drain
      const received = yield* Effect.flatMap(ScriptedReceivers, (receivers) => receivers.deliveredEvents(wanted.endpointUrl))
      const matching = sent.flatMap(([type, shipmentId], at) =>
        (eventTypes.length === 0 || eventTypes.includes(type)) && (shipmentIds.length === 0 || shipmentIds.includes(shipmentId)) ? [`e${at}`] : [])
      assert.deepStrictEqual(received.map(({ eventId }) => eventId).toSorted(), matching.toSorted())
    })))
})

describe("patching a subscription", () => {
  it.effect("changes what is queued from then on, not what waits (SPEC-GAP-D14)", Effect.fnUntraced(function*() {
    const { customer, subscriptions, tenant } = yield* setup
    const events = yield* TransitEvents
    const publish = (type: "DELAY" | "DELIVERED", eventId: string) => events.append(tenant.carrier, [reportedEvent("S", { type, eventId, accounts: ["A"] })])
    yield* publish("DELAY", "before")
    const { id } = yield* subscriptions.create(customer, { ...wanted, filters: { eventTypes: ["DELIVERED"], shipmentIds: ["S"] } })
    yield* subscriptions.patch(customer, id, { status: "paused" })
    yield* publish("DELIVERED", "waits")
    yield* subscriptions.patch(customer, id, { filters: { eventTypes: ["DELAY"] }, status: "active" })
    yield* publish("DELIVERED", "not matched")
    yield* publish("DELAY", "matched")
    yield* (yield* DeliveryWorker).drain
    const received = yield* Effect.flatMap(ScriptedReceivers, (receivers) => receivers.deliveredEvents(wanted.endpointUrl))
    assert.deepStrictEqual(received.map(({ eventId }) => eventId), ["waits", "matched"])
  }, inService))

  it.effect("changes only the named members, and keeps the status (SPEC-GAP-D10)", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const { id } = yield* subscriptions.create(customer, { ...wanted, filters: { eventTypes: ["DELIVERED"], shipmentIds: ["S"] }, delivery: { batchMaxSize: 5 } })
    yield* subscriptions.patch(customer, id, { status: "paused" })
    yield* TestClock.adjust("1 hour")
    const patched = yield* subscriptions.patch(customer, id, { filters: { eventTypes: ["DELAY"] }, delivery: { maxAttempts: 3 } })
    assert.deepStrictEqual([patched.status, patched.filters], ["paused", { eventTypes: ["DELAY"], shipmentIds: ["S"] }])
    assert.deepStrictEqual([patched.delivery!.batchMaxSize, patched.delivery!.maxAttempts], [5, 3])
    assert.deepStrictEqual([patched.createdAt, patched.updatedAt], ["2025-11-20T08:15:00.000Z", "2025-11-20T09:15:00.000Z"])
    assert.deepStrictEqual(yield* subscriptions.get(customer, id), patched)
  }, inService))

  it.effect("sets updatedAt, as do a pause and a resumption by an operator, so it never goes back", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const all = yield* Subscriptions
    const { id } = yield* subscriptions.create(customer, wanted)
    const steps = [all.pause("acme", id, { reason: "It is being moved." }), all.resume("acme", id), subscriptions.patch(customer, id, {}), all.pause("acme", id, { reason: "Again." })]
    for (const [hour, step] of steps.entries()) {
      yield* TestClock.adjust("1 hour")
      yield* step
      assert.strictEqual((yield* subscriptions.get(customer, id)).updatedAt, `2025-11-20T${String(9 + hour).padStart(2, "0")}:15:00.000Z`)
    }
  }, inService))

  it.effect("resets filters, delivery or one of their members with null (SPEC-GAP-D10)", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const { id } = yield* subscriptions.create(customer, { ...wanted, filters: { eventTypes: ["DELIVERED"], shipmentIds: ["S"] }, delivery: { batchMaxSize: 5, maxAttempts: 2 } })
    const partly = yield* subscriptions.patch(customer, id, { filters: { shipmentIds: null }, delivery: { batchMaxSize: null } })
    assert.deepStrictEqual([partly.filters, partly.delivery!.batchMaxSize, partly.delivery!.maxAttempts], [{ eventTypes: ["DELIVERED"] }, 200, 2])
    const none = yield* subscriptions.patch(customer, id, { filters: null, delivery: null })
    assert.notProperty(none, "filters")
    assert.strictEqual(none.delivery!.maxAttempts, 12)
  }, inService))

  it.effect("refuses null for address, secret and status, unknown members, and values that are not an object", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const { id } = yield* subscriptions.create(customer, wanted)
    for (const member of ["endpointUrl", "hmacSecretId", "status", "id", "createdAt", "colour"]) {
      assert.deepStrictEqual((yield* faultsOf(subscriptions.patch(customer, id, { [member]: null }))).map(([pointer]) => pointer), [`/${member}`])
    }
    for (const patch of [null, [], "active", 7, undefined]) yield* faultsOf(subscriptions.patch(customer, id, untyped(patch)))
    assert.strictEqual((yield* subscriptions.get(customer, id)).endpointUrl, wanted.endpointUrl)
  }, inService))

  it.effect("validates the merged result, and changes nothing if it is invalid", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const created = yield* subscriptions.create(customer, { ...wanted, delivery: { initialBackoffSeconds: 100 } })
    yield* faultsOf(subscriptions.patch(customer, created.id, { delivery: { maxBackoffSeconds: 99 }, status: "paused" }))
    yield* faultsOf(subscriptions.patch(customer, created.id, { endpointUrl: "http://plain.example/", status: "paused" }))
    yield* faultsOf(subscriptions.patch(customer, created.id, { hmacSecretId: "unknown", status: "paused" }))
    assert.deepStrictEqual(yield* subscriptions.get(customer, created.id), created)
  }, inService))

  it.effect("needs a secret that the client still owns, named or not; pausing does not", Effect.fnUntraced(function*() {
    const { customer, subscriptions, tenant } = yield* setup
    const { id } = yield* subscriptions.create(customer, wanted)
    const secrets = yield* SigningSecrets
    const give = (owner: object) => secrets.put(tenant.tenantId, "main", { ...owner, rotate: false })
    const refused = [["/hmacSecretId", "unknown_reference"]]
    for (const owner of [{ client: "another" }, { client: "jwt:issuer:another" }, { accounts: ["somebody else's"] }]) {
      yield* give(owner)
      for (const patch of [{ hmacSecretId: "main" }, { filters: null }, { delivery: { maxAttempts: 3 } }, { endpointUrl: "https://other.example/" }, { status: "paused", filters: null }]) {
        assert.deepStrictEqual(yield* faultsOf(subscriptions.patch(customer, id, untyped(patch))), refused, JSON.stringify(patch))
      }
      assert.strictEqual((yield* subscriptions.patch(customer, id, { status: "paused" })).status, "paused")
      assert.deepStrictEqual(yield* faultsOf(subscriptions.patch(customer, id, { status: "active" })), refused)
      assert.strictEqual((yield* subscriptions.patch(customer, id, { status: "inactive" })).status, "inactive")
    }
    assert.deepStrictEqual(yield* faultsOf(subscriptions.create(customer, wanted)), refused)
    yield* give({ client: customer.client })
    assert.strictEqual((yield* subscriptions.patch(customer, id, { status: "active" })).status, "active")
    // access to every shipment does not include the secret
    assert.deepStrictEqual(yield* faultsOf(subscriptions.create(tenant.carrier, wanted)), refused)
  }, inService))

  it.effect("keeps all of several concurrent changes", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const { id } = yield* subscriptions.create(customer, wanted)
    const members = ["maxAttempts", "initialBackoffSeconds", "maxBackoffSeconds", "batchMaxSize", "rateLimitPerMinute"]
    yield* Effect.all(members.map((member) => subscriptions.patch(customer, id, { delivery: { [member]: 77 } })), { concurrency: "unbounded" })
    assert.deepStrictEqual(Object.values((yield* subscriptions.get(customer, id)).delivery!), [77, 77, 77, 77, 77])
  }, inService))

  it.effect("treats a member called __proto__ as unknown", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const created = yield* subscriptions.create(customer, wanted)
    yield* faultsOf(subscriptions.patch(customer, created.id, JSON.parse("{\"__proto__\":{\"status\":\"paused\"}}")))
    assert.deepStrictEqual(yield* subscriptions.get(customer, created.id), created)
  }, inService))

  it.effect.prop("handles arbitrary input, and changes nothing when it refuses", [json, oneOf(["filters", "delivery", "status", "endpointUrl", "hmacSecretId"])], Effect.fnUntraced(function*([input, member]) {
    const { customer, subscriptions } = yield* setup
    const created = yield* subscriptions.create(customer, wanted)
    for (const patch of [input, { [member]: input }]) {
      const exit = yield* Effect.exit(subscriptions.patch(customer, created.id, untyped(patch)))
      if (exit._tag === "Success") continue
      assert.deepStrictEqual(exit.cause.reasons.map((reason) => reason._tag), ["Fail"])
      assert.strictEqual((yield* subscriptions.get(customer, created.id)).endpointUrl, created.endpointUrl)
    }
  }, inService))
})

describe("a client's subscriptions", () => {
  it.effect("are private: another client's id answers like an unknown one", Effect.fnUntraced(function*() {
    const { customer, other, subscriptions, tenant } = yield* setup
    const { id } = yield* subscriptions.create(customer, wanted)
    const elsewhere: Principal = { ...customer, tenantId: "elsewhere" }
    for (const stranger of [other, tenant.carrier, elsewhere]) {
      assert.strictEqual(yield* tagOf(subscriptions.get(stranger, id)), "SubscriptionNotFound")
      assert.strictEqual(yield* tagOf(subscriptions.patch(stranger, id, { status: "paused" })), "SubscriptionNotFound")
      assert.strictEqual(yield* tagOf(subscriptions.remove(stranger, id)), "SubscriptionNotFound")
      assert.strictEqual((yield* subscriptions.list(stranger, {})).totalCount, 0)
    }
    for (const unknown of ["0199c5a1-0000-7000-8000-000000000001", "", "garbage", "'", "\u0000"]) {
      assert.strictEqual(yield* tagOf(subscriptions.get(customer, unknown)), "SubscriptionNotFound")
    }
  }, inService))

  it.effect("are listed by status, by default the active ones, in pages", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const ids: Array<string> = []
    for (let n = 0; n < 5; n++) ids.push((yield* subscriptions.create(customer, wanted)).id)
    yield* subscriptions.patch(customer, ids[0]!, { status: "paused" })
    yield* subscriptions.patch(customer, ids[1]!, { status: "inactive" })
    const page = (query: unknown) => Effect.map(subscriptions.list(customer, untyped(query)), ({ data, hasMore, totalCount, totalPages }) => [data.map((each) => each.id), totalCount, totalPages, hasMore])
    assert.deepStrictEqual(yield* page({}), [ids.slice(2), 3, 1, false])
    assert.deepStrictEqual(yield* page({ pageSize: 2 }), [ids.slice(2, 4), 3, 2, true])
    assert.deepStrictEqual(yield* page({ pageSize: 2, page: 2 }), [ids.slice(4), 3, 2, false])
    assert.deepStrictEqual(yield* page({ pageSize: 3 }), [ids.slice(2), 3, 1, false])
    assert.deepStrictEqual(yield* page({ status: "paused" }), [ids.slice(0, 1), 1, 1, false])
    assert.deepStrictEqual(yield* page({ status: "inactive", page: 5 }), [[], 1, 1, false])
    const faults = yield* faultsOf(subscriptions.list(customer, untyped({ status: "lost", page: 0, pageSize: 201, sort: "id" })))
    assert.deepStrictEqual([...new Set(faults.map(([pointer]) => pointer))].toSorted(), ["/page", "/pageSize", "/sort", "/status"])
  }, inService))

  it.effect("are forgotten with their deliveries (SPEC-GAP-D15)", Effect.fnUntraced(function*() {
    const { customer, subscriptions } = yield* setup
    const { id } = yield* subscriptions.create(customer, wanted)
    yield* subscriptions.remove(customer, id)
    const sweepAfter = (days: number) => Effect.andThen(TestClock.adjust(`${days} days`), Effect.andThen(Effect.forkChild(Effect.flatMap(Retention, ({ sweep }) => sweep)), TestWaybill.pass("1 minute")))
    yield* sweepAfter(29)
    yield* subscriptions.remove(customer, id)
    yield* sweepAfter(2)
    assert.strictEqual(yield* tagOf(subscriptions.remove(customer, id)), "SubscriptionNotFound")
  }, inService))

  it.effect("stay removed, and their owner may remove them again (SPEC-GAP-D15)", Effect.fnUntraced(function*() {
    const { customer, other, subscriptions } = yield* setup
    const { id } = yield* subscriptions.create(customer, wanted)
    yield* subscriptions.remove(customer, id)
    yield* subscriptions.remove(customer, id)
    assert.strictEqual(yield* tagOf(subscriptions.remove(other, id)), "SubscriptionNotFound")
    assert.strictEqual(yield* tagOf(subscriptions.get(customer, id)), "SubscriptionNotFound")
    assert.strictEqual(yield* tagOf(subscriptions.patch(customer, id, { status: "active" })), "SubscriptionNotFound")
    assert.strictEqual((yield* subscriptions.list(customer, {})).totalCount, 0)
    assert.strictEqual(yield* tagOf(Effect.flatMap(Subscriptions, (all) => all.replay("acme", id, { from: "2020-01-01T00:00:00Z" }))), "DestinationNotFound")
  }, inService))

  it.effect.prop("answer an arbitrary replay call with its faults", [json, int(0, 1)], Effect.fnUntraced(function*([input, which]) {
    const { customer, subscriptions } = yield* setup
    const { id } = yield* subscriptions.create(customer, wanted)
    const call = which === 0 ? input : { from: "2020-01-01T00:00:00Z", shipmentIds: input }
    const exit = yield* Effect.exit(Effect.flatMap(Subscriptions, (all) => all.replay("acme", id, untyped(call))))
    if (exit._tag === "Failure") assert.deepStrictEqual(exit.cause.reasons.map((reason) => reason._tag), ["Fail"])
  }, inService))
})
