/** Area C on Postgres. */
import { Layer } from "effect"
import type { PostgresArea } from "../Area.ts"
import { pickupPayloads } from "./PickupPayloads.ts"
import * as PickupSignalsPostgres from "./PickupSignalsPostgres.ts"
import * as PickupStorePostgres from "./PickupStorePostgres.ts"
import * as PickupSubscriptionStorePostgres from "./PickupSubscriptionStorePostgres.ts"

export const pickupsArea = {
  stores: Layer.mergeAll(PickupStorePostgres.layer, PickupSignalsPostgres.layer, PickupSubscriptionStorePostgres.layer),
  payloads: [pickupPayloads]
} as const satisfies PostgresArea
