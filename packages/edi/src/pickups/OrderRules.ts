/** Rules that the orders of pickups share: 204, 211 and 216 have the same parties, contacts, references and freight in different places. */
import { identifier, text } from "../mapping/Codec.ts"
import type { ElementRule, LoopRule, Rule, SegmentRule } from "../mapping/Mapping.ts"
import { partyRule } from "../mapping/Parties.ts"
import { orderAccount, referenceType } from "../mapping/References.ts"
import { isHazardous, nmfc, pickupTime, service, trailer, unit, whole } from "./PickupCodecs.ts"

export const contact = (name: string, phone: string): SegmentRule => ({
  segment: "G61",
  name: "Contact",
  elements: [
    { elements: [2], members: [name], codec: text(60), name: "name of the contact" },
    { elements: [4], members: [phone], codec: text(80), name: "number of the contact" }
  ]
})

/** L11. `list`: where the references go. */
export const references = (list: string): SegmentRule => ({
  segment: "L11",
  name: "References",
  list,
  elements: [
    { elements: [1], members: ["referenceNumber"], codec: identifier(30), name: "number", required: true },
    { elements: [2], members: ["referenceType"], codec: referenceType, name: "qualifier" }
  ]
})

/** Free text, a line each. */
export const remarks = (segment: string, elements: ReadonlyArray<number>, list: string): SegmentRule => ({
  segment,
  name: "Remarks",
  list,
  elements: elements.map((number): ElementRule => ({ elements: [number], members: [`line${number}`], codec: text(80), name: "remark" }))
})

/** AT5. `list`: where the services go. */
export const services = (list = "shipmentServices"): SegmentRule => ({
  segment: "AT5",
  name: "Services",
  list,
  elements: [{ elements: [1, 2, 3], members: ["serviceCode", "serviceDescription"], codec: service, name: "special handling or service" }]
})

export const times = (member: string): SegmentRule => ({
  segment: "G62",
  name: "Time",
  elements: [{
    elements: [1, 2, 3, 4],
    members: [`${member}.readyDate`, `${member}.readyTime`, `${member}.closeTime`, `${member}.deliverFrom`, `${member}.deliverBy`, `${member}.deliverOn`],
    codec: pickupTime,
    name: "date and time"
  }]
})

/** N7 of an order for a whole trailer; 211 has MS2. */
export const equipment = (segment: "N7" | "MS2"): SegmentRule => ({
  segment,
  name: "Equipment",
  elements: [{ elements: [1, 2], members: ["trailerNumber"], codec: trailer, name: "number of the trailer" }]
})

export const seal: SegmentRule = { segment: "M7", name: "Seal", elements: [{ elements: [1], members: ["sealNumber"], codec: identifier(15), name: "number of the seal" }] }

/** Hazardous freight of a line, and who knows about it. */
export const hazard: ReadonlyArray<Rule> = [
  contact("hazmatContactName", "hazmatContactPhoneNumber"),
  { segment: "LH1", name: "Hazardous freight", elements: [{ elements: [1, 2], members: ["hazmatCheck"], codec: isHazardous, name: "hazardous freight" }] }
]

export const commodity = (elements: readonly [code: number, qualifier: number]): ElementRule => ({ elements, members: ["nmfc", "nmfcSub"], codec: nmfc, name: "commodity code" })

/** AT8: gross weight, handling units and volume. */
export const measures = (at: string, members: { readonly weight: string; readonly unit: string; readonly units: string; readonly volume: string }, volume: ElementRule["codec"]): SegmentRule => ({
  segment: "AT8",
  name: "Weight",
  where: { element: 1, is: ["G"] },
  elements: [
    { elements: [2], members: [`${at}${members.unit}`], codec: unit, name: "unit of weight" },
    { elements: [3], members: [`${at}${members.weight}`], codec: whole(999_999), name: "gross weight" },
    { elements: [4], members: [`${at}${members.units}`], codec: whole(500), name: "handling units" },
    { elements: [7, 6], members: [`${at}${members.volume}`], codec: volume, name: "volume" }
  ]
})

type At = Pick<LoopRule, "list">

export const shipper = (at?: At): LoopRule => partyRule("shipper", ["SF", "SH"], {
  name: "orgAddressName",
  id: { member: "orgAccountNumber", codec: orderAccount },
  address: { line1: "orgAddressLine1", line2: "orgAddressLine2", city: "orgCity", state: "orgState", postalCode: "orgZip", country: "orgCountry" },
  more: [contact("orgContactName", "orgPhoneNumber")]
}, at)

export const consignee = (at?: At): LoopRule => partyRule("consignee", ["ST", "CN"], {
  name: "cneeAddressName",
  address: { line1: "cneeAddressLine1", line2: "cneeAddressLine2", city: "cneeCity", state: "cneeState", postalCode: "cneeZip", country: "cneeCountry" },
  more: [contact("cneeContactName", "cneePhoneNumber")]
}, at)

export const payer: LoopRule = partyRule("payer", ["BT"], {
  name: "btAddressName",
  id: { member: "btAccountNumber", codec: orderAccount },
  address: { line1: "btAddressLine1", line2: "btAddressLine2", city: "btCity", state: "btState", postalCode: "btZip", country: "btCountry" },
  more: [contact("btContactName", "btPhoneNumber")]
}, { list: "billToAddress" })

/** Orders are read only. */
export const readOnly = (rules: ReadonlyArray<Rule>): ReadonlyArray<Rule> => rules.map((rule) => ({ ...rule, only: "in" as const }))
