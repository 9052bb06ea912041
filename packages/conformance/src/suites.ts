/** Conformance suites for storage adapters. They need vitest; the rest of the test kit does not. */
import type { StoragePorts } from "@waybill/core"
import type { Layer } from "effect"
import { freightChargesSuites } from "./freight-charges/FreightChargesAreaSuite.ts"
import { invoicesSuites } from "./invoices/InvoicesAreaSuite.ts"
import { pickupsSuites } from "./pickups/PickupsAreaSuite.ts"
import { shipmentStatusSuites } from "./shipment-status/ShipmentStatusAreaSuite.ts"
import { transitEventsSuites } from "./transit-events/TransitEventsAreaSuite.ts"
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
import * as ChargeSubscriptionStoreSuite from "./freight-charges/ChargeSubscriptionStoreSuite.ts"
import * as ChargeWindowsSuite from "./freight-charges/ChargeWindowsSuite.ts"
import * as FreightBillStoreSuite from "./freight-charges/FreightBillStoreSuite.ts"
import * as DocumentContentsSuite from "./invoices/DocumentContentsSuite.ts"
import * as DocumentStoreSuite from "./invoices/DocumentStoreSuite.ts"
import * as InvoiceStoreSuite from "./invoices/InvoiceStoreSuite.ts"
import * as PickupChangesSuite from "./pickups/PickupChangesSuite.ts"
import * as PickupStoreSuite from "./pickups/PickupStoreSuite.ts"
import * as PickupSubscriptionStoreSuite from "./pickups/PickupSubscriptionStoreSuite.ts"
import * as CarriersSuite from "./intake/CarriersSuite.ts"
import * as TransactionSuite from "./shared/TransactionSuite.ts"
import * as ShipmentStatusStoreSuite from "./shipment-status/ShipmentStatusStoreSuite.ts"
import * as StatusNoticesSuite from "./shipment-status/StatusNoticesSuite.ts"
import * as StatusSubscriptionStoreSuite from "./shipment-status/StatusSubscriptionStoreSuite.ts"
import * as TransitEventStoreSuite from "./transit-events/TransitEventStoreSuite.ts"
import * as TransitSubscriptionStoreSuite from "./transit-events/TransitSubscriptionStoreSuite.ts"

export {
  AccessStoreSuite,
  AuditStoreSuite,
  CarriersSuite,
  ChargeSubscriptionStoreSuite,
  ChargeWindowsSuite,
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
  DocumentContentsSuite,
  DocumentStoreSuite,
  FreightBillStoreSuite,
  InvoiceStoreSuite,
  PickupChangesSuite,
  PickupStoreSuite,
  PickupSubscriptionStoreSuite,
  SecretStoreSuite,
  ShipmentStatusStoreSuite,
  StatisticsStoreSuite,
  MailStoreSuite,
  NoticeStoreSuite,
  StatusNoticesSuite,
  StatusSubscriptionStoreSuite,
  TransactionSuite,
  TransitEventStoreSuite,
  TransitSubscriptionStoreSuite,
  WakeupsSuite
}

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
      ...shipmentStatusSuites,
      ...invoicesSuites,
      ...pickupsSuites,
      ...transitEventsSuites,
      ...freightChargesSuites,
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
