/**
 * Random operations on a service: publish, pause, fail, kill, rotate, remove, in any order. The delivery guarantees hold at the
 * end.
 */
import { assert, describe, it } from "@effect/vitest"
import { SigningSecrets } from "@waybill/core/delivery"
import { batchOf, Receiver, type ReceivedRequest, TestWaybill, verifySignature } from "@waybill/testkit"
import { Effect, Fiber, Redacted } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../../arbitraries.ts"
import { inEngine, makeEngine, nameOf, outOfOrder, storeCalls } from "../Engine.ts"
import { untyped } from "../../untyped.ts"

const step = Arbitrary.all({
  does: oneOf(["publish", "publish", "publish", "pause", "resume", "stop", "start", "fail", "hang", "answer", "fault", "kill", "rotate", "move", "remove", "retry", "pass"]),
  who: int(0, 2),
  n: int(0, 1000)
})

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

/** Customers 0, 1 and 2 own shipments of their own and one they share. */
const shipmentsOf = (who: number): ReadonlyArray<string> => [`own ${who} a`, `own ${who} b`, "shared"]
const accountsOf = (shipmentId: string): ReadonlyArray<string> => shipmentId === "shared" ? ["0", "1", "2"] : [shipmentId.split(" ")[1]!]

const live = Effect.fnUntraced(function*(steps: ReadonlyArray<Step>) {
  const { deliveries, events, list, receivers, subscriptions, tenant } = yield* makeEngine()
  const secrets = yield* SigningSecrets
  const signedBy = [tenant.secret]
  const customers = [0, 1, 2].map((n) => tenant.customer(`customer ${n}`, [String(n)]))
  const urls = [0, 1, 2].map((n) => `https://customer-${n}.example/`)
  const subscribed = yield* Effect.forEach(customers, (customer, n) =>
    TestWaybill.subscribe(tenant, customer, {
      endpointUrl: urls[n]!,
      delivery: { batchMaxSize: 3, maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 20, rateLimitPerMinute: 6000 }
    }))
  const state = subscribed.map(() => "active" as "active" | "paused" | "inactive" | "removed")
  /** The events that each subscription must receive: all that were published while it was active or paused. */
  const owed = subscribed.map((): Array<string> => [])
  const behaviour = urls.map(() => Receiver.accept())
  const at = (who: number) => Receiver.delay((who * 130) % 700)
  yield* receivers.scriptOthers((request: ReceivedRequest) => behaviour[urls.indexOf(request.url.split("?")[0]!)]!(request))

  const startWorker = Effect.gen(function*() {
    const worker = yield* TestWaybill.worker()
    return { ...worker, fiber: yield* worker.run }
  })
  const workers = [yield* startWorker, yield* startWorker]

  const act = Effect.fnUntraced(function*({ does, n, who }: Step) {
    const customer = customers[who]!
    const { id } = subscribed[who]!
    const patch = (change: unknown) => state[who] === "removed" ? Effect.void : Effect.asVoid(subscriptions.patch(customer, id, untyped(change)))
    switch (does) {
      case "publish": {
        const shipmentId = shipmentsOf(who)[n % 3]!
        const body = { type: "IN_TRANSIT", occurredAt: "2026-11-20T08:15:00Z", shipment: { shipmentId, origin: {}, destination: {} }, parties: { accounts: accountsOf(shipmentId) } }
        const published = yield* events.append(tenant.carrier, untyped(Array.from({ length: 1 + n % 4 }, () => body)))
        for (const each of published) {
          assert(each.result !== "refused")
          for (const other of accountsOf(shipmentId).map(Number)) {
            if (state[other] === "active" || state[other] === "paused") owed[other]!.push(`${each.shipmentId}/${each.sequence}`)
          }
        }
        return
      }
      case "pause":
      case "resume":
      case "stop": {
        const status = ({ pause: "paused", resume: "active", stop: "inactive" } as const)[does]
        yield* patch({ status })
        if (state[who] !== "removed") state[who] = status
        return
      }
      case "fail":
        behaviour[who] = Receiver.fail(n % 2 === 0 ? 500 : 429, { retryAfterSeconds: n % 30 })
        return
      case "hang":
        behaviour[who] = Receiver.hang
        return
      case "answer":
        behaviour[who] = at(n)
        return
      case "fault":
        return yield* workers[n % 2]!.faults.break(storeCalls[n % storeCalls.length]!, n % 3 === 0 ? "before" : "after", 1 + n % 3)
      case "kill": {
        // none of its calls reaches the store from now on, and another process replaces it
        const victim = workers[n % 2]!
        for (const call of storeCalls) yield* victim.faults.break(call, "before", Infinity)
        workers[n % 2] = yield* startWorker
        return
      }
      case "start": {
        // stopped and started again as in an upgrade
        const { fiber } = workers[n % 2]!
        yield* Effect.forkChild(Fiber.interrupt(fiber))
        yield* TestWaybill.pass(20_000)
        assert.isDefined(fiber.pollUnsafe(), "a worker stops in time")
        workers[n % 2] = yield* startWorker
        return
      }
      case "rotate": {
        const { secret } = yield* secrets.put(tenant.tenantId, tenant.hmacSecretId, { overlapSeconds: 60 })
        signedBy.push(Redacted.value(secret))
        return
      }
      case "move":
        return yield* patch({ endpointUrl: `${urls[who]!}?moved=${n}` })
      case "remove":
        if (n % 4 !== 0) return
        yield* subscriptions.remove(customer, id)
        state[who] = "removed"
        return
      case "retry": {
        const all = yield* list({ state: n % 2 === 0 ? "waiting" : "delivered" })
        if (all.length > 0 && n % 2 === 0) yield* Effect.ignore(deliveries.retry(tenant.tenantId, all[n % all.length]!.deliveryId))
        return
      }
      case "pass":
        return yield* TestWaybill.pass(n * 40)
    }
  })

  for (const each of steps) {
    yield* Effect.orDie(act(each))
    yield* TestWaybill.pass(each.n % 97)
  }

  // without faults all expected events arrive
  behaviour.fill(Receiver.accept())
  for (const worker of workers) yield* worker.faults.heal
  for (const who of state.keys()) {
    if (state[who] !== "removed") yield* Effect.orDie(subscriptions.patch(customers[who]!, subscribed[who]!.id, { status: "active" }))
  }
  yield* TestWaybill.pass("20 minutes")

  const requests = yield* receivers.requests()
  for (const who of state.keys()) {
    const own = requests.filter((request) => request.url.startsWith(urls[who]!))
    const names = (yield* receivers.deliveredEvents()).length === 0 ? [] : own.flatMap((request) => batchOf(request).events.map(nameOf))
    for (const name of names) assert.include([...shipmentsOf(who)], name.slice(0, name.lastIndexOf("/")), "a customer receives its own events only")
    assert.deepStrictEqual([...new Set(names)].filter((name) => !owed[who]!.includes(name)), [], "only expected events are sent")
    assert.deepStrictEqual(outOfOrder(names), [], "a shipment's events are sent in order")
    if (state[who] !== "removed") assert.deepStrictEqual(owed[who]!.filter((name) => !names.includes(name)), [], "all expected events arrive")
  }
  const bodies = new Map<string, string>()
  for (const request of requests) {
    const id = request.headers["webhook-id"]!
    const body = new TextDecoder().decode(request.body)
    assert.strictEqual(bodies.get(id) ?? body, body, "the same id has the same bytes")
    bodies.set(id, body)
    assert.isTrue(signedBy.some((secret) => verifySignature(secret, request)), "every request is signed")
  }
  for (const delivery of yield* list({ limit: 500 })) {
    const owner = subscribed.findIndex((each) => each.id === delivery.subscriptionId)
    assert.include(state[owner] === "removed" ? ["delivered", "cancelled"] : ["delivered"], delivery.state)
  }
})

describe("random operations", () => {
  it.effect.prop(
    "deliver every event at least once, in its shipment's order, to its own customer only",
    [listOf(step, 1, 60)],
    ([steps]) => inEngine(live(steps)),
    { timeout: 120_000, arbitrary: { runs: 40, size: 60, maxShrinks: 200 } }
  )
})
