/** Area E in memory. */
import { Layer } from "effect"
import * as ChargeSubscriptionStoreMemory from "./ChargeSubscriptionStoreMemory.ts"
import * as FreightBillStoreMemory from "./FreightBillStoreMemory.ts"
import { FreightChargeTables } from "./FreightChargeTables.ts"

export const freightChargesArea = {
  stores: Layer.mergeAll(FreightBillStoreMemory.layer, ChargeSubscriptionStoreMemory.layer),
  tables: FreightChargeTables.layer
} as const
