/** Area A on Postgres. */
import { Layer } from "effect"
import type { PostgresArea } from "../Area.ts"
import { shipmentStatusPayloads } from "./ShipmentStatusSql.ts"
import * as ShipmentStatusStorePostgres from "./ShipmentStatusStorePostgres.ts"
import * as StatusSubscriptionStorePostgres from "./StatusSubscriptionStorePostgres.ts"

export const shipmentStatusArea = {
  stores: Layer.mergeAll(StatusSubscriptionStorePostgres.layer, ShipmentStatusStorePostgres.layer),
  payloads: [shipmentStatusPayloads]
} as const satisfies PostgresArea
