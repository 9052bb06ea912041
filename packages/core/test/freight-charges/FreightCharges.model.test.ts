/**
 * Random operations on bills, accounts and subscriptions: bills change and get new debtors, clients gain and lose accounts, subscribe with
 * any settings and cancel. No client ever reads another debtor's data. Every client receives every version for its accounts once, unless it
 * lost the accounts before the version was sent.
 */
import { assert, describe, it } from "@effect/vitest"
import { AccessStore, FreightChargeIntake } from "@waybill/core"
import { DeliveryWorker } from "@waybill/core/delivery"
import { ChargeSubscriptions, ChargeWindows } from "@waybill/core/freight-charges"
import { ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import * as Clock from "effect/Clock"
import * as Arbitrary from "effect/Arbitrary"
import { TestClock } from "effect/testing"
import { int, listOf } from "../arbitraries.ts"
import type { Json } from "./Charges.ts"
import { listedInFlight } from "./Debtors.ts"
import { logEntry, logMessage, markedCharge, marksIn } from "./Marked.ts"
import { untyped } from "../untyped.ts"

const doings = ["change", "change", "change", "change", "change", "subscribe", "subscribe", "subscribe", "accounts", "cancel", "pass", "pass"] as const

/** Steps from well-mixed numbers, because the generator prefers small ones. */
const step = Arbitrary.map(int(0, 1_000_000), (drawn) => {
  const mixed = Math.imul(drawn + 1, 0x9e3779b1) >>> 0
  return { does: doings[mixed % doings.length]!, who: Math.floor(mixed / 12) % 3, n: Math.floor(mixed / 36) % 100_000 }
})

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

const names = ["account-A", "account-B", "account-C", "account-D"]
const subset = (n: number): ReadonlyArray<string> => names.filter((_, at) => (n >> at) % 2 === 1)

/** Result of a report: its version, and the accounts that see its content. */
interface VersionNotification {
  readonly version: number
  readonly accounts: ReadonlyArray<string>
  readonly content: ReadonlySet<string>
  readonly log: ReadonlySet<string>
}

interface Bill {
  readonly versions: Array<VersionNotification>
  readonly log: Array<Json>
  state: "none" | "open" | "removed" | "final"
  /** The latest post, without log. */
  charge: ReturnType<typeof markedCharge> | undefined
  debtors: { readonly accounts?: ReadonlyArray<string> }
}

/** A version that a subscription must receive, and the accounts it is for. */
interface Owed {
  readonly label: string
  readonly accounts: ReadonlyArray<string>
}

interface Subscription {
  readonly id: string
  readonly who: number
  readonly url: string
  readonly covers: ReadonlyArray<string> | "all"
  readonly frequency: "real_time" | "hourly" | "daily"
  readonly impactsOnly: boolean
  readonly log: boolean
  live: boolean
  /** Waiting notifications: one by one, or per window with the latest version of each bill. */
  readonly owed: Array<Owed>
  readonly windows: Map<number, Map<string, Owed>>
  /** Names of the versions that it must have received, per delivery. */
  readonly sent: Array<ReadonlyArray<string>>
  readonly mayHaveRead: Set<string>
}

const unitMillis = { hourly: 3_600_000, daily: 86_400_000 }

const nameOf = (pfc: { readonly pfc: { readonly uniqueID: string; readonly header: { readonly function: string } }; readonly charges: { readonly changeLogMessages?: ReadonlyArray<{ readonly informationalMessage: string }> } }) => {
  const gone = pfc.charges.changeLogMessages?.some((each) => each.informationalMessage === "You are no longer the debtor of this shipment.") === true
  return `${pfc.pfc.uniqueID}/${pfc.pfc.header.function}${gone ? " gone" : ""}`
}

const live = Effect.fnUntraced(function*(steps: ReadonlyArray<Step>) {
  const tenant = yield* TestWaybill.tenant()
  const access = yield* AccessStore
  const intake = yield* FreightChargeIntake
  const subscriptions = yield* ChargeSubscriptions
  const windows = yield* ChargeWindows
  const worker = yield* DeliveryWorker
  const receivers = yield* ScriptedReceivers
  const decoder = new TextDecoder()

  const accounts = [["account-A"], ["account-B", "account-C"], ["account-A", "account-D"]].map((each) => each as ReadonlyArray<string>)
  const bills = new Map<string, Bill>()
  const subscribed: Array<Subscription> = []
  let reports = 0

  const principal = (who: number) => tenant.customer(`client ${who}`, accounts[who]!)
  const remember = (who: number) => access.putClientAccess(tenant.tenantId, { client: `client ${who}`, origin: "token", seesAll: false, accounts: accounts[who]! })
  const seenBy = ({ covers, who }: Subscription) => accounts[who]!.filter((account) => covers === "all" || covers.includes(account))
  const overlaps = (seen: ReadonlyArray<string>, owners: ReadonlyArray<string>) => owners.some((account) => seen.includes(account))

  /** The versions of a bill that these accounts may read. */
  const readable = (bill: Bill, seen: ReadonlyArray<string>) =>
    bill.versions.filter((each) => overlaps(seen, each.accounts)).flatMap((each) => [...each.content, ...each.log])

  const billAt = (name: string): Bill => {
    const bill = bills.get(name) ?? { versions: [], log: [], state: "none", charge: undefined, debtors: {} }
    bills.set(name, bill)
    return bill
  }

  /** An item of a call, and the expected state after it is accepted. */
  const report = (name: string, n: number) => {
    const bill = billAt(name)
    const id = ++reports
    const what = bill.state === "none" ? (["created", "updated"] as const)[n % 2]! : n % 23 === 0 ? "final" : (["updated", "updated", "updated", "updated", "removed", "created"] as const)[n % 6]!
    if (what === "removed") return { bill, what, item: { change: what, pfc: { pfc: { uniqueID: name }, more: logMessage(id) } }, quiet: false, charge: bill.charge, debtors: bill.debtors, own: undefined, id }
    const quiet = what === "updated" && bill.state === "open" && (n >> 3) % 3 === 0
    const one = names[(n >> 4) % 4]!
    const several = subset(1 + (n >> 4) % 15)
    const debtors = quiet || (n >> 9) % 2 === 0 && bill.charge !== undefined ? bill.debtors : (n >> 8) % 2 === 0 ? {} : { accounts: several }
    const sole = debtors.accounts === undefined ? (debtors === bill.debtors ? bill.charge!.billTo.account : one) : undefined
    const charge = quiet
      ? { ...bill.charge!, referenceNumbers: { ...bill.charge!.referenceNumbers, quoteId: `quiet @${id}@` } }
      : markedCharge(id, name, sole)
    const own = quiet ? { ...logEntry(id), eventCode: "XYZ" } : logEntry(id)
    // a log that does not begin with the earlier one reports its published events again, which is no quiet change
    const log = [undefined, [own], ...quiet ? [undefined, [own]] : [[...bill.log, own], [...bill.log.toReversed(), own]]][(n >> 10) % 4]
    const messages = log === undefined ? undefined : [logMessage(id)]
    const item = {
      change: what,
      ...debtors,
      pfc: { ...charge, charges: { ...charge.charges, ...(log === undefined ? {} : { changeLog: log, changeLogMessages: messages }) } }
    }
    return { bill, what, item, quiet, charge, debtors, own: log === undefined ? undefined : own, id }
  }

  /** Records the notifications that each subscription must get for a report. */
  const owe = Effect.fnUntraced(function*(name: string, version: number, { bill, charge, debtors, id, own, quiet, what }: ReturnType<typeof report>) {
    const before = bill.versions.at(-1)
    const owners = what === "removed" ? [] : debtors.accounts ?? [charge!.billTo.account]
    const now = yield* Clock.currentTimeMillis
    bill.versions.push({
      version,
      accounts: owners,
      content: marksIn(JSON.stringify(what === "removed" ? {} : charge)),
      log: own === undefined ? new Set() : new Set([String(id)])
    })
    if (own !== undefined) bill.log.push(own)
    bill.charge = charge
    bill.debtors = debtors
    bill.state = what === "removed" ? "removed" : what === "final" ? "final" : "open"
    for (const each of subscribed.filter((one) => one.live)) {
      const seen = seenBy(each)
      const sees = overlaps(seen, owners)
      if (!sees && !overlaps(seen, before?.accounts ?? [])) continue
      if (sees && quiet && each.impactsOnly) continue
      const label = `${name}/PFC${version}${sees ? "" : " gone"}`
      for (const mark of sees ? readable(bill, seen) : before!.content) each.mayHaveRead.add(mark)
      const owed = { label, accounts: sees ? owners : before!.accounts }
      if (each.frequency === "real_time") each.owed.push(owed)
      else {
        const unit = unitMillis[each.frequency]
        const closesAt = Math.floor(now / unit) * unit + unit
        const collected = each.windows.get(closesAt) ?? new Map<string, Owed>()
        each.windows.set(closesAt, collected.set(name, owed))
      }
    }
  })

  /** Sends everything that waits, except notifications for accounts that the client no longer has. */
  const deliver = Effect.gen(function*() {
    yield* windows.closeDue
    yield* worker.drain
    const now = yield* Clock.currentTimeMillis
    for (const { owed, sent, who, windows } of subscribed) {
      const seen = (all: Iterable<Owed>) => [...all].filter((each) => overlaps(accounts[who]!, each.accounts)).map((each) => each.label)
      for (const label of seen(owed.splice(0))) sent.push([label])
      for (const closesAt of [...windows.keys()].filter((each) => each <= now).toSorted((a, b) => a - b)) {
        const labels = seen(windows.get(closesAt)!.values())
        windows.delete(closesAt)
        if (labels.length > 0) sent.push(labels.toSorted())
      }
    }
  })

  const received = (url: string) => Effect.map(receivers.requests(url), (requests) => requests.map((each) => decoder.decode(each.body)))

  const check = Effect.fnUntraced(function*() {
    for (const each of subscribed) {
      for (const body of yield* received(each.url)) {
        for (const mark of marksIn(body)) assert.isTrue(each.mayHaveRead.has(mark), `${mark} in a delivery to client ${each.who}`)
      }
      const seen = seenBy(each)
      const visible = new Set([...bills.values()].flatMap((bill) => readable(bill, seen)))
      const listed = decoder.decode(yield* listedInFlight(subscriptions, principal(each.who), each.id))
      for (const mark of marksIn(listed)) assert.isTrue(visible.has(mark), `${mark} in flight for client ${each.who}`)
    }
  })

  const act = Effect.fnUntraced(function*({ does, n, who }: Step) {
    switch (does) {
      case "change": {
        // one bill is changed at most once in a call here, because the next report builds on the outcome
        const several = [...new Set([who, (who + n % 3) % 3])].map((bill) => [`BILL${bill}`, report(`BILL${bill}`, n + bill * 7)] as const)
        const { results } = yield* intake.report(tenant.carrier, untyped({ charges: several.map(([, each]) => each.item) }), { partial: true })
        for (const result of results) {
          if (result.result === "accepted") yield* owe(result.uniqueID, result.version, several[result.index]![1])
        }
        return
      }
      case "subscribe": {
        const all = n % 5 === 0
        const url = `https://receiver-${subscribed.length}.example/`
        const wanted = all ? accounts[who]! : accounts[who]!.filter((_, at) => (n >> at) % 2 === 0)
        const eventType = (["revenue_impacts_only", "no_events", "all_impacts"] as const)[(n >> 5) % 3]!
        const shipmentDataType = (n >> 4) % 2 === 0 ? "revenue_impacts_only" : "all_monitored_events"
        const frequency = (["real_time", "real_time", "hourly", "daily"] as const)[(n >> 6) % 4]!
        const includeEventLog = (n >> 8) % 4 !== 0
        const created = yield* Effect.result(subscriptions.create(principal(who), untyped({
          webhookUrl: url,
          accounts: wanted,
          dataOptions: { shipmentDataType, eventType },
          frequency,
          includeEventLog,
          billScope: all ? "all_accounts" : "subscribed_accounts"
        })))
        if (created._tag === "Failure") {
          const overlap = subscribed.some((each) => each.live && each.who === who && (all || each.covers === "all" || overlaps(wanted, each.covers)))
          assert.strictEqual(created.failure._tag, wanted.length === 0 ? "InvalidInput" : "ChargeSubscriptionConflict")
          assert.isTrue(wanted.length === 0 || overlap)
          return
        }
        const one: Subscription = {
          id: created.success.subscriptionId,
          who,
          url,
          covers: all ? "all" : wanted,
          frequency,
          impactsOnly: shipmentDataType === "revenue_impacts_only",
          log: includeEventLog && eventType !== "no_events",
          live: true,
          owed: [],
          windows: new Map(),
          sent: [],
          mayHaveRead: new Set()
        }
        subscribed.push(one)
        const listed: ReadonlyArray<Parameters<typeof nameOf>[0]> = JSON.parse(decoder.decode(yield* listedInFlight(subscriptions, principal(who), one.id)))
        const open = [...bills].filter(([, bill]) => bill.state === "open" && overlaps(seenBy(one), bill.versions.at(-1)!.accounts))
        assert.deepStrictEqual(listed.map(nameOf), open.map(([name, bill]) => `${name}/PFC${bill.versions.at(-1)!.version}`).toSorted())
        return
      }
      case "accounts":
        accounts[who] = subset(n)
        yield* remember(who)
        return
      case "cancel": {
        const mine = subscribed.filter((each) => each.live && each.who === who)
        const one = mine[n % Math.max(1, mine.length)]
        if (one === undefined) return
        yield* deliver
        yield* subscriptions.cancel(principal(who), one.id)
        one.windows.clear()
        one.live = false
        return
      }
      case "pass":
        yield* TestClock.adjust(`${[1, 13, 60, 600][n % 4]!} minutes`)
        // the closer may be late
        if (n % 3 > 0) yield* deliver
    }
  })

  yield* Effect.forEach([0, 1, 2], remember)
  for (const each of steps) {
    yield* act(each)
    yield* check()
  }
  yield* TestClock.adjust("2 days")
  yield* deliver
  yield* check()
  for (const each of subscribed) {
    const bodies = (yield* received(each.url)).map((body): ReadonlyArray<Parameters<typeof nameOf>[0]> => JSON.parse(body))
    for (const pfc of bodies.flat()) {
      if (!each.log && !nameOf(pfc).endsWith("gone")) assert.notProperty(pfc.charges, "changeLog")
    }
    if (each.frequency === "real_time") {
      for (const name of bills.keys()) {
        const of = (all: ReadonlyArray<string>) => all.filter((one) => one.startsWith(`${name}/`))
        assert.deepStrictEqual(of(bodies.flat().map(nameOf)), of(each.sent.flat()))
      }
    } else {
      assert.deepStrictEqual(bodies.map((body) => body.map(nameOf)), each.sent)
    }
  }
})

describe("freight charges under random operations", () => {
  it.effect.prop(
    "are visible only to their debtors, and every version is delivered once, immediately or in one window, to clients that still have its accounts",
    [listOf(step, 40, 80)],
    ([steps]) => Effect.provide(live(steps), TestWaybill.layer()),
    { timeout: 120_000, arbitrary: { runs: 60, maxShrinks: 300 } }
  )
})
