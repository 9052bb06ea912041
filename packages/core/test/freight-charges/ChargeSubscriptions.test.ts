import { assert, describe, it } from "@effect/vitest"
import { AccessStore, type InvalidInput, type Principal, Subscriptions } from "@waybill/core"
import { addressNotAllowed, AttemptOutcome, Deliveries, SigningSecrets } from "@waybill/core/delivery"
import type { ChargeSubscription } from "@waybill/core/freight-charges"
import { Receiver, TestWaybill, verifySignature } from "@waybill/testkit"
import { Effect, References } from "effect"
import { TestClock } from "effect/testing"
import { int, json, listOf } from "../arbitraries.ts"
import { change } from "./Charges.ts"
import { codes, hook, makeDebtors, named, wanted } from "./Debtors.ts"
import { untyped } from "../untyped.ts"

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(Effect.provide(effect, TestWaybill.layer()), References.MinimumLogLevel, "None")

const tagOf = <A, R>(effect: Effect.Effect<A, { readonly _tag: string }, R>) => Effect.map(Effect.flip(effect), (error) => error._tag)

const faultsOf = <A, R>(effect: Effect.Effect<A, { readonly _tag: string }, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error._tag, "InvalidInput")
    return (error as InvalidInput).faults.map((each) => `${each.pointer} ${each.code}`)
  })

describe("subscribing to freight charges", () => {
  it.effect("returns every member with its default, no unknown one, and the same in a later read (SPEC-GAP-E22)", Effect.fnUntraced(function*() {
    const { debtor, subscriptions } = yield* makeDebtors
    yield* TestClock.setTime(Date.parse("2026-11-20T08:15:00Z"))
    const created = yield* subscriptions.create(debtor, untyped({ webhookUrl: hook, accounts: ["A", "A"], dataOptions: {}, callbackNotes: "kept out" }))
    assert.deepStrictEqual(created, {
      subscriptionId: created.subscriptionId,
      webhookUrl: hook,
      accounts: ["A"],
      dataOptions: { shipmentDataType: "revenue_impacts_only", eventType: "revenue_impacts_only" },
      frequency: "real_time",
      includeEventLog: true,
      billScope: "subscribed_accounts",
      status: "active",
      createdAt: "2026-11-20T08:15:00.000Z",
      updatedAt: "2026-11-20T08:15:00.000Z"
    } satisfies ChargeSubscription)
    assert.deepStrictEqual(yield* subscriptions.get(debtor, created.subscriptionId), created)
  }, inService))

  it.effect("lists every fault of invalid input", Effect.fnUntraced(function*() {
    const { debtor, subscriptions } = yield* makeDebtors
    assert.deepStrictEqual(yield* faultsOf(subscriptions.create(debtor, untyped({}))), ["/webhookUrl required", "/accounts required", "/dataOptions required"])
    const wrong = { ...wanted, accounts: [], frequency: "weekly", includeEventLog: "yes", billScope: "all" }
    assert.deepStrictEqual(yield* faultsOf(subscriptions.create(debtor, untyped(wrong))), ["/accounts out_of_bounds", "/frequency invalid", "/includeEventLog invalid", "/billScope invalid"])
    const refused = { ...wanted, webhookUrl: "http://plain.example/", hmacSecretId: "unknown" }
    assert.deepStrictEqual(yield* faultsOf(subscriptions.create(debtor, untyped(refused))), ["/webhookUrl not_allowed", "/hmacSecretId unknown_reference"])
  }, inService))

  it.effect("is allowed to debtors of the accounts and their agents (SPEC-GAP-E12)", Effect.fnUntraced(function*() {
    const { debtor, subscribe, tenant } = yield* makeDebtors
    const refused = yield* Effect.flip(subscribe(debtor, { accounts: ["A", "B", "C"] }))
    assert.deepStrictEqual(refused._tag === "AccountsNotPermitted" && refused.accounts, ["B", "C"])
    assert.strictEqual(yield* tagOf(subscribe(debtor, { accounts: ["B"], billScope: "all_accounts" })), "AccountsNotPermitted")
    // a carrier sees its whole tenant, but is not a debtor
    assert.strictEqual(yield* tagOf(subscribe(tenant.carrier)), "AccountsNotPermitted")
    const operator: Principal = { tenantId: "acme", client: "", roles: ["operator"], accounts: [], origin: "key" }
    assert.strictEqual(yield* tagOf(subscribe(operator)), "NotPermitted")
  }, inService))

  it.effect("covers an account once per client, until that subscription is cancelled (SPEC-GAP-E12)", Effect.fnUntraced(function*() {
    const { subscribe, subscriptions, tenant } = yield* makeDebtors
    const one = tenant.customer("one", ["A", "B", "C"])
    const first = yield* subscribe(one, { accounts: ["A", "B"] })
    const conflict = yield* Effect.flip(subscribe(one, { accounts: ["C", "B"] }))
    assert.deepInclude(conflict, { _tag: "ChargeSubscriptionConflict", accountId: "B", subscriptionId: first.subscriptionId })
    assert.strictEqual(yield* tagOf(subscribe(one, { accounts: ["C"], billScope: "all_accounts" })), "ChargeSubscriptionConflict")
    yield* subscribe(one, { accounts: ["C"] })
    yield* subscribe(tenant.customer("two", ["A"]))
    yield* subscriptions.cancel(one, first.subscriptionId)
    yield* subscribe(one, { accounts: ["A"] })
    // it has lost A, and may get it again
    assert.strictEqual(yield* tagOf(subscribe(tenant.customer("two", ["B"]), { accounts: ["B"], billScope: "all_accounts" })), "ChargeSubscriptionConflict")
  }, inService))

  it.effect.prop("refuses arbitrary input, and stores nothing", [json], Effect.fnUntraced(function*([garbage]) {
    const { debtor, subscribe, subscriptions } = yield* makeDebtors
    for (const input of [garbage, { ...wanted, dataOptions: garbage, accounts: garbage }]) yield* faultsOf(subscriptions.create(debtor, untyped(input)))
    yield* subscribe(debtor)
  }, inService))
})

