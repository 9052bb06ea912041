/** Area E in memory. */
import { Layer } from "effect"
import { ChargeSubscriptionStoreMemory } from "./ChargeSubscriptionStoreMemory.ts"
import { FreightBillStoreMemory } from "./FreightBillStoreMemory.ts"
import { FreightChargeTables } from "./FreightChargeTables.ts"

export const freightChargesArea = {
  stores: Layer.mergeAll(FreightBillStoreMemory.layer, ChargeSubscriptionStoreMemory.layer),
  tables: FreightChargeTables.layer
} as const
