/** Area A over HTTP. */
import { httpArea } from "../shared/Area.ts"
import { ShipmentStatusContract } from "./ShipmentStatusContract.ts"
import { ShipmentStatusHandlers } from "./ShipmentStatusHandlers.ts"

export const shipmentStatusArea = httpArea({
  key: "shipmentStatus",
  base: "/in-transit/v1",
  name: "Shipment status",
  summary: "where a shipment is, by PRO, BOL or PO number, and webhooks for its followers",
  contract: ShipmentStatusContract,
  handlers: ShipmentStatusHandlers
})
