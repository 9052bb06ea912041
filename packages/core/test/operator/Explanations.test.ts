import { assert, describe, it } from "@effect/vitest"
import { Explanations, FreightChargeIntake, ShipmentIntake, Subscriptions, type VerdictName, type WaitReason } from "@waybill/core"
import { DeliveryQueue } from "@waybill/core/delivery"
import { ChargeWindows } from "@waybill/core/freight-charges"
import { postedShipment, Receiver, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { change } from "../freight-charges/Charges.ts"
import { hook, inEngine, makeEngine } from "../delivery/Engine.ts"
import { untyped } from "../untyped.ts"

const explain = (query: Readonly<Record<string, string>>) => Effect.flatMap(Explanations, (all) => all.explain("acme", untyped(query)))

type Engine = Effect.Success<ReturnType<typeof makeEngine>>

interface Case {
  readonly name: string
  readonly verdict: VerdictName
  readonly waitingFor?: WaitReason
  readonly rule?: string
  readonly policy?: Readonly<Record<string, number>>
  /** Brings event E of shipment S into the state of the case. */
  readonly when: (engine: Engine) => Effect.Effect<unknown, any, any>
}

const publishE = (engine: Engine, overrides = {}) => engine.publishEvent("S", { eventId: "E", ...overrides })

const failing = (engine: Engine) => engine.receivers.script(hook, Receiver.fail(503))

/** Runs the worker for this time, then stops it. */
const worked = (time: "1 second" | "5 seconds" | "1 minute" | "1 hour") => Effect.scoped(Effect.andThen(TestWaybill.run, TestWaybill.pass(time)))

const once = { batchMaxSize: 1, maxAttempts: 9, initialBackoffSeconds: 600, maxBackoffSeconds: 600 }

const cases: ReadonlyArray<Case> = [
  { name: "was accepted", verdict: "delivered", when: (engine) => Effect.andThen(publishE(engine), worked("1 second")) },
  {
    name: "is being sent",
    verdict: "in_flight",
    when: (engine) => Effect.gen(function*() {
      yield* engine.receivers.script(hook, Receiver.hang)
      yield* publishE(engine)
      yield* TestWaybill.run
      yield* TestWaybill.pass("1 second")
    })
  },
  { name: "waits for a worker", verdict: "waiting", waitingFor: "turn", when: publishE },
  {
    name: "waits for an earlier event of its shipment",
    verdict: "waiting",
    waitingFor: "order",
    rule: "order",
    when: (engine) => Effect.andThen(engine.publishEvent("S", { eventId: "D" }), publishE(engine))
  },
  {
    name: "waits for the rate",
    verdict: "waiting",
    waitingFor: "rate",
    rule: "rateLimitPerMinute",
    policy: { batchMaxSize: 1, rateLimitPerMinute: 1 },
    when: (engine) => Effect.gen(function*() {
      yield* engine.publish("A")
      yield* worked("1 second")
      yield* publishE(engine)
    })
  },
  {
    name: "waits for its next attempt",
    verdict: "waiting",
    waitingFor: "retry",
    rule: "attempt",
    policy: once,
    when: (engine) => Effect.andThen(failing(engine), Effect.andThen(publishE(engine), worked("1 second")))
  },
  {
    name: "waits for the breaker",
    verdict: "waiting",
    waitingFor: "breaker",
    rule: "breaker",
    policy: once,
    when: (engine) => Effect.gen(function*() {
      yield* failing(engine)
      yield* engine.publish("A", "B", "C", "F", "G", "H")
      yield* worked("5 seconds")
      yield* publishE(engine)
    })
  },
  {
    name: "waits until it is resumed",
    verdict: "waiting",
    waitingFor: "paused",
    rule: "state",
    when: (engine) => Effect.gen(function*() {
      yield* (yield* Subscriptions).pause("acme", engine.subscription.id, { reason: "Unpaid." })
      yield* publishE(engine)
    })
  },
  {
    name: "used up its attempts",
    verdict: "dead",
    rule: "maxAttempts",
    policy: { maxAttempts: 1 },
    when: (engine) => Effect.andThen(failing(engine), Effect.andThen(publishE(engine), worked("1 second")))
  },
  {
    name: "was purged",
    verdict: "dropped",
    rule: "dropped",
    when: (engine) => Effect.andThen(publishE(engine), Effect.flatMap(Subscriptions, (all) => all.purge("acme", engine.subscription.id)))
  },
  {
    name: "was replayed at the time when it was purged",
    verdict: "delivered",
    when: (engine) => Effect.gen(function*() {
      const subscriptions = yield* Subscriptions
      yield* publishE(engine)
      yield* subscriptions.purge("acme", engine.subscription.id)
      yield* subscriptions.replay("acme", engine.subscription.id, { from: "1970-01-01T00:00:00Z" })
      yield* worked("1 second")
    })
  },
  {
    name: "was published before the client could see its shipment, also if others were purged",
    verdict: "not_matched",
    rule: "time of the event",
    when: (engine) => Effect.gen(function*() {
      yield* engine.publish("OTHER")
      yield* (yield* Subscriptions).purge("acme", engine.subscription.id)
      yield* publishE(engine, { accounts: ["B"] })
      yield* engine.publishEvent("S", { eventId: "F" })
    })
  },
  {
    name: "has a type that the filter excludes",
    verdict: "not_matched",
    rule: "eventTypes",
    when: (engine) => Effect.andThen(engine.patch({ filters: { eventTypes: ["DELIVERED"] } }), publishE(engine))
  },
  {
    name: "belongs to a shipment that the filter excludes",
    verdict: "not_matched",
    rule: "shipmentIds",
    when: (engine) => Effect.andThen(engine.patch({ filters: { shipmentIds: ["OTHER"] } }), publishE(engine))
  },
  { name: "has an account that the client lacks", verdict: "not_visible", rule: "access", when: (engine) => publishE(engine, { accounts: ["B"] }) }
]

describe("Explanations", () => {
  for (const { policy, rule, name, verdict, waitingFor, when } of cases) {
    it.effect(`give the verdict ${verdict}${waitingFor === undefined ? "" : ` for ${waitingFor}`} if the event ${name}`, () =>
      inEngine(Effect.gen(function*() {
        const engine = yield* makeEngine(policy === undefined ? {} : { policy })
        yield* when(engine)
        const explanation = yield* explain({ subscriptionId: engine.subscription.id, eventId: "E" })
        assert.deepStrictEqual([explanation.verdict, explanation.waitingFor], [verdict, waitingFor ?? null], JSON.stringify(explanation))
        assert.deepStrictEqual(explanation.reasons.map((each) => each.rule), rule === undefined ? [] : [rule])
        if (verdict === "not_matched" || verdict === "not_visible") return
        assert.strictEqual((yield* explain({ subscriptionId: engine.subscription.id, shipmentId: "S" })).verdict, verdict)
      }) as Effect.Effect<void>))
  }

  it.effect("give the verdict waiting for access if the client or the tenant has none", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* publishE(engine)
    const queue = yield* DeliveryQueue
    const destinations = queue.destinations("acme", { state: undefined, after: undefined, limit: 1 })
    const { verdictOf } = yield* Effect.promise(() => import("../../src/operator/Verdict.ts"))
    const [destination] = (yield* destinations).destinations
    const trace = { now: 0, waiting: true, behind: false, deliveries: [], recent: [], dropped: undefined }
    assert.deepInclude(verdictOf({ ...destination!, held: true }, trace), { verdict: "waiting", waitingFor: "access" })
  }, inEngine))

  it.effect("say that the shipment has no accounts if no event has named any", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* publishE(engine, { accounts: [] })
    const { reasons, verdict } = yield* explain({ subscriptionId: engine.subscription.id, eventId: "E" })
    assert.deepStrictEqual([verdict, reasons.length], ["not_visible", 1])
    assert.match(reasons[0]!.actual, /^the shipment has no accounts, .* parties /u)
  }, inEngine))

  it.effect("are refused for an empty id or number", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    for (const name of ["eventId", "shipmentId", "pro", "pickupId"]) {
      for (const value of ["", "  "]) {
        const refused = yield* Effect.flip(explain({ subscriptionId: engine.subscription.id, [name]: value }))
        assert.strictEqual(refused._tag, "InvalidInput")
        assert.include(refused.message, `${name} is empty. Give the id or number to explain.`)
      }
    }
    const withoutSubscription = yield* Effect.flip(explain({ subscriptionId: "", eventId: "E" }))
    assert.deepStrictEqual(withoutSubscription._tag === "InvalidInput" && withoutSubscription.faults.map(({ pointer }) => pointer), ["/subscriptionId"])
  }, inEngine))

  it.effect("give the verdict before_subscription for earlier events", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* publishE(engine)
    yield* TestWaybill.pass("1 minute")
    const later = yield* TestWaybill.subscribe(engine.tenant, engine.customer, { endpointUrl: hook })
    const explanation = yield* explain({ subscriptionId: later.id, eventId: "E" })
    assert.deepStrictEqual([explanation.verdict, explanation.reasons.map((each) => each.rule)], ["before_subscription", ["createdAt"]])
  }, inEngine))

  it.effect("return the deliveries of the subject, newest first, with the receiver's status", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* publishE(engine)
    yield* worked("1 second")
    const [delivery] = yield* engine.list()
    const { deliveries } = yield* explain({ subscriptionId: engine.subscription.id, eventId: "E" })
    assert.deepStrictEqual(deliveries.map(({ attempts, deliveryId, lastStatus, state }) => ({ attempts, deliveryId, lastStatus, state })), [
      { attempts: 1, deliveryId: delivery!.deliveryId, lastStatus: 200, state: "delivered" }
    ])
  }, inEngine))

  it.effect("explain shipment statuses by shipmentId and PRO", Effect.fnUntraced(function*() {
    const { subscription, tenant } = yield* makeEngine()
    const follower = tenant.customer("follower", ["A"])
    const stranger = tenant.customer("stranger", ["Z"])
    const shipment = postedShipment("S", { accounts: ["A"], ShipmentMilestoneStatus: "In Transit" })
    const pro = shipment.ProNumber
    const follow = (principal: typeof follower, reference: string) => TestWaybill.follow(principal, { referenceNumbers: [reference], webhookUrl: hook })
    const [mine, other, foreign] = [yield* follow(follower, pro), yield* follow(follower, "9999"), yield* follow(stranger, pro)]
    yield* (yield* ShipmentIntake).report(tenant.carrier, { shipments: [shipment] })
    for (const query of [{ shipmentId: "S" }, { pro }]) {
      const of = ({ transactionId }: typeof mine) => Effect.map(explain({ subscriptionId: transactionId, ...query } as Record<string, string>), ({ verdict }) => verdict)
      assert.deepStrictEqual([yield* of(mine), yield* of(other), yield* of(foreign)], ["waiting", "not_matched", "not_visible"])
    }
    assert.strictEqual((yield* explain({ subscriptionId: subscription.id, shipmentId: "S" })).verdict, "not_matched")
    yield* worked("1 second")
    assert.strictEqual((yield* explain({ subscriptionId: mine.transactionId, pro })).verdict, "delivered")
  }, inEngine))

  it.effect("explain freight charges by PRO and bill, sent immediately or in a window", Effect.fnUntraced(function*() {
    const { receivers, tenant } = yield* makeEngine()
    yield* receivers.script(hook, Receiver.accept())
    const subscribe = (client: string, account: string, more = {}) =>
      TestWaybill.subscribeToCharges(tenant.customer(client, [account]), {
        webhookUrl: hook, accounts: [account], dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" }, ...more
      })
    const [atOnce, hourly, foreign] = [yield* subscribe("one", "A"), yield* subscribe("two", "A", { frequency: "hourly" }), yield* subscribe("three", "Z")]
    yield* (yield* FreightChargeIntake).report(tenant.carrier, untyped({ charges: [change("created", { uniqueID: "041-8367745", account: "A", accounts: ["A"] })] }))
    const verdicts = Effect.forEach([atOnce, hourly, foreign], ({ subscriptionId }) =>
      Effect.map(explain({ subscriptionId, shipmentId: "041-8367745" }), ({ verdict, waitingFor }) => `${verdict} ${waitingFor}`))
    assert.deepStrictEqual(yield* verdicts, ["waiting turn", "waiting turn", "not_matched null"])
    yield* Effect.scoped(Effect.gen(function*() {
      yield* Effect.forkScoped((yield* ChargeWindows).run)
      yield* worked("1 hour")
    }))
    yield* worked("1 minute")
    assert.deepStrictEqual(yield* verdicts, ["delivered null", "delivered null", "not_matched null"])
  }, inEngine))

  it.effect("find a bill whose uniqueID does not begin with its PRO by the uniqueID, and say so to those who ask for the PRO", Effect.fnUntraced(function*() {
    const { tenant } = yield* makeEngine()
    const { subscriptionId } = yield* TestWaybill.subscribeToCharges(tenant.customer("one", ["A"]), { webhookUrl: hook })
    const bill = change("created", { uniqueID: "BILL-7", account: "A", more: { referenceNumbers: { pro: "041-8367745" } } })
    yield* (yield* FreightChargeIntake).report(tenant.carrier, untyped({ charges: [bill] }))
    const error = yield* Effect.flip(explain({ subscriptionId, pro: "041-8367745" }))
    assert.include(error.message, "found by its uniqueID only")
    assert.strictEqual((yield* explain({ subscriptionId, shipmentId: "BILL-7" })).verdict, "waiting")
  }, inEngine))

  it.effect("refuse a query with no subject or several, and fail for unknown subjects", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    yield* publishE(engine)
    const subscriptionId = engine.subscription.id
    for (const query of [{ subscriptionId }, { subscriptionId, eventId: "E", shipmentId: "S" }, { eventId: "E" }]) {
      assert.strictEqual((yield* Effect.flip(explain(query as Record<string, string>)))._tag, "InvalidInput")
    }
    for (const id of ["x", "0199ffff-0000-7000-8000-00000000d000"]) {
      assert.strictEqual((yield* Effect.flip(explain({ subscriptionId: id, eventId: "E" })))._tag, "DestinationNotFound")
    }
    for (const query of [{ eventId: "none" }, { shipmentId: "none" }, { pro: "none" }]) {
      assert.strictEqual((yield* Effect.flip(explain({ subscriptionId, ...query } as Record<string, string>)))._tag, "ShipmentNotFound")
    }
  }, inEngine))
})
