import { assert, describe, it } from "@effect/vitest"
import { Subscriptions, Tenants } from "@waybill/core"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { hook, inEngine, makeEngine } from "../delivery/Engine.ts"
import { untyped } from "../untyped.ts"

const destinations = (query: unknown = {}, tenantId = "acme") => Effect.flatMap(Subscriptions, (all) => all.list(tenantId, untyped(query)))

describe("Subscriptions", () => {
  it.effect("lists subscriptions of every area and client, with their client", Effect.fnUntraced(function*() {
    const { customer, subscription, tenant } = yield* makeEngine()
    const followed = yield* TestWaybill.follow(tenant.customer("follower", ["A"]), { referenceNumbers: ["1"], webhookUrl: "https://follower.example/a" })
    const [realTime, hourly] = yield* Effect.forEach(["real_time", "hourly"], (frequency, at) =>
      TestWaybill.subscribeToCharges(tenant.customer(`debtor ${at}`, ["A"]), untyped({ webhookUrl: "https://debtor.example/e", accounts: ["A"], dataOptions: {}, frequency })))
    const { data, nextCursor } = yield* destinations()
    assert.isNull(nextCursor)
    assert.deepStrictEqual(data.map((each) => each.subscriptionId), data.map((each) => each.subscriptionId).toSorted())
    const shown = Object.fromEntries(data.map((each) => [each.subscriptionId, `${each.area} ${each.client} ${each.endpointUrl}`]))
    assert.deepStrictEqual(shown, {
      [subscription.id]: `transit-events ${customer.client} ${hook}`,
      [followed.transactionId]: "shipment-status follower https://follower.example/a",
      [realTime!.subscriptionId]: "freight-charges debtor 0 https://debtor.example/e",
      [hourly!.subscriptionId]: "freight-charges debtor 1 https://debtor.example/e"
    })
  }, inEngine))

  it.effect("shows why nothing is sent, and the last attempt", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1, maxAttempts: 2, initialBackoffSeconds: 60, maxBackoffSeconds: 60 } })
    yield* engine.receivers.script(hook, Receiver.fail(503))
    const [before] = (yield* destinations()).data
    assert.deepStrictEqual([before!.breaker, before!.waiting, before!.lastAttempt], [{ state: "closed", failures: 0, until: null }, 0, null])
    yield* TestWaybill.run
    yield* engine.publish("A", "B", "C", "D", "E", "F", "G", "H")
    yield* TestWaybill.pass("10 seconds")
    const [open] = (yield* destinations()).data
    assert.deepStrictEqual([open!.state, open!.reason, open!.breaker.state], ["active", null, "open"])
    assert.isAtLeast(open!.breaker.failures, 5)
    assert.match(open!.breaker.until!, /^1970-01-01T00:0\d:\d{2}\.\d{3}Z$/)
    assert.strictEqual(open!.waiting + open!.inFlight, 8)
    assert.isNotNull(open!.dueAt)
    assert.deepStrictEqual([open!.lastAttempt!.outcome, open!.lastAttempt!.status], ["http_5xx", 503])
    yield* TestWaybill.pass("30 minutes")
    const [after] = (yield* destinations()).data
    assert.deepStrictEqual([after!.waiting, after!.inFlight, after!.dead], [0, 0, 8])
  }, inEngine))

  it.effect("distinguishes a breaker that waits for its probe from an open one", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1, maxAttempts: 9, initialBackoffSeconds: 60, maxBackoffSeconds: 60 } })
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* Effect.scoped(Effect.gen(function*() {
      yield* TestWaybill.run
      yield* engine.publish("A", "B", "C", "D", "E", "F")
      yield* TestWaybill.pass("10 seconds")
    }))
    assert.deepStrictEqual((yield* destinations()).data.map((each) => each.breaker.state), ["open"])
    // no worker is running, so there is no probe
    yield* TestWaybill.pass("5 minutes")
    const [destination] = (yield* destinations()).data
    assert.deepStrictEqual([destination!.breaker.state, destination!.breaker.until], ["half-open", null])
  }, inEngine))

  it.effect("lists in pages, optionally of one state", Effect.fnUntraced(function*() {
    const { customer, subscription, subscriptions, tenant } = yield* makeEngine()
    const ids = [subscription.id]
    for (let n = 0; n < 4; n++) ids.push((yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: hook })).id)
    const walked: Array<string> = []
    let cursor: string | null = null
    do {
      const page: { readonly data: ReadonlyArray<{ readonly subscriptionId: string }>; readonly nextCursor: string | null } = yield* destinations({ limit: 2, ...(cursor === null ? {} : { cursor }) })
      assert.isAtMost(page.data.length, 2)
      walked.push(...page.data.map((each) => each.subscriptionId))
      cursor = page.nextCursor
    } while (cursor !== null)
    assert.deepStrictEqual(walked, ids.toSorted())
    yield* subscriptions.patch(customer, ids[1]!, { status: "paused" })
    assert.deepStrictEqual((yield* destinations({ state: "paused" })).data.map((each) => [each.subscriptionId, each.state]), [[ids[1], "paused"]])
    yield* subscriptions.remove(customer, ids[1]!)
    assert.deepStrictEqual((yield* destinations({ state: "paused" })).data, [])
    assert.lengthOf((yield* destinations()).data, 4)
  }, inEngine))

  it.effect("lists subscriptions of an endpoint, with a total, and those whose last attempt failed with an error", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1, maxAttempts: 9 } })
    const other = yield* TestWaybill.subscribe(engine.tenant, engine.customer, { endpointUrl: "https://other.example:8443/hook" })
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("1 second")
    const found = (query: object) => Effect.map(destinations(query), ({ data, nextCursor, total }) => [data.map((each) => each.subscriptionId), nextCursor, total])
    assert.deepStrictEqual(yield* found({ endpoint: "other.example:8443", total: true }), [[other.id], null, 1])
    assert.deepStrictEqual(yield* found({ endpoint: "https://other.example:8443/hook" }), [[other.id], null, undefined])
    assert.deepStrictEqual(yield* found({ endpoint: "other.example", total: true }), [[], null, 0])
    assert.deepStrictEqual(yield* found({ error: "http_5xx", total: true }), [[engine.subscription.id], null, undefined])
    assert.deepStrictEqual(yield* found({ error: "timeout" }), [[], null, undefined])
    for (const query of [{ error: "lost" }, { endpoint: "two words" }, { total: "yes" }]) assert.strictEqual((yield* Effect.flip(destinations(query)))._tag, "InvalidInput")
  }, inEngine))

  it.effect("drops what waits in several subscriptions, by their ids or by a filter, and tells how many", Effect.fnUntraced(function*() {
    const { customer, publish, subscription, tenant } = yield* makeEngine()
    const all = yield* Subscriptions
    const second = yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: "https://other.example/hook" })
    const third = yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: "https://other.example/more" })
    const ids = [subscription.id, second.id, third.id].toSorted()
    const purge = (call: object, tenantId = "acme") => all.purgeMatching(tenantId, untyped(call))
    const waiting = Effect.map(destinations(), ({ data }) => data.map((each) => [each.waiting, each.state].join(" ")))
    yield* publish("A", "B")
    assert.deepStrictEqual(yield* waiting, ["2 active", "2 active", "2 active"])
    assert.deepStrictEqual(yield* purge({ subscriptionIds: ids, cursor: ids[1] }), { subscriptions: 1, dropped: 2, nextCursor: null })
    assert.deepStrictEqual(yield* waiting, ["2 active", "2 active", "0 active"])
    assert.deepStrictEqual(yield* purge({ subscriptionIds: [ids[0], ids[0], ids[2]] }), { subscriptions: 1, dropped: 2, nextCursor: null })
    yield* publish("C")
    assert.deepStrictEqual(yield* purge({ endpoint: "other.example", client: "nobody" }), { subscriptions: 0, dropped: 0, nextCursor: null })
    assert.strictEqual((yield* purge({ endpoint: "other.example" })).subscriptions, 2)
    assert.deepStrictEqual(yield* purge({ state: "paused" }), { subscriptions: 0, dropped: 0, nextCursor: null })
    // nothing is dropped where one of the subscriptions does not exist
    yield* publish("D")
    const before = yield* waiting
    assert.strictEqual((yield* Effect.flip(purge({ subscriptionIds: [ids[0], "garbage"] })))._tag, "DestinationNotFound")
    assert.deepStrictEqual(yield* waiting, before)
    for (const call of [{}, { cursor: ids[0] }, { subscriptionIds: [] }, { subscriptionIds: ids, client: "c" }, { state: "lost" }, { client: "c", cursor: "x" }]) {
      assert.strictEqual((yield* Effect.flip(purge(call)))._tag, "InvalidInput")
    }
  }, inEngine))

  it.effect("returns a single subscription", Effect.fnUntraced(function*() {
    const { customer, subscription, subscriptions, tenant } = yield* makeEngine()
    const other = yield* TestWaybill.subscribe(tenant, customer, { endpointUrl: hook })
    const get = (id: string, tenantId = "acme") => Effect.flatMap(Subscriptions, (all) => all.get(tenantId, id))
    const { data } = yield* destinations()
    for (const destination of data) assert.deepStrictEqual(yield* get(destination.subscriptionId), destination)
    yield* (yield* Tenants).put("other", { name: "Other" })
    yield* subscriptions.remove(customer, other.id)
    const nowhere = ["x", "", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff", other.id]
    for (const id of nowhere) assert.strictEqual((yield* Effect.flip(get(id)))._tag, "DestinationNotFound", id)
    assert.strictEqual((yield* Effect.flip(get(subscription.id, "other")))._tag, "DestinationNotFound")
  }, inEngine))

  it.effect("does not show other tenants' subscriptions, and refuses invalid queries", Effect.fnUntraced(function*() {
    yield* makeEngine()
    yield* (yield* Tenants).put("other", { name: "Other" })
    assert.deepStrictEqual(yield* destinations({}, "other"), { data: [], nextCursor: null })
    for (const query of [{ state: "closed" }, { limit: 0 }, { limit: 501 }, { cursor: "x" }, { colour: "red" }]) {
      const refused = yield* Effect.flip(destinations(query))
      assert(refused._tag === "InvalidInput")
      assert.deepStrictEqual(refused.faults.map((each) => each.pointer), [`/${Object.keys(query)[0]!}`])
    }
  }, inEngine))
})
