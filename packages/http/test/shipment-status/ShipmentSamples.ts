/** Shipments as a carrier's system publishes them. */
import type { PostedShipment } from "@waybill/core/shipment-status"
import { postedShipment } from "@waybill/testkit"

/** All required fields, without a milestone; PRO, BOL and PO are derived from the id. */
export const reportedShipment = (shipmentId: string, more: Readonly<Record<string, unknown>> = {}): PostedShipment => ({
  ...postedShipment(shipmentId),
  ProNumber: `PRO-${shipmentId}`,
  EstimatedStandardDay: 3,
  EstimatedDeliveryDate: "2026-11-21",
  pickupDate: "2026-11-18T15:00:00-05:00",
  ...more
})

/** The same, in transit. */
export const movingShipment = (shipmentId: string, more: Readonly<Record<string, unknown>> = {}) =>
  reportedShipment(shipmentId, { ShipmentMilestoneStatus: "In Transit", ...more })
