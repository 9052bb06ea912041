/** 204, Motor Carrier Load Tender: an order of a pickup. It is read only. */
import { identifier, text } from "../mapping/Codec.ts"
import type { LoopRule, Mapping } from "../mapping/Mapping.ts"
import { commodity, consignee, equipment, hazard, measures, payer, readOnly, references, remarks, seal, services, shipper, times } from "./OrderRules.ts"
import { cubicFeet, onlyOriginals, unit, whole } from "./PickupCodecs.ts"

const line = (list: string): LoopRule => ({
  loop: "L5",
  name: "Freight",
  list,
  content: [
    { segment: "L5", name: "Description", elements: [
      { elements: [2], members: ["description"], codec: text(50), name: "description" },
      commodity([3, 4])
    ] },
    measures("", { weight: "weight", unit: "unit", units: "handlingUnitCount", volume: "cubicFeet" }, cubicFeet),
    // of the contact for hazardous freight; without this rule they would end the line before LH1
    references("references"),
    ...hazard
  ]
})

const orders: LoopRule = {
  loop: "OID",
  name: "Purchase order",
  list: "stop.orders",
  content: [
    { segment: "OID", name: "Purchase order", elements: [{ elements: [2], members: ["purchaseOrder"], codec: identifier(22), name: "purchase order" }] },
    line("lines")
  ]
}

const stop = (list: string, name: string, reasons: ReadonlyArray<string>, party: LoopRule): LoopRule => ({
  loop: "S5",
  name,
  list,
  where: { element: 2, is: reasons },
  content: [
    // what S5 says of the whole stop is the last word
    measures("stop.", { weight: "weight", unit: "unit", units: "units", volume: "cubicFeet" }, cubicFeet),
    { segment: "S5", name, elements: [
      { elements: [3], members: ["stop.weight"], codec: whole(999_999), name: "weight of the stop" },
      { elements: [4], members: ["stop.unit"], codec: unit, name: "unit of weight" },
      { elements: [5], members: ["stop.units"], codec: whole(500), name: "handling units of the stop" },
      { elements: [7, 8], members: ["stop.cubicFeet"], codec: cubicFeet, name: "volume of the stop" }
    ] },
    references("stop.references"),
    times("stop"),
    services("stop.services"),
    remarks("NTE", [2], "stop.remarks"),
    party,
    line("stop.lines"),
    orders
  ]
})

/** 204 as a pickup order (area C). Read only. */
export const mapping204: Mapping = {
  set: "204",
  functionalId: "SM",
  title: "Pickup order",
  rules: readOnly([
    { segment: "B2", name: "Order", elements: [
      { elements: [2], members: ["scac"], codec: identifier(4), name: "SCAC of the carrier", required: true },
      { elements: [4], members: ["shipmentNumber"], codec: identifier(30), name: "shipment number of the shipper", required: true }
    ] },
    { segment: "B2A", name: "Purpose", elements: [{ elements: [1], members: [], codec: onlyOriginals, name: "purpose", required: true }] },
    references("referenceNumbers"),
    services(),
    remarks("NTE", [2], "remarks"),
    payer,
    equipment("N7"),
    seal,
    stop("pickupAddress", "Load", ["LD", "CL", "PL"], shipper()),
    stop("destinationAddress", "Unload", ["UL", "CU", "PU"], consignee()),
    { segment: "L3", name: "Total", elements: [
      { elements: [1], members: ["total.weight"], codec: whole(999_999), name: "total weight" },
      { elements: [9, 10], members: ["total.cubicFeet"], codec: cubicFeet, name: "volume" },
      { elements: [11], members: ["total.units"], codec: whole(500), name: "total handling units" },
      { elements: [12], members: ["total.unit"], codec: unit, name: "unit of weight" }
    ] }
  ]),
  notWritten: {}
}
