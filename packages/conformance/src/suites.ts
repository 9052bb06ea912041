/** Conformance suites for storage adapters. They need vitest; the rest of the test kit does not. */
import type { StoragePorts } from "@waybill/core"
import type { Layer } from "effect"
import * as freightChargesSuites from "./freight-charges/FreightChargesAreaSuite.ts"
import * as invoicesSuites from "./invoices/InvoicesAreaSuite.ts"
import * as pickupsSuites from "./pickups/PickupsAreaSuite.ts"
import * as sharedSuites from "./SharedSuite.ts"
import * as shipmentStatusSuites from "./shipment-status/ShipmentStatusAreaSuite.ts"
import * as transitEventsSuites from "./transit-events/TransitEventsAreaSuite.ts"

export * from "./freight-charges/FreightChargesAreaSuite.ts"
export * from "./invoices/InvoicesAreaSuite.ts"
export * from "./pickups/PickupsAreaSuite.ts"
export * from "./SharedSuite.ts"
export * from "./shipment-status/ShipmentStatusAreaSuite.ts"
export * from "./transit-events/TransitEventsAreaSuite.ts"

/** Helpers of the suites, for an adapter's own tests. */
export * as fixtures from "./StorageFixtures.ts"
export * as workerFixtures from "./WorkerFixtures.ts"
export * as chargeFixtures from "./freight-charges/ChargeFixtures.ts"
export * as invoiceFixtures from "./invoices/InvoiceFixtures.ts"

const suites = { ...sharedSuites, ...shipmentStatusSuites, ...invoicesSuites, ...pickupsSuites, ...transitEventsSuites, ...freightChargesSuites }

/**
 * Runs every suite on one storage. Call it in a test file; `name` is the prefix of the test names.
 *
 * The layer must provide all storage ports and run on real time. Suites use their own tenants, so the database may
 * contain other data and be shared.
 */
export const storageSuites = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void => {
  for (const { suite } of Object.values(suites)) suite(name, storage)
}
