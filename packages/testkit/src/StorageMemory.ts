/** Every storage port in memory. Each build of the layer is a new database. */
import { makeStorage, type WaybillStorage } from "@waybill/core"
import { Layer } from "effect"
import { memoryAreas } from "./Areas.ts"
import * as AccessStoreMemory from "./access/AccessStoreMemory.ts"
import { AccessTables } from "./access/AccessTables.ts"
import { ShipmentTables } from "./access/ShipmentTables.ts"
import * as AuditStoreMemory from "./audit/AuditStoreMemory.ts"
import * as DeliveryControlMemory from "./delivery/DeliveryControlMemory.ts"
import * as DeliveryQueueMemory from "./delivery/DeliveryQueueMemory.ts"
import * as DeliveryStoreMemory from "./delivery/DeliveryStoreMemory.ts"
import { DestinationTables } from "./delivery/DestinationTables.ts"
import * as SecretStoreMemory from "./delivery/SecretStoreMemory.ts"
import * as StatisticsStoreMemory from "./delivery/StatisticsStoreMemory.ts"
import { SecretTables } from "./delivery/SecretTables.ts"
import * as WakeupsMemory from "./delivery/WakeupsMemory.ts"
import * as MailStoreMemory from "./mail/MailStoreMemory.ts"
import * as NoticeStoreMemory from "./notices/NoticeStoreMemory.ts"
import { KeptChanges } from "./shared/KeptChanges.ts"
import { MemoryDatabase } from "./shared/MemoryDatabase.ts"
import { HostTransactions } from "./shared/TestClient.ts"
import { StorageCrash } from "./shared/StorageCrash.ts"
import * as TransactionMemory from "./shared/TransactionMemory.ts"

type Area = typeof memoryAreas[number]

const [firstStores, ...moreStores]: ReadonlyArray<Area["stores"]> = memoryAreas.map(({ stores }) => stores)
const [firstTables, ...moreTables]: ReadonlyArray<Area["tables"]> = memoryAreas.map(({ tables }) => tables)

/** Every storage port in memory, for `Waybill.layer`. */
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
    MailStoreMemory.layer,
    firstStores!,
    ...moreStores,
    WakeupsMemory.layer,
    KeptChanges.layer,
    StorageCrash.layer,
    HostTransactions.layer
  ).pipe(
    Layer.provide(Layer.mergeAll(firstTables!, ...moreTables)),
    Layer.provide(Layer.provideMerge(DestinationTables.layer, Layer.mergeAll(AccessTables.layer, ShipmentTables.layer, SecretTables.layer))),
    Layer.provide(MemoryDatabase.layer)
  )
}

/** The same for callers without layers: `createWaybill({ storage: memoryStorage() })`. `within` takes clients of `testClient`. */
export const memoryStorage = (): WaybillStorage<object> => makeStorage<object>({ layer: StorageMemory.layer, joined: HostTransactions.joined })
