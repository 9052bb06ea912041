/** Delivery statistics on Postgres. */
import { StorageError } from "@waybill/core"
import { StatisticsStore } from "@waybill/core/delivery"
import { Effect, Layer } from "effect"
import { PgClient } from "../../client/PgClient.ts"
import { int8 } from "../../client/SqlRow.ts"
import { WaybillSchema } from "../../shared/Schema.ts"
import * as statistics from "./StatisticsSql.ts"

export const layer = Layer.effect(
  StatisticsStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { identifier: schema } = yield* WaybillSchema
    return StatisticsStore.of({
      add: (tenantId, counts) => counts.length === 0 ? Effect.void : StorageError.refail("StatisticsStore.add")(sql.run(statistics.addCounts(schema, tenantId, counts))),
      sample: (tenantId, at, samples) =>
        samples.length === 0 ? Effect.void : StorageError.refail("StatisticsStore.sample")(sql.run(statistics.addSamples(schema, tenantId, at, samples))),
      read: (tenantId, range) => StorageError.refail("StatisticsStore.read")(sql.rows(statistics.statisticsRow, statistics.readSteps(schema, tenantId, range))),
      prune: (tenantId, before) =>
        StorageError.refail("StatisticsStore.prune")(Effect.map(
          Effect.all([
            sql.one(int8, statistics.pruneRows(schema, tenantId, "minutes", before.minutes)),
            sql.one(int8, statistics.pruneRows(schema, tenantId, "hours", before.hours))
          ]),
          ([minutes, hours]) => minutes + hours
        ))
    })
  })
)
