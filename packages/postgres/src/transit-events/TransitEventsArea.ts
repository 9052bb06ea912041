/** Area D on Postgres. */
import { Layer } from "effect"
import type { PostgresArea } from "../Area.ts"
import * as EventsAwaitingStatusPostgres from "./EventsAwaitingStatusPostgres.ts"
import { transitEventPayloads } from "./TransitEventSql.ts"
import * as TransitEventStorePostgres from "./TransitEventStorePostgres.ts"
import * as TransitSubscriptionStorePostgres from "./TransitSubscriptionStorePostgres.ts"

export const transitEventsArea = {
  stores: Layer.mergeAll(TransitEventStorePostgres.layer, TransitSubscriptionStorePostgres.layer, EventsAwaitingStatusPostgres.layer),
  payloads: [transitEventPayloads]
} as const satisfies PostgresArea
