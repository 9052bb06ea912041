/** Area A in memory. */
import { Layer } from "effect"
import { ShipmentStatusStoreMemory } from "./ShipmentStatusStoreMemory.ts"
import { ShipmentStatusTables } from "./ShipmentStatusTables.ts"
import { StatusSubscriptionStoreMemory } from "./StatusSubscriptionStoreMemory.ts"

export const shipmentStatusArea = {
  stores: Layer.mergeAll(ShipmentStatusStoreMemory.layer, StatusSubscriptionStoreMemory.layer),
  tables: ShipmentStatusTables.layer
} as const
