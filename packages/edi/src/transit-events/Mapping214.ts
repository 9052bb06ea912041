/** 214, Transportation Carrier Shipment Status Message: each AT7 is one transit event. */
import { constant, country, decimal, identifier, remark, text } from "../mapping/Codec.ts"
import type { ElementRule, LoopRule, Mapping, SegmentRule } from "../mapping/Mapping.ts"
import { partyRule } from "../mapping/Parties.ts"
import { partyId, referenceType } from "../mapping/References.ts"
import { equipment, grossWeight, routing } from "./ShipmentCodecs.ts"
import { coordinates, reasonCodec, statusCodec, timeCodec } from "./StatusCodecs.ts"
import { normalAppointment, normalStatus } from "./StatusCodes.ts"

const references = (only?: "in"): SegmentRule => ({
  segment: "L11",
  name: "References",
  list: "shipment.references",
  most: 300,
  ...only === undefined ? {} : { only },
  elements: [
    { elements: [1], members: ["value"], codec: identifier(30), name: "number", required: true },
    { elements: [2], members: ["type"], codec: referenceType, name: "qualifier", required: true }
  ]
})

/** Lines of the notes. */
const remarks = (only?: "in"): SegmentRule => ({
  segment: "K1",
  name: "Remarks",
  list: "remarks",
  ...only === undefined ? {} : { only },
  elements: [{ elements: [1, 2], members: ["text"], codec: remark, name: "remark", lost: "nothing: remarks are the lines of `notes`, of which at most ten are written" }]
})

const party = (member: string, name: string, codes: ReadonlyArray<string>): LoopRule =>
  partyRule(name, codes, {
    name: "name",
    id: { member: "locationId", codec: partyId },
    address: { line1: "address1", line2: "address2", city: "city", state: "state", postalCode: "postalCode", country: "country" }
  }, { member })

const location: ReadonlyArray<ElementRule> = [
  { elements: [1], members: ["location.city"], codec: text(30), name: "city" },
  { elements: [2], members: ["location.state"], codec: identifier(2), name: "state or province" },
  { elements: [3], members: ["location.country"], codec: country, name: "country" },
  { elements: [4, 5, 6, 7], members: ["location.longitude", "location.latitude"], codec: coordinates, name: "longitude and latitude" },
  { elements: [8], members: ["location.postalCode"], codec: identifier(15), name: "postal code", since: "005010" }
]

const status: LoopRule = {
  loop: "AT7",
  name: "Status",
  each: true,
  content: [
    { segment: "AT7", name: "Status", elements: [
      {
        elements: [1, 3],
        members: ["type", "status", "attributes.edi.statusCode", "attributes.edi.appointmentCode", "attributes.exception", "attributes.custody", "attributes.appointmentStatus"],
        codec: statusCodec,
        name: "status or appointment",
        required: true
      },
      { elements: [2], members: ["attributes.edi.reasonCode", "attributes.delayReasonCode"], codec: reasonCodec(normalStatus, 1), name: "reason of the status" },
      { elements: [4], members: ["attributes.edi.reasonCode", "attributes.delayReasonCode"], codec: reasonCodec(normalAppointment, 3), name: "reason of the appointment" },
      {
        elements: [5, 6, 7],
        members: ["occurredAt", "attributes.updatedEta", "attributes.appointmentDate", "attributes.edi.estimatedAt", "attributes.edi.timeCode"],
        codec: timeCodec,
        name: "date, time and time code",
        required: true
      }
    ] },
    // a city with its state or country, or coordinates
    { segment: "MS1", name: "Location", elements: location, incomplete: (has) => has(1) && (has(2) || has(3)) ? [] : [1, 2, 3] },
    { segment: "MS2", name: "Equipment", elements: [
      { elements: [1, 2], members: ["attributes.edi.equipmentOwner", "attributes.trailerNumber"], codec: equipment, name: "owner and number of the trailer" }
    ] },
    remarks("in"),
    { segment: "M7", name: "Seals", only: "in", elements: [1, 2, 3, 4].map((number) => ({ elements: [number], members: ["shipment.references[SEAL]"], codec: identifier(15), name: "number of a seal", lost: "nothing: it is written as L11 with SN" })) }
  ]
}

/** 214 and transit events (area D). */
export const mapping214: Mapping = {
  set: "214",
  functionalId: "QM",
  title: "Shipment status",
  rules: [
    { segment: "B10", name: "Shipment", elements: [
      { elements: [1], members: ["shipment.references[PRO]"], codec: identifier(30), name: "reference of the carrier" },
      { elements: [2], members: ["shipment.references[SID]"], codec: identifier(30), name: "shipment number of the shipper" },
      { elements: [3], members: ["shipment.scac"], codec: identifier(4), name: "SCAC", required: true }
    ] },
    references(),
    remarks(),
    party("shipment.origin", "shipper", ["SH", "SF"]),
    party("shipment.destination", "consignee", ["CN", "ST"]),
    { segment: "MS3", name: "Interline", elements: [
      { elements: [1, 2, 4], members: ["attributes.partnerCarrierScac", "shipment.mode"], codec: routing, name: "carrier, its place in the route, and mode" }
    ] },
    {
      loop: "LX",
      name: "Number",
      each: true,
      content: [
        { segment: "LX", name: "Number", elements: [{ elements: [1], members: [], codec: constant("1"), name: "running number" }] },
        status,
        references("in"),
        { segment: "Q7", name: "Exceptions", list: "attributes.edi.exceptions", elements: [
          { elements: [1], members: ["code"], codec: identifier(1), name: "exception of the freight", required: true, lost: "nothing: the first D (damaged) or S (short) is also `attributes.exception`, if the status names none" },
          { elements: [2], members: ["packaging"], codec: identifier(3), name: "packaging" },
          { elements: [3], members: ["quantity"], codec: decimal(7), name: "pieces" }
        ] },
        remarks("in"),
        { segment: "AT8", name: "Weight", where: { element: 1, is: ["G"] }, incomplete: (has) => has(2) && has(3) ? [] : [2, 3, 4], elements: [
          { elements: [2, 3], members: ["attributes.weightUnit", "attributes.weight"], codec: grossWeight, name: "gross weight and its unit" },
          { elements: [4], members: ["attributes.handlingUnits"], codec: decimal(7), name: "handling units" }
        ] }
      ]
    }
  ],
  notWritten: {
    "eventId": "the control numbers and the place of the AT7 make it, so that a repeated file has the same ids",
    "sequence": "the service counts events in the order in which they are stored",
    "reportedAt": "GS-04 and GS-05 say when the group was written",
    "shipment.shipmentId": "it is one of the references, by the partner profile; it is written as the first of their types if there is none",
    "parties": "partners do not learn who may see a shipment"
  }
}
