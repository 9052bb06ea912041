/** Area D in memory. */
import { Layer } from "effect"
import * as TransitEventStoreMemory from "./TransitEventStoreMemory.ts"
import { TransitEventTables } from "./TransitEventTables.ts"
import * as TransitSubscriptionStoreMemory from "./TransitSubscriptionStoreMemory.ts"

export const transitEventsArea = {
  stores: Layer.mergeAll(TransitEventStoreMemory.layer, TransitSubscriptionStoreMemory.layer),
  tables: TransitEventTables.layer
} as const
