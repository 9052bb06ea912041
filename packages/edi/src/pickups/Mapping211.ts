/** 211, Motor Carrier Bill of Lading: an order of a pickup, with its freight line by line. It is read only. */
import { identifier, text } from "../mapping/Codec.ts"
import type { LoopRule, Mapping } from "../mapping/Mapping.ts"
import { consignee, equipment, hazard, payer, readOnly, references, remarks, seal, services, shipper, times } from "./OrderRules.ts"
import { cubicFeet, nmfcNumber, onlyOriginals, readyAt, unit, whole } from "./PickupCodecs.ts"

const freight: LoopRule = {
  loop: "AT2",
  name: "Freight",
  list: "freight",
  content: [
    { segment: "AT2", name: "Freight", elements: [
      { elements: [1], members: ["handlingUnitCount"], codec: whole(500), name: "handling units" },
      { elements: [2], members: ["handlingUnitType"], codec: identifier(3), name: "their packaging" },
      { elements: [4], members: ["unit"], codec: unit, name: "unit of weight" },
      { elements: [5], members: ["weight"], codec: whole(999_999), name: "weight" },
      { elements: [6], members: ["individualPieces"], codec: whole(1_000_000), name: "pieces" },
      { elements: [7], members: ["individualPieceType"], codec: identifier(3), name: "packaging of the pieces" },
      { elements: [9], members: ["nmfc", "nmfcSub"], codec: nmfcNumber, name: "commodity code" },
      { elements: [10], members: ["freightClass"], codec: identifier(5), name: "freight class" },
      { elements: [14, 13], members: ["cubicFeet"], codec: cubicFeet, name: "volume", since: "005010" }
    ] }
  ]
}

const line: LoopRule = {
  loop: "AT1",
  name: "Line",
  list: "lines",
  content: [
    references("references"),
    { segment: "AT4", name: "Description", list: "descriptions", elements: [{ elements: [1], members: ["text"], codec: text(50), name: "description" }] },
    freight,
    { segment: "SPO", name: "Purchase order", list: "orders", elements: [{ elements: [1], members: ["purchaseOrder"], codec: identifier(22), name: "purchase order" }] },
    ...hazard
  ]
}

/** 211 as a pickup order (area C). Read only. */
export const mapping211: Mapping = {
  set: "211",
  functionalId: "BL",
  title: "Bill of lading",
  rules: readOnly([
    { segment: "BOL", name: "Bill of lading", elements: [
      { elements: [1], members: ["scac"], codec: identifier(4), name: "SCAC of the carrier", required: true },
      { elements: [3], members: ["shipmentNumber"], codec: identifier(30), name: "shipment number of the shipper", required: true },
      { elements: [4, 5], members: ["pickedUp.readyDate", "pickedUp.readyTime"], codec: readyAt, name: "date and time of the pickup", required: true, lost: "nothing: G62 with 10, 37 or 69 is used instead if there is one" },
      { elements: [6], members: ["proNumber"], codec: identifier(30), name: "reference of the carrier" }
    ] },
    { segment: "B2A", name: "Purpose", elements: [{ elements: [1], members: [], codec: onlyOriginals, name: "purpose", required: true }] },
    equipment("MS2"),
    references("referenceNumbers"),
    times("times"),
    services(),
    remarks("K1", [1, 2], "remarks"),
    seal,
    shipper({ list: "pickupAddress" }),
    consignee({ list: "destinationAddress" }),
    payer,
    line
  ]),
  notWritten: {}
}
