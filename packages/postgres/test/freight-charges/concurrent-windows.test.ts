/** Charges and windows concurrent with cancellations, closers and retention. */
import { layer } from "@effect/vitest"
import { Transaction } from "@waybill/core"
import { DeliveryQueue } from "@waybill/core/delivery"
import { ChargeSubscriptionStore, FreightBillStore } from "@waybill/core/freight-charges"
import { chargeFixtures, fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { openTransaction, runBlocked, untilOneIsBlocked } from "../OpenTransaction.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { pauseNextRead } from "../PausedReads.ts"

const { publishBills, subscribeToCharges } = chargeFixtures
const { freshTenant, idOf, letSee } = fixtures
const { drain } = workerFixtures
const schema = freshSchema()
const count = (table: string, tenantId: string) => Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(sql.unsafe<{ n: number }>(`SELECT count(*)::int AS n FROM "${schema}".${table} WHERE tenant_id = '${tenantId}'`), ([each]) => each!.n))

layer(testStorage(schema), { excludeTestServices: true })("concurrent calls on charges", (it) => {
  it.effect("a cancellation and a publishing call leave no collected bill, and nothing that a worker would send", Effect.fnUntraced(function*() {
    const store = yield* ChargeSubscriptionStore
    const queue = yield* DeliveryQueue
    const transaction = yield* Transaction
    for (const window of [undefined, (now: number) => ({ closesAt: now + 1000, following: now + 2000 })]) {
      for (const cancelsFirst of [false, true]) {
        const tenantId = freshTenant()
        yield* letSee(tenantId, "client", ["A"])
        yield* subscribeToCharges(tenantId, { source: window === undefined ? "freight-charges" : "freight-charge-windows" })
        const cancel = transaction.run(Effect.andThen(store.cancel(tenantId, "client", idOf(1)), queue.closeDestination(tenantId, idOf(1))))
        const publish = Effect.asVoid(publishBills(tenantId, [{ billId: "B" }], window === undefined ? {} : { window }))
        yield* runBlocked(cancelsFirst ? cancel : publish, cancelsFirst ? publish : cancel)
        assert.strictEqual(yield* count("freight_charge_collected", tenantId), 0)
        if (cancelsFirst) assert.strictEqual(yield* count("delivery_entries", tenantId), 0)
        assert.deepStrictEqual((yield* drain(tenantId)).sent, [])
      }
    }
  }))

  it.effect("two closers close one window once", Effect.fnUntraced(function*() {
    const store = yield* ChargeSubscriptionStore
    const tenantId = freshTenant()
    yield* letSee(tenantId, "client", ["A"])
    yield* subscribeToCharges(tenantId, { source: "freight-charge-windows" })
    const window = (now: number) => ({ closesAt: 1_763_600_000_000, following: now + 3_600_000 })
    yield* publishBills(tenantId, [{ billId: "B" }], { window })
    const commit = yield* openTransaction(publishBills(tenantId, [{ billId: "C" }], { window }))
    const one = yield* Effect.forkChild(store.closeWindows(tenantId))
    const two = yield* Effect.forkChild(store.closeWindows(tenantId))
    yield* untilOneIsBlocked
    yield* commit
    const closed = (yield* Fiber.join(one)).closed + (yield* Fiber.join(two)).closed
    assert.deepStrictEqual([closed, yield* count("freight_charge_windows", tenantId), yield* count("delivery_entries", tenantId), yield* count("freight_charge_collected", tenantId)], [1, 1, 1, 0])
  }))

  it.effect("windows of subscriptions that a transaction has locked delay no others, and close after it", Effect.fnUntraced(function*() {
    const store = yield* ChargeSubscriptionStore
    const tenantId = freshTenant()
    const window = (now: number) => ({ closesAt: 1_763_600_000_000, following: now + 3_600_000 })
    for (const [n, account] of [[1, "A"], [2, "B"]] as const) {
      yield* letSee(tenantId, `client ${n}`, [account])
      yield* subscribeToCharges(tenantId, { n, client: `client ${n}`, accounts: [account], source: "freight-charge-windows" })
      yield* publishBills(tenantId, [{ billId: `${account}1`, accounts: [account] }], { window })
    }
    const commit = yield* openTransaction(publishBills(tenantId, [{ billId: "A2" }], { window }))
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 1, more: true })
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 0, more: false })
    assert.include((yield* store.windowsDue({ after: undefined, limit: 100_000 })).tenantIds, tenantId)
    yield* commit
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 1, more: true })
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 0, more: false })
  }))

  it.effect("a bill that is reported again while it is pruned stays", Effect.fnUntraced(function*() {
    const store = yield* FreightBillStore
    const tenantId = freshTenant()
    yield* publishBills(tenantId, [{ billId: "B", state: "removed", accounts: [] }])
    yield* Effect.flatten(pauseNextRead(schema, "freight_bills"))
    yield* store.beginning(tenantId, ["B"], 1)
    const commit = yield* openTransaction(publishBills(tenantId, [{ billId: "B" }]))
    const resume = yield* pauseNextRead(schema, "freight_bills")
    const pruning = yield* Effect.forkChild(store.prune(tenantId, { ended: Date.now() + 60_000, noticed: 0 }))
    yield* untilOneIsBlocked
    yield* commit
    yield* resume
    yield* Fiber.join(pruning)
    assert.deepStrictEqual((yield* store.beginning(tenantId, ["B"], 1)).map(({ state, version }) => [state, version]), [["open", 2]])
    assert.strictEqual((yield* store.open(tenantId, ["A"], { after: undefined, limit: 1000 })).length, 1)
  }))
})
