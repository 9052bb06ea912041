/** Bills by their accounts, subscriptions by what they cover, windows and what they collect: the rows behind the memory stores. */
import {
  accountOfGrant,
  type BillRow,
  type ChargeNotice,
  type ChargeSubscriptionRecord,
  type ChargeNotification,
  type ChargeViewer,
  type InFlightBill,
  type WindowTimes
} from "@waybill/core"
import { Context, Effect, Layer } from "effect"
import { type AccessRows, AccessTables } from "../access/AccessTables.ts"
import { type EntryPart, joinedParts, type LaneRows, LaneTables } from "../delivery/LaneTables.ts"
import { compareText } from "../shared/CodePoints.ts"
import type { Journal } from "../shared/Journal.ts"
import { MemoryDatabase, purged } from "../shared/MemoryDatabase.ts"
import { routeIn } from "../shared/Routes.ts"

interface StoredBill extends BillRow {
  readonly storedAt: number
}

interface NoticeRow extends ChargeNotice {
  readonly storedAt: number
  /** What goes out with it in it: its own body, and what windows made of it. */
  readonly carriers: Set<Uint8Array>
}

export interface ChargeSubscriptionRow {
  readonly record: ChargeSubscriptionRecord
  inFlight: ReadonlyArray<InFlightBill>
  cancelledAt: number | undefined
  /** No window up to here takes anything any more. */
  closedThrough: number
  /** Notices of windows that are open, by bill, by when the window closes. */
  readonly windows: Map<number, Map<string, NoticeRow>>
  /** Bills of closed windows, by the own id of the entry that each became. */
  readonly closed: Map<string, ReadonlySet<string>>
}

interface TenantCharges {
  readonly bills: Map<string, StoredBill>
  readonly byAccount: Map<string, Set<string>>
  readonly notices: Map<string, NoticeRow>
  readonly subscriptions: Map<string, ChargeSubscriptionRow>
  /** Live ones. */
  readonly byClient: Map<string, Set<string>>
}

export class FreightChargeTables
  extends Context.Service<FreightChargeTables, FreightChargeRows>()("@waybill/testkit/freight-charges/FreightChargeTables")
{
  static readonly layer = Layer.effect(
    FreightChargeTables,
    Effect.gen(function*() {
      const { journal, onPurge } = yield* MemoryDatabase
      return purged(onPurge, new FreightChargeRows(journal, yield* LaneTables, yield* AccessTables))
    })
  )
}

export class FreightChargeRows {
  readonly tenants = new Map<string, TenantCharges>()
  private readonly journal: Journal
  private readonly lanes: LaneRows
  private readonly access: AccessRows

  constructor(journal: Journal, lanes: LaneRows, access: AccessRows) {
    this.journal = journal
    this.lanes = lanes
    this.access = access
  }

  /** Takes out everything of a tenant. Whether there was anything. */
  forgetTenant(tenantId: string): boolean {
    return this.tenants.delete(tenantId)
  }

  of(tenantId: string): TenantCharges {
    let own = this.tenants.get(tenantId)
    if (own === undefined) {
      own = { bills: new Map(), byAccount: new Map(), notices: new Map(), subscriptions: new Map(), byClient: new Map() }
      this.tenants.set(tenantId, own)
    }
    return own
  }

  putBill(tenantId: string, bill: BillRow, now: number): void {
    this.dropBill(tenantId, bill.billId)
    const { bills, byAccount } = this.of(tenantId)
    this.journal.put(bills, bill.billId, { ...bill, storedAt: now })
    for (const account of bill.accounts) this.journal.add(routeIn(byAccount, account), bill.billId)
  }

  dropBill(tenantId: string, billId: string): void {
    const { bills, byAccount } = this.of(tenantId)
    for (const account of bills.get(billId)?.accounts ?? []) this.journal.remove(routeIn(byAccount, account), billId)
    this.journal.drop(bills, billId)
  }

  /** Open bills of these accounts, by id. */
  openBills(tenantId: string, accounts: ReadonlyArray<string>): ReadonlyArray<BillRow> {
    const { bills, byAccount } = this.of(tenantId)
    const billIds = new Set(accounts.flatMap((account) => [...byAccount.get(account) ?? []]))
    return [...billIds].map((billId) => bills.get(billId)!)
      .filter((each) => each.state === "open")
      .sort((a, b) => compareText(a.billId, b.billId))
  }

  /** Bills whose ids begin so, by id, so many of each beginning. */
  beginning(tenantId: string, prefixes: ReadonlyArray<string>, limit: number): ReadonlyArray<BillRow> {
    const inOrder = [...this.of(tenantId).bills.values()].sort((a, b) => compareText(a.billId, b.billId))
    const found = new Set(prefixes.flatMap((prefix) => inOrder.filter(({ billId }) => billId.startsWith(prefix)).slice(0, limit)))
    return inOrder.filter((bill) => found.has(bill))
  }

  putNotice(tenantId: string, notice: ChargeNotice, now: number): NoticeRow {
    const row: NoticeRow = { ...notice, storedAt: now, carriers: new Set([notice.body]) }
    this.journal.put(this.of(tenantId).notices, notice.noticeId, row)
    return row
  }

  putSubscription(tenantId: string, record: ChargeSubscriptionRecord): void {
    const { byClient, subscriptions } = this.of(tenantId)
    const row = { record, inFlight: [], cancelledAt: undefined, closedThrough: -Infinity, windows: new Map(), closed: new Map() }
    this.journal.put(subscriptions, record.id, row)
    this.journal.add(routeIn(byClient, record.client), record.id)
  }

