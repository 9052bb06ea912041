/** Rows of the memory stores: bills by account, subscriptions by accounts, windows with their notices. */
import { accountOfGrant, compareText } from "@waybill/core"
import type {
  BillRow,
  ChargeNotice,
  ChargeSubscriptionRecord,
  ChargeNotification,
  ChargeViewer,
  InFlightBill,
  WindowTimes
} from "@waybill/core/freight-charges"
import { Context, Layer } from "effect"
import { type DestinationRows, type EntryPart, joinedPayloads } from "../delivery/DestinationTables.ts"
import { AreaRows, areaRows } from "../access/AreaRows.ts"
import { setIn } from "../shared/EntryIn.ts"

interface StoredBill extends BillRow {
  readonly storedAt: number
}

interface NoticeRow extends ChargeNotice {
  readonly storedAt: number
  /** Bodies that contain it: its own and those of windows. */
  readonly carriers: Set<Uint8Array>
}

export interface ChargeSubscriptionRow {
  readonly record: ChargeSubscriptionRecord
  inFlight: ReadonlyArray<InFlightBill>
  cancelledAt: number | undefined
  /** Windows up to this time are closed. */
  closedThrough: number
  /** Notices of open windows, by bill and closing time. */
  readonly windows: Map<number, Map<string, NoticeRow>>
  /** Bills of closed windows, by the id of the window's entry. */
  readonly closed: Map<string, ReadonlySet<string>>
}

class TenantCharges {
  readonly bills = new Map<string, StoredBill>()
  readonly byAccount = new Map<string, Set<string>>()
  readonly notices = new Map<string, NoticeRow>()
  readonly subscriptions = new Map<string, ChargeSubscriptionRow>()
  /** Active ones. */
  readonly byClient = new Map<string, Set<string>>()
}

export class FreightChargeTables extends Context.Service<FreightChargeTables, FreightChargeRows>()("@waybill/testkit/freight-charges/FreightChargeTables") {
  static readonly layer = Layer.effect(FreightChargeTables, areaRows((shared) => new FreightChargeRows(shared, () => new TenantCharges())))
}

export class FreightChargeRows extends AreaRows<TenantCharges> {
  putBill(tenantId: string, bill: BillRow, now: number): void {
    this.dropBill(tenantId, bill.billId)
    const { bills, byAccount } = this.of(tenantId)
    this.journal.put(bills, bill.billId, { ...bill, storedAt: now })
    for (const account of bill.accounts) this.journal.add(setIn(byAccount, account), bill.billId)
  }

  dropBill(tenantId: string, billId: string): void {
    const { bills, byAccount } = this.of(tenantId)
    for (const account of bills.get(billId)?.accounts ?? []) this.journal.remove(setIn(byAccount, account), billId)
    this.journal.drop(bills, billId)
  }

  /** Open bills of these accounts, by id, without those in the list of a subscription. */
  openBills(tenantId: string, accounts: ReadonlyArray<string>, unlistedBy = ""): ReadonlyArray<BillRow> {
    const { bills, byAccount, subscriptions } = this.of(tenantId)
    const listed = new Set(subscriptions.get(unlistedBy)?.inFlight.map(({ billId }) => billId))
    const billIds = new Set(accounts.flatMap((account) => [...byAccount.get(account) ?? []]))
    return [...billIds].map((billId) => bills.get(billId)!)
      .filter((each) => each.state === "open" && !listed.has(each.billId))
      .sort((a, b) => compareText(a.billId, b.billId))
  }

  /** Bills by id prefix, in order of id, with a limit for each prefix. */
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
    this.journal.add(setIn(byClient, record.client), record.id)
  }

  addInFlight(tenantId: string, id: string, bills: ReadonlyArray<InFlightBill>): void {
    const row = this.of(tenantId).subscriptions.get(id)!
    this.journal.set(row, "inFlight", [...row.inFlight, ...bills])
  }

  removeChanged(tenantId: string, id: string): void {
    const { bills, subscriptions } = this.of(tenantId)
    const row = subscriptions.get(id)!
    const isSame = ({ billId, version }: InFlightBill) => bills.get(billId)?.state === "open" && bills.get(billId)!.version === version
    this.journal.set(row, "inFlight", row.inFlight.filter(isSame))
  }

  cancel(tenantId: string, row: ChargeSubscriptionRow, now: number): void {
    this.journal.set(row, "cancelledAt", now)
    this.journal.remove(setIn(this.of(tenantId).byClient, row.record.client), row.record.id)
    for (const closesAt of row.windows.keys()) this.journal.drop(row.windows, closesAt)
  }

  liveOf(tenantId: string, client: string): ReadonlyArray<ChargeSubscriptionRow> {
    const { byClient, subscriptions } = this.of(tenantId)
    return [...byClient.get(client) ?? []].map((id) => subscriptions.get(id)!)
  }

  /** The client's own accounts; access to all freight does not count. */
  accountsOf(tenantId: string, client: string): ReadonlySet<string> {
    return this.access.accountsOf(tenantId, client)
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

  /** Queues a notice at once or adds it to its window. Cancelled subscriptions are skipped. */
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

  /** Queues the collected notices of the window as one entry. False if a window that closed before took them all. */
  closeWindow(tenantId: string, row: ChargeSubscriptionRow, closesAt: number, now: number): boolean {
    this.journal.set(row, "closedThrough", Math.max(row.closedThrough, closesAt))
    const collected = row.windows.get(closesAt)
    if (collected === undefined) return false
    const notices = [...collected.values()].sort((a, b) => compareText(a.billId, b.billId))
    const parts = notices.map(partOf)
    const payload = joinedPayloads(parts)
    for (const each of notices) this.journal.add(each.carriers, payload)
    const orderId = `${row.record.id}/${closesAt}`
    this.journal.put(row.closed, orderId, new Set(notices.map((each) => each.billId)))
    this.queue(tenantId, row.record.id, { key: "window", sequence: closesAt, orderId, payload, traceparent: undefined, parts }, now)
    this.journal.drop(row.windows, closesAt)
    for (const [at, later] of row.windows) {
      // collected before the clock was set back: they would be sent after newer versions
      for (const { billId, version } of notices) if (later.has(billId) && later.get(billId)!.version < version) this.journal.drop(later, billId)
      if (later.size === 0) this.journal.drop(row.windows, at)
    }
    return true
  }

  private queue(tenantId: string, destinationId: string, entry: Parameters<DestinationRows["enqueue"]>[1], now: number): void {
    const destination = this.destinations.find(tenantId, destinationId)
    if (destination === undefined) return
    this.destinations.enqueue(destination, entry, now)
    this.destinations.signal(destination, entry.key)
  }

  /** Notices without references from windows or unsent deliveries. */
  unusedNotices(tenantId: string): ReadonlyArray<NoticeRow> {
    const { notices, subscriptions } = this.of(tenantId)
    const collected = [...subscriptions.values()].flatMap(({ windows }) => [...windows.values()])
    const referred = new Set(collected.flatMap((window) => [...window.values()].map((each) => each.noticeId)))
    const inUse = this.destinations.payloadsInUse(tenantId)
    return [...notices.values()].filter((each) => !referred.has(each.noticeId) && [...each.carriers].every((bytes) => !inUse.has(bytes)))
  }
}

/** `held` is an account, or an account within a carrier. */
export const covers = ({ accounts }: ChargeSubscriptionRecord, held: string): boolean => accounts === undefined || accounts.includes(accountOfGrant(held) ?? "")

const partOf = ({ accounts, body }: ChargeNotice): EntryPart => ({ accounts, payload: body })
