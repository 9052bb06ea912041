/** Area C in memory. */
import { Layer } from "effect"
import { PickupSignalsMemory } from "./PickupSignalsMemory.ts"
import { PickupStoreMemory } from "./PickupStoreMemory.ts"
import { PickupSubscriptionStoreMemory } from "./PickupSubscriptionStoreMemory.ts"
import { PickupTables } from "./PickupTables.ts"

export const pickupsArea = {
  stores: Layer.mergeAll(PickupStoreMemory.layer, PickupSignalsMemory.layer, PickupSubscriptionStoreMemory.layer),
  tables: PickupTables.layer
} as const
