/** 210, Motor Carrier Freight Details and Invoice. */
import { coded, date, hundredths, identifier, number, remark, text } from "../mapping/Codec.ts"
import type { LoopRule, Mapping, SegmentRule } from "../mapping/Mapping.ts"
import { type PartyMembers, partyRule } from "../mapping/Parties.ts"
import { partyId, payerAccount, referenceType } from "../mapping/References.ts"
import { chargeCode, chargeDescription, cost, itemNumber, lineDescription, lineKind, nmfc, onlyBills, pieces, rate, total, weight } from "./InvoiceCodecs.ts"

const address: PartyMembers["address"] = {
  line1: "address.streetAddress",
  city: "address.locality",
  state: "address.adminArea1",
  postalCode: "address.postalCode",
  country: "address.countryCode"
}

const references = (list: string, most: number): SegmentRule => ({
  segment: "N9",
  name: "References",
  list,
  most,
  elements: [
    { elements: [1], members: ["type"], codec: referenceType, name: "qualifier", required: true },
    { elements: [2], members: ["value"], codec: identifier(30), name: "number", required: true }
  ]
})

const remarks: SegmentRule = { segment: "K1", name: "Remarks", list: "comments", most: 10, elements: [{ elements: [1, 2], members: ["commentText"], codec: remark, name: "remark", required: true }] }

const line: LoopRule = {
  loop: "LX",
  name: "Charge",
  list: "invoiceCharges",
  content: [
    { segment: "LX", name: "Line", elements: [{ elements: [1], members: ["chargeType", "itemId"], codec: lineKind, name: "running number" }] },
    references("edi.references", 5),
    { segment: "L5", name: "Description", elements: [
      { elements: [2], members: ["itemDescription", "chargeDescription", "chargeType"], codec: lineDescription, name: "description" },
      { elements: [3, 4], members: ["nmfcNumber"], codec: nmfc, name: "commodity code" }
    ] },
    { segment: "L0", name: "Weight and quantity", incomplete: (has) => [...has(2) === has(3) ? [] : [2, 3], ...has(8) === has(9) ? [] : [8, 9]], elements: [
      { elements: [1], members: ["itemId"], codec: itemNumber, name: "number of the item" },
      { elements: [2], members: ["quantity.value"], codec: number(11), name: "billed quantity" },
      { elements: [3], members: ["quantity.unitOfMeasure"], codec: identifier(2), name: "unit of the billed quantity" },
      { elements: [4, 5, 11], members: ["weight.value", "weight.unitOfMeasure"], codec: weight, name: "weight" },
      { elements: [8], members: ["itemPackageQuantity"], codec: pieces, name: "pieces" },
      { elements: [9], members: ["itemPackageType"], codec: identifier(3), name: "packaging" }
    ] },
    { segment: "L1", name: "Charge", elements: [
      { elements: [2, 3], members: ["edi.rate", "edi.rateQualifier", "chargeUnitCode"], codec: rate, name: "rate" },
      { elements: [4], members: ["cost.value", "cost.currencyCode"], codec: cost, name: "charge" },
      { elements: [8], members: ["chargeCode"], codec: chargeCode, name: "special charge" },
      { elements: [12], members: ["chargeDescription", "chargeType"], codec: chargeDescription, name: "description of the charge" }
    ] },
    { segment: "L7", name: "Class", elements: [{ elements: [7], members: ["freightClassCode"], codec: identifier(5), name: "freight class" }] },
    remarks
  ]
}

/** 210 and invoices (area B). */
export const mapping210: Mapping = {
  set: "210",
  functionalId: "IM",
  title: "Invoice",
  rules: [
    { segment: "B3", name: "Invoice", elements: [
      { elements: [2], members: ["invoiceHeader.invoiceNumber"], codec: identifier(22), name: "invoice number", required: true },
      { elements: [3], members: ["attributes[SID]"], codec: identifier(30), name: "shipment number of the shipper" },
      { elements: [4], members: ["invoiceHeader.terms.billingTerms"], codec: coded({ PP: "Prepaid", CC: "Collect", TP: "Third Party" }), name: "method of payment" },
      { elements: [6], members: ["invoiceHeader.invoiceDate"], codec: date, name: "date of the invoice", required: true },
      { elements: [7], members: ["invoiceHeader.invoiceAmount.value"], codec: hundredths, name: "amount due", required: true },
      { elements: [8], members: [], codec: onlyBills, name: "correction", only: "in" },
      { elements: [11], members: ["edi.scac"], codec: identifier(4), name: "SCAC", required: true }
    ] },
    { segment: "C3", name: "Currency", elements: [{ elements: [1], members: ["invoiceHeader.invoiceAmount.currencyCode"], codec: identifier(3), name: "currency", lost: "nothing: without C3 it is USD" }] },
    { segment: "ITD", name: "Terms", elements: [
      { elements: [6], members: ["invoiceHeader.terms.paymentDueDate"], codec: date, name: "due date" },
      { elements: [12], members: ["invoiceHeader.terms.paymentTerms"], codec: text(80), name: "terms" }
    ] },
    references("attributes", 300),
    remarks,
    partyRule("shipper", ["SH", "SF"], { name: "consignorName", address }, { member: "invoiceHeader.consignor" }),
    partyRule("consignee", ["CN", "ST"], { name: "consigneeName", id: { member: "consigneeID", codec: partyId }, address }, { member: "invoiceHeader.consignee" }),
    partyRule("payer", ["BT"], {
      name: "invoiceHeader.billingParty.billingPartyName",
      id: { member: "attributes[accountNumber]", codec: payerAccount },
      address: Object.fromEntries(Object.entries(address).map(([name, path]) => [name, `invoiceHeader.billingParty.${path}`])) as unknown as PartyMembers["address"]
    }),
    { segment: "N7", name: "Equipment", elements: [{ elements: [2], members: ["attributes[TRAILER]"], codec: identifier(10), name: "number of the trailer" }] },
    { segment: "M7", name: "Seals", only: "in", elements: [1, 2, 3, 4].map((number) => ({ elements: [number], members: ["attributes[SEAL]"], codec: identifier(15), name: "number of a seal", lost: "nothing: it is written as N9 with SN" })) },
    line,
    { segment: "L3", name: "Total", elements: [
      { elements: [5], members: ["invoiceHeader.invoiceAmount.value"], codec: total, name: "total charge" }
    ] }
  ],
  notWritten: {
    "uniqueID": "the SCAC and the invoice number make it",
    "shipmentID": "it is one of the references, by the partner profile; it is written as the first of their types if there is none, unless it is the invoice number",
    "DOT": "the partner profile has it",
    "MC": "the partner profile has it"
  }
}