  addInFlight(tenantId: string, id: string, bills: ReadonlyArray<InFlightBill>): void {
    const row = this.of(tenantId).subscriptions.get(id)!
    this.journal.set(row, "inFlight", [...row.inFlight, ...bills])
  }

  cancel(tenantId: string, row: ChargeSubscriptionRow, now: number): void {
    this.journal.set(row, "cancelledAt", now)
    this.journal.remove(routeIn(this.of(tenantId).byClient, row.record.client), row.record.id)
    for (const closesAt of row.windows.keys()) this.journal.drop(row.windows, closesAt)
  }

  liveOf(tenantId: string, client: string): ReadonlyArray<ChargeSubscriptionRow> {
    const { byClient, subscriptions } = this.of(tenantId)
    return [...byClient.get(client) ?? []].map((id) => subscriptions.get(id)!)
  }

  /** Accounts that a client has itself; that it sees everything does not count. */
  accountsOf(tenantId: string, client: string): ReadonlySet<string> {
    return this.access.of(tenantId).clients.get(client)?.accounts ?? new Set()
  }

  viewers(tenantId: string, accounts: ReadonlyArray<string>): ReadonlyArray<ChargeViewer> {
    const holders = this.access.of(tenantId).byAccount
    const clients = new Set(accounts.flatMap((account) => [...holders.get(account) ?? []]))
    return [...clients].flatMap((client) => {
      const own = this.accountsOf(tenantId, client)
      return this.liveOf(tenantId, client).flatMap(({ record }) => {
        const seen = [...new Set(accounts)].filter((account) => own.has(account) && covers(record, account))
        return seen.length === 0 ? [] : [{ subscriptionId: record.id, doc: record.doc, accounts: seen }]
      })
    })
  }

  /** Queues a notice at once or puts it in its window. Who cancelled meanwhile is told nothing. */
  notify(tenantId: string, { subscriptionId, window }: ChargeNotification, notice: NoticeRow, traceparent: string | undefined, now: number): void {
    const row = this.of(tenantId).subscriptions.get(subscriptionId)
    if (row === undefined || row.cancelledAt !== undefined) return
    if (window !== undefined) return this.collect(row, window, notice)
    const { billId, body, noticeId, version } = notice
    const parts = [partOf(notice)]
    this.queue(tenantId, subscriptionId, { key: billId, sequence: version, orderId: noticeId, payload: body, traceparent, parts }, now)
  }

  private collect(row: ChargeSubscriptionRow, { closesAt, following }: WindowTimes, notice: NoticeRow): void {
    const at = closesAt > row.closedThrough ? closesAt : following
    let collected = row.windows.get(at)
    if (collected === undefined) {
      collected = new Map()
      this.journal.put(row.windows, at, collected)
    }
    this.journal.put(collected, notice.billId, notice)
  }

  /** Queues what the window collected as one entry. */
  closeWindow(tenantId: string, row: ChargeSubscriptionRow, closesAt: number, now: number): void {
    const notices = [...row.windows.get(closesAt)!.values()].sort((a, b) => compareText(a.billId, b.billId))
    const parts = notices.map(partOf)
    const payload = joinedParts(parts)
    for (const each of notices) this.journal.add(each.carriers, payload)
    const orderId = `${row.record.id}/${closesAt}`
    this.journal.put(row.closed, orderId, new Set(notices.map((each) => each.billId)))
    this.queue(tenantId, row.record.id, { key: "window", sequence: closesAt, orderId, payload, traceparent: undefined, parts }, now)
    this.journal.drop(row.windows, closesAt)
    this.journal.set(row, "closedThrough", Math.max(row.closedThrough, closesAt))
  }

  private queue(tenantId: string, laneId: string, entry: Parameters<LaneRows["enqueue"]>[1], now: number): void {
    const lane = this.lanes.find(tenantId, laneId)
    if (lane === undefined) return
    this.lanes.enqueue(lane, entry, now)
    this.lanes.arrive(lane, now)
  }

  /** Notices that nothing refers to: no window, nothing that may still be sent. */
  unusedNotices(tenantId: string): ReadonlyArray<NoticeRow> {
    const { notices, subscriptions } = this.of(tenantId)
    const collected = [...subscriptions.values()].flatMap(({ windows }) => [...windows.values()])
    const referred = new Set(collected.flatMap((window) => [...window.values()].map((each) => each.noticeId)))
    const inUse = this.lanes.payloadsInUse(tenantId)
    return [...notices.values()].filter((each) => !referred.has(each.noticeId) && [...each.carriers].every((bytes) => !inUse.has(bytes)))
  }

  /** Lists of what was in flight for subscriptions that were cancelled before then. Answers how many there were. */
  dropLists(tenantId: string, before: number): number {
    const old = [...this.of(tenantId).subscriptions.values()]
      .filter(({ cancelledAt, inFlight }) => cancelledAt !== undefined && cancelledAt < before && inFlight.length > 0)
    for (const each of old) this.journal.set(each, "inFlight", [])
    return old.length
  }
}

/** `held` is an account, or one within a carrier. */
export const covers = ({ accounts }: ChargeSubscriptionRecord, held: string): boolean => accounts === undefined || accounts.includes(accountOfGrant(held) ?? "")

const partOf = ({ accounts, body }: ChargeNotice): EntryPart => ({ accounts, payload: body })
