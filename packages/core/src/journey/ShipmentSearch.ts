/** Finds the shipments of a number of unknown kind. Every store is searched by key. */
import { Effect, Schema } from "effect"
import { FreightBillStore } from "../freight-charges/FreightBillStore.ts"
import type { FreightBill } from "../freight-charges/model/FreightBill.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import type { KeptPickup } from "../pickups/model/Pickup.ts"
import { type FollowedPickup, PickupStore } from "../pickups/PickupStore.ts"
import { ShipmentId } from "../shared/Identifier.ts"
import { formatInstant, InstantText, parseInstant } from "../shared/Instant.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { plainNumber, searchOf } from "../shipment-status/model/LookupKey.ts"
import { ShipmentStatusStore } from "../shipment-status/ShipmentStatusStore.ts"
import type { TransitEvent } from "../transit-events/model/TransitEvent.ts"
import { TransitEventStore } from "../transit-events/TransitEventStore.ts"
import { timelineOfBill, numbersOfBill } from "./model/ChargeTimeline.ts"
import { referencesIn } from "./model/TransitEventTimeline.ts"
import { timelineEventOfInvoice } from "./model/InvoiceTimeline.ts"
import { billsOfPros, parsedEvent, statusOf } from "./ShipmentTimeline.ts"

/** Most shipments per search. */
export const maxFound = 20

/** A shipment that a search by reference found: its PRO, if no shipmentId is known. Members that no area knows are `null`. */
export const FoundShipment = Schema.Struct({
  shipmentId: Schema.String,
  proNumber: Schema.NullOr(Schema.String),
  bolNumber: Schema.NullOr(Schema.String),
  carrier: Schema.NullOr(Schema.String.annotate({ description: "Standard Carrier Alpha Code." })),
  status: Schema.NullOr(Schema.String.annotate({ description: "Its milestone, or else its latest event, with the name used in its area." })),
  lastAt: Schema.NullOr(InstantText)
}).annotate({ identifier: "NamedShipment" })
export type FoundShipment = typeof FoundShipment.Type

/** Whether a text can be a shipmentId. Other text never reaches a store. */
export const isShipmentId = Schema.is(ShipmentId)

export const shipmentSearch = Effect.gen(function*() {
  const statuses = yield* ShipmentStatusStore
  const events = yield* TransitEventStore
  const invoices = yield* InvoiceStore
  const pickups = yield* PickupStore
  const billsOf = billsOfPros(yield* FreightBillStore)

  return Effect.fnUntraced(function*(tenantId: string, reference: string): Effect.fn.Return<ReadonlyArray<FoundShipment>, StorageError> {
    const plain = plainNumber(reference)
    if (!isShipmentId(reference) || plain === "") return []
    const [stored, log, invoiceEntries, bills, ordered] = yield* Effect.all([
      statuses.search(tenantId, searchOf(reference), maxFound),
      events.recent(tenantId, reference, 1),
      invoices.historyOfShipment(tenantId, reference, 1),
      billsOf(tenantId, [plain]),
      pickups.ofPros(tenantId, [plain], maxFound)
    ], { concurrency: "unbounded" })
    const known = stored.map((each) => ({ shipmentId: each.shipmentId, ...statusOf(each) }))
    // only events contain the carrier of a shipment
    const logs = yield* Effect.forEach(
      known.filter(({ shipmentId }) => shipmentId !== reference),
      ({ shipmentId }) => events.recent(tenantId, shipmentId, 1),
      { concurrency: 4 }
    )
    // if a shipment has this PRO, bills and pickups with it belong to that shipment
    const isNamed = known.some(({ pros }) => pros.some((pro) => plainNumber(pro ?? "") === plain))
    return merged([
      ...known.map(ofStatus),
      ...[log, ...logs].flatMap((each) => each.events.map((event) => ofEvent(parsedEvent(event)))),
      ...(isNamed ? [] : bills.map(({ bill }) => ofBill(reference, bill))),
      ...(isNamed ? [] : ordered.map((each) => ofPickup(reference, each))),
      ...invoiceEntries.map(timelineEventOfInvoice).map(({ at, kind }) => ({ ...unknown, shipmentId: reference, status: kind, lastAt: at }))
    ]).slice(0, maxFound)
  })
})

type Found = Omit<FoundShipment, "lastAt"> & { readonly lastAt: number }

const unknown = { proNumber: null, bolNumber: null, carrier: null, status: null }

/** Merges what several areas know of each shipment. */
const merged = (all: ReadonlyArray<Found>): ReadonlyArray<FoundShipment> => {
  const found = new Map<string, Found>()
  for (const each of all) {
    const before = found.get(each.shipmentId)
    found.set(each.shipmentId, before === undefined ? each : {
      shipmentId: each.shipmentId,
      proNumber: before.proNumber ?? each.proNumber,
      bolNumber: before.bolNumber ?? each.bolNumber,
      carrier: before.carrier ?? each.carrier,
      status: before.status ?? each.status,
      lastAt: Math.max(before.lastAt, each.lastAt)
    })
  }
  return [...found.values()].map((each) => ({ ...each, lastAt: formatInstant(each.lastAt) }))
}

const ofStatus = ({ shipmentId, state, view }: ReturnType<typeof statusOf> & { readonly shipmentId: string }): Found => {
  const seen = Object.values(state.seen)
  return {
    shipmentId,
    proNumber: view.ProNumber,
    bolNumber: view.ReferenceNumbers.bolNumber,
    carrier: view.PartnerCarrierSCAC,
    status: view.ShipmentMilestoneStatus ?? null,
    lastAt: seen.length === 0 ? state.registeredAt : Math.max(...seen)
  }
}

const ofEvent = (event: TransitEvent): Found => ({
  shipmentId: event.shipment.shipmentId,
  proNumber: referencesIn([event], "pro")[0] ?? null,
  bolNumber: referencesIn([event], "bol")[0] ?? null,
  carrier: event.shipment.scac ?? null,
  status: event.type,
  lastAt: parseInstant(event.occurredAt) ?? 0
})

const ofBill = (reference: string, bill: FreightBill): Found => {
  const { bol, pro } = numbersOfBill(bill)
  const last = timelineOfBill(bill, 0).at(-1)!
  return { ...unknown, shipmentId: reference, proNumber: pro ?? reference, bolNumber: bol ?? null, status: `charges ${last.kind}`, lastAt: last.at }
}

const ofPickup = (reference: string, { history, pickup }: FollowedPickup): Found => {
  const { carrier, words } = JSON.parse(pickup.doc) as KeptPickup
  return { ...unknown, shipmentId: reference, proNumber: reference, carrier: carrier.scac, status: `pickup ${words}`, lastAt: history.at(-1)?.at ?? pickup.createdAt }
}
