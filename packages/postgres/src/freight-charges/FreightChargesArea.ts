/** Area E on Postgres. */
import { Layer } from "effect"
import type { PostgresArea } from "../Area.ts"
import * as ChargeSubscriptionStorePostgres from "./ChargeSubscriptionStorePostgres.ts"
import * as FreightBillStorePostgres from "./FreightBillStorePostgres.ts"
import { freightChargePayloads, freightChargeWindowPayloads } from "./FreightChargePayloads.ts"

export const freightChargesArea = {
  stores: Layer.mergeAll(FreightBillStorePostgres.layer, ChargeSubscriptionStorePostgres.layer),
  payloads: [freightChargePayloads, freightChargeWindowPayloads]
} as const satisfies PostgresArea
