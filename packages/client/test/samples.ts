/** Sample bodies of a sender or server. */
import type { PickupBatch } from "../src/intake/index.ts"
import type { NoticeEvent, WebhookTestEvent } from "../src/portal/index.ts"
import type { PickupRequest } from "../src/pickups/index.ts"
import type { PreliminaryFreightCharge } from "../src/freight-charges/index.ts"
import type { DeliveryInformation, DeliveryUpdate, PublicShipment, ReferenceNumbers, StandardAddress, VerifiedShipment } from "../src/shipment-status/index.ts"
import { fullOrder } from "./pickup-samples.ts"
import type { EventBatch, TransitEvent } from "../src/transit-events/index.ts"

export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
export const otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

export const eventOf = (shipmentId: string, sequence: number, more: Partial<TransitEvent> = {}): TransitEvent => ({
  eventId: `${shipmentId}-${sequence}`,
  type: "IN_TRANSIT",
  occurredAt: "2026-11-20T08:15:00-06:00",
  sequence,
  shipment: { shipmentId, origin: { city: "Omaha" }, destination: { city: "Tulsa" } },
  ...more
})

export const batchOf = (deliveryId: string, events: ReadonlyArray<TransitEvent>): EventBatch => ({
  deliveryId,
  sentAt: "2026-11-20T14:15:00.000Z",
  events
})

export const bytesOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))

const omaha: StandardAddress = {
  addressName: "Acme",
  addressLine1: "1 Main St",
  addressLine2: null,
  city: "Omaha",
  state: "NE",
  postalCode: "68102-1234",
  country: "USA",
  accountNumber: "4711"
}

export const referenceNumbers: ReferenceNumbers = {
  bolNumber: "B/1",
  QuoteID: null,
  ShipmentID: "S1",
  MasterBOL: null,
  poNumber: "P1, P2",
  AdditionalReferences: null,
  trailerNumber: "53"
}

/** With every field. */
export const verifiedShipment: Required<VerifiedShipment> = {
  ProNumber: "041-8367745",
  ReferenceNumbers: referenceNumbers,
  UniqueID: "0418367745ABCD20261118",
  UpdatedPro: null,
  PayType: "Prepaid",
  ShipType: "Shipper",
  PickupAddress: omaha,
  BillToAddress: omaha,
  BillToAccountNumber: "4711",
  ConsigneeAddress: { ...omaha, city: "Tulsa", postalCode: "74103" },
  DESaccessorial: ["LFTD"],
  DESLimitedAccess: "Farm-87",
  TimeCriticalType: "Delivery Window",
  TimeCriticalInfo: { date: "2026-11-20", windowStart: "08:30:00", windowEnd: "10:00:00" },
  GrossWeight: 1200.5,
  Commodities: [{
    description: "Paint", weight: 600, weightUnit: "lbs", pieces: 4, packagingType: "Drum", classification: 92.5, nmfc: "149980", nmfcSub: "2",
    hazardous: true, hazardousDescription: "Flammable", hazmatContactName: "Kim", hazmatContactPhoneNumber: "4025550100", nestedOrStacked: "Stacked"
  }],
  HandlingUnits: {
    index: 1, count: 2, type: "Pallet", tareWeight: 40, weight: 1240.5, weightUnit: "lbs", length: 48, width: 40, height: 60,
    dimensionsUnit: "In", stackable: false
  },
  ShipmentLocation: omaha,
  ShipmentMilestoneStatus: "Out for Delivery",
  ShipmentMilestoneStatusLong: "On the truck",
  ShipmentTerminalInfo: {
    TerminalID: "TUL", AddressLine1: "2 Dock Rd", AddressLine2: null, City: "Tulsa", State: "OK", PostalCode: "74103", Country: "USA",
    ContactName: "Sam", PhoneNumber: "9185550100", EmailAddress: "dock@carrier.test", TerminalStatus: "Departed"
  },
  TimeZoneOfShipment: "-6",
  UpdatedETA: "2026-11-20T17:00:00-06:00",
  EstimatedStandardDay: 2,
  EstimatedDeliveryDate: "2026-11-19",
  OFDStopsAway: 2,
  Reconsignment: false,
  ShipmentShortage: false,
  ShipmentDamage: false,
  AllShortOrLostShipment: false,
  Late: true,
  DelayReasonCode: "310-2",
  AppointmentRequired: true,
  AppointmentStatus: "Secured",
  AppointmentDate: "2026-11-20T15:00:00-06:00",
  PartnerCarrierName: null,
  PartnerCarrierSCAC: null,
  CrossBorder: true,
  CrossBorderStatus: "ClearedCustoms",
  CrossBorderEntryNumber: "E-1",
  PODAvailable: false
}

export const publicShipment: PublicShipment = {
  ProNumber: "041-8367745",
  ShipmentMilestoneStatus: "Out for Delivery",
  UpdatedETA: "2026-11-20T17:00:00-06:00",
  EstimatedStandardDay: 2
}

/** With every field. */
export const deliveryUpdate: Required<DeliveryUpdate> = {
  proNumber: "041-8367745",
  shipmentReferenceNumbers: referenceNumbers,
  shipmentMilestoneStatus: "Out for Delivery",
  TimeZoneOfShipment: "-6",
  UpdatedETA: "2026-11-20",
  notificationMessage: "Two stops before yours.",
  terminalStatus: "Departed",
  terminaltype: "delivery",
  terminalAddress: { TerminalID: "TUL" },
  trailerNumber: "53",
  countsToDelivery: 2,
  UpdatedPro: null,
  PartnerCarrierName: null,
  PartnerCarrierSCAC: null
}

