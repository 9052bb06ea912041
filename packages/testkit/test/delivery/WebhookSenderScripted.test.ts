import { assert, describe, it } from "@effect/vitest"
import { sendWebhook, WebhookSender } from "@waybill/core/delivery"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type ReceivedBatch, Receiver, ScriptedReceivers, WebhookSenderScripted } from "../../src/index.ts"

const url = "https://receiver.example/"

const setup = Effect.gen(function*() {
  const sender = yield* WebhookSender
  const receivers = yield* ScriptedReceivers
  const body = [JSON.stringify({ deliveryId: "d", sentAt: "", events: [{ eventId: "e", sequence: 1, shipment: { shipmentId: "S" } }] })]
  return { sender, receivers, send: (to = url) => sendWebhook(sender, { owner: "acme", url: to, headers: { "webhook-id": "d" }, body, deadlineMillis: 15_000 }) }
})

const scripted = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, WebhookSenderScripted.layer)

describe("ScriptedReceivers", () => {
  it.effect("answer by their script, repeat its last answer, and accept without a script", Effect.fnUntraced(function*() {
    const { receivers, send } = yield* setup
    yield* receivers.script(url, [Receiver.fail(429, { retryAfterSeconds: 7 }), Receiver.refuse, Receiver.gone, Receiver.accept(204)])
    const outcomes = [yield* send(), yield* send(), yield* send(), yield* send(), yield* send()]
    assert.deepStrictEqual(outcomes.map((each) => each._tag === "Failed" ? [each.failure, each.status, each.retryAfterSeconds] : [each._tag]), [
      ["http_429", 429, 7],
      ["connect_refused", undefined, undefined],
      ["Gone"],
      ["Accepted"],
      ["Accepted"]
    ])
    assert.strictEqual((yield* send("https://other.example/"))._tag, "Accepted")
    yield* receivers.scriptOthers(Receiver.fail(301))
    assert.deepInclude(yield* send("https://other.example/"), { failure: "http_3xx" })
  }, scripted))

  it.effect("record requests and accepted events", Effect.fnUntraced(function*() {
    const { receivers, send } = yield* setup
    yield* receivers.script(url, [Receiver.fail(500), Receiver.accept()])
    yield* send()
    yield* TestClock.adjust(5000)
    yield* send()
    assert.deepStrictEqual((yield* receivers.requests(url)).map((each) => [each.at, each.headers["webhook-id"]]), [[0, "d"], [5000, "d"]])
    assert.deepStrictEqual((yield* receivers.deliveredEvents()).map((each) => each.eventId), ["e"])
    assert.deepStrictEqual((yield* receivers.delivered(url)).map((each) => (each as ReceivedBatch).deliveryId), ["d"])
    assert.deepStrictEqual([yield* receivers.requests("https://other.example/"), yield* receivers.delivered("https://other.example/")], [[], []])
  }, scripted))

  it.effect("hang until the deadline, or answer after a delay", Effect.fnUntraced(function*() {
    const { receivers, send } = yield* setup
    yield* receivers.script(url, [Receiver.hang, Receiver.delay(2000), Receiver.delay(20_000)])
    const fibers = [yield* Effect.forkChild(send()), yield* Effect.forkChild(send()), yield* Effect.forkChild(send())]
    yield* TestClock.adjust(1999)
    assert.deepStrictEqual(fibers.map((each) => each.pollUnsafe() === undefined), [true, true, true])
    yield* TestClock.adjust(1)
    assert.deepStrictEqual(fibers.map((each) => each.pollUnsafe() === undefined), [true, false, true])
    yield* TestClock.adjust(13_000)
    const outcomes = yield* Effect.forEach(fibers, Fiber.join)
    assert.deepStrictEqual(outcomes.map((each) => each._tag === "Failed" ? each.failure : each._tag), ["timeout", "Accepted", "timeout"])
  }, scripted))

  it.effect("resolve when a number of requests has arrived", Effect.fnUntraced(function*() {
    const { receivers, send } = yield* setup
    const waiting = yield* Effect.forkChild(receivers.received(2, url))
    yield* send()
    yield* send("https://other.example/")
    yield* Effect.yieldNow
    assert.isUndefined(waiting.pollUnsafe())
    yield* send()
    assert.lengthOf(yield* Fiber.join(waiting), 2)
    assert.lengthOf(yield* receivers.received(1), 3)
  }, scripted))

  it.effect("refuse plain http, like the service", Effect.fnUntraced(function*() {
    const { sender } = yield* setup
    assert.isUndefined(sender.refusal("HTTPS://receiver.example/"))
    assert.isDefined(sender.refusal("http://receiver.example/"))
  }, scripted))
})
