/** Status subscriptions by reference, on Postgres. */
import { StatusSubscriptionStore, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { textArray, timestamptzArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { makeDocuments } from "../shared/SubscriptionDocuments.ts"

export const layer = Layer.effect(
  StatusSubscriptionStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema
    const documents = makeDocuments(sql, `${schema}.shipment_status_subscriptions`)

    return StatusSubscriptionStore.of({
      insert: (tenantId, { client, createdAt, doc, id, references }) =>
        sql.bulk(
          `WITH stored AS (
             INSERT INTO ${schema}.shipment_status_subscriptions (tenant_id, id, client, doc, created_at)
             VALUES ($1, $2::uuid, $3, $4, ($5::timestamptz[])[1])
           )
           INSERT INTO ${schema}.shipment_status_routes (tenant_id, reference, subscription_id, client)
           SELECT DISTINCT $1, reference, $2::uuid, $3 FROM unnest($6::text[]) AS reference`,
          [tenantId, id, client, doc, timestamptzArray([createdAt]), textArray(references)]
        ).pipe(Effect.asVoid, StorageError.refail("StatusSubscriptionStore.insert")),
      remove: (tenantId, client, id) =>
        !isUuid(id) ? Effect.succeed(false) : sql.bulk(
          `WITH gone AS (
             DELETE FROM ${schema}.shipment_status_subscriptions WHERE tenant_id = $1 AND client = $2 AND id = $3::uuid
             RETURNING id
           ),
           routes AS (
             DELETE FROM ${schema}.shipment_status_routes AS r USING gone WHERE r.tenant_id = $1 AND r.subscription_id = gone.id
           )
           SELECT count(*) AS removed FROM gone`,
          [tenantId, client, id],
          ["int8"]
        ).pipe(Effect.map(([row]) => row![0] === 1), StorageError.refail("StatusSubscriptionStore.remove")),
      documents: (tenantId, ids) => StorageError.refail("StatusSubscriptionStore.documents")(documents(tenantId, ids))
    })
  })
)