describe("a charge subscription", () => {
  it.effect("is private: another client's id answers like an unknown one", Effect.fnUntraced(function*() {
    const { debtor, subscribe, subscriptions, tenant } = yield* makeDebtors
    const { subscriptionId } = yield* subscribe(debtor)
    for (const stranger of [tenant.customer("other", ["A"]), tenant.carrier, { ...debtor, tenantId: "elsewhere" }]) {
      assert.strictEqual(yield* tagOf(subscriptions.get(stranger, subscriptionId)), "ChargeSubscriptionNotFound")
      assert.strictEqual(yield* tagOf(subscriptions.cancel(stranger, subscriptionId)), "ChargeSubscriptionNotFound")
      assert.strictEqual(yield* tagOf(subscriptions.inFlight(stranger, subscriptionId)), "ChargeSubscriptionNotFound")
    }
    for (const unknown of ["0199c5a1-0000-7000-8000-000000000001", "", "garbage", "\u0000"]) {
      assert.strictEqual(yield* tagOf(subscriptions.get(debtor, unknown)), "ChargeSubscriptionNotFound")
    }
    const operator: Principal = { ...debtor, roles: ["operator"] }
    const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [subscriptions.get(operator, subscriptionId), subscriptions.cancel(operator, subscriptionId), subscriptions.testWebhook(operator, { webhookUrl: hook })]
    for (const call of calls) assert.strictEqual(yield* tagOf(call), "NotPermitted")
  }, inService))

  it.effect("lists each of more bills in flight than one read returns", Effect.fnUntraced(function*() {
    const { debtor, inFlight, report, subscribe } = yield* makeDebtors
    for (const hundred of [1, 2, 3, 4]) yield* report(...Array.from({ length: 100 }, (_, n) => change("created", { uniqueID: `B${hundred}${100 + n}` })))
    const { subscriptionId } = yield* subscribe(debtor)
    const listed = (yield* inFlight(debtor, subscriptionId)).map((each) => each.pfc.uniqueID)
    assert.deepStrictEqual([listed.length, new Set(listed).size], [400, 400])
  }, inService))

  it.effect("receives nothing after its cancellation, and may be cancelled again", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe, subscriptions } = yield* makeDebtors
    const { subscriptionId } = yield* subscribe(debtor)
    yield* report(change("created"))
    yield* TestClock.adjust("1 hour")
    yield* subscriptions.cancel(debtor, subscriptionId)
    yield* subscriptions.cancel(debtor, subscriptionId)
    yield* report(change("updated", { total: 1 }))
    assert.deepStrictEqual(yield* received(), [])
    const { status, updatedAt } = yield* subscriptions.get(debtor, subscriptionId)
    assert.deepStrictEqual([status, updatedAt], ["inactive", "1970-01-01T01:00:00.000Z"])
  }, inService))

  it.effect("lists the bills in flight at its creation, and receives later changes (SPEC-GAP-E14)", Effect.fnUntraced(function*() {
    const { debtor, inFlight, received, report, subscribe, subscriptions } = yield* makeDebtors
    yield* report(...["B", "A", "R", "F"].map((uniqueID) => change("created", { uniqueID })))
    yield* report(change("created", { uniqueID: "X", account: "other" }), change("removed", { uniqueID: "R" }), change("final", { uniqueID: "F" }))
    yield* report(change("updated", { uniqueID: "B", total: 1, log: [{ eventCode: "RWE" }] }))
    const { subscriptionId } = yield* subscribe(debtor)
    const listed = yield* inFlight(debtor, subscriptionId)
    assert.deepStrictEqual(listed.map((each) => `${named(each)}: ${codes(each).join(" ")}`), ["A PFC1: BILL", "B PFC2: BILL RWE"])
    assert.deepStrictEqual(yield* received(), [])
    yield* report(change("updated", { uniqueID: "A", total: 2 }), change("created", { uniqueID: "N" }))
    assert.deepStrictEqual((yield* received()).flat().map(named), ["A PFC2", "N PFC1"])
    assert.deepStrictEqual((yield* inFlight(debtor, subscriptionId)).map(named), ["A PFC1", "B PFC2"])
    yield* subscriptions.cancel(debtor, subscriptionId)
    assert.deepStrictEqual((yield* inFlight(debtor, subscriptionId)).map(named), ["A PFC1", "B PFC2"])
  }, inService))

  it.effect("lists no bills if none was in flight, and no bills of an account it lost since", Effect.fnUntraced(function*() {
    const { inFlight, report, subscribe, tenant } = yield* makeDebtors
    const client = (...accounts: ReadonlyArray<string>) => tenant.customer("two", accounts)
    assert.deepStrictEqual(yield* inFlight(tenant.customer("one", ["Z"]), (yield* subscribe(tenant.customer("one", ["Z"]), { accounts: ["Z"] })).subscriptionId), [])
    yield* report(change("created", { uniqueID: "A" }), change("created", { uniqueID: "B", account: "B" }))
    const { subscriptionId } = yield* subscribe(client("A", "B"), { accounts: ["A"], billScope: "all_accounts" })
    assert.deepStrictEqual((yield* inFlight(client("A", "B"), subscriptionId)).map(named), ["A PFC1", "B PFC1"])
    assert.deepStrictEqual((yield* inFlight(client("B"), subscriptionId)).map(named), ["B PFC1"])
  }, inService))

  it.effect("lists only events that each of its accounts on the bill may see (SPEC-GAP-E14)", Effect.fnUntraced(function*() {
    const { inFlight, report, subscribe, tenant } = yield* makeDebtors
    const client = (...accounts: ReadonlyArray<string>) => tenant.customer("two", accounts)
    yield* report(change("created", { account: "C", log: [{ eventCode: "RWE" }] }))
    yield* report(change("updated", { account: "A", log: [{ eventCode: "RES" }] }))
    const { subscriptionId } = yield* subscribe(client("A", "C"), { accounts: ["A", "C"] })
    for (const now of [client("A", "C"), client("A")]) assert.deepStrictEqual((yield* inFlight(now, subscriptionId)).map(codes), [["ACTCHG", "RES"]])
    assert.deepStrictEqual(yield* inFlight(client("C"), subscriptionId), [])
  }, inService))

  it.effect("lists no event that only one of its accounts on the bill may see", Effect.fnUntraced(function*() {
    const { inFlight, report, subscribe, tenant } = yield* makeDebtors
    const client = tenant.customer("two", ["A", "C"])
    yield* report(change("created", { accounts: ["C"], log: [{ eventCode: "RWE" }] }))
    yield* report(change("updated", { accounts: ["A", "C"], log: [{ eventCode: "RES" }] }))
    const { subscriptionId } = yield* subscribe(client, { accounts: ["A", "C"] })
    assert.deepStrictEqual((yield* inFlight(client, subscriptionId)).map(codes), [["ACTCHG", "RES"]])
  }, inService))

  it.effect.prop("neither misses nor duplicates versions of bills that change during its creation", [listOf(int(0, 2), 1, 12), int(0, 12)], Effect.fnUntraced(function*([bills, place]) {
    const { debtor, inFlight, received, report, subscribe } = yield* makeDebtors
    yield* report(...[0, 1, 2].map((n) => change("created", { uniqueID: `B${n}` })))
    const reports = bills.map((bill, n) => Effect.asVoid(report(change("updated", { uniqueID: `B${bill}`, total: n }))))
    let id = ""
    const subscribing = Effect.map(subscribe(debtor), ({ subscriptionId }) => void (id = subscriptionId))
    yield* Effect.all(reports.toSpliced(place, 0, subscribing as typeof reports[number]), { concurrency: "unbounded" })
    const versionsSeen = [...yield* inFlight(debtor, id), ...(yield* received()).flat()]
    for (const bill of [0, 1, 2]) {
      const versions = versionsSeen.filter(({ pfc }) => pfc.uniqueID === `B${bill}`).map(({ pfc }) => Number(pfc.header.function.slice(3)))
      const last = 1 + bills.filter((each) => each === bill).length
      assert.deepStrictEqual(versions, Array.from({ length: last - versions[0]! + 1 }, (_, n) => versions[0]! + n))
    }
  }, inService))

  it.effect("to all accounts uses the client's current accounts, one to some accounts does not (SPEC-GAP-E12)", Effect.fnUntraced(function*() {
    const { received, report, subscribe, tenant } = yield* makeDebtors
    const access = yield* AccessStore
    yield* subscribe(tenant.customer("all", ["A"]), { billScope: "all_accounts", webhookUrl: "https://all.example/" })
    yield* subscribe(tenant.customer("some", ["A"]), { webhookUrl: "https://some.example/" })
    const have = (...accounts: ReadonlyArray<string>) =>
      Effect.forEach(["all", "some"], (client) => access.putClientAccess("acme", { client, origin: "token", seesAll: false, accounts }))
    yield* have("B")
    yield* report(change("created", { uniqueID: "A" }), change("created", { uniqueID: "B", account: "B" }))
    yield* have("A", "B")
    yield* report(change("updated", { uniqueID: "A", total: 1 }))
    assert.deepStrictEqual((yield* received("https://all.example/")).flat().map(named), ["A PFC2", "B PFC1"])
    assert.deepStrictEqual((yield* received("https://some.example/")).flat().map(named), ["A PFC2"])
  }, inService))
})

