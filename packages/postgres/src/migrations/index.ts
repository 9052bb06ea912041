/** Every migration, in order. A released one is never edited. */
import { transitEvents } from "./0001_transit_events.ts"
import { shipmentStatus } from "./0002_shipment_status.ts"
import { freightCharges } from "./0003_freight_charges.ts"
import { pickups } from "./0004_pickups.ts"
import { invoices } from "./0005_invoices.ts"
import { operatorReads } from "./0006_operator_reads.ts"
import { audit } from "./0007_audit.ts"
import { eventsAwaitingStatus } from "./0008_events_awaiting_status.ts"
import { deliveryStatistics } from "./0009_delivery_statistics.ts"
import { endpointNotices } from "./0010_endpoint_notices.ts"
import { eventsByTime } from "./0011_events_by_time.ts"
import type { Migration } from "./Migrations.ts"

/** All migrations in their order. An applied one is never changed. */
export const migrations: ReadonlyArray<Migration> = [transitEvents, shipmentStatus, freightCharges, pickups, invoices, operatorReads, audit, eventsAwaitingStatus, deliveryStatistics, endpointNotices, eventsByTime]
