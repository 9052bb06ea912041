/** The areas on Postgres. */
import { freightChargesArea } from "./freight-charges/FreightChargesArea.ts"
import { invoicesArea } from "./invoices/InvoicesArea.ts"
import { pickupsArea } from "./pickups/PickupsArea.ts"
import { shipmentStatusArea } from "./shipment-status/ShipmentStatusArea.ts"
import { transitEventsArea } from "./transit-events/TransitEventsArea.ts"

export const postgresAreas = [shipmentStatusArea, invoicesArea, pickupsArea, transitEventsArea, freightChargesArea] as const
