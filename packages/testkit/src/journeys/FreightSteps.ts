/** Building blocks of journey steps, one function for each area. */
import type { BillChangeReport } from "@waybill/core/freight-charges"
import type { DocumentType } from "@waybill/core/invoices"
import type { PickupReport, PickupRequest } from "@waybill/core/pickups"
import type { PostedShipment } from "@waybill/core/shipment-status"
import type { EventType, ReportedEvent } from "@waybill/core/transit-events"
import { billChange, type BillChangeOverrides } from "../freight-charges/FreightChargeSamples.ts"
import { documentsSample, fileSample, invoiceSample } from "../invoices/InvoiceSamples.ts"
import { pickupRequest } from "../pickups/PickupSamples.ts"
import { postedShipment } from "../shipment-status/ShipmentSamples.ts"
import { reportedEvent } from "../transit-events/TransitEventSamples.ts"
import { billIdOfFreight, consigneeOf, dateOf, type Freight, laneOf, momentOf } from "./Freight.ts"
import type { JourneyStep } from "./JourneyStep.ts"
import { addressOf, type Place } from "./Lane.ts"
import { eventReferences, invoiceMembers, loadedBill, loadedPickup, loadedReport, loadedShipment, totalOf } from "./LoadedSteps.ts"

/** The shipper orders a pickup, and the carrier comes. */
export const pickupSteps = (freight: Freight): ReadonlyArray<JourneyStep> => [
  { name: "pickup ordered", afterHours: -24, area: "C", call: "pickups.create", request: pickupOf(freight) },
  pickupReported("driver on the way", -1, { status: "En Route", stopEta: momentOf(freight, 0).slice(0, 19) }),
  pickupReported("driver arrived", -0.5, { status: "Arrived" }),
  pickupReported("driver departed", 0, { status: "Departed with Exact Match", informationCode: { code: "100" }, ...loadedReport(freight) })
]

const pickupReported = (name: string, afterHours: number, report: typeof PickupReport.Encoded): JourneyStep => ({
  name,
  afterHours,
  area: "C",
  call: "pickups.report",
  report
})

const pickupOf = (freight: Freight): typeof PickupRequest.Encoded => {
  const { shipper } = laneOf(freight)
  const sample = pickupRequest({ pro: freight.proNumber, orgAccountNumber: freight.account, day: dateOf(freight, 0), zone: "UTC-6", ...loadedPickup(freight) })
  const [address] = sample["pickupAddress"] as ReadonlyArray<object>
  const place = { orgAddressName: shipper.name, orgAddressLine1: shipper.address1, orgCity: shipper.city, orgState: shipper.state, orgZip: shipper.postalCode }
  return { ...sample, pickupAddress: [{ ...address, ...place }] } as unknown as typeof PickupRequest.Encoded
}

/** Promised hours from loading to delivery. */
const promisedHours = 48

/** The carrier registers the shipment, or reports a change. */
export const registered = (name: string, afterHours: number, freight: Freight, changes: Partial<PostedShipment> & { readonly to?: Place } = {}): JourneyStep => {
  const { to = consigneeOf(freight), ...more } = changes
  const { shipper } = laneOf(freight)
  const shipment = postedShipment(freight.shipmentId, {
    ProNumber: freight.proNumber,
    accounts: [freight.account],
    pickupDate: dateOf(freight, 0),
    UniqueID: billIdOfFreight(freight),
    PickupAddress: addressOf(shipper, freight.account),
    BillToAddress: addressOf(shipper, freight.account),
    BillToAccountNumber: freight.account,
    ConsigneeAddress: addressOf(to, null),
    EstimatedDeliveryDate: dateOf(freight, promisedHours),
    ...loadedShipment(freight),
    ...more
  })
  return { name, afterHours, area: "A", call: "shipments.register", shipment }
}

/** Members of an event beside its type and time. */
export interface EventDetails {
  readonly to?: Place
  readonly location?: ReportedEvent["location"]
  readonly attributes?: Readonly<Record<string, unknown>>
}

/** The carrier reports an event. */
export const happened = (name: string, afterHours: number, freight: Freight, type: EventType, details: EventDetails = {}): JourneyStep => {
  const { attributes, location, to = consigneeOf(freight) } = details
  const { scac, shipper } = laneOf(freight)
  const event = reportedEvent(freight.shipmentId, {
    type,
    eventId: `${freight.shipmentId}/${name}`,
    occurredAt: momentOf(freight, afterHours),
    more: {
      status: name,
      shipment: { shipmentId: freight.shipmentId, mode: "LTL", scac, references: eventReferences(freight), origin: shipper, destination: to },
      ...(location === undefined ? {} : { location }),
      ...(attributes === undefined ? {} : { attributes })
    }
  })
  return { name, afterHours, area: "D", call: "events.publish", event }
}

/** Fields of the freight bill. */
export interface BillDetails extends Pick<BillChangeOverrides, "account" | "changeLog"> {
  /** Whether the carrier has reweighed the freight. */
  readonly reweighed?: boolean
  /** Price of services that were not ordered, in dollars. */
  readonly extra?: number
}

/** Adds a version of the freight bill. The debtor is the shipper unless `account` names another one. */
export const billed = (name: string, afterHours: number, freight: Freight, change: BillChangeReport["change"], details: BillDetails = {}): JourneyStep => {
  const { extra: _, reweighed = false, ...overrides } = details
  const own = { account: freight.account, total: totalOf(freight, details), ...(reweighed ? { weight: freight.load?.reweighed ?? 1912 } : {}), ...overrides }
  return {
    name,
    afterHours,
    area: "E",
    call: "freightCharges.publish",
    charge: billChange(change, billIdOfFreight(freight), { ...own, ...loadedBill(freight, afterHours, own, details) }) as unknown as BillChangeReport
  }
}

/** The reason for a version of a bill, as in its change log. */
export const reasonOf = (eventCategoryName: string, eventCode: string): Pick<BillDetails, "changeLog"> => ({ changeLog: [{ eventCategoryName, eventCode }] })

interface DocumentDetails extends Omit<BillDetails, "changeLog"> {
  /** Documents besides bill of lading and proof of delivery. */
  readonly documents?: ReadonlyArray<DocumentType>
}

/** The bill is final, and the carrier sends its invoice and supporting documents. */
export const documentSteps = (freight: Freight, afterHours: number, { documents = [], ...cost }: DocumentDetails = {}): ReadonlyArray<JourneyStep> => {
  const { dot: DOT, mc: MC } = laneOf(freight)
  const named = { shipmentID: freight.shipmentId, DOT, MC, invoiceNumber: `F${freight.proNumber}`, accounts: [cost.account ?? freight.account] }
  const total = totalOf(freight, cost).toFixed(2)
  const invoice = invoiceSample({ ...named, uniqueID: `INV-${freight.proNumber}`, costs: [total], total, ...invoiceMembers(freight, afterHours + 1, named.invoiceNumber, cost) })
  const upload = documentsSample({
    ...named,
    documents: (["BOL", "POD", ...documents] as const).map((documentType, at) => ({ documentType, files: [fileSample("PDF", 2_000, at)] })),
    more: { uniqueID: `DOC-${freight.proNumber}`, ...(freight.lane === undefined ? {} : { invoiceDate: dateOf(freight, afterHours + 1) }) }
  })
  return [
    billed("bill final", afterHours, freight, "final", cost),
    { name: "invoiced", afterHours: afterHours + 1, area: "B", call: "invoices.create", invoice },
    { name: "papers uploaded", afterHours: afterHours + 1, area: "B", call: "documents.upload", upload }
  ]
}
