/** Every storage port in memory. Each build of the layer is a new database. */
import { makeStorage, type WaybillStorage } from "@waybill/core"
import { Layer } from "effect"
import { AccessStoreMemory } from "./access/AccessStoreMemory.ts"
import { AccessTables } from "./access/AccessTables.ts"
import { ShipmentTables } from "./access/ShipmentTables.ts"
import { AuditStoreMemory } from "./audit/AuditStoreMemory.ts"
import { DeliveryControlMemory } from "./delivery/DeliveryControlMemory.ts"
import { DeliveryQueueMemory } from "./delivery/DeliveryQueueMemory.ts"
import { DeliveryStoreMemory } from "./delivery/DeliveryStoreMemory.ts"
import { DestinationTables } from "./delivery/DestinationTables.ts"
import { SecretStoreMemory } from "./delivery/SecretStoreMemory.ts"
import { StatisticsStoreMemory } from "./delivery/StatisticsStoreMemory.ts"
import { SecretTables } from "./delivery/SecretTables.ts"
import { WakeupsMemory } from "./delivery/WakeupsMemory.ts"
import { ChargeSubscriptionStoreMemory } from "./freight-charges/ChargeSubscriptionStoreMemory.ts"
import { FreightBillStoreMemory } from "./freight-charges/FreightBillStoreMemory.ts"
import { FreightChargeTables } from "./freight-charges/FreightChargeTables.ts"
import { DocumentContentsMemory } from "./invoices/DocumentContentsMemory.ts"
import { DocumentStoreMemory } from "./invoices/DocumentStoreMemory.ts"
import { InvoiceStoreMemory } from "./invoices/InvoiceStoreMemory.ts"
import { InvoiceTables } from "./invoices/InvoiceTables.ts"
import { NoticeStoreMemory } from "./notices/NoticeStoreMemory.ts"
import { PickupSignalsMemory } from "./pickups/PickupSignalsMemory.ts"
import { PickupStoreMemory } from "./pickups/PickupStoreMemory.ts"
import { PickupSubscriptionStoreMemory } from "./pickups/PickupSubscriptionStoreMemory.ts"
import { PickupTables } from "./pickups/PickupTables.ts"
import { KeptChanges } from "./shared/KeptChanges.ts"
import { MemoryDatabase } from "./shared/MemoryDatabase.ts"
import { HostTransactions } from "./shared/TestClient.ts"
import { TransactionMemory } from "./shared/TransactionMemory.ts"
import { ShipmentStatusStoreMemory } from "./shipment-status/ShipmentStatusStoreMemory.ts"
import { ShipmentStatusTables } from "./shipment-status/ShipmentStatusTables.ts"
import { StatusSubscriptionStoreMemory } from "./shipment-status/StatusSubscriptionStoreMemory.ts"
import { TransitEventStoreMemory } from "./transit-events/TransitEventStoreMemory.ts"
import { TransitEventTables } from "./transit-events/TransitEventTables.ts"
import { TransitSubscriptionStoreMemory } from "./transit-events/TransitSubscriptionStoreMemory.ts"

export const StorageMemory = {
  layer: Layer.mergeAll(
    TransactionMemory.layer,
    AccessStoreMemory.layer,
    AuditStoreMemory.layer,
    SecretStoreMemory.layer,
    DeliveryStoreMemory.layer,
    DeliveryQueueMemory.layer,
    DeliveryControlMemory.layer,
    StatisticsStoreMemory.layer,
    NoticeStoreMemory.layer,
    TransitEventStoreMemory.layer,
    TransitSubscriptionStoreMemory.layer,
    ShipmentStatusStoreMemory.layer,
    StatusSubscriptionStoreMemory.layer,
    FreightBillStoreMemory.layer,
    ChargeSubscriptionStoreMemory.layer,
    PickupStoreMemory.layer,
    PickupSignalsMemory.layer,
    PickupSubscriptionStoreMemory.layer,
    InvoiceStoreMemory.layer,
    DocumentStoreMemory.layer,
    DocumentContentsMemory.layer,
    WakeupsMemory.layer,
    KeptChanges.layer,
    HostTransactions.layer
  ).pipe(
    Layer.provide(Layer.mergeAll(TransitEventTables.layer, ShipmentStatusTables.layer, FreightChargeTables.layer, InvoiceTables.layer, PickupTables.layer)),
    Layer.provide(Layer.mergeAll(AccessTables.layer, ShipmentTables.layer, DestinationTables.layer, SecretTables.layer)),
    Layer.provide(MemoryDatabase.layer)
  )
}

/** The same for callers without layers: `createWaybill({ storage: memoryStorage() })`. `within` takes clients of `testClient`. */
export const memoryStorage = (): WaybillStorage<object> => makeStorage<object>({ layer: StorageMemory.layer, joined: HostTransactions.joined })
