/** Delivery statistics on Postgres. */
import { StatisticsStore } from "@waybill/core/delivery"
import { Effect, Layer } from "effect"
import { PgClient } from "../../client/PgClient.ts"
import { int8 } from "../../client/SqlRow.ts"
import { operationsOf } from "../../shared/Operations.ts"
import { WaybillSchema } from "../../shared/Schema.ts"
import * as statistics from "./StatisticsSql.ts"

export const layer = Layer.effect(
  StatisticsStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { identifier: schema } = yield* WaybillSchema
    return operationsOf(StatisticsStore, {
      add: (tenantId, counts) => counts.length === 0 ? Effect.void : sql.run(statistics.addCounts(schema, tenantId, counts)),
      sample: (tenantId, at, samples) => samples.length === 0 ? Effect.void : sql.run(statistics.addSamples(schema, tenantId, at, samples)),
      read: (tenantId, range) => sql.rows(statistics.statisticsRow, statistics.readSteps(schema, tenantId, range)),
      prune: (tenantId, { hours, minutes }) =>
        Effect.zipWith(
          sql.one(int8, statistics.pruneRows(schema, tenantId, "minutes", minutes)),
          sql.one(int8, statistics.pruneRows(schema, tenantId, "hours", hours)),
          (ofMinutes, ofHours) => ofMinutes + ofHours
        )
    })
  })
)
