/** Status subscriptions by reference, on Postgres. */
import { StatusSubscriptionStore } from "@waybill/core/shipment-status"
import { Effect, Layer } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { PgClient } from "../client/PgClient.ts"
import { statement } from "../client/SqlStatement.ts"
import { int8 } from "../client/SqlRow.ts"
import { operationsOf } from "../shared/Operations.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { makeDocuments } from "../subscriptions/SubscriptionDocuments.ts"
import * as statements from "./StatusSubscriptionSql.ts"

export const layer = Layer.effect(
  StatusSubscriptionStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { identifier: schema } = yield* WaybillSchema
    const documents = makeDocuments(sql, statement`${schema}.shipment_status_subscriptions`)

    return operationsOf(StatusSubscriptionStore, {
      insert: (tenantId, subscription) => sql.run(statements.insertSubscription(schema, tenantId, subscription)),
      remove: (tenantId, client, id) =>
        !isUuid(id) ? Effect.succeed(false) : Effect.map(sql.one(int8, statements.removeSubscription(schema, tenantId, client, id)), (removed) => removed === 1),
      documents
    })
  })
)
