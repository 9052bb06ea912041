/** Area A in memory. */
import { Layer } from "effect"
import * as ShipmentStatusStoreMemory from "./ShipmentStatusStoreMemory.ts"
import { ShipmentStatusTables } from "./ShipmentStatusTables.ts"
import * as StatusSubscriptionStoreMemory from "./StatusSubscriptionStoreMemory.ts"

export const shipmentStatusArea = {
  stores: Layer.mergeAll(ShipmentStatusStoreMemory.layer, StatusSubscriptionStoreMemory.layer),
  tables: ShipmentStatusTables.layer
} as const
