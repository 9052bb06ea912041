/** 990, Response to a Load Tender: whether the carrier accepts an order. */
import { coded, date, identifier, remark } from "../mapping/Codec.ts"
import type { Mapping } from "../mapping/Mapping.ts"
import { referenceType } from "../mapping/References.ts"

/** 990 and answers to pickup orders. */
export const mapping990: Mapping = {
  set: "990",
  functionalId: "GF",
  title: "Answer to a pickup order",
  rules: [
    { segment: "B1", name: "Answer", elements: [
      { elements: [1], members: ["scac"], codec: identifier(4), name: "SCAC of the carrier", required: true },
      { elements: [2], members: ["shipmentNumber"], codec: identifier(30), name: "shipment number of the order", required: true },
      { elements: [3], members: ["date"], codec: date, name: "date of the answer" },
      { elements: [4], members: ["decision"], codec: coded({ A: "accept", D: "reject" }), name: "answer", required: true }
    ] },
    { segment: "N9", name: "References", list: "references", elements: [
      { elements: [1], members: ["type"], codec: referenceType, name: "qualifier", required: true },
      { elements: [2], members: ["value"], codec: identifier(30), name: "number", required: true }
    ] },
    { segment: "K1", name: "Remark", elements: [{ elements: [1, 2], members: ["message"], codec: remark, name: "remark" }] }
  ],
  notWritten: {}
}
