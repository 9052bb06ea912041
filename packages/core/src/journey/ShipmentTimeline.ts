/** Collects what all areas know of one shipment, unordered. */
import { Effect } from "effect"
import { FreightBillStore } from "../freight-charges/FreightBillStore.ts"
import { billFrom, type FreightBill } from "../freight-charges/model/FreightBill.ts"
import { billIdOf } from "../freight-charges/model/PreliminaryFreightCharge.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { plainPros } from "../pickups/model/PickupLookup.ts"
import type { PickupEvent } from "../pickups/model/PickupRecord.ts"
import { type FollowedPickup, type PickupHistoryEntry, type PickupRow, PickupStore } from "../pickups/PickupStore.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { mapPaced } from "../shared/Turns.ts"
import { furtherReferences, type ShipmentState } from "../shipment-status/model/ShipmentState.ts"
import { plainNumber } from "../shipment-status/model/LookupKey.ts"
import type { ShipmentView } from "../shipment-status/model/VerifiedShipment.ts"
import { ShipmentStatusStore, type StoredStatus } from "../shipment-status/ShipmentStatusStore.ts"
import type { TransitEvent } from "../transit-events/model/TransitEvent.ts"
import { type StoredEvent, TransitEventStore } from "../transit-events/TransitEventStore.ts"
import { timelineOfBill, numbersOfBill } from "./model/ChargeTimeline.ts"
import { timelineEventOf, referencesIn } from "./model/TransitEventTimeline.ts"
import { timelineEventOfInvoice } from "./model/InvoiceTimeline.ts"
import type { TimelineEvent } from "./model/JourneyEntry.ts"
import { timelineEventOfPickup } from "./model/PickupTimeline.ts"
import { timelineEventOfStatus } from "./model/StatusTimeline.ts"

export interface ShipmentTimeline {
  readonly proNumber: string | undefined
  readonly bolNumber: string | undefined
  readonly accounts: ReadonlyArray<string>
  readonly events: ReadonlyArray<TimelineEvent>
  /** The order keys of its charge deliveries. */
  readonly billIds: ReadonlyArray<string>
  readonly pickups: ReadonlyArray<PickupRow>
}

/** Most bills and pickups per PRO. Carriers reuse PRO numbers after years. */
const maxPerPro = 100

const decoder = new TextDecoder()

export const parsedEvent = ({ body }: StoredEvent): TransitEvent => JSON.parse(decoder.decode(body))

/** Finds bills by normalised PRO. */
export const billsOfPros = (store: FreightBillStore["Service"]) =>
Effect.fnUntraced(function*(tenantId: string, pros: ReadonlyArray<string>): Effect.fn.Return<ReadonlyArray<{ readonly bill: FreightBill; readonly size: number }>, StorageError> {
  // a bill's id starts with its PRO
  const prefixes = [...new Set(pros.map(billIdOf))].filter((prefix) => prefix !== "")
  if (prefixes.length === 0) return []
  const rows = yield* store.beginning(tenantId, prefixes, maxPerPro)
  return (yield* mapPaced(rows, (row) => ({ bill: billFrom(row), size: row.doc.length })))
    .filter(({ bill }) => pros.includes(plainNumber(numbersOfBill(bill).pro ?? "")))
})

/** `undefined` if no area knows the shipment. Takes the newest entries of each area, at most `limit`. */
export const makeShipmentTimelines = Effect.gen(function*() {
  const statuses = yield* ShipmentStatusStore
  const events = yield* TransitEventStore
  const invoices = yield* InvoiceStore
  const pickups = yield* PickupStore
  const billsOf = billsOfPros(yield* FreightBillStore)

  return Effect.fnUntraced(function*(tenantId: string, shipmentId: string, limit: number): Effect.fn.Return<ShipmentTimeline | undefined, StorageError> {
    const [record, log, invoiceEntries] = yield* Effect.all([
      statuses.record(tenantId, shipmentId, limit),
      events.recent(tenantId, shipmentId, limit),
      invoices.historyOfShipment(tenantId, shipmentId, limit)
    ], { concurrency: "unbounded" })
    const status = record === undefined ? undefined : statusOf(record)
    const logged = yield* mapPaced(log.events, (event) => ({ event: parsedEvent(event), size: event.body.length }))
    const logEvents = logged.map(({ event }) => event)
    const named = plainPros([...status?.pros ?? [], ...referencesIn(logEvents, "pro")])
    // without a known PRO, the shipmentId may be the PRO
    const pros = named.length > 0 ? named : plainPros([shipmentId])
    const [bills, ordered] = yield* Effect.all([billsOf(tenantId, pros), pickups.ofPros(tenantId, pros, maxPerPro)], { concurrency: "unbounded" })
    if (record === undefined && logged.length + invoiceEntries.length + bills.length + ordered.length === 0) return undefined
    const [bill] = bills.map((each) => numbersOfBill(each.bill))
    return {
      proNumber: status?.view.ProNumber ?? referencesIn(logEvents, "pro")[0] ?? bill?.pro ?? (ordered.length > 0 ? shipmentId : undefined),
      bolNumber: status?.view.ReferenceNumbers.bolNumber ?? referencesIn(logEvents, "bol")[0] ?? bill?.bol,
      accounts: record !== undefined || logged.length > 0 ? log.accounts : accountsOf(bills, ordered),
      events: [
        ...logged.map(({ event, size }) => timelineEventOf(event, size)),
        ...yield* mapPaced(record?.history ?? [], ({ doc, occurredAt }) => timelineEventOfStatus(occurredAt, JSON.parse(doc), doc.length)),
        ...bills.flatMap(({ bill, size }) => timelineOfBill(bill, size)),
        ...yield* mapPaced(invoiceEntries, timelineEventOfInvoice),
        ...yield* mapPaced(ordered.flatMap(({ history, pickup }) => history.map((entry) => ({ entry, pickup }))), timelineEventOfEntry)
      ],
      billIds: bills.map(({ bill: { billId } }) => billId),
      pickups: ordered.map(({ pickup }) => pickup)
    }
  })
})

/** Parses a stored status, and lists all of its PROs. */
export const statusOf = (stored: StoredStatus) => {
  const view = JSON.parse(decoder.decode(stored.verified)) as ShipmentView
  const state = JSON.parse(stored.state) as ShipmentState
  const further = furtherReferences(state).filter(({ type }) => plainNumber(type) === "PRO").map(({ value }) => value)
  return { view, state, pros: [view.ProNumber, view.UpdatedPro, ...further] }
}

const timelineEventOfEntry = ({ entry: { at, doc }, pickup }: { readonly entry: PickupHistoryEntry; readonly pickup: PickupRow }): TimelineEvent =>
  timelineEventOfPickup(pickup.number ?? pickup.pickupId, at, JSON.parse(doc) as PickupEvent, doc.length)

const accountsOf = (bills: ReadonlyArray<{ readonly bill: FreightBill }>, pickups: ReadonlyArray<FollowedPickup>): ReadonlyArray<string> =>
  [...new Set([...bills.flatMap(({ bill }) => bill.versions.at(-1)!.accounts), ...pickups.flatMap(({ pickup }) => pickup.accounts)])].sort()
