/** Sample bodies for the check of a receiver, one shape for each kind of delivery. */
import { sampleCommodities, sampleTotals } from "@waybill/conformance"

export const deliveryKinds = ["transit-events", "shipment-status", "freight-charges", "pickups"] as const
export type DeliveryKind = typeof deliveryKinds[number]

/** An event of a fictitious shipment or pickup: its first, second or third. */
export interface MadeUpEvent {
  readonly shipmentId: string
  readonly sequence: number
}

interface Sent {
  readonly deliveryId: string
  readonly run: string
  readonly now: string
  readonly events: ReadonlyArray<MadeUpEvent>
}

const place = (name: string, city: string, state: string, postalCode: string) => ({ name, city, state, postalCode, country: "USA" })
const origin = place("Waybill check", "Chicago", "IL", "60608")
const destination = place("Waybill check", "Dallas", "TX", "75201")

const eventBatch = ({ deliveryId, events, now, run }: Sent) => ({
  deliveryId,
  sentAt: now,
  events: events.map(({ sequence, shipmentId }) => ({
    eventId: `${shipmentId}-${sequence}`,
    type: "IN_TRANSIT",
    status: "Sent by waybill check",
    occurredAt: now,
    reportedAt: now,
    sequence,
    shipment: { shipmentId, mode: "LTL", references: [{ type: "PRO", value: `CHECK-${run}` }], origin, destination }
  }))
})

const milestones = ["Picked-up", "In Transit", "Out for Delivery"]

/** One notification is one delivery. */
const statusNotification = ({ events: [event], now }: Sent) => ({
  proNumber: event!.shipmentId,
  shipmentReferenceNumbers: { bolNumber: null, QuoteID: null, ShipmentID: event!.shipmentId, MasterBOL: null, poNumber: null, AdditionalReferences: null, trailerNumber: null },
  shipmentMilestoneStatus: milestones[event!.sequence - 1],
  TimeZoneOfShipment: "-6",
  UpdatedETA: now.slice(0, 10),
  notificationMessage: `Sent by waybill check: shipment ${event!.shipmentId} is in Chicago, IL.`
})

const party = ({ city, country, name, postalCode, state }: typeof origin) => ({ account: "WAYBILL-CHECK", name, address1: "1 Check St", city, stateProvince: state, postalCode, country })

const freightCharges = ({ events, now }: Sent) => {
  const date = now.slice(0, 23)
  return events.map(({ sequence, shipmentId }) => ({
    pfc: { uniqueID: shipmentId.replaceAll("-", "").toUpperCase(), header: { function: `PFC${sequence}` }, date, version: "v1.0", isTest: true },
    payment: { terms: "Prepaid" },
    shipmentTotals: { pickupDate: date, ...sampleTotals },
    referenceNumbers: { pro: shipmentId, shipmentId },
    origin: party(origin),
    destination: party(destination),
    billTo: party(origin),
    commodities: sampleCommodities,
    charges: {
      grossCharges: 858.55,
      discountAmount: 657.65,
      fuelSurchargeAmount: 62.88,
      currencyType: "USD",
      preliminaryTotalCharges: 263.78,
      changeLog: [{ eventCategoryName: "Bill Entry", eventCode: "OTHR", carrierCode: "BILL" }]
    }
  }))
}

const changes = ["ordered", "changed", "cancelled"]

/** The entries of a carrier's work list. */
const pickupBatch = ({ deliveryId, events, now }: Sent) => ({
  deliveryId,
  sentAt: now,
  pickups: events.map(({ sequence, shipmentId }) => ({
    at: now,
    change: changes[sequence - 1],
    pickupId: shipmentId,
    confirmationNumber: null,
    status: sequence === 3 ? "Cancelled" : "Accepted",
    request: {
      requestFunction: sequence === 1 ? "NewPickup" : "ModifyExisting",
      carrierPickupNumber: null,
      isTest: true,
      customer: origin.name,
      pickupAddress: [{ orgAddressName: origin.name, orgAddressLine1: "1 Check St", orgCity: origin.city, orgState: origin.state, orgZip: origin.postalCode, orgCountry: origin.country }],
      grossPickupWeight: 640,
      weightUofM: "LBS",
      handlingUnitCount: 2
    }
  }))
})

/** A test event, of any kind of subscription. */
export const testEventOf = (run: string, now: string) =>
  ({ type: "webhook.test", subscriptionId: `WAYBILL-CHECK-${run}`, sentAt: now, message: "Sent by waybill check. It contains no freight data." })

/** The JSON of a delivery. Shipment status uses only the first event. */
export const bodyOf: Readonly<Record<DeliveryKind, (sent: Sent) => unknown>> = {
  "transit-events": eventBatch,
  "shipment-status": statusNotification,
  "freight-charges": freightCharges,
  pickups: pickupBatch
}

type Members = Readonly<Record<string, unknown>>

/** The same body with members and values that no current version knows. */
export const grown: Readonly<Record<DeliveryKind, (body: unknown) => unknown>> = {
  "transit-events": (body) => {
    const batch = body as { readonly events: ReadonlyArray<Members> }
    return { ...batch, later: true, events: batch.events.map((event) => ({ ...event, type: "SOMETHING_NEW", later: { more: [1] } })) }
  },
  "shipment-status": (body) => ({ ...body as Members, shipmentMilestoneStatus: "Something New", later: { more: [1] } }),
  pickups: (body) => {
    const batch = body as { readonly pickups: ReadonlyArray<Members> }
    return { ...batch, later: true, pickups: batch.pickups.map((entry) => ({ ...entry, change: "something new", later: { more: [1] } })) }
  },
  "freight-charges": (body) => (body as ReadonlyArray<Members>).map((charge) => ({ ...charge, later: { more: [1] } }))
}
