/** Rows of the memory stores of the event log: events by shipment, subscriptions by filter. */
import { compareText } from "@waybill/core"
import { type NewEvent, type PageCursor, type SubscriptionRecord, textOfKey } from "@waybill/core/transit-events"
import { Context, Layer } from "effect"
import { AreaRows, areaRows } from "../access/AreaRows.ts"
import { lowerBound } from "../shared/Journal.ts"
import { setIn } from "../shared/EntryIn.ts"
import type { RemovedSubscription } from "../subscriptions/EditableSubscriptions.ts"

export interface EventRow extends NewEvent {
  readonly storedAt: number
  /** The number of the write that stored it; a page shows writes up to a number. */
  readonly write: number
}

interface ShipmentRow {
  readonly shipmentId: string
  /** By sequence and id. */
  readonly events: Array<EventRow>
  last: number
}

interface StoredCursors {
  readonly byPage: ReadonlyMap<number, { readonly cursor: PageCursor; readonly at: number }>
}

class TenantEvents {
  /** By the texts of their keys. */
  readonly events = new Map<string, EventRow>()
  readonly shipments = new Map<string, ShipmentRow>()
  /** Sorted. */
  readonly shipmentIds: Array<string> = []
  readonly cursors = new Map<string, StoredCursors>()
  readonly subscriptions = new Map<string, SubscriptionRecord>()
  readonly removed = new Map<string, RemovedSubscription>()
  /** Active subscriptions: by shipment if they name shipments, else by client. */
  readonly byShipment = new Map<string, Set<string>>()
  readonly byClient = new Map<string, Set<string>>()
}

export class TransitEventTables extends Context.Service<TransitEventTables, TransitEventRows>()("@waybill/testkit/transit-events/TransitEventTables") {
  static readonly layer = Layer.effect(TransitEventTables, areaRows((shared) => new TransitEventRows(shared, () => new TenantEvents())))
}

export class TransitEventRows extends AreaRows<TenantEvents> {
  /** Counts writes of events, committed or not. */
  writes = 0

  shipment(tenantId: string, shipmentId: string): ShipmentRow {
    const own = this.of(tenantId)
    const known = own.shipments.get(shipmentId)
    if (known !== undefined) return known
    const row: ShipmentRow = { shipmentId, events: [], last: 0 }
    this.journal.put(own.shipments, shipmentId, row)
    this.journal.insert(own.shipmentIds, lowerBound(own.shipmentIds, (each) => compareText(each, shipmentId)), shipmentId)
    return row
  }

  store(tenantId: string, event: EventRow): void {
    const shipment = this.shipment(tenantId, event.shipmentId)
    this.journal.put(this.of(tenantId).events, textOfKey(event), event)
    const at = lowerBound(shipment.events, (each) => each.sequence - event.sequence || compareText(each.eventId, event.eventId))
    this.journal.insert(shipment.events, at, event)
  }

  putSubscription(tenantId: string, record: SubscriptionRecord): void {
    this.dropSubscription(tenantId, record.id)
    const own = this.of(tenantId)
    this.journal.put(own.subscriptions, record.id, record)
    for (const route of this.routesOf(tenantId, record)) this.journal.add(route, record.id)
  }

  dropSubscription(tenantId: string, id: string): void {
    const own = this.of(tenantId)
    const before = own.subscriptions.get(id)
    if (before === undefined) return
    for (const route of this.routesOf(tenantId, before)) this.journal.remove(route, id)
    this.journal.drop(own.subscriptions, id)
  }

  private routesOf(tenantId: string, record: SubscriptionRecord): ReadonlyArray<Set<string>> {
    const { byClient, byShipment } = this.of(tenantId)
    if (!record.matched) return []
    if (record.shipmentIds === undefined) return [setIn(byClient, record.client)]
    return record.shipmentIds.map((shipmentId) => setIn(byShipment, shipmentId))
  }

  /** Queues the stored events for every matching subscription. The cost depends on the matches, not on all subscriptions. */
  fanOut(tenantId: string, events: ReadonlyArray<EventRow>, traceparent: string | undefined, now: number): void {
    for (const [shipmentId, own] of Map.groupBy(events, (event) => event.shipmentId)) {
      for (const subscription of this.matching(tenantId, shipmentId)) {
        this.queue(tenantId, subscription.id, own.filter((event) => (event.typeBit & subscription.typeMask) !== 0), traceparent, now)
      }
    }
  }

  private matching(tenantId: string, shipmentId: string): ReadonlyArray<SubscriptionRecord> {
    const { byClient, byShipment, subscriptions } = this.of(tenantId)
    const audience = this.access.audience(tenantId, this.owners.grantsOf(tenantId, shipmentId))
    const named = [...byShipment.get(shipmentId) ?? []].map((id) => subscriptions.get(id)!).filter((each) => audience.has(each.client))
    const all = [...audience].flatMap((client) => [...byClient.get(client) ?? []]).map((id) => subscriptions.get(id)!)
    return [...named, ...all]
  }

  /** Stored events of these shipments (`undefined`: all) that match a subscription's filters and that its client may see now. */
  history(tenantId: string, record: SubscriptionRecord, shipmentIds: ReadonlyArray<string> | undefined): ReadonlyArray<EventRow> {
    const { shipments } = this.of(tenantId)
    const wanted = shipmentIds ?? record.shipmentIds ?? shipments.keys()
    const named = record.shipmentIds === undefined ? undefined : new Set(record.shipmentIds)
    return [...new Set(wanted)].flatMap((shipmentId) => {
      const shipment = shipments.get(shipmentId)
      if (shipment === undefined || (named !== undefined && !named.has(shipmentId))) return []
      if (!this.clientSees(tenantId, record.client, shipmentId)) return []
      return shipment.events.filter((event) => (event.typeBit & record.typeMask) !== 0)
    })
  }

  clientSees(tenantId: string, client: string, shipmentId: string): boolean {
    return this.access.maySee(tenantId, client, this.owners.grantsOf(tenantId, shipmentId))
  }

  /** Returns the number of queued events; entries already in the destination are not queued twice. */
  queue(tenantId: string, destinationId: string, events: ReadonlyArray<EventRow>, traceparent: string | undefined, now: number): number {
    const destination = this.destinations.find(tenantId, destinationId)
    if (destination === undefined) return 0
    let queued = 0
    let first: string | undefined
    for (const { body, eventId, sequence, shipmentId } of events) {
      const place = { key: shipmentId, sequence, orderId: eventId }
      if (this.destinations.waits(destination, place)) continue
      this.destinations.enqueue(destination, { ...place, payload: body, traceparent }, now)
      queued += 1
      if (first === undefined || compareText(shipmentId, first) < 0) first = shipmentId
    }
    if (first !== undefined) this.destinations.signal(destination, first)
    return queued
  }
}
