/** What steps of journeys are made of, one function an area. */
import type { BillChangeReport, EventType, Invoice, PickupReport, PickupRequest, PostedShipment, ReportedEvent } from "@waybill/core"
import { billChange, type BillChangeOverrides } from "../freight-charges/FreightChargeSamples.ts"
import { documentsSample, fileSample, invoiceSample } from "../invoices/InvoiceSamples.ts"
import { pickupRequest } from "../pickups/PickupSamples.ts"
import { postedShipment } from "../shipment-status/ShipmentSamples.ts"
import { reportedEvent } from "../transit-events/TransitEventSamples.ts"
import { addressOf, billIdOfFreight, boston, chicago, dateOf, type Freight, momentOf, type Place } from "./Freight.ts"
import type { JourneyStep } from "./JourneyStep.ts"

/** The shipper orders a truck, and the carrier comes. */
export const pickupSteps = (freight: Freight): ReadonlyArray<JourneyStep> => [
  { name: "pickup ordered", afterHours: -24, area: "C", call: "pickups.create", request: pickupOf(freight) },
  pickupReported("driver on the way", -1, { status: "En Route", stopEta: momentOf(freight, 0).slice(0, 19) }),
  pickupReported("driver arrived", -0.5, { status: "Arrived" }),
  pickupReported("driver departed", 0, { status: "Departed with Exact Match", informationCode: { code: "100" } })
]

const pickupReported = (name: string, afterHours: number, report: typeof PickupReport.Encoded): JourneyStep => ({
  name,
  afterHours,
  area: "C",
  call: "pickups.report",
  report
})

const pickupOf = (freight: Freight): typeof PickupRequest.Encoded => {
  const sample = pickupRequest({ pro: freight.proNumber, orgAccountNumber: freight.account, day: dateOf(freight, 0), zone: "UTC-6" })
  const [address] = sample["pickupAddress"] as ReadonlyArray<object>
  const place = { orgAddressName: chicago.name, orgAddressLine1: chicago.address1, orgCity: chicago.city, orgState: chicago.state, orgZip: chicago.postalCode }
  return { ...sample, pickupAddress: [{ ...address, ...place }] } as unknown as typeof PickupRequest.Encoded
}

/** Hours from loading to delivery that the shipper was promised. */
const promisedHours = 48

/** The carrier tells of the shipment, or tells anew what has changed. */
export const registered = (name: string, afterHours: number, freight: Freight, changes: Partial<PostedShipment> & { readonly to?: Place } = {}): JourneyStep => {
  const { to = boston, ...more } = changes
  const shipment = postedShipment(freight.shipmentId, {
    ProNumber: freight.proNumber,
    accounts: [freight.account],
    pickupDate: dateOf(freight, 0),
    UniqueID: billIdOfFreight(freight),
    PickupAddress: addressOf(chicago, freight.account),
    BillToAddress: addressOf(chicago, freight.account),
    BillToAccountNumber: freight.account,
    ConsigneeAddress: addressOf(to, null),
    EstimatedDeliveryDate: dateOf(freight, promisedHours),
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

/** The carrier tells what happened on the road. */
export const happened = (name: string, afterHours: number, freight: Freight, type: EventType, details: EventDetails = {}): JourneyStep => {
  const { attributes, location, to = boston } = details
  const event = reportedEvent(freight.shipmentId, {
    type,
    eventId: `${freight.shipmentId}/${name}`,
    occurredAt: momentOf(freight, afterHours),
    more: {
      status: name,
      shipment: { shipmentId: freight.shipmentId, mode: "LTL", scac: "WAYB", references: [{ type: "PRO", value: freight.proNumber }], origin: chicago, destination: to },
      ...(location === undefined ? {} : { location }),
      ...(attributes === undefined ? {} : { attributes })
    }
  })
  return { name, afterHours, area: "D", call: "events.publish", event }
}

/** The freight bill gets a version. The debtor is the shipper unless `account` names somebody else. */
export const billed = (name: string, afterHours: number, freight: Freight, change: BillChangeReport["change"], overrides: BillChangeOverrides = {}): JourneyStep => ({
  name,
  afterHours,
  area: "E",
  call: "freightCharges.publish",
  charge: billChange(change, billIdOfFreight(freight), { account: freight.account, ...overrides }) as unknown as BillChangeReport
})

/** What a version of a bill is for, as its log says. */
export const because = (eventCategoryName: string, eventCode: string): Pick<BillChangeOverrides, "changeLog"> => ({ changeLog: [{ eventCategoryName, eventCode }] })

export interface PaperDetails {
  /** What the freight costs in the end, in dollars. */
  readonly total?: number
  /** Who pays; the shipper otherwise. */
  readonly account?: string
  /** Papers beside bill of lading and proof of delivery. */
  readonly papers?: ReadonlyArray<string>
}

/** The bill is final, and the carrier sends its invoice and the papers that prove it. */
export const paperSteps = (freight: Freight, afterHours: number, { account = freight.account, papers = [], total = 263.78 }: PaperDetails = {}): ReadonlyArray<JourneyStep> => {
  const named = { shipmentID: freight.shipmentId, invoiceNumber: `F${freight.proNumber}`, accounts: [account] }
  const invoice = invoiceSample({ ...named, uniqueID: `INV-${freight.proNumber}`, costs: [total.toFixed(2)], total: total.toFixed(2) })
  const upload = documentsSample({
    ...named,
    documents: ["BOL", "POD", ...papers].map((documentType, at) => ({ documentType, files: [fileSample("PDF", 2_000, at)] })),
    more: { uniqueID: `DOC-${freight.proNumber}` }
  })
  return [
    billed("bill final", afterHours, freight, "final", { account, total }),
    { name: "invoiced", afterHours: afterHours + 1, area: "B", call: "invoices.create", invoice: invoice as unknown as Invoice },
    { name: "papers uploaded", afterHours: afterHours + 1, area: "B", call: "documents.upload", upload }
  ]
}
