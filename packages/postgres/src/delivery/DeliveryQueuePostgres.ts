/** Destinations, entries and deliveries on Postgres, as subscriptions and operators see them. */
import { DeliveryQueue } from "@waybill/core/delivery"
import { Effect, Option } from "effect"
import { storeLayer } from "../shared/StoreLayer.ts"
import { makeDeliveryLog } from "./operator/DeliveryLogPostgres.ts"
import * as statements from "./DestinationSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"

/** More transactions than ever open destinations of one tenant at the same moment. Their destinations are counted when they commit. */
const destinationsUncommitted = 1000

/** The queue over the tables that hold the bytes of entries. */
export const layer = (sources: ReadonlyArray<PayloadSource>) => storeLayer(DeliveryQueue, ({ schema, sql }) => {
  const liveDestinations = (tenantId: string) => sql.one(statements.countColumn, statements.countDestinations(schema, tenantId))

  const countDestinations = Effect.fnUntraced(function*(tenantId: string, limit: number) {
    const live = yield* liveDestinations(tenantId)
    if (live <= limit - destinationsUncommitted) return live
    yield* sql.run(statements.lockDestinationCounts(schema, tenantId))
    return yield* liveDestinations(tenantId)
  })

  return {
    openDestination: (tenantId, destination) => sql.one(statements.countColumn, statements.openDestination(schema, tenantId, destination)),
    countDestinations,
    changeDestination: (tenantId, destination) => sql.run(statements.changeDestination(schema, tenantId, destination)),
    closeDestination: (tenantId, destinationId) =>
      sql.withTransaction(Effect.andThen(
        sql.run(statements.lockDestination(schema, tenantId, destinationId)),
        sql.run(statements.closeDestination(schema, tenantId, destinationId))
      )),
    accessRestored: (tenantId, client) => sql.run(statements.accessRestored(schema, tenantId, client)),
    destinationStatus: (tenantId, destinationId) =>
      Effect.map(sql.rows(statements.statusRow, statements.destinationStatus(schema, tenantId, destinationId)), ([found]) => Option.fromUndefinedOr(found)),
    ...makeDeliveryLog(sql, schema, sources)
  }
})
