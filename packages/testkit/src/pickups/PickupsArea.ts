/** Area C in memory. */
import { Layer } from "effect"
import * as PickupSignalsMemory from "./PickupSignalsMemory.ts"
import * as PickupStoreMemory from "./PickupStoreMemory.ts"
import * as PickupSubscriptionStoreMemory from "./PickupSubscriptionStoreMemory.ts"
import { PickupTables } from "./PickupTables.ts"

export const pickupsArea = {
  stores: Layer.mergeAll(PickupStoreMemory.layer, PickupSignalsMemory.layer, PickupSubscriptionStoreMemory.layer),
  tables: PickupTables.layer
} as const