describe("a subscription to all accounts of a client with several keys", () => {
  it.effect("lists the bills in flight of all keys, and receives changes of all keys", Effect.fnUntraced(function*() {
    const { inFlight, received, report, subscribe } = yield* makeDebtors
    const access = yield* AccessStore
    const keyed = (...accounts: ReadonlyArray<string>): Principal => ({ tenantId: "acme", client: "keys", roles: ["customer"], accounts, origin: "key" })
    yield* access.putClientAccess("acme", { client: "keys", origin: "key", seesAll: false, accounts: ["A", "B"] })
    yield* report(change("created", { uniqueID: "A" }), change("created", { uniqueID: "B", account: "B" }))
    const { subscriptionId } = yield* subscribe(keyed("A"), { billScope: "all_accounts" })
    assert.deepStrictEqual((yield* inFlight(keyed("A"), subscriptionId)).map(named), ["A PFC1", "B PFC1"])
    yield* report(change("updated", { uniqueID: "B", account: "B", total: 1 }))
    assert.deepStrictEqual((yield* received()).flat().map(named), ["B PFC2"])
  }, inService))
})

describe("deliveries of freight charges", () => {
  it.effect("are arrays of up to 100, in order per bill", Effect.fnUntraced(function*() {
    const { debtor, received, report, subscribe } = yield* makeDebtors
    yield* subscribe(debtor)
    yield* report(...Array.from({ length: 150 }, (_, n) => change("created", { uniqueID: `B${1000 + n}` })))
    yield* report(change("updated", { uniqueID: "B1000", total: 1 }))
    const all = yield* received()
    assert.strictEqual(Math.max(...all.map((each) => each.length)), 100)
    assert.strictEqual(all.flat().length, 151)
    assert.deepStrictEqual(all.flat().filter((each) => each.pfc.uniqueID === "B1000").map((each) => each.pfc.header.function), ["PFC1", "PFC2"])
  }, inService))

  it.effect("are signed with the named secret, else with the client's registered one, else not at all (SPEC-GAP-E15)", Effect.fnUntraced(function*() {
    const { receivers, report, subscribe, tenant, worker } = yield* makeDebtors
    yield* (yield* SigningSecrets).put("acme", "client:registered", {})
    yield* subscribe(tenant.customer("plain", ["A"]), { webhookUrl: "https://plain.example/" })
    yield* subscribe(tenant.customer("registered", ["A"]), { webhookUrl: "https://registered.example/" })
    yield* subscribe(tenant.customer("naming", ["A"]), { webhookUrl: "https://naming.example/", hmacSecretId: "main" })
    yield* report(change("created"))
    yield* worker.drain
    const headers = (url: string) => Effect.map(receivers.requests(url), ([request]) => request!.headers)
    assert.notProperty(yield* headers("https://plain.example/"), "webhook-signature")
    assert.property(yield* headers("https://plain.example/"), "webhook-id")
    assert.property(yield* headers("https://registered.example/"), "webhook-signature")
    const [signed] = yield* receivers.requests("https://naming.example/")
    assert.isTrue(verifySignature(tenant.secret, signed!))
  }, inService))
})

