/** Rows of the memory stores: statuses by lookup key, subscriptions by reference. */
import { compareText } from "@waybill/core"
import type {
  StatusFound,
  StatusHistoryEntry,
  StatusLookup,
  StatusNotice,
  StatusSearch,
  StatusSubscriptionRecord,
  StatusWrite
} from "@waybill/core/shipment-status"
import { Context, Layer } from "effect"
import { AreaRows, areaRows } from "../access/AreaRows.ts"
import { lowerBound } from "../shared/Journal.ts"
import { setIn } from "../shared/EntryIn.ts"

interface StatusRow extends StatusWrite {
  readonly keys: ReadonlyArray<string>
  readonly references: ReadonlyArray<string>
}

interface NoticeRow extends StatusNotice {
  readonly storedAt: number
}

class TenantStatuses {
  readonly statuses = new Map<string, StatusRow>()
  readonly byKey = new Map<string, Set<string>>()
  /** History of each shipment, by position. */
  readonly history = new Map<string, Array<StatusHistoryEntry>>()
  readonly notices = new Map<string, NoticeRow>()
  readonly subscriptions = new Map<string, StatusSubscriptionRecord>()
  readonly byReference = new Map<string, Set<string>>()
}

export class ShipmentStatusTables extends Context.Service<ShipmentStatusTables, ShipmentStatusRows>()("@waybill/testkit/shipment-status/ShipmentStatusTables") {
  static readonly layer = Layer.effect(ShipmentStatusTables, areaRows((shared) => new ShipmentStatusRows(shared, () => new TenantStatuses())))
}

class ShipmentStatusRows extends AreaRows<TenantStatuses> {
  putStatus(tenantId: string, write: StatusWrite): void {
    const { byKey, statuses } = this.of(tenantId)
    const before = statuses.get(write.shipmentId)
    const row = { ...write, keys: write.keys ?? before?.keys ?? [], references: write.references ?? before?.references ?? [] }
    for (const key of before?.keys ?? []) this.journal.remove(setIn(byKey, key), row.shipmentId)
    for (const key of row.keys) this.journal.add(setIn(byKey, key), row.shipmentId)
    this.journal.put(statuses, row.shipmentId, row)
    this.owners.setStatus(tenantId, row.shipmentId, true)
  }

  addHistory(tenantId: string, entry: StatusHistoryEntry): void {
    const { history } = this.of(tenantId)
    const own = this.journal.listIn(history, entry.shipmentId)
    this.journal.insert(own, lowerBound(own, (each) => each.position - entry.position), entry)
  }

  /** Stores the notice, and queues it for subscribers of the shipment that may see it. */
  notify(tenantId: string, notice: StatusNotice, traceparent: string | undefined, now: number): void {
    const { notices } = this.of(tenantId)
    this.journal.put(notices, notice.noticeId, { ...notice, storedAt: now })
    const { body, noticeId, sequence, shipmentId } = notice
    for (const id of this.followers(tenantId, shipmentId)) {
      const destination = this.destinations.find(tenantId, id)
      if (destination === undefined) continue
      this.destinations.enqueue(destination, { key: shipmentId, sequence, orderId: noticeId, payload: body, traceparent }, now)
      this.destinations.signal(destination, shipmentId)
    }
  }

  private followers(tenantId: string, shipmentId: string): ReadonlySet<string> {
    const { byReference, statuses, subscriptions } = this.of(tenantId)
    const named = (statuses.get(shipmentId)?.references ?? []).flatMap((reference) => [...byReference.get(reference) ?? []])
    const grants = this.owners.grantsOf(tenantId, shipmentId)
    return new Set(named.filter((id) => this.access.maySee(tenantId, subscriptions.get(id)!.client, grants)))
  }

  putSubscription(tenantId: string, record: StatusSubscriptionRecord): void {
    const { byReference, subscriptions } = this.of(tenantId)
    this.journal.put(subscriptions, record.id, record)
    for (const reference of record.references) this.journal.add(setIn(byReference, reference), record.id)
  }

  dropSubscription(tenantId: string, record: StatusSubscriptionRecord): void {
    const { byReference, subscriptions } = this.of(tenantId)
    for (const reference of record.references) this.journal.remove(setIn(byReference, reference), record.id)
    this.journal.drop(subscriptions, record.id)
  }

  /** The shipments of a key, latest pickup first. */
  ofKey(tenantId: string, key: string): ReadonlyArray<StatusRow> {
    const { byKey, statuses } = this.of(tenantId)
    return [...byKey.get(key) ?? []].map((shipmentId) => statuses.get(shipmentId)!).sort((a, b) => comparePickUp(b, a))
  }

  /** Finds by id, key or key prefix; latest pickup first. */
  search(tenantId: string, { keys, prefixes, shipmentId }: StatusSearch): ReadonlyArray<StatusRow> {
    return [...this.of(tenantId).statuses.values()]
      .filter((row) => row.shipmentId === shipmentId || row.keys.some((key) => keys.includes(key) || prefixes.some((prefix) => key.startsWith(prefix))))
      .sort((a, b) => comparePickUp(b, a))
  }

  find(tenantId: string, { key, own }: StatusLookup): StatusFound | undefined {
    const covered = this.ofKey(tenantId, key).filter((each) => each.covered)
    const isOwn = (row: StatusRow): boolean =>
      own === "all" || this.owners.grantsOf(tenantId, row.shipmentId).some((grant) => own.includes(grant))
    const mine = covered.find(isOwn)
    if (mine !== undefined) return { own: true, verified: mine.verified }
    return covered[0] === undefined ? undefined : { own: false, public: covered[0].public }
  }

  /** Covered shipments of an account, by pickup time. */
  ofAccount(tenantId: string, account: string): ReadonlyArray<StatusRow> {
    const { statuses } = this.of(tenantId)
    return [...this.owners.ofAccount(tenantId, account)]
      .flatMap((shipmentId) => statuses.get(shipmentId) ?? [])
      .filter((each) => each.covered)
      .sort(comparePickUp)
  }

  /** Removes the status of the shipment; its events stay. */
  forget(tenantId: string, row: StatusRow): void {
    const { byKey, history, statuses } = this.of(tenantId)
    for (const key of row.keys) this.journal.remove(setIn(byKey, key), row.shipmentId)
    this.journal.drop(statuses, row.shipmentId)
    this.owners.setStatus(tenantId, row.shipmentId, false)
    this.journal.drop(history, row.shipmentId)
  }
}

const comparePickUp = (a: StatusRow, b: StatusRow): number => a.pickupAt - b.pickupAt || compareText(a.shipmentId, b.shipmentId)
