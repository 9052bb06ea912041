/** Every migration, in order. A released one is never edited. */
import { transitEvents } from "./0001_transit_events.ts"
import { shipmentStatus } from "./0002_shipment_status.ts"
import { freightCharges } from "./0003_freight_charges.ts"
import type { Migration } from "./Migrations.ts"