describe("a suspended subscription", () => {
  const failing = Effect.gen(function*() {
    const debtors = yield* makeDebtors
    const { debtor, receivers, report, subscribe, worker } = debtors
    const created = yield* subscribe(debtor)
    yield* receivers.script(hook, Receiver.fail(500))
    yield* report(change("created"))
    for (let n = 0; n < 40; n++) {
      yield* worker.drain
      yield* TestClock.adjust("1 hour")
    }
    return { ...debtors, id: created.subscriptionId }
  })

  it.effect("has a dead letter, and new notifications wait", Effect.fnUntraced(function*() {
    const { debtor, id, receivers, report, subscriptions, worker } = yield* failing
    const { createdAt, status, updatedAt } = yield* subscriptions.get(debtor, id)
    assert.strictEqual(status, "suspended")
    assert.isTrue(updatedAt > createdAt)
    const before = (yield* receivers.requests()).length
    yield* report(change("updated", { total: 1 }))
    yield* TestClock.adjust("1 day")
    yield* worker.drain
    assert.strictEqual((yield* receivers.requests()).length, before)
  }, inService))

  it.effect("resumes after a successful receiver test, with the dead letters first and then in order (SPEC-GAP-E19)", Effect.fnUntraced(function*() {
    const { debtor, id, received, receivers, report, subscriptions } = yield* failing
    yield* report(change("updated", { total: 1 }))
    const [dead] = yield* receivers.requests()
    assert.strictEqual(yield* tagOf(subscriptions.testWebhook(debtor, { webhookUrl: hook })), "WebhookTestFailed")
    assert.strictEqual((yield* subscriptions.get(debtor, id)).status, "suspended")
    yield* receivers.script(hook, Receiver.accept())
    assert.deepStrictEqual(yield* subscriptions.testWebhook(debtor, { webhookUrl: "https://debtor.example/other" }), { message: "Webhook test successful." })
    assert.strictEqual((yield* subscriptions.testWebhook(debtor, { webhookUrl: hook })).resumed, 1)
    assert.strictEqual((yield* subscriptions.get(debtor, id)).status, "active")
    const notified = (yield* received()).flat().filter((each) => !each.pfc.isTest).map((each) => each.pfc.header.function)
    assert.deepStrictEqual(notified.slice(-2), ["PFC1", "PFC2"])
    const again = (yield* receivers.requests(hook)).at(-2)!
    assert.strictEqual(again.headers["webhook-id"], dead!.headers["webhook-id"])
  }, inService))

  it.effect("resumes when the operator resumes it, and does not change if it is not suspended (SPEC-GAP-E19)", Effect.fnUntraced(function*() {
    const { debtor, id, receivers, subscriptions, worker } = yield* failing
    const { resume } = yield* Subscriptions
    yield* receivers.script(hook, Receiver.accept())
    assert.strictEqual((yield* resume("acme", id)).state, "active")
    yield* worker.drain
    const count = (yield* receivers.requests()).length
    assert.strictEqual((yield* resume("acme", id)).state, "active")
    yield* worker.drain
    assert.strictEqual((yield* receivers.requests()).length, count)
    yield* subscriptions.cancel(debtor, id)
    assert.strictEqual(yield* tagOf(resume("acme", id)), "DestinationNotFound")
    assert.strictEqual(yield* tagOf(resume("acme", "unknown")), "DestinationNotFound")
    assert.strictEqual((yield* (yield* Deliveries).list("acme", { state: "dead" })).data.length, 0)
  }, inService))

  it.effect("stays suspended while its secret belongs to another client", Effect.fnUntraced(function*() {
    const { debtor, receivers, report, subscribe, subscriptions, worker } = yield* makeDebtors
    const { subscriptionId: id } = yield* subscribe(debtor, { hmacSecretId: "main" })
    yield* receivers.script(hook, [Receiver.gone, Receiver.accept()])
    yield* report(change("created"))
    yield* worker.drain
    const secrets = yield* SigningSecrets
    yield* secrets.put("acme", "main", { client: "another", rotate: false })
    const all = yield* Subscriptions
    assert.strictEqual(yield* tagOf(all.resume("acme", id)), "SecretNotUsable")
    assert.deepStrictEqual(yield* subscriptions.testWebhook(debtor, { webhookUrl: hook }), { message: "Webhook test successful." })
    assert.deepStrictEqual(yield* faultsOf(subscriptions.testWebhook(debtor, { webhookUrl: hook, hmacSecretId: "main" })), ["/hmacSecretId unknown_reference"])
    assert.strictEqual((yield* subscriptions.get(debtor, id)).status, "suspended")
    yield* secrets.put("acme", "main", { client: debtor.client, rotate: false })
    assert.strictEqual((yield* all.resume("acme", id)).state, "active")
  }, inService))

  it.effect("stays suspended at a successful receiver test while an operator paused it, which the answer says", Effect.fnUntraced(function*() {
    const { debtor, receivers, report, subscribe, subscriptions, tenant, worker } = yield* makeDebtors
    const both = tenant.customer(debtor.client, ["A", "B"])
    const { subscriptionId: paused } = yield* subscribe(both)
    yield* (yield* Subscriptions).pause("acme", paused, { reason: "Dock closed" })
    const refused = yield* Effect.flip(subscriptions.testWebhook(both, { webhookUrl: hook }))
    assert(refused._tag === "SubscriptionPausedByOperator")
    assert.deepStrictEqual([refused.subscriptionId, refused.reason], [paused, "Dock closed"])
    // with another one to resume, the test resumes that one
    const { subscriptionId: failed } = yield* subscribe(both, { accounts: ["B"] })
    yield* receivers.script(hook, [Receiver.gone, Receiver.accept()])
    yield* report(change("created", { account: "B" }))
    yield* worker.drain
    assert.strictEqual((yield* subscriptions.testWebhook(both, { webhookUrl: hook })).resumed, 1)
    assert.deepStrictEqual([(yield* subscriptions.get(both, paused)).status, (yield* subscriptions.get(both, failed)).status], ["suspended", "active"])
  }, inService))

  it.effect("may also have a receiver that answered 410 Gone", Effect.fnUntraced(function*() {
    const { debtor, receivers, report, subscribe, subscriptions, worker } = yield* makeDebtors
    const { subscriptionId } = yield* subscribe(debtor)
    yield* receivers.script(hook, [Receiver.gone, Receiver.accept()])
    yield* report(change("created"))
    yield* worker.drain
    assert.strictEqual((yield* subscriptions.get(debtor, subscriptionId)).status, "suspended")
    yield* subscriptions.testWebhook(debtor, { webhookUrl: hook })
    yield* worker.drain
    assert.deepStrictEqual((yield* receivers.requests(hook)).length, 3)
  }, inService))
})

