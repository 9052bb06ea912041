/** Everything that happens to freight charges, all at once: on real storage, with some of it taken back or cut short. */
import {
  AccessStore,
  ChargeSubscriptions,
  ChargeSubscriptionStore,
  ChargeWindows,
  type ChargeNotification,
  FreightBillStore,
  FreightChargeIntake,
  type Principal,
  StorageError,
  Transaction
} from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Context, Data, Effect, Layer } from "effect"
import { type Json, markedCharge, marksIn, withLog } from "./MarkedCharges.ts"

class TakenBack extends Data.TaggedError("TakenBack")<{}> {}

const windowMillis = 300

const account = (n: number): string => `acct-${String(n).padStart(2, "0")}`
const accounts = Array.from({ length: 12 }, (_, n) => account(n))
const bills = Array.from({ length: 30 }, (_, n) => `BILL${String(n).padStart(2, "0")}`)

/** Clients that keep what they have, so that it is known what they must be told. */
const settled: Readonly<Record<string, ReadonlyArray<string>>> = {
  one: [0, 1].map(account),
  two: [2, 3, 4].map(account),
  three: [0, 5].map(account),
  four: [6, 7, 8].map(account),
  five: [9].map(account),
  six: [1, 2, 10].map(account),
  ten: [0, 2, 4, 6, 8, 10].map(account),
  eleven: [1, 3, 5, 7, 9, 11].map(account),
  twelve: accounts
}

/** Clients that get and lose some of these. */
const moving: Readonly<Record<string, ReadonlyArray<string>>> = {
  seven: [3, 6, 9].map(account),
  eight: [0, 4].map(account),
  nine: [7, 11].map(account)
}

/** What a client may ever have had, and whether that is always the same. */
export const holdings = (client: string): { readonly accounts: ReadonlyArray<string>; readonly settled: boolean } =>
  client in settled ? { accounts: settled[client]!, settled: true } : { accounts: moving[client]!, settled: false }

export interface Report {
  readonly bill: string
  /** What it says besides its own log entry. */
  readonly content: ReadonlySet<string>
}

/** A version that a caller was told of, and when it asked and was answered. */
export interface Acknowledged {
  readonly bill: string
  readonly version: number
  readonly report: string
  readonly asked: number
  readonly answered: number
}

/** What is known of a subscription besides what is stored: when it was asked for and answered, and the same for its end. */
export interface Span {
  readonly asked: number
  answered: number
  /** When its cancellation was answered. */
  cancelled: number
}

/** A telling that some call queued; the call may have been taken back. */
export interface Queued extends Pick<ChargeNotification, "subscriptionId" | "window"> {
  readonly noticeId: string
}

/** What the storm leaves behind to judge it by. */
export class StormLog extends Context.Service<StormLog, {
  readonly reports: Map<string, Report>
  readonly acknowledged: Array<Acknowledged>
  /** By address of the receiver. */
  readonly spans: Map<string, Span>
  readonly queued: Array<Queued>
  /** Failures that no caller should see. */
  readonly troubles: Array<string>
}>()("@waybill/postgres/test/StormLog") {
  static readonly layer = Layer.sync(StormLog, () => ({ reports: new Map(), acknowledged: [], spans: new Map(), queued: [], troubles: [] }))
}

/** Draws, the same in each run. */
const makeDraw = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}
type Draw = ReturnType<typeof makeDraw>

/** The bills' store with windows of less than a second and transactions that take their time, which writes down what is queued. */
export const shortWindows = Layer.effect(
  FreightBillStore,
  Effect.gen(function*() {
    const store = yield* FreightBillStore
    const { queued } = yield* StormLog
    const draw = makeDraw(41)
    const dawdle = Effect.suspend(() => Effect.sleep(draw(4) === 0 ? draw(20) : 0))
    return FreightBillStore.of({
      ...store,
      append: (tenantId, changes) => {
        const closesAt = Math.floor(Date.now() / windowMillis) * windowMillis + windowMillis
        const window = { closesAt, following: closesAt + windowMillis }
        const notifications = changes.notifications.map((each) => each.window === undefined ? each : { ...each, window })
        for (const each of notifications) {
          queued.push({ subscriptionId: each.subscriptionId, window: each.window, noticeId: changes.notices[each.notice]!.noticeId })
        }
        return dawdle.pipe(Effect.andThen(store.append(tenantId, { ...changes, notifications })), Effect.andThen(dawdle))
      }
    })
  })
)

