/** A journey: three shipments from pickup order to invoice, as a schedule of writes by the shipper and the carrier. */
import type { DocumentUpload, Invoice, PickupOrder, ReportedEvent, ReportedPickup } from "@waybill/client"
import { demoAccount, demoScac, type DemoShipment, type Place, type Route, routes, shipmentsOf } from "./DemoFreight.ts"
import { invoiceOf, proofOfDelivery } from "./DemoInvoice.ts"
import { driverReport, type DriverStatus, pickupOrder } from "./DemoPickup.ts"
import { type ChargeVersion, postedCharge, postedShipment } from "./DemoPosts.ts"

export const tickMillis = 2_000

export type PostedShipment = ReturnType<typeof postedShipment>
type PostedCharge = ReturnType<typeof postedCharge>

/** Everything that is written at one instant, in this order. */
export interface TimedWrites {
  readonly at: number
  /** Written by the shipper; everything else by the carrier. `key` makes the order idempotent. */
  readonly orders: ReadonlyArray<{ readonly key: string; readonly order: PickupOrder }>
  readonly pickups: ReadonlyArray<{ readonly key: string; readonly report: ReportedPickup & { readonly status: DriverStatus } }>
  readonly shipments: ReadonlyArray<PostedShipment>
  readonly events: ReadonlyArray<ReportedEvent & { readonly eventId: string }>
  readonly charges: ReadonlyArray<PostedCharge>
  readonly invoices: ReadonlyArray<{ readonly invoice: Invoice; readonly proof: DocumentUpload }>
}

interface Step {
  readonly type: ReportedEvent["type"]
  readonly place: { readonly [Name in keyof Route]: Route[Name] extends Place ? Name : never }[keyof Route]
  readonly status: string
  readonly attributes?: Readonly<Record<string, unknown>>
  /** Reports of the pickup driver at this step. */
  readonly driver?: ReadonlyArray<DriverStatus>
  /** Change of the freight bill at this step. */
  readonly charge?: ChargeVersion
}

/** The truck is ordered and departs. */
const ordered: Step = { type: "PICKUP_SCHEDULED", place: "origin", status: "Pickup scheduled", driver: ["En Route"] }

/** The carrier picks up and registers the freight. */
const pickedUp: Step = { type: "PICKED_UP", place: "origin", status: "Picked up", driver: ["Arrived", "Departed with Exact Match"], charge: "created" }

/** Then one event per step. */
const onward: ReadonlyArray<Step> = [
  { type: "ARRIVED_AT_TERMINAL", place: "originTerminal", status: "At the origin terminal", charge: "updated" },
  { type: "DEPARTED_TERMINAL", place: "originTerminal", status: "Left the origin terminal" },
  { type: "IN_TRANSIT", place: "originTerminal", status: "On the road" },
  { type: "ARRIVED_AT_TERMINAL", place: "destinationTerminal", status: "At the destination terminal" },
  { type: "OUT_FOR_DELIVERY", place: "destinationTerminal", status: "Out for delivery", attributes: { stopsAway: 3 } },
  { type: "OUT_FOR_DELIVERY", place: "destinationTerminal", status: "Two stops away", attributes: { stopsAway: 2 } },
  { type: "OUT_FOR_DELIVERY", place: "destinationTerminal", status: "One stop away", attributes: { stopsAway: 1 } },
  { type: "DELIVERED", place: "destination", status: "Delivered", charge: "final" },
  { type: "PROOF_OF_DELIVERY", place: "destination", status: "Signed for" }
]

/** Time from the first write to the last. */
export const journeyMillis = (1 + onward.length * routes.length) * tickMillis

/**
 * The writes of the journey with this start. Deterministic: the same start gives the same writes and numbers, so a
 * journey can be resumed after a restart without duplicates.
 */
export const journeyFrom = (startedAt: number): ReadonlyArray<TimedWrites> => {
  const shipments = shipmentsOf(startedAt)
  const [last, ...others] = shipments.toReversed() as [DemoShipment, ...Array<DemoShipment>]
  // The first has data to look at: two bills, and a truck on its way.
  const first = mergedWrites(startedAt, [
    ...shipments.map((shipment) => orderWrites(shipment, startedAt)),
    ...others.toReversed().map((shipment) => pickupWrites(shipment, startedAt))
  ])
  const rest = onward.flatMap((step, index) =>
    shipments.map((shipment, place) => stepWrites(shipment, step, 2 + index, startedAt + (2 + index * shipments.length + place) * tickMillis)))
  return [first, pickupWrites(last, startedAt + tickMillis), ...rest]
}

/** Merges writes of several times into one. */
export const mergedWrites = (at: number, schedule: ReadonlyArray<TimedWrites>): TimedWrites => ({
  at,
  orders: schedule.flatMap((writes) => writes.orders),
  pickups: schedule.flatMap((writes) => writes.pickups),
  shipments: schedule.flatMap((writes) => writes.shipments),
  events: schedule.flatMap((writes) => writes.events),
  charges: schedule.flatMap((writes) => writes.charges),
  invoices: schedule.flatMap((writes) => writes.invoices)
})

const orderWrites = (shipment: DemoShipment, at: number): TimedWrites => ({
  ...stepWrites(shipment, ordered, 0, at),
  orders: [{ key: shipment.shipmentId, order: pickupOrder(shipment) }]
})

const pickupWrites = (shipment: DemoShipment, at: number): TimedWrites => ({
  ...stepWrites(shipment, pickedUp, 1, at),
  shipments: [postedShipment(shipment)]
})

const stepWrites = (shipment: DemoShipment, step: Step, number: number, at: number): TimedWrites => ({
  at,
  orders: [],
  pickups: (step.driver ?? []).map((status) => ({ key: shipment.shipmentId, report: { ...driverReport(shipment, status), status } })),
  shipments: [],
  events: [eventOf(shipment, step, number, at)],
  charges: step.charge === undefined ? [] : [postedCharge(shipment, step.charge, at)],
  invoices: step.type === "PROOF_OF_DELIVERY" ? [{ invoice: invoiceOf(shipment, at), proof: proofOfDelivery(shipment, at) }] : []
})

const eventOf = ({ bolNumber, proNumber, route, shipmentId }: DemoShipment, step: Step, number: number, at: number): TimedWrites["events"][number] => ({
  eventId: `${shipmentId}-${number + 1}`,
  type: step.type,
  status: step.status,
  occurredAt: new Date(at).toISOString(),
  location: route[step.place],
  ...(step.attributes === undefined ? {} : { attributes: step.attributes }),
  shipment: {
    shipmentId,
    mode: "LTL",
    scac: demoScac,
    references: [{ type: "PRO", value: proNumber }, { type: "BOL", value: bolNumber }],
    origin: route.origin,
    destination: route.destination
  },
  ...(step.type === "PROOF_OF_DELIVERY"
    ? { documents: [{ type: "POD", url: `https://carrier.example/documents/${proNumber}/pod.pdf`, mimeType: "application/pdf" }] }
    : {}),
  parties: { accounts: [demoAccount] }
})