describe("testing a webhook", () => {
  it.effect("sends one sample that is marked as a test, signed like a delivery (SPEC-GAP-E17)", Effect.fnUntraced(function*() {
    const { debtor, receivers, subscriptions, tenant } = yield* makeDebtors
    yield* subscriptions.testWebhook(debtor, { webhookUrl: hook })
    yield* subscriptions.testWebhook(debtor, { webhookUrl: hook, hmacSecretId: "main" })
    yield* (yield* SigningSecrets).put("acme", `client:${debtor.client}`, {})
    yield* subscriptions.testWebhook(debtor, { webhookUrl: hook })
    const [plain, signed, registered] = yield* receivers.requests(hook)
    const body = JSON.parse(new TextDecoder().decode(plain!.body))
    assert.deepStrictEqual([body.length, body[0].pfc.isTest, body[0].pfc.header.function], [1, true, "PFC1"])
    assert.notProperty(plain!.headers, "webhook-signature")
    assert.isTrue(verifySignature(tenant.secret, signed!))
    assert.property(registered!.headers, "webhook-signature")
  }, inService))

  it.effect("fails with the receiver's answer, or with the faults of the input", Effect.fnUntraced(function*() {
    const { debtor, receivers, subscriptions } = yield* makeDebtors
    yield* receivers.scriptOthers([Receiver.fail(503), Receiver.gone, Receiver.refuse])
    for (const part of ["503", "410", "refused"]) {
      const error = yield* Effect.flip(subscriptions.testWebhook(debtor, { webhookUrl: hook }))
      assert.strictEqual(error._tag, "WebhookTestFailed")
      assert.include(error.message, part)
    }
    assert.deepStrictEqual(yield* faultsOf(subscriptions.testWebhook(debtor, { webhookUrl: "not a url" })), ["/webhookUrl invalid"])
    assert.deepStrictEqual(yield* faultsOf(subscriptions.testWebhook(debtor, { webhookUrl: "http://inside.example/", hmacSecretId: "unknown" })), [
      "/webhookUrl not_allowed",
      "/hmacSecretId unknown_reference"
    ])
    assert.strictEqual((yield* receivers.requests()).length, 3)
  }, inService))

  it.effect("gives the same answer for an unknown host name and an internal one", Effect.fnUntraced(function*() {
    const { debtor, receivers, subscriptions } = yield* makeDebtors
    const failing = (failure: "dns" | "address_not_allowed") => () => Effect.succeed(AttemptOutcome.Failed({ failure, detail: `${failure} on this side` }))
    yield* receivers.scriptOthers([failing("dns"), failing("address_not_allowed")])
    const answers = [
      yield* Effect.flip(subscriptions.testWebhook(debtor, { webhookUrl: hook })),
      yield* Effect.flip(subscriptions.testWebhook(debtor, { webhookUrl: hook }))
    ].map((error) => error._tag === "InvalidInput" ? error.faults : error._tag)
    assert.deepStrictEqual(answers[0], [{ pointer: "/webhookUrl", detail: addressNotAllowed, code: "not_allowed" }])
    assert.deepStrictEqual(answers[1], answers[0])
  }, inService))

  it.effect("is allowed ten times a minute per client (SPEC-GAP-E18)", Effect.fnUntraced(function*() {
    const { debtor, subscriptions, tenant } = yield* makeDebtors
    const test = (principal: Principal) => subscriptions.testWebhook(principal, { webhookUrl: hook })
    for (let n = 0; n < 10; n++) yield* test(debtor)
    yield* TestClock.adjust("20 seconds")
    const refused = yield* Effect.flip(test(debtor))
    assert.strictEqual(refused._tag === "TooManyWebhookTests" && refused.message, "A client may test webhooks 10 times a minute. Try again in 40 seconds.")
    yield* test(tenant.customer("other", ["A"]))
    yield* TestClock.adjust("40 seconds")
    yield* test(debtor)
  }, inService))
})
