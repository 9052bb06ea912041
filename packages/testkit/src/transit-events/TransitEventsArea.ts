/** Area D in memory. */
import { Layer } from "effect"
import { TransitEventStoreMemory } from "./TransitEventStoreMemory.ts"
import { TransitEventTables } from "./TransitEventTables.ts"
import { TransitSubscriptionStoreMemory } from "./TransitSubscriptionStoreMemory.ts"

export const transitEventsArea = {
  stores: Layer.mergeAll(TransitEventStoreMemory.layer, TransitSubscriptionStoreMemory.layer),
  tables: TransitEventTables.layer
} as const
