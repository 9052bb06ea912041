/** Charges while access, windows and suspensions change concurrently. */
import { layer } from "@effect/vitest"
import { AccessStore, FreightChargeIntake, Subscriptions } from "@waybill/core"
import { DeliveryQueue, type TakenDelivery } from "@waybill/core/delivery"
import { ChargeSubscriptions, ChargeSubscriptionStore, FreightBillStore } from "@waybill/core/freight-charges"
import { chargeFixtures, fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Fiber, Option } from "effect"
import * as Clock from "effect/Clock"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { countBlocked, openTransaction, runBlocked, untilOneIsBlocked } from "../OpenTransaction.ts"
import { taggedCharge } from "./TaggedCharges.ts"
import { testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { publishBills, subscribeToCharges } = chargeFixtures
const { freshTenant, idOf, letSee, textOf } = fixtures
const { acquire, changeOf, drain, outcomeOf, settle, takeFrom } = workerFixtures

const schema = freshSchema()

const toAllAccounts = {
  webhookUrl: "https://receiver.example/pfc",
  accounts: ["A"],
  dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
  frequency: "real_time",
  includeEventLog: false,
  billScope: "all_accounts"
} as const

const service = testService(testStorage(schema), {})

layer(service, { excludeTestServices: true })("concurrent calls on freight charges", (it) => {
  it.effect("a resumed subscription sends dead letters of the time while it was being resumed", Effect.fnUntraced(function*() {
    const queue = yield* DeliveryQueue
    const subscriptions = yield* Subscriptions
    const store = yield* ChargeSubscriptionStore
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    yield* subscribeToCharges(tenantId, { doc: JSON.stringify({ webhookUrl: "https://receiver.example/pfc", frequency: "real_time", dataOptions: {} }) })
    yield* publishBills(tenantId, [{ billId: "ONE" }, { billId: "TWO" }])
    const worker = yield* acquire(tenantId)
    const [one, two] = (yield* takeFrom(worker)).deliveries
    const dead = (delivery: TakenDelivery) =>
      settle(worker, { outcomes: [outcomeOf(delivery, { state: "dead" })], destinations: [changeOf(1, { pause: "A delivery was not accepted.", always: true })] })
    yield* dead(one!)
    // the second one ends as the destination is resumed
    yield* runBlocked(dead(two!), subscriptions.resume(tenantId, idOf(1)))
    const stateOf = ({ deliveryId }: TakenDelivery) => Effect.map(queue.find(tenantId, deliveryId), (found) => Option.getOrThrow(found).state)
    const status = Option.getOrThrow(yield* store.findAny(tenantId, idOf(1))).destination!.state
    assert.deepStrictEqual([status, yield* stateOf(one!), yield* stateOf(two!)], ["active", "waiting", "waiting"])
  }))

  it.effect("a subscription to all accounts lists or receives bills of an account that its client gets meanwhile", Effect.fnUntraced(function*() {
    const bills = yield* FreightBillStore
    const store = yield* ChargeSubscriptionStore
    const subscriptions = yield* ChargeSubscriptions
    const access = yield* AccessStore
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    // a call that changes bills of A is running
    const commit = yield* openTransaction(bills.gate(tenantId, ["A"]))
    const principal = { tenantId, client: "client", roles: ["customer"], accounts: ["A"], origin: "key" } as const
    const subscribing = yield* Effect.forkChild(subscriptions.create(principal, toAllAccounts))
    yield* untilOneIsBlocked
    const granting = yield* Effect.forkChild(Effect.andThen(
      access.putClientAccess(tenantId, { client: "client", origin: "token", seesAll: false, accounts: ["X"] }),
      publishBills(tenantId, [{ billId: "OF X", accounts: ["X"] }])
    ))
    // it has either finished or waits as well
    yield* fixtures.eventually(
      Effect.all([countBlocked, Effect.map(bills.beginning(tenantId, ["OF X"], 1), (found) => found.length)]),
      ([waiting, stored]) => waiting > 1 || stored > 0
    )
    yield* commit
    const { subscriptionId } = yield* Fiber.join(subscribing)
    yield* Fiber.join(granting)
    const listed = (yield* store.inFlight(tenantId, "client", subscriptionId, { after: undefined, limit: 1000, bytes: 1e9 })).map(({ body }) => textOf(body))
    const sent = (yield* drain(tenantId)).sent.map(({ body }) => textOf(body))
    assert.deepStrictEqual([...listed, ...sent], ["OF X/1"])
  }))

  it.effect("bills of its accounts are changed while a subscription copies its list, which has or receives each version", Effect.fnUntraced(function*() {
    const intake = yield* FreightChargeIntake
    const store = yield* ChargeSubscriptionStore
    const subscriptions = yield* ChargeSubscriptions
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    const carrier = { tenantId, client: "carrier", roles: ["carrier"], accounts: [], origin: "key" } as const
    const customer = { tenantId, client: "client", roles: ["customer"], accounts: ["A"], origin: "key" } as const
    let reports = 0
    const report = (...changes: ReadonlyArray<readonly [change: "created" | "updated" | "final", bill: string, account?: string]>) =>
      intake.report(carrier, changes.map(([change, bill, account = "A"]) => ({ change, accounts: [account], pfc: taggedCharge(++reports, bill, account) })) as never)
    yield* report(["created", "KEPT"], ["created", "CHANGED"], ["created", "MOVED"], ["created", "ENDED"])
    const sql = yield* PgClient.PgClient
    const commit = yield* openTransaction(sql.unsafe(`LOCK TABLE "${schema}".freight_charge_in_flight IN SHARE MODE`))
    const subscribing = yield* Effect.forkChild(subscriptions.create(customer, toAllAccounts))
    yield* untilOneIsBlocked
    yield* report(["updated", "CHANGED"], ["updated", "MOVED", "X"], ["final", "ENDED"], ["created", "NEW"])
    yield* commit
    const { subscriptionId } = yield* Fiber.join(subscribing)
    yield* report(["updated", "KEPT"])
    const versionIn = (body: Uint8Array) => textOf(body).match(/"uniqueID":"(\w+)"/u)![1]! + textOf(body).match(/"function":"PFC(\d+)"/u)![1]!
    const listed = (yield* store.inFlight(tenantId, "client", subscriptionId, { after: undefined, limit: 1000, bytes: 1e9 })).map(({ body }) => versionIn(body))
    const sent = (yield* drain(tenantId)).sent.map(({ body }) => versionIn(body))
    assert.deepStrictEqual([listed, sent], [["CHANGED2", "KEPT1", "NEW1"], ["KEPT2"]])
  }), 20_000)

  it.effect("a window that becomes due between two reads is reported", Effect.fnUntraced(function*() {
    const store = yield* ChargeSubscriptionStore
    const sql = yield* PgClient.PgClient
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    yield* subscribeToCharges(tenantId, { source: "freight-charge-windows" })
    let closesAt = Infinity
    yield* publishBills(tenantId, [{ billId: "B" }], { window: (now) => ({ closesAt: closesAt = now + 1000, following: now + 9_000_000 }) })
    const commit = yield* openTransaction(sql.unsafe(`LOCK TABLE "${schema}".freight_charge_subscriptions IN ACCESS EXCLUSIVE MODE`))
    const looking = yield* Effect.forkChild(store.windowsDue({ after: undefined, limit: 100 }))
    yield* untilOneIsBlocked
    yield* fixtures.eventually(Clock.currentTimeMillis, (now) => now > closesAt)
    yield* commit
    const { nextDueInMillis, tenantIds } = yield* Fiber.join(looking)
    assert.isTrue(tenantIds.includes(tenantId) || nextDueInMillis !== undefined && nextDueInMillis <= 1000, `${tenantIds} ${nextDueInMillis}`)
  }))
})
