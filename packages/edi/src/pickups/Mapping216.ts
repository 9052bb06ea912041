/** 216, Motor Carrier Shipment Pickup Notification: an order of a pickup with totals only. It is read only. */
import { identifier } from "../mapping/Codec.ts"
import type { Mapping } from "../mapping/Mapping.ts"
import { consignee, contact, readOnly, remarks, services, shipper } from "./OrderRules.ts"
import { clock, onlyOriginals, readyAt, unit, unitsOf, whole } from "./PickupCodecs.ts"

/** 216 as a pickup order (area C). Read only. */
export const mapping216: Mapping = {
  set: "216",
  functionalId: "PU",
  title: "Pickup notification",
  rules: readOnly([
    { segment: "PUN", name: "Notification", elements: [
      { elements: [1], members: ["scac"], codec: identifier(4), name: "SCAC of the carrier", required: true },
      { elements: [2, 3], members: ["times.readyDate", "times.readyTime"], codec: readyAt, name: "when the freight is ready", required: true },
      { elements: [4], members: ["shipmentNumber"], codec: identifier(80), name: "number that the driver gives" },
      { elements: [5], members: ["times.closeTime"], codec: clock("PUN", 2), name: "when the location closes", since: "005010" },
      { elements: [6], members: [], codec: onlyOriginals, name: "purpose", since: "005010" }
    ] },
    contact("dockContactName", "dockContactPhone"),
    { segment: "TEM", name: "Totals", elements: [
      { elements: [1, 2], members: ["total.units"], codec: unitsOf(500), name: "handling units, loose and unitized" },
      { elements: [3], members: ["total.unit"], codec: unit, name: "unit of weight" },
      { elements: [4], members: ["total.weight"], codec: whole(999_999), name: "weight" }
    ] },
    { segment: "PRF", name: "Purchase order", list: "orders", elements: [{ elements: [1], members: ["purchaseOrder"], codec: identifier(22), name: "purchase order" }] },
    services(),
    remarks("K2", [1], "remarks"),
    shipper({ list: "pickupAddress" }),
    consignee({ list: "destinationAddress" })
  ]),
  notWritten: {}
}