/** With every field. */
export const deliveryInformation: Required<DeliveryInformation> = {
  proNumber: "041-8367745",
  shipmentReferenceNumbers: referenceNumbers,
  deliveryInformation_messages: "Noted late",
  TimeZoneOfShipment: null,
  UpdatedETA: "2026-11-21",
  delayReasonCode: "310-2",
  appointmentDate: "2026-11-21T15:00:00-06:00",
  appointmentStatus: "appointment rescheduled",
  utcOffset: "-6",
  terminalStatus: "Damaged",
  responsibleParty: "Carrier Action",
  majorStatusCategory: "Reschedule",
  generalDescription: "Carrier not able to service",
  carrierSpecificDescription: "Equipment Breakdown",
  customsAgent: {
    type: "Import", name: "Broker", address1: "3 Pier", address2: "Rear", city: "Laredo", stateProvince: "TX", postalCode: "78040", country: "USA",
    contact: { phone: "9565550100", phoneExt: "1", name: "Lee", email: "lee@broker.test" }
  },
  customsStatus: "Hold",
  customsEntryNumber: null
}

const place = { name: "Acme", address1: "1 Main St", address2: "Rear", city: "Omaha", stateProvince: "NE", postalCode: "68102", country: "USA" }

/** With every field. */
export const chargeOf = (uniqueID: string, version: number, isTest = false): Required<PreliminaryFreightCharge> => ({
  pfc: { uniqueID, function: `PFC${version}`, header: { function: `PFC${version}` }, date: "2026-11-20T08:15:00.000", version: "v1.0", isTest },
  payment: { terms: "Prepaid" },
  shipmentTotals: {
    pickupDate: "2026-11-18T16:00:00.000", grossWeight: 1200.5, netWeight: 1160.5, weightUnit: "Pounds", handlingUnits: 1, linearLength: 4,
    dimensionsUnit: "Inches", cube: 66.7, cubeDimensionsUnit: "Feet", declaredValue: 5000, currency: "USD"
  },
  accessorials: { codes: ["LFTD"] },
  referenceNumbers: {
    pro: "041-8367745", quoteId: "Q1", shipmentId: "S1", masterBol: "M1", trailerId: "53", manifestId: "MF1", bol: ["B1"],
    po: [{ number: "P1", pieces: 4, weight: "600", weightUnit: "Pounds", palletized: true, additionalShipperInfo: "none" }],
    additionalReferences: [{ name: "dept", value: "7" }]
  },
  origin: { account: "1", locationId: "L1", ...place },
  destination: { account: "2", locationId: "L2", ...place },
  billTo: { account: "4711", locationID: "L3", ...place },
  commodities: {
    handlingUnits: [{
      count: 1, type: "Pallet", tareWeight: 40, weight: 1200.5, weightUnit: "Pounds", length: 48, width: 40, height: 60, dimensionUnit: "Inches",
      stackable: false,
      lineItems: [{
        description: "Paint", weight: 600, weightUnit: "Pounds", pieces: 4, packagingType: "Drum", classification: "92.5", nmfc: "149980", nmfcSub: "2"
      }]
    }]
  },
  charges: {
    grossCharges: 500, discountAmount: 385, discountPercent: 77, totalTareWeight: 40, tareWeightAmount: 0, deficitWeight: 0, fuelSurchargePercent: 31,
    fuelSurchargeAmount: 35.65, currencyType: "USD", weightUnit: "Pounds", detail: "none", preliminaryTotalCharges: 150.65,
    class: [{ freightClass: "92.5", cwt: 41.65 }],
    changeLog: [{
      eventCategoryName: "Bill Entry", eventCode: "OTHR", eventSubCode: "1", carrierCode: "BILL", carrierDescription: "made",
      weightAndResearchDocAvailable: false
    }],
    changeLogMessages: [{ informationalMessage: "Bill made." }]
  }
})

const orderedPickup = { ...fullOrder, isTest: "False", requestFunction: "NewPickup", carrierPickupNumber: null } as const satisfies PickupRequest

export const pickupBatch: PickupBatch = {
  deliveryId: "N1",
  sentAt: "2026-11-20T14:15:00.000Z",
  pickups: [
    { at: "2026-11-20T14:14:58.000Z", change: "ordered", pickupId: "0199-1", confirmationNumber: null, status: "Requested", request: orderedPickup },
    { at: "2026-11-20T14:14:59.000Z", change: "decided", pickupId: "0199-1", confirmationNumber: "100000001", status: "Accepted", request: orderedPickup }
  ]
}

export const noticeEvent: NoticeEvent = {
  type: "notice.ending",
  noticeId: "ending.0199-2.20780",
  createdAt: "2026-11-20T14:15:00.000Z",
  subscriptionId: "0199-2",
  area: "freight-charges",
  endpointUrl: "https://tms.shipper.example/charges",
  inFlight: 3,
  waiting: 12,
  oldestWaitingAt: "2026-11-20T13:31:00.000Z",
  removedAt: "2026-11-27T13:31:00.000Z",
  deadLetters: 0,
  lastAttemptAt: "2026-11-20T15:56:00.000Z",
  afterLastAttempt: "paused",
  pausedAt: null,
  reason: null
}

export const webhookTest: WebhookTestEvent = { type: "webhook.test", subscriptionId: "0199-2", sentAt: "2026-11-20T14:15:00.000Z", message: "This is a test event." }