export const makeStorm = Effect.gen(function*() {
  const log = yield* StormLog
  const tenant = yield* TestWaybill.tenant()
  const intake = yield* FreightChargeIntake
  const subscriptions = yield* ChargeSubscriptions
  const windows = yield* ChargeWindows
  const store = yield* ChargeSubscriptionStore
  const access = yield* AccessStore
  const transaction = yield* Transaction
  const latest = new Map<string, { readonly charge: ReturnType<typeof markedCharge>; readonly owners: Json }>()
  const live = new Map<string, Array<{ readonly id: string; readonly url: string }>>()
  let reports = 0
  let receivers = 0

  const principal = (client: string, has = holdings(client).accounts): Principal => tenant.customer(client, has)

  /** Most go through, some are taken back, some are cut short in the middle. What goes wrong is written down. */
  const somehow = <A, E extends { readonly _tag: string }, R>(draw: Draw, call: Effect.Effect<A, E, R>): Effect.Effect<A | undefined, never, R> => {
    const n = draw(10)
    const taken: Effect.Effect<A | undefined, E | TakenBack | StorageError, R> = n === 0
      ? transaction.run(Effect.andThen(call, Effect.fail(new TakenBack())))
      : n === 1
      ? Effect.raceFirst(call, Effect.as(Effect.sleep(1 + draw(25)), undefined))
      : call
    return Effect.catch(taken, (error) =>
      Effect.sync(() => {
        const cause: unknown = error
        if (cause instanceof StorageError) log.troubles.push(`${cause.operation}: ${String(cause.cause)}`)
        return undefined
      }))
  }

  const change = (draw: Draw): readonly [id: string, item: Json] => {
    const id = ++reports
    const bill = bills[draw(bills.length)]!
    const kind = draw(24)
    if (kind < 2) return [String(id), { change: "removed", pfc: { pfc: { uniqueID: bill } } }]
    const before = latest.get(bill)
    const several = [accounts[draw(12)]!, accounts[draw(12)]!, accounts[draw(12)]!].slice(draw(3))
    const next = kind < 8 && before !== undefined
      ? { charge: { ...before.charge, unknown: `quiet @${id}@` }, owners: before.owners }
      : { charge: markedCharge(id, bill, several[0]!), owners: draw(2) === 0 ? {} : { accounts: several } }
    latest.set(bill, next)
    log.reports.set(String(id), { bill, content: marksIn(JSON.stringify(next.charge)) })
    const what = kind === 23 && draw(4) === 0 ? "final" : kind > 20 ? "created" : "updated"
    return [String(id), { change: what, ...next.owners, pfc: withLog(id, next.charge) }]
  }

  const publish = Effect.fnUntraced(function*(draw: Draw) {
    const items = Array.from({ length: 1 + draw(3) }, () => change(draw))
    const asked = performance.now()
    const answer = yield* somehow(draw, intake.report(tenant.carrier, { charges: items.map(([, item]) => item) }, { partial: true }))
    const answered = performance.now()
    for (const each of answer?.results ?? []) {
      if (each.result !== "accepted") continue
      log.acknowledged.push({ bill: each.uniqueID, version: each.version, report: items[each.index]![0], asked, answered })
    }
  })

  const subscribe = Effect.fnUntraced(function*(draw: Draw, client: string) {
    const has = holdings(client).accounts
    const url = `https://receiver-${receivers++}.example/`
    const impacts = draw(2) === 0
    const span: Span = { asked: performance.now(), answered: Infinity, cancelled: Infinity }
    log.spans.set(url, span)
    const created = yield* somehow(draw, subscriptions.create(principal(client), {
      webhookUrl: url,
      accounts: has.slice(draw(has.length)).slice(0, 1 + draw(2)),
      dataOptions: {
        shipmentDataType: impacts ? "revenue_impacts_only" : "all_monitored_events",
        eventType: draw(3) === 0 ? "no_events" : impacts ? "revenue_impacts_only" : "all_impacts"
      },
      frequency: (["real_time", "hourly", "daily"] as const)[draw(3)],
      includeEventLog: draw(4) > 0,
      billScope: draw(4) === 0 ? "all_accounts" : "subscribed_accounts"
    }))
    if (created === undefined) return
    span.answered = performance.now()
    live.set(client, [...live.get(client) ?? [], { id: created.subscriptionId, url }])
  })

  const cancel = Effect.fnUntraced(function*(draw: Draw, client: string) {
    const own = live.get(client) ?? []
    const one = own[draw(Math.max(1, own.length))]
    if (one === undefined) return
    live.set(client, own.filter((each) => each !== one))
    const gone = yield* somehow(draw, Effect.as(subscriptions.cancel(principal(client), one.id), true))
    if (gone === true) log.spans.get(one.url)!.cancelled = performance.now()
  })

  const clients = [...Object.keys(settled), ...Object.keys(moving)]
  const has = (client: string, some: ReadonlyArray<string>) =>
    access.putClientAccess(tenant.tenantId, { client, origin: "token", seesAll: false, accounts: some })

  const times = (count: number, draw: Draw, what: Effect.Effect<void>) =>
    Effect.forEach(Array.from({ length: count }), () => Effect.andThen(what, Effect.suspend(() => Effect.sleep(draw(80)))), { discard: true })

  /** Ends when everybody who does something has done it; closers go on. */
  const rage = Effect.gen(function*() {
    yield* Effect.forEach(clients, (client) => has(client, holdings(client).accounts))
    const publishers = [1, 2, 3, 4, 5, 6].map((seed) => {
      const draw = makeDraw(seed)
      return times(75, draw, publish(draw))
    })
    const makers = [11, 12, 13, 14].map((seed) => {
      const draw = makeDraw(seed)
      const one = Effect.suspend(() => {
        const client = clients[draw(clients.length)]!
        return draw(5) < 3 ? subscribe(draw, client) : cancel(draw, client)
      })
      return times(60, draw, one)
    })
    const movers = [21, 22].map((seed) => {
      const draw = makeDraw(seed)
      const one = Effect.suspend(() => {
        const client = Object.keys(moving)[draw(3)]!
        return somehow(draw, has(client, moving[client]!.filter(() => draw(2) === 0)))
      })
      return times(70, draw, Effect.asVoid(one))
    })
    yield* Effect.all([...publishers, ...makers, ...movers], { concurrency: "unbounded" })
  }).pipe(Effect.orDie)

  /** Some of what is closed is taken back: one call of the store, as a transaction may close windows once. */
  const close = (seed: number) => {
    const draw = makeDraw(seed)
    return Effect.forever(Effect.andThen(Effect.suspend(() => somehow(draw, store.closeWindows(tenant.tenantId))), Effect.sleep(5 + draw(20))))
  }

  return { tenant, rage, closers: Effect.raceAllFirst([close(31), close(32), windows.run]), subscriptions, principal }
})
