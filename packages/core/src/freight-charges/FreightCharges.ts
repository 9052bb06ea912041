/** Stores freight bills and notifies their debtors. */
import { Clock, Context, Effect, Layer } from "effect"
import { Wakeups } from "../delivery/Wakeups.ts"
import { type Fault, fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { currentTraceparent } from "../shared/TraceContext.ts"
import { forEachPaced, mapPaced } from "../shared/Turns.ts"
import { UniqueIds } from "../shared/UniqueIds.ts"
import { type BillChanges, type ChargeNotice, type ChargeNotification, FreightBillStore } from "./FreightBillStore.ts"
import { FreightChargeOptions } from "./FreightChargeOptions.ts"
import { grantsEver, notificationsOf, type Viewer } from "./model/Audience.ts"
import type { ChargeFrequency, ChargeSubscriptionSettings } from "./model/ChargeSubscription.ts"
import { closingTimes, localText, offsetsOf } from "./model/ChargeWindow.ts"
import { applyChange, billDoc, billFrom, currentOf, type FreightBill, type ReadChange, takenAt } from "./model/FreightBill.ts"

/** A parsed change, and its index in the call. */
export interface ReportedChange {
  readonly index: number
  readonly change: ReadChange
}

/** Result of one change. */
export type ChangeOutcome =
  | { readonly index: number; readonly result: "accepted" | "duplicate"; readonly uniqueID: string; readonly version: number }
  | { readonly index: number; readonly result: "refused"; readonly faults: ReadonlyArray<Fault> }

/** Options of a report of freight bills. */
export interface ReportOptions {
  readonly partial?: boolean
  /** The caller's grants, if it is one of several carriers (`carrierOf`). */
  readonly writer?: ReadonlyArray<string> | undefined
}

/** A change that creates a version. */
interface Step {
  readonly before: FreightBill | undefined
  readonly after: FreightBill
}

/** Stores versions of freight bills and notifies their debtors (area E). */
export class FreightCharges extends Context.Service<FreightCharges, {
  /**
   * Stores versions and queues notifications for their debtors, in one transaction. Intake calls it and checks the caller. One refused
   * change refuses the whole call with `InvalidInput`, unless `partial` is set. Faults point into `charges`.
   */
  readonly report: (
    tenantId: string,
    changes: ReadonlyArray<ReportedChange>,
    options?: ReportOptions
  ) => Effect.Effect<ReadonlyArray<ChangeOutcome>, InvalidInput | StorageError>
}>()("@waybill/core/freight-charges/FreightCharges") {
  static readonly layer = Layer.effect(FreightCharges, Effect.gen(function*() {
    const store = yield* FreightBillStore
    const transaction = yield* Transaction
    const wakeups = yield* Wakeups
    const ids = yield* UniqueIds
    const offsetAt = offsetsOf((yield* FreightChargeOptions).timeZone)

    /** Runs in the transaction that holds the bills' locks. */
    const notify = Effect.fnUntraced(function*(tenantId: string, steps: ReadonlyArray<Step>) {
      const now = yield* store.gate(tenantId, distinct(steps.flatMap(({ after, before }) => [...accountsNow(before), ...accountsNow(after)])))
      const rows = yield* store.viewers(tenantId, distinct(steps.flatMap(({ after }) => grantsEver(after))))
      const viewers = rows.map(({ accounts, doc, subscriptionId }): Viewer => ({
        subscriptionId,
        settings: JSON.parse(doc) as ChargeSubscriptionSettings,
        accounts: new Set(accounts)
      }))
      const mintedAt = yield* Clock.currentTimeMillis
      return yield* notificationsFor(steps, viewers, { now, offsetAt, nextId: () => ids.nextAt(mintedAt) })
    })

    const decideAndStore = Effect.fnUntraced(function*(
      tenantId: string,
      changes: ReadonlyArray<ReportedChange>,
      { partial = false, writer }: ReportOptions,
      traceparent: string | undefined
    ) {
      const rows = yield* store.lock(tenantId, distinct(changes.map((each) => each.change.billId)))
      const bills = new Map(yield* mapPaced(rows, (row): [string, FreightBill] => [row.billId, billFrom(row)]))
      const { outcomes, steps } = yield* decideAll(bills, changes, yield* Clock.currentTimeMillis, writer)
      const refusals = outcomes.filter((each) => each.result === "refused")
      if (refusals.length > 0 && !partial) {
        return yield* new InvalidInput({ faults: refusals.flatMap((each) => each.faults).slice(0, 100) })
      }
      if (steps.length === 0) return { outcomes, wake: false }
      const { notices, notifications } = yield* notify(tenantId, steps)
      yield* store.append(tenantId, {
        bills: yield* mapPaced(distinct(steps.map((each) => each.after.billId)), (billId) => rowOf(bills.get(billId)!)),
        notices,
        notifications,
        traceparent
      })
      return { outcomes, wake: notifications.some((each) => each.window === undefined) }
    })

    const report = Effect.fn("FreightCharges.report")(function*(
      tenantId: string,
      changes: ReadonlyArray<ReportedChange>,
      options: ReportOptions = {}
    ) {
      if (changes.length === 0) return []
      yield* Effect.annotateCurrentSpan({ "waybill.tenant": tenantId, "waybill.charges": changes.length })
      const traceparent = yield* currentTraceparent
      const { outcomes, wake } = yield* transaction.run(decideAndStore(tenantId, changes, options, traceparent))
      if (wake) yield* wakeups.wake(tenantId)
      return outcomes
    })

    return FreightCharges.of({ report })
  }))
}

/** Sorted, so that all calls lock in the same order. */
const distinct = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)].sort()

