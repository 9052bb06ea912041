/** Conformance suites for storage adapters. They need vitest; the rest of the test kit does not. */
import type { StoragePorts } from "@waybill/core"
import type { Layer } from "effect"
import * as freightChargesSuites from "./freight-charges/FreightChargesAreaSuite.ts"
import * as invoicesSuites from "./invoices/InvoicesAreaSuite.ts"
import * as pickupsSuites from "./pickups/PickupsAreaSuite.ts"
import * as shipmentStatusSuites from "./shipment-status/ShipmentStatusAreaSuite.ts"
import * as transitEventsSuites from "./transit-events/TransitEventsAreaSuite.ts"
import * as AccessStoreSuite from "./access/AccessStoreSuite.ts"
import * as AuditStoreSuite from "./audit/AuditStoreSuite.ts"
import * as DeliveryControlSuite from "./delivery/DeliveryControlSuite.ts"
import * as DeliveryFilterSuite from "./delivery/DeliveryFilterSuite.ts"
import * as DeliveryLogSuite from "./delivery/DeliveryLogSuite.ts"
import * as DeliveryGateModelSuite from "./delivery/DeliveryGateModelSuite.ts"
import * as DeliveryGateSuite from "./delivery/DeliveryGateSuite.ts"
import * as DeliveryOwnershipSuite from "./delivery/DeliveryOwnershipSuite.ts"
import * as DeliveryQueueSuite from "./delivery/DeliveryQueueSuite.ts"
import * as DeliverySettleSuite from "./delivery/DeliverySettleSuite.ts"
import * as DeliverySignalsSuite from "./delivery/DeliverySignalsSuite.ts"
import * as DeliveryStoreSuite from "./delivery/DeliveryStoreSuite.ts"
import * as SecretStoreSuite from "./delivery/SecretStoreSuite.ts"
import * as StatisticsStoreSuite from "./delivery/StatisticsStoreSuite.ts"
import * as MailStoreSuite from "./mail/MailStoreSuite.ts"
import * as NoticeStoreSuite from "./notices/NoticeStoreSuite.ts"
import * as WakeupsSuite from "./delivery/WakeupsSuite.ts"
import * as CarriersSuite from "./intake/CarriersSuite.ts"
import * as TransactionSuite from "./shared/TransactionSuite.ts"

export {
  AccessStoreSuite,
  AuditStoreSuite,
  CarriersSuite,
  DeliveryControlSuite,
  DeliveryFilterSuite,
  DeliveryLogSuite,
  DeliveryGateModelSuite,
  DeliveryGateSuite,
  DeliveryOwnershipSuite,
  DeliveryQueueSuite,
  DeliverySettleSuite,
  DeliverySignalsSuite,
  DeliveryStoreSuite,
  SecretStoreSuite,
  StatisticsStoreSuite,
  MailStoreSuite,
  NoticeStoreSuite,
  TransactionSuite,
  WakeupsSuite
}

export * from "./freight-charges/FreightChargesAreaSuite.ts"
export * from "./invoices/InvoicesAreaSuite.ts"
export * from "./pickups/PickupsAreaSuite.ts"
export * from "./shipment-status/ShipmentStatusAreaSuite.ts"
export * from "./transit-events/TransitEventsAreaSuite.ts"

/** Helpers of the suites, for an adapter's own tests. */
export * as fixtures from "./StorageFixtures.ts"
export * as workerFixtures from "./WorkerFixtures.ts"
export * as chargeFixtures from "./freight-charges/ChargeFixtures.ts"
export * as invoiceFixtures from "./invoices/InvoiceFixtures.ts"

/**
 * Runs every suite on one storage. Call it in a test file; `name` is the prefix of the test names.
 *
 * The layer must provide all storage ports and run on real time. Suites use their own tenants, so the database may
 * contain other data and be shared.
 */
export const storageSuites = (name: string, storage: Layer.Layer<StoragePorts, unknown>): void => {
  for (
    const { suite } of [
      TransactionSuite,
      AccessStoreSuite,
      AuditStoreSuite,
      CarriersSuite,
      SecretStoreSuite,
      ...Object.values(shipmentStatusSuites),
      ...Object.values(invoicesSuites),
      ...Object.values(pickupsSuites),
      ...Object.values(transitEventsSuites),
      ...Object.values(freightChargesSuites),
      DeliveryStoreSuite,
      DeliverySignalsSuite,
      DeliverySettleSuite,
      DeliveryOwnershipSuite,
      DeliveryGateSuite,
      DeliveryGateModelSuite,
      DeliveryQueueSuite,
      DeliveryFilterSuite,
      DeliveryLogSuite,
      DeliveryControlSuite,
      StatisticsStoreSuite,
      MailStoreSuite,
      NoticeStoreSuite,
      WakeupsSuite
    ]
  ) suite(name, storage)
}
