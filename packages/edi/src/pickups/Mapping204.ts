/** 204, Motor Carrier Load Tender: an order of a pickup. It is read only. */
import { coded, identifier, text } from "../mapping/Codec.ts"
import type { LoopRule, Mapping, SegmentRule } from "../mapping/Mapping.ts"
import { partyRule } from "../mapping/Parties.ts"
import { payerAccount, referenceType } from "../mapping/References.ts"
import { cubicFeet, onlyOriginals, pickupTime, whole } from "./PickupCodecs.ts"

const unit = coded({ L: "LB", K: "KG" })

const contact = (name: string, phone: string): SegmentRule => ({
  segment: "G61",
  name: "Contact",
  elements: [
    { elements: [2], members: [name], codec: text(60), name: "name of the contact" },
    { elements: [4], members: [phone], codec: text(80), name: "number of the contact" }
  ]
})

const stop = (list: string, name: string, reasons: ReadonlyArray<string>, party: LoopRule): LoopRule => ({
  loop: "S5",
  name,
  list,
  where: { element: 2, is: reasons },
  only: "in",
  content: [
    { segment: "S5", name, elements: [
      { elements: [3], members: ["stop.weight"], codec: whole(999_999), name: "weight of the stop" },
      { elements: [4], members: ["stop.unit"], codec: unit, name: "unit of weight" },
      { elements: [5], members: ["stop.units"], codec: whole(500), name: "handling units of the stop" }
    ] },
    { segment: "G62", name: "Time", elements: [{ elements: [1, 2, 3, 4], members: ["stop.readyDate", "stop.readyTime", "stop.closeTime"], codec: pickupTime, name: "date and time" }] },
    party
  ]
})

export const mapping204: Mapping = {
  set: "204",
  functionalId: "SM",
  title: "Pickup order",
  rules: [
    { segment: "B2", name: "Order", only: "in", elements: [
      { elements: [2], members: ["scac"], codec: identifier(4), name: "SCAC of the carrier", required: true },
      { elements: [4], members: ["shipmentNumber"], codec: identifier(30), name: "shipment number of the shipper", required: true }
    ] },
    { segment: "B2A", name: "Purpose", only: "in", elements: [{ elements: [1], members: [], codec: onlyOriginals, name: "purpose", required: true }] },
    { segment: "L11", name: "References", list: "referenceNumbers", only: "in", elements: [
      { elements: [1], members: ["referenceNumber"], codec: identifier(30), name: "number", required: true },
      { elements: [2], members: ["referenceType"], codec: referenceType, name: "qualifier" }
    ] },
    { ...partyRule("payer", ["BT"], {
      name: "btAddressName",
      id: { member: "btAccountNumber", codec: payerAccount },
      address: { line1: "btAddressLine1", line2: "btAddressLine2", city: "btCity", state: "btState", postalCode: "btZip", country: "btCountry" },
      more: [contact("btContactName", "btPhoneNumber")]
    }, { list: "billToAddress" }), only: "in" },
    stop("pickupAddress", "Load", ["LD", "CL", "PL"], partyRule("shipper", ["SF", "SH"], {
      name: "orgAddressName",
      id: { member: "orgAccountNumber", codec: payerAccount },
      address: { line1: "orgAddressLine1", line2: "orgAddressLine2", city: "orgCity", state: "orgState", postalCode: "orgZip", country: "orgCountry" },
      more: [contact("orgContactName", "orgPhoneNumber")]
    })),
    stop("destinationAddress", "Unload", ["UL", "CU", "PU"], partyRule("consignee", ["ST", "CN"], {
      name: "cneeAddressName",
      address: { line1: "cneeAddressLine1", line2: "cneeAddressLine2", city: "cneeCity", state: "cneeState", postalCode: "cneeZip", country: "cneeCountry" },
      more: [contact("cneeContactName", "cneePhoneNumber")]
    })),
    { segment: "L3", name: "Total", only: "in", elements: [
      { elements: [1], members: ["total.weight"], codec: whole(999_999), name: "total weight" },
      { elements: [9, 10], members: ["total.cubicFeet"], codec: cubicFeet, name: "volume" },
      { elements: [11], members: ["total.units"], codec: whole(500), name: "total handling units" },
      { elements: [12], members: ["total.unit"], codec: unit, name: "unit of weight" }
    ] }
  ],
  notWritten: {}
}
