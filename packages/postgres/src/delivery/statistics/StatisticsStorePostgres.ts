/** Delivery statistics on Postgres. */
import { StatisticsStore } from "@waybill/core/delivery"
import { Effect } from "effect"
import { int8 } from "../../client/SqlRow.ts"
import { storeLayer } from "../../shared/StoreLayer.ts"
import * as statistics from "./StatisticsSql.ts"

export const layer = storeLayer(StatisticsStore, ({ schema, sql }) => ({
  add: (tenantId, counts) => counts.length === 0 ? Effect.void : sql.run(statistics.addCounts(schema, tenantId, counts)),
  sample: (tenantId, at, samples) => samples.length === 0 ? Effect.void : sql.run(statistics.addSamples(schema, tenantId, at, samples)),
  read: (tenantId, range) => sql.rows(statistics.statisticsRow, statistics.readSteps(schema, tenantId, range)),
  prune: (tenantId, { hours, minutes }) =>
    Effect.zipWith(
      sql.one(int8, statistics.prune(schema, tenantId, "minutes", minutes)),
      sql.one(int8, statistics.prune(schema, tenantId, "hours", hours)),
      (ofMinutes, ofHours) => ofMinutes + ofHours
    )
}))
