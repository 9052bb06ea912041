/**
 * Concurrent publishers, new subscriptions, cancellations, changes of accounts, window closers and workers, some of them rolled
 * back or interrupted. The received notifications are then compared with the stored rows.
 */
import { layer } from "@effect/vitest"
import { AttemptOutcome, withdrawnReason } from "@waybill/core/delivery"
import { Receiver, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Layer, References, Stream } from "effect"
import { assert } from "vitest"
import { rowsIn, testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { accountsOf, makeConcurrentCalls, shortWindows, CallRecords } from "./ConcurrentCharges.ts"
import {
  type Closed,
  type Collected,
  BillHistory,
  assertInOrder,
  assertEachVersionOnce,
  assertOnlyOwnCharges,
  assertWindows,
  receivedBy,
  type ObservedSubscription
} from "./ReceivedCharges.ts"

const schema = freshSchema()

const service = testService(shortWindows.pipe(Layer.provideMerge(testStorage(schema)), Layer.provideMerge(CallRecords.layer)), { pollMillis: 50, attemptTimeoutMillis: 400, leaseMillis: 800 })

const rows = rowsIn(schema)

/** How much work of each kind is waiting. */
const pendingWork = Effect.map(
  rows<{ readonly kind: string; readonly count: number }>(`
    SELECT 'windows' AS kind, count(*)::int4 AS count FROM @freight_charge_subscriptions WHERE closes_at IS NOT NULL
    UNION ALL SELECT 'changes for a window', count(*)::int4 FROM @freight_charge_collected
    UNION ALL SELECT 'entries', count(*)::int4 FROM @delivery_entries
    UNION ALL SELECT 'signals', count(*)::int4 FROM @delivery_signals
    UNION ALL SELECT 'flights', count(*)::int4 FROM @delivery_flights
    UNION ALL SELECT 'deliveries', count(*)::int4 FROM @deliveries JOIN @delivery_destinations AS l USING (tenant_id, destination_id)
      WHERE deliveries.state IN ('sending', 'waiting') AND l.state <> 'closed'`),
  (found) => Object.fromEntries(found.flatMap(({ count, kind }) => count === 0 ? [] : [[kind, count]]))
)

/** Polls until no work is waiting, or nothing of it has changed for ten seconds. */
const untilIdle = Effect.gen(function*() {
  let pending = yield* pendingWork
  for (let unchanged = 0; Object.keys(pending).length > 0; unchanged++) {
    if (unchanged === 200) return assert.deepStrictEqual(pending, {}, "no work has been done for ten seconds")
    yield* Effect.sleep(50)
    const now = yield* pendingWork
    if (JSON.stringify(now) !== JSON.stringify(pending)) unchanged = 0
    pending = now
  }
})

/** Workers that start and stop, and sometimes lose answers. */
const workers = Effect.forEach([0, 1, 2], (n) =>
  Effect.forever(Effect.scoped(Effect.gen(function*() {
    const { faults, run } = yield* TestWaybill.worker()
    yield* run
    for (const call of ["settle", "take", "acquire"] as const) {
      yield* Effect.sleep(150 + 70 * n)
      yield* faults.break(call, n === 0 ? "before" : "after")
    }
    yield* Effect.sleep(300)
  }))), { concurrency: "unbounded" })

interface SubscriptionRow {
  readonly id: string
  readonly client: string
  readonly doc: string
  readonly live: boolean
}

const observe = Effect.fnUntraced(function*(row: SubscriptionRow, { principal, subscriptions }: Effect.Success<typeof makeConcurrentCalls>) {
  const settings = JSON.parse(row.doc)
  const { accounts, hasFixedAccounts } = accountsOf(row.client)
  const requests = yield* (yield* ScriptedReceivers).requests(settings.webhookUrl)
  const withdrawn = new Set((yield* rows<{ readonly id: string }>("SELECT delivery_id AS id FROM @deliveries WHERE destination_id = $1::uuid AND reason = $2", [row.id, withdrawnReason])).map(({ id }) => id))
  const bodies = new Map<string, string>()
  for (const { body, headers } of requests) {
    const text = new TextDecoder().decode(body)
    assert.strictEqual(bodies.get(headers["webhook-id"]!) ?? text, text, "every attempt of a delivery has the same body")
    bodies.set(headers["webhook-id"]!, text)
  }
  return {
    id: row.id,
    url: settings.webhookUrl,
    live: row.live,
    realTime: settings.frequency === "real_time",
    impactsOnly: settings.dataOptions.shipmentDataType === "revenue_impacts_only",
    log: settings.includeEventLog && settings.dataOptions.eventType !== "no_events",
    accounts: new Set(settings.billScope === "all_accounts" ? accounts : settings.accounts as ReadonlyArray<string>),
    hasFixedAccounts,
    lifetime: (yield* CallRecords).lifetimes.get(settings.webhookUrl)!,
    inFlight: `[${(yield* Stream.runCollect(yield* subscriptions.inFlight(principal(row.client), row.id))).map((bill) => new TextDecoder().decode(bill)).join()}]`,
    deliveries: Array.from(bodies, ([id, body]) => ({ body, isWithdrawn: withdrawn.has(id) }))
  } satisfies ObservedSubscription
})

const closedOf = (id: string) =>
  rows<Closed>(
    `SELECT (extract(epoch FROM w.closed_at) * 1000)::float8 AS "closedAt", (
       SELECT string_agg(convert_from(n.body, 'UTF8'), ',' ORDER BY c.place)
       FROM unnest(w.notices) WITH ORDINALITY AS c (notice_no, place)
       JOIN @freight_charge_notices AS n ON n.tenant_id = w.tenant_id AND n.notice_no = c.notice_no
     ) AS body
     FROM @freight_charge_windows AS w
     WHERE w.subscription_id = $1::uuid ORDER BY w.closed_at, w.window_no`,
    [id]
  )

layer(service, { excludeTestServices: true })("freight charges under concurrent calls", (it) => {
  it.effect("send every version once to its debtor, in real time or in one window, and to no other client", Effect.fnUntraced(function*() {
    const records = yield* CallRecords
    const receivers = yield* ScriptedReceivers
    // lost answers, after which deliveries are sent again; their clients may have lost accounts meanwhile
    const lost = Effect.as(Effect.sleep(200), AttemptOutcome.Interrupted({}))
    let requests = 0
    yield* receivers.scriptOthers((request) => requests++ % 8 === 0 ? lost : Receiver.delay(request.body.length % 13)(request))
    const calls = yield* makeConcurrentCalls
    const working = yield* Effect.forkChild(workers)
    const closing = yield* Effect.forkChild(calls.closers)
    yield* calls.run
    // a worker that stays finishes what those have begun: every takeover delays deliveries
    yield* Fiber.interrupt(working)
    const finishing = yield* Effect.forkChild(Effect.scoped(Effect.flatMap(TestWaybill.worker(), ({ run }) => Effect.andThen(run, Effect.never))))
    yield* untilIdle
    yield* Fiber.interrupt(closing)
    yield* Fiber.interrupt(finishing)

    assert.deepStrictEqual(records.failures, [])
    assert.deepStrictEqual(yield* rows("SELECT state_reason FROM @delivery_destinations WHERE state NOT IN ('active', 'closed')"), [])
    const histories = new Map((yield* rows<{ readonly bill_id: string; readonly state: string; readonly doc: string }>(
      "SELECT bill_id, state, doc FROM @freight_bills WHERE version > 0"
    )).map((each) => [each.bill_id, new BillHistory(each.bill_id, each.state, each.doc)]))
    for (const each of records.acknowledged) {
      const version = histories.get(each.bill)!.at(each.version)!
      if (version.report !== undefined) assert.strictEqual(version.report, each.report)
    }
    const notices = new Map((yield* rows<{ readonly notice_id: string; readonly bill_id: string; readonly version: number; readonly noLongerDebtor: boolean }>(
      `SELECT notice_id, bill_id, version, strpos(convert_from(body, 'UTF8'), 'no longer the debtor') > 0 AS "noLongerDebtor" FROM @freight_charge_notices`
    )).map((each) => [each.notice_id, each]))
    const observed = yield* Effect.forEach(
      yield* rows<SubscriptionRow>("SELECT id, client, doc, cancelled_at IS NULL AS live FROM @freight_charge_subscriptions"),
      (row) => observe(row, calls)
    )
    const counts = { versions: 0, received: 0, noLongerDebtor: 0 }
    for (const subscription of observed) {
      assertOnlyOwnCharges(subscription, histories, records.reports)
      assertInOrder(subscription)
      const queued = records.queued.filter((each) => each.subscriptionId === subscription.id && notices.has(each.noticeId))
        .map((each) => ({ ...notices.get(each.noticeId)!, window: each.window, bill: notices.get(each.noticeId)!.bill_id }))
        .toSorted((a, b) => a.version - b.version)
      if (subscription.hasFixedAccounts) assertEachVersionOnce(subscription, histories, records.acknowledged, subscription.realTime ? receivedBy(subscription) : queued)
      if (!subscription.realTime) assertWindows(subscription, yield* closedOf(subscription.id), queued satisfies ReadonlyArray<Collected>)
      counts.received += receivedBy(subscription).length
      counts.noLongerDebtor += receivedBy(subscription).filter((each) => each.noLongerDebtor).length
    }
    for (const history of histories.values()) counts.versions += history.versions.length
    // enough calls succeeded
    assert.isAbove(counts.versions, 300)
    assert.isAbove(counts.received, 500)
    assert.isAbove(counts.noLongerDebtor, 100)
  }, Effect.provideService(References.MinimumLogLevel, "None")), 120_000)
})