const accountsNow = (bill: FreightBill | undefined): ReadonlyArray<string> => bill === undefined ? [] : currentOf(bill).accounts

/** Applies the changes in order; `bills` holds the results. */
const decideAll = (bills: Map<string, FreightBill>, changes: ReadonlyArray<ReportedChange>, now: number, writer: ReadonlyArray<string> | undefined) => {
  const outcomes: Array<ChangeOutcome> = []
  const steps: Array<Step> = []
  const decided = forEachPaced(changes, ({ change, index }) => {
    const uniqueID = change.billId
    const before = bills.get(uniqueID)
    const decision = applyChange(before, change, writer)
    switch (decision._tag) {
      case "Refused":
        outcomes.push({ index, result: "refused", faults: [fault(["charges", index, ...decision.path], decision.detail, decision.code)] })
        break
      case "Duplicate":
        outcomes.push({ index, result: "duplicate", uniqueID, version: decision.version })
        break
      case "Accepted": {
        const after = takenAt(decision.bill, now)
        bills.set(uniqueID, after)
        steps.push({ before, after })
        outcomes.push({ index, result: "accepted", uniqueID, version: currentOf(after).version })
      }
    }
  })
  return Effect.as(decided, { outcomes, steps })
}

/** Decides which notices to queue for which subscriptions. */
const notificationsFor = (
  steps: ReadonlyArray<Step>,
  viewers: ReadonlyArray<Viewer>,
  at: { readonly now: number; readonly offsetAt: (millis: number) => number; readonly nextId: () => string }
): Effect.Effect<Pick<BillChanges, "notices" | "notifications">> => {
  const notices: Array<ChargeNotice> = []
  const notifications: Array<ChargeNotification> = []
  const date = localText(at.now, at.offsetAt)
  const windows = new Map<ChargeFrequency, ChargeNotification["window"]>()
  const windowOf = (frequency: ChargeFrequency) => {
    if (!windows.has(frequency)) windows.set(frequency, closingTimes(frequency, at.now, at.offsetAt))
    return windows.get(frequency)
  }
  const viewersOf = Map.groupBy(viewers.flatMap((viewer) => [...viewer.accounts].map((account) => ({ account, viewer }))), ({ account }) => account)
  const collected = forEachPaced(steps, ({ after, before }) => {
    const audience = new Set(grantsEver(after).flatMap((grant) => viewersOf.get(grant) ?? []).map(({ viewer }) => viewer))
    for (const notification of notificationsOf(before, after, [...audience], date)) {
      const notice = notices.push({ noticeId: at.nextId(), billId: after.billId, version: currentOf(after).version, accounts: notification.accounts, body: encoder.encode(notification.body) }) - 1
      for (const { settings, subscriptionId } of notification.viewers) {
        notifications.push({ subscriptionId, notice, window: windowOf(settings.frequency) })
      }
    }
  })
  return Effect.as(collected, { notices, notifications })
}

const rowOf = (bill: FreightBill) => {
  const { accounts, version } = currentOf(bill)
  return { billId: bill.billId, version, state: bill.state, accounts, doc: billDoc(bill) }
}

const encoder = new TextEncoder()
