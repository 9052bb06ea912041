import { assert, describe, it } from "@effect/vitest"
import { InvalidInput, Retention, Subscriptions } from "@waybill/core"
import { Deliveries } from "@waybill/core/delivery"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { eventsOf, hook, inEngine, inEngineWith, makeEngine, startEngine } from "./Engine.ts"
import { untyped } from "../untyped.ts"

const unknown = "0199c5a1-0000-7000-8000-000000000001"

/** Three dead letters of A, B and C. */
const deadLetters = Effect.fnUntraced(function*() {
  const engine = yield* startEngine({ policy: { batchMaxSize: 1, maxAttempts: 2, initialBackoffSeconds: 1 }, answers: Receiver.fail(500) })
  yield* engine.publish("A", "B", "C")
  yield* TestWaybill.pass("10 minutes")
  const dead = yield* engine.list({ state: "dead" })
  assert.lengthOf(dead, 3)
  yield* engine.receivers.script(hook, Receiver.accept())
  return { ...engine, dead }
})

describe("Deliveries", () => {
  it.effect("shows a delivery with its exact body and every attempt", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ answers: [Receiver.fail(503), Receiver.accept(202)] })
    yield* engine.publish("A", "B")
    yield* TestWaybill.pass("1 minute")
    const [listed] = yield* engine.list()
    const shown = yield* engine.deliveries.get("acme", listed!.deliveryId)
    assert.strictEqual(shown.body, new TextDecoder().decode((yield* engine.receivers.requests(hook))[1]!.body))
    assert.deepStrictEqual([shown.endpointUrl, shown.events, shown.state, shown.subscriptionId], [hook, 2, "delivered", engine.subscription.id])
    assert.deepStrictEqual(shown.attempts.map((each) => [each.attempt, each.outcome, each.status]), [[1, "http_5xx", 503], [2, "accepted", 202]])
    assert.match(shown.createdAt, /^1970-01-01T00:00:00\.\d{3}Z$/)
    assert.isNotNull(shown.settledAt)
  }, inEngine))

  for (const order of ["newest", "oldest", undefined] as const) it.effect(`lists ${order ?? "newest"} first, page by page${order === undefined ? ", by default" : ""}`, Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { batchMaxSize: 1 } })
    for (let n = 0; n < 7; n++) {
      yield* engine.publish(`S${n}`)
      yield* TestWaybill.pass(1000)
    }
    const seen: Array<string> = []
    let cursor: string | undefined
    do {
      const { data, nextCursor } = yield* engine.deliveries.list("acme", { limit: 3, ...(order === undefined ? {} : { order }), ...(cursor === undefined ? {} : { cursor }) })
      assert.isAtMost(data.length, 3)
      seen.push(...data.map((each) => each.createdAt))
      cursor = nextCursor ?? undefined
    } while (cursor !== undefined)
    assert.lengthOf(seen, 7)
    assert.deepStrictEqual(seen, order === "oldest" ? seen.toSorted() : seen.toSorted().reverse())
    assert.lengthOf((yield* engine.list({ since: "1970-01-01T00:00:04Z" })), 3)
  }, inEngine))

  it.effect("lists newest first on request, and keeps that order on later pages", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { batchMaxSize: 1 } })
    for (let n = 0; n < 5; n++) {
      yield* engine.publish(`S${n}`)
      yield* TestWaybill.pass(1000)
    }
    const oldest = (yield* engine.list()).map((each) => each.deliveryId)
    const first = yield* engine.deliveries.list("acme", { order: "newest", limit: 3 })
    const second = yield* engine.deliveries.list("acme", { order: "newest", limit: 3, cursor: first.nextCursor! })
    assert.deepStrictEqual([...first.data, ...second.data].map((each) => each.deliveryId), oldest.toReversed())
    assert.isNull(second.nextCursor)
    assert.deepStrictEqual((yield* engine.list({ order: "newest", since: "1970-01-01T00:00:03Z" })).map((each) => each.deliveryId), oldest.toReversed().slice(0, 2))
  }, inEngine))

  it.effect("refuses invalid queries with a reason", Effect.fnUntraced(function*() {
    const deliveries = yield* Deliveries
    for (const query of [{ state: "lost" }, { limit: 0 }, { limit: 501 }, { since: "yesterday" }, { order: "desc" }, { cursor: "x" }, { colour: "red" }]) {
      const refused = yield* Effect.flip(deliveries.list("acme", untyped(query)))
      assert(refused._tag === "InvalidInput")
      assert.deepStrictEqual([...new Set(refused.faults.map((each) => each.pointer))], [`/${Object.keys(query)[0]!}`])
    }
    assert.deepStrictEqual(yield* deliveries.list("acme", { subscriptionId: "no id" }), { data: [], nextCursor: null })
  }, inEngine))

  it.effect("retries a dead letter with all attempts of its policy, under the same id", Effect.fnUntraced(function*() {
    const { dead: [first], deliveries, delivered, list, receivers } = yield* deadLetters()
    yield* receivers.script(hook, [Receiver.fail(500), Receiver.accept()])
    yield* deliveries.retry("acme", first!.deliveryId)
    yield* TestWaybill.pass("1 minute")
    assert.deepStrictEqual(yield* delivered(), ["A/1"])
    const [again] = yield* list({ state: "delivered" })
    assert.deepStrictEqual([again!.deliveryId, again!.attempts.map((each) => each.attempt)], [first!.deliveryId, [1, 2, 3, 4]])
    const bodies = (yield* receivers.requests(hook)).filter((request) => request.headers["webhook-id"] === first!.deliveryId).map((request) => request.body)
    for (const body of bodies) assert.deepStrictEqual(body, bodies[0])
  }, inEngine))

  it.effect("sends a delivered delivery again on request", Effect.fnUntraced(function*() {
    const engine = yield* startEngine()
    yield* engine.publish("A")
    yield* TestWaybill.pass(1000)
    const [first] = yield* engine.list()
    yield* engine.deliveries.retry("acme", first!.deliveryId)
    yield* TestWaybill.pass(1000)
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/1"])
  }, inEngine))

  it.effect("refuses to retry a delivery that is in flight, cancelled or unknown", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { batchMaxSize: 1, initialBackoffSeconds: 600 }, answers: [Receiver.fail(500), Receiver.hang] })
    yield* engine.publish("A", "B")
    yield* TestWaybill.pass(1000)
    const [sending] = yield* engine.list({ state: "sending" })
    const [waiting] = yield* engine.list({ state: "waiting" })
    assert.strictEqual((yield* Effect.flip(engine.deliveries.retry("acme", sending!.deliveryId)))._tag, "DeliveryNotRetryable")
    yield* engine.subscriptions.remove(engine.customer, engine.subscription.id)
    assert.strictEqual(
      (yield* Effect.flip(engine.deliveries.retry("acme", waiting!.deliveryId))).message,
      `Delivery ${waiting!.deliveryId} cannot be sent again. Its subscription was deleted, so there is no endpoint to send it to.`
    )
    for (const id of [unknown, "", "garbage", "' OR 1=1"]) {
      assert.strictEqual((yield* Effect.flip(engine.deliveries.retry("acme", id)))._tag, "DeliveryNotFound")
      assert.strictEqual((yield* Effect.flip(engine.deliveries.get("acme", id)))._tag, "DeliveryNotFound")
      assert.strictEqual((yield* Effect.flip(engine.deliveries.destinationStatus("acme", id)))._tag, "DestinationNotFound")
      assert.strictEqual((yield* Effect.flip(engine.deliveries.recover("acme", id, { since: "2020-01-01T00:00:00Z" })))._tag, "DestinationNotFound")
    }
  }, inEngine))

  it.effect("says why a dead letter of a deleted subscription cannot be sent again", Effect.fnUntraced(function*() {
    const { dead, deliveries, customer, subscription, subscriptions } = yield* deadLetters()
    yield* subscriptions.remove(customer, subscription.id)
    assert.strictEqual(
      (yield* Effect.flip(deliveries.retry("acme", dead[0]!.deliveryId))).message,
      `Delivery ${dead[0]!.deliveryId} cannot be sent again. Its subscription was deleted, so there is no endpoint to send it to.`
    )
  }, inEngine))

  it.effect("says that a delivery was cancelled by a purge, and cannot be sent again", Effect.fnUntraced(function*() {
    const engine = yield* startEngine({ policy: { batchMaxSize: 1, initialBackoffSeconds: 600 }, answers: [Receiver.fail(500)] })
    yield* engine.publish("A")
    yield* TestWaybill.pass(1000)
    const [waiting] = yield* engine.list({ state: "waiting" })
    yield* (yield* Subscriptions).purge("acme", engine.subscription.id)
    assert.strictEqual(
      (yield* Effect.flip(engine.deliveries.retry("acme", waiting!.deliveryId))).message,
      `Delivery ${waiting!.deliveryId} cannot be sent again. It was cancelled when an operator purged its subscription.`
    )
  }, inEngine))

  it.effect("recovers every dead letter since an instant, under the same ids and with the same bytes", Effect.fnUntraced(function*() {
    const { dead, deliveries, delivered, receivers, subscription } = yield* deadLetters()
    assert.strictEqual(yield* deliveries.recover("acme", subscription.id, { since: "2030-01-01T00:00:00Z" }), 0)
    assert.strictEqual(yield* deliveries.recover("acme", subscription.id, { since: "1970-01-01T00:00:00Z" }), 3)
    assert.strictEqual(yield* deliveries.recover("acme", subscription.id, { since: "1970-01-01T00:00:00Z" }), 0)
    yield* TestWaybill.pass("1 hour")
    assert.deepStrictEqual((yield* delivered()).toSorted(), ["A/1", "B/1", "C/1"])
    for (const { deliveryId } of dead) {
      const bodies = (yield* receivers.requests(hook)).filter((request) => request.headers["webhook-id"] === deliveryId).map((request) => new TextDecoder().decode(request.body))
      assert.lengthOf(bodies, 3)
      assert.lengthOf(new Set(bodies), 1)
    }
  }, inEngine))

  it.effect("refuses a recover call without a time", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    for (const call of [{}, { since: "now" }, { since: "2026-11-20T08:15:00Z", all: true }, null, []]) {
      const refused = yield* Effect.flip(engine.deliveries.recover("acme", engine.subscription.id, untyped(call)))
      assert.strictEqual(refused._tag, "InvalidInput")
    }
  }, inEngine))

  it.effect("sends all dead letters that match again, and says how many, in steps that can be repeated", Effect.fnUntraced(function*() {
    const { deliveries, delivered, list, subscription } = yield* deadLetters()
    const retry = (filter: object) => deliveries.retryDeadLetters("acme", untyped(filter))
    assert.deepStrictEqual(yield* retry({ error: "timeout" }), { changed: 0, nextCursor: null })
    assert.deepStrictEqual(yield* retry({ endpoint: "elsewhere.example" }), { changed: 0, nextCursor: null })
    assert.deepStrictEqual(yield* retry({ subscriptionId: "no id" }), { changed: 0, nextCursor: null })
    const [oldest] = yield* list({ state: "dead", order: "oldest" })
    assert.deepStrictEqual(yield* retry({ until: oldest!.createdAt }), { changed: 0, nextCursor: null })
    assert.deepStrictEqual(yield* retry({ subscriptionId: subscription.id, cursor: oldest!.deliveryId }), { changed: 2, nextCursor: null })
    assert.deepStrictEqual(yield* retry({ error: "http_5xx", endpoint: new URL(hook).host, since: "1970-01-01T00:00:00Z" }), { changed: 1, nextCursor: null })
    assert.deepStrictEqual(yield* retry({ error: "http_5xx" }), { changed: 0, nextCursor: null })
    yield* TestWaybill.pass("1 hour")
    assert.deepStrictEqual((yield* delivered()).toSorted(), ["A/1", "B/1", "C/1"])
  }, inEngine))

  it.effect("dismisses one dead letter, again without effect, and says why it does not dismiss another delivery", Effect.fnUntraced(function*() {
    const { dead: [dead, other], deliveries, list } = yield* deadLetters()
    const dismissed = (deliveryId: string) => Effect.map(Effect.exit(deliveries.dismiss("acme", deliveryId)), (exit) => JSON.stringify(exit))
    for (const _ of ["once", "again"]) yield* deliveries.dismiss("acme", dead!.deliveryId)
    assert.lengthOf(yield* list({ state: "dismissed" }), 1)
    yield* deliveries.retry("acme", other!.deliveryId)
    yield* TestWaybill.pass("1 hour")
    assert.include(yield* dismissed(other!.deliveryId), "DeliveryNotDismissable")
    for (const unknown of ["no id", other!.subscriptionId]) assert.include(yield* dismissed(unknown), "DeliveryNotFound")
  }, inEngine))

  it.effect("dismisses all dead letters that match, and counts what a list would show", Effect.fnUntraced(function*() {
    const { dead, deliveries, subscription } = yield* deadLetters()
    const total = (query: object) => Effect.map(deliveries.list("acme", untyped({ ...query, limit: 1, total: true })), (page) => page.total)
    assert.deepStrictEqual(yield* deliveries.dismissDeadLetters("acme", { client: subscription.id }), { changed: 0, nextCursor: null })
    assert.strictEqual(yield* total({ error: "http_5xx" }), 3)
    yield* deliveries.dismiss("acme", dead[0]!.deliveryId)
    assert.deepStrictEqual(yield* deliveries.dismissDeadLetters("acme", { error: "http_5xx" }), { changed: 2, nextCursor: null })
    assert.deepStrictEqual([yield* total({ state: "dead" }), yield* total({ state: "dismissed" }), yield* total({ subscriptionId: "no id" })], [0, 3, 0])
  }, inEngine))

  it.effect("refuses a bulk action that would concern everything, and filters that it does not understand", Effect.fnUntraced(function*() {
    const deliveries = yield* Deliveries
    for (const call of [{}, { cursor: unknown }, { error: "lost" }, { endpoint: "" }, { since: "now" }, { state: "dead" }, { client: "c", cursor: "x" }, null]) {
      for (const act of [deliveries.retryDeadLetters, deliveries.dismissDeadLetters]) {
        assert.strictEqual((yield* Effect.flip(act("acme", untyped(call))))._tag, "InvalidInput")
      }
    }
    for (const state of ["delivered", "dismissed", "cancelled", "sending"]) {
      assert.strictEqual((yield* Effect.flip(deliveries.list("acme", untyped({ state, error: "timeout" }))))._tag, "InvalidInput")
    }
  }, inEngine))

  it.effect("replays history as new deliveries of the same events (SPEC-GAP-D22)", Effect.fnUntraced(function*() {
    const engine = yield* startEngine()
    yield* engine.publish("A", "B")
    yield* TestWaybill.pass("1 hour")
    yield* engine.publish("A")
    yield* TestWaybill.pass("1 hour")
    const replay = (call: unknown) => Effect.flatMap(Subscriptions, (all) => all.replay("acme", engine.subscription.id, untyped(call)))
    assert.strictEqual(yield* replay({ from: "1970-01-01T00:30:00Z" }), 1)
    yield* TestWaybill.pass(1000)
    assert.strictEqual(yield* replay({ from: "1970-01-01T00:00:00Z", to: "1970-01-01T00:30:00Z", shipmentIds: ["A"] }), 1)
    yield* TestWaybill.pass(1000)
    assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "B/1", "A/2", "A/2", "A/1"])
    const ids = (yield* engine.receivers.requests(hook)).map((request) => request.headers["webhook-id"])
    assert.lengthOf(new Set(ids), 4)
    assert.strictEqual((yield* Effect.flip(replay({})))._tag, "InvalidInput")
    assert.strictEqual((yield* Effect.flip(Effect.flatMap(Subscriptions, (all) => all.replay("acme", "garbage", { from: "1970-01-01T00:00:00Z" }))))._tag, "DestinationNotFound")
  }, inEngine))

  it.effect("refuse a time range that ends before it begins", Effect.fnUntraced(function*() {
    const { subscription } = yield* startEngine()
    const [early, same, later] = ["1970-01-01T00:00:00Z", "1970-01-01T01:00:00+01:00", "1970-01-01T00:00:01Z"]
    const deliveries = yield* Deliveries
    const replay = (call: { from: string; to: string }) => Effect.flatMap(Subscriptions, (all) => all.replay("acme", subscription.id, call))
    const refusals = (from: string, to: string) => {
      const filter = { since: from, until: to }
      const calls: ReadonlyArray<Effect.Effect<unknown, unknown, Subscriptions>> =
        [replay({ from, to }), deliveries.list("acme", filter), deliveries.retryDeadLetters("acme", filter), deliveries.dismissDeadLetters("acme", filter)]
      const faultsOf = (error: unknown) => error instanceof InvalidInput ? error.faults.map(({ code, pointer }) => `${pointer} ${code}`) : error
      return Effect.forEach(calls, (call) => Effect.match(call, { onFailure: faultsOf, onSuccess: () => [] }))
    }
    const refused = [["/to out_of_bounds"], ...Array(3).fill(["/until out_of_bounds"])]
    assert.deepStrictEqual(yield* refusals(later, early), refused)
    // the same instant in another zone: the end is exclusive, so nothing can match
    assert.deepStrictEqual(yield* refusals(early, same), refused)
    assert.deepStrictEqual(yield* refusals(early, later), [[], [], [], []])
  }, inEngine))

  it.effect("isolates tenants", Effect.fnUntraced(function*() {
    const { dead: [first], deliveries, subscription } = yield* deadLetters()
    assert.deepStrictEqual(yield* deliveries.list("other", {}), { data: [], nextCursor: null })
    yield* Effect.flip(deliveries.get("other", first!.deliveryId))
    yield* Effect.flip(deliveries.retry("other", first!.deliveryId))
    yield* Effect.flip(deliveries.destinationStatus("other", subscription.id))
    yield* Effect.flip(deliveries.recover("other", subscription.id, { since: "1970-01-01T00:00:00Z" }))
  }, inEngine))
})

describe("Retention", () => {
  it.effect("removes deliveries that ended long ago, and no others", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { batchMaxSize: 1, maxAttempts: 1000, initialBackoffSeconds: 86_400, maxBackoffSeconds: 86_400 } })
    const retention = yield* Retention
    yield* engine.receivers.script(hook, (request) => eventsOf(request).includes("A/1") ? Receiver.fail(500)(request) : Receiver.accept()(request))
    yield* TestWaybill.run
    yield* engine.publish("A", "B")
    yield* TestWaybill.pass("1 hour")
    assert.strictEqual(yield* retention.sweep, 0)
    yield* TestWaybill.pass("2 days")
    yield* engine.publish("C")
    yield* TestWaybill.pass("1 minute")
    // a delivery, and the counts of two minutes, of its destination, of its client and in total
    assert.strictEqual(yield* retention.sweep, 7)
    assert.deepStrictEqual((yield* engine.list()).map((each) => each.state), ["waiting", "delivered"])
  }, inEngineWith({ keepSettledMillis: 86_400_000 })))
})
