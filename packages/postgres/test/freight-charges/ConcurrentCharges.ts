/** Concurrent calls on freight charges over real storage. Some are rolled back or interrupted. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { AccessStore, FreightChargeIntake, type Principal, StorageError, Transaction } from "@waybill/core"
import {
  type BillChangeReport,
  ChargeSubscriptions,
  ChargeSubscriptionStore,
  ChargeWindows,
  type ChargeNotification,
  FreightBillStore
} from "@waybill/core/freight-charges"
import { TestWaybill } from "@waybill/testkit"
import { Context, Data, Effect, Layer } from "effect"
import { type Json, taggedCharge, tagsIn, withLog } from "./TaggedCharges.ts"

class RolledBack extends Data.TaggedError("RolledBack")<{}> {}

/** Much longer than a call takes on a busy machine: what is collected after the following window has closed as well would close it again. */
const windowMillis = 800

const account = (n: number): string => `acct-${String(n).padStart(2, "0")}`
const accounts = Array.from({ length: 12 }, (_, n) => account(n))
const bills = Array.from({ length: 30 }, (_, n) => `BILL${String(n).padStart(2, "0")}`)

/** Clients whose accounts never change, so that their notifications are known exactly. */
const fixedAccounts: Readonly<Record<string, ReadonlyArray<string>>> = {
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

/** Clients that get and lose some of these accounts. */
const changingAccounts: Readonly<Record<string, ReadonlyArray<string>>> = {
  seven: [3, 6, 9].map(account),
  eight: [0, 4].map(account),
  nine: [7, 11].map(account)
}

/** All accounts that a client may ever have had, and whether they never change. */
export const accountsOf = (client: string): { readonly accounts: ReadonlyArray<string>; readonly hasFixedAccounts: boolean } =>
  client in fixedAccounts ? { accounts: fixedAccounts[client]!, hasFixedAccounts: true } : { accounts: changingAccounts[client]!, hasFixedAccounts: false }

/** One version of a bill as the carrier reported it. */
export interface Report {
  readonly bill: string
  /** The tags in it, without those of its change records. */
  readonly content: ReadonlySet<string>
}

/** An accepted version, and when its call began and ended. */
export interface Acknowledged {
  readonly bill: string
  readonly version: number
  readonly report: string
  readonly requestedAt: number
  readonly answeredAt: number
}

/** When the calls that create and cancel a subscription began or ended; `Infinity` if they did not end. */
export interface Lifetime {
  readonly requestedAt: number
  answeredAt: number
  /** When the cancellation ended. */
  cancelledAt: number
}

/** A notification that a call queued; the call may have been rolled back. */
export interface Queued extends Pick<ChargeNotification, "subscriptionId" | "window"> {
  readonly noticeId: string
}

/** Everything that the calls did, for comparison with the received and the stored charges. */
export class CallRecords extends Context.Service<CallRecords, {
  readonly reports: Map<string, Report>
  readonly acknowledged: Array<Acknowledged>
  /** By URL of the receiver. */
  readonly lifetimes: Map<string, Lifetime>
  readonly queued: Array<Queued>
  /** Failures that no caller should see. */
  readonly failures: Array<string>
}>()("@waybill/postgres/test/CallRecords") {
  static readonly layer = Layer.sync(CallRecords, () => ({ reports: new Map(), acknowledged: [], lifetimes: new Map(), queued: [], failures: [] }))
}

const makeRandom = (seed: number) => {
  const random = new SeededRandom(seed)
  return (limit: number) => random.below(limit)
}
type Random = ReturnType<typeof makeRandom>

/** The store of bills with windows of less than a second and random delays. Records the queued notifications. */
export const shortWindows = Layer.effect(
  FreightBillStore,
  Effect.gen(function*() {
    const store = yield* FreightBillStore
    const { queued } = yield* CallRecords
    const random = makeRandom(41)
    const randomDelay = Effect.suspend(() => Effect.sleep(random(4) === 0 ? random(20) : 0))
    return FreightBillStore.of({
      ...store,
      append: (tenantId, changes) => {
        const closesAt = Math.floor(Date.now() / windowMillis) * windowMillis + windowMillis
        const window = { closesAt, following: closesAt + windowMillis }
        const notifications = changes.notifications.map((each) => each.window === undefined ? each : { ...each, window })
        for (const each of notifications) {
          queued.push({ subscriptionId: each.subscriptionId, window: each.window, noticeId: changes.notices[each.notice]!.noticeId })
        }
        return randomDelay.pipe(Effect.andThen(store.append(tenantId, { ...changes, notifications })), Effect.andThen(randomDelay))
      }
    })
  })
)

export const makeConcurrentCalls = Effect.gen(function*() {
  const records = yield* CallRecords
  const tenant = yield* TestWaybill.tenant()
  const intake = yield* FreightChargeIntake
  const subscriptions = yield* ChargeSubscriptions
  const windows = yield* ChargeWindows
  const store = yield* ChargeSubscriptionStore
  const access = yield* AccessStore
  const transaction = yield* Transaction
  const latest = new Map<string, { readonly charge: ReturnType<typeof taggedCharge>; readonly owners: Json }>()
  const live = new Map<string, Array<{ readonly id: string; readonly url: string }>>()
  let reports = 0
  let receivers = 0

  const principal = (client: string): Principal => tenant.customer(client, accountsOf(client).accounts)

  /** Runs a call. Rolls back one in ten, may interrupt another one in ten, and records storage failures. */
  const withFaults = <A, E extends { readonly _tag: string }, R>(random: Random, call: Effect.Effect<A, E, R>): Effect.Effect<A | undefined, never, R> => {
    const n = random(10)
    const disturbed: Effect.Effect<A | undefined, E | RolledBack | StorageError, R> = n === 0
      ? transaction.run(Effect.andThen(call, Effect.fail(new RolledBack())))
      : n === 1
      ? Effect.raceFirst(call, Effect.as(Effect.sleep(1 + random(25)), undefined))
      : call
    return Effect.catch(disturbed, (error) =>
      Effect.sync(() => {
        const cause: unknown = error
        if (cause instanceof StorageError) records.failures.push(`${cause.operation}: ${String(cause.cause)}`)
        return undefined
      }))
  }

  const change = (random: Random): readonly [id: string, item: Json] => {
    const id = ++reports
    const bill = bills[random(bills.length)]!
    const kind = random(24)
    if (kind < 2) return [String(id), { change: "removed", pfc: { pfc: { uniqueID: bill } } }]
    const before = latest.get(bill)
    const several = [accounts[random(12)]!, accounts[random(12)]!, accounts[random(12)]!].slice(random(3))
    const next = kind < 8 && before !== undefined
      ? { charge: { ...before.charge, unknown: `unchanged @${id}@` }, owners: before.owners }
      : { charge: taggedCharge(id, bill, several[0]!), owners: random(2) === 0 ? {} : { accounts: several } }
    latest.set(bill, next)
    records.reports.set(String(id), { bill, content: tagsIn(JSON.stringify(next.charge)) })
    const changeType = kind === 23 && random(4) === 0 ? "final" : kind > 20 ? "created" : "updated"
    return [String(id), { change: changeType, ...next.owners, pfc: withLog(id, next.charge) }]
  }

  const publish = Effect.fnUntraced(function*(random: Random) {
    const items = Array.from({ length: 1 + random(3) }, () => change(random))
    const requestedAt = performance.now()
    const answer = yield* withFaults(random, intake.report(tenant.carrier, items.map(([, item]) => item as unknown as BillChangeReport), { partial: true }))
    const answeredAt = performance.now()
    for (const each of answer?.results ?? []) {
      if (each.result !== "accepted") continue
      records.acknowledged.push({ bill: each.uniqueID, version: each.version, report: items[each.index]![0], requestedAt, answeredAt })
    }
  })

  const subscribe = Effect.fnUntraced(function*(random: Random, client: string) {
    const { accounts: own } = accountsOf(client)
    const url = `https://receiver-${receivers++}.example/`
    const impacts = random(2) === 0
    const lifetime: Lifetime = { requestedAt: performance.now(), answeredAt: Infinity, cancelledAt: Infinity }
    records.lifetimes.set(url, lifetime)
    const created = yield* withFaults(random, subscriptions.create(principal(client), {
      webhookUrl: url,
      accounts: own.slice(random(own.length)).slice(0, 1 + random(2)),
      dataOptions: {
        shipmentDataType: impacts ? "revenue_impacts_only" : "all_monitored_events",
        eventType: random(3) === 0 ? "no_events" : impacts ? "revenue_impacts_only" : "all_impacts"
      },
      frequency: (["real_time", "hourly", "daily"] as const)[random(3)]!,
      includeEventLog: random(4) > 0,
      billScope: random(4) === 0 ? "all_accounts" : "subscribed_accounts"
    }))
    if (created === undefined) return
    lifetime.answeredAt = performance.now()
    live.set(client, [...live.get(client) ?? [], { id: created.subscriptionId, url }])
  })

  const cancel = Effect.fnUntraced(function*(random: Random, client: string) {
    const own = live.get(client) ?? []
    const one = own[random(Math.max(1, own.length))]
    if (one === undefined) return
    live.set(client, own.filter((each) => each !== one))
    const isCancelled = yield* withFaults(random, Effect.as(subscriptions.cancel(principal(client), one.id), true))
    if (isCancelled === true) records.lifetimes.get(one.url)!.cancelledAt = performance.now()
  })

  const clients = [...Object.keys(fixedAccounts), ...Object.keys(changingAccounts)]
  const setAccounts = (client: string, accounts: ReadonlyArray<string>) =>
    access.putClientAccess(tenant.tenantId, { client, origin: "token", seesAll: false, accounts })

  const times = (count: number, random: Random, call: Effect.Effect<void>) =>
    Effect.forEach(Array.from({ length: count }), () => Effect.andThen(call, Effect.suspend(() => Effect.sleep(random(80)))), { discard: true })

  /** Ends after all calls of publishers and subscribers and all changes of accounts. */
  const run = Effect.gen(function*() {
    yield* Effect.forEach(clients, (client) => setAccounts(client, accountsOf(client).accounts))
    const publishers = [1, 2, 3, 4, 5, 6].map((seed) => {
      const random = makeRandom(seed)
      return times(75, random, publish(random))
    })
    const subscribers = [11, 12, 13, 14].map((seed) => {
      const random = makeRandom(seed)
      const one = Effect.suspend(() => {
        const client = clients[random(clients.length)]!
        return random(5) < 3 ? subscribe(random, client) : cancel(random, client)
      })
      return times(60, random, one)
    })
    const accountChanges = [21, 22].map((seed) => {
      const random = makeRandom(seed)
      const one = Effect.suspend(() => {
        const client = Object.keys(changingAccounts)[random(3)]!
        return withFaults(random, setAccounts(client, changingAccounts[client]!.filter(() => random(2) === 0)))
      })
      return times(70, random, Effect.asVoid(one))
    })
    yield* Effect.all([...publishers, ...subscribers, ...accountChanges], { concurrency: "unbounded" })
  }).pipe(Effect.orDie)

  /** Closes windows again and again, with faults. Calls the store directly, because a transaction may close windows only once. */
  const close = (seed: number) => {
    const random = makeRandom(seed)
    return Effect.forever(Effect.andThen(Effect.suspend(() => withFaults(random, store.closeWindows(tenant.tenantId))), Effect.sleep(5 + random(20))))
  }

  return { tenant, run, closers: Effect.raceAllFirst([close(31), close(32), windows.run]), subscriptions, principal }
})
