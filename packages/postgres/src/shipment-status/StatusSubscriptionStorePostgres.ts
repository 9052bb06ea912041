/** Status subscriptions by reference, on Postgres. */
import { StatusSubscriptionStore } from "@waybill/core/shipment-status"
import { Effect, Layer } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { statement } from "../client/SqlStatement.ts"
import { int8 } from "../client/SqlRow.ts"
import { database } from "../shared/Database.ts"
import { operationsOf } from "../shared/Operations.ts"
import { makeDocuments } from "../subscriptions/SubscriptionDocuments.ts"
import * as statements from "./StatusSubscriptionSql.ts"

export const layer = Layer.effect(
  StatusSubscriptionStore,
  Effect.gen(function*() {
    const { schema, sql } = yield* database
    const documents = makeDocuments(sql, statement`${schema}.shipment_status_subscriptions`)

    return operationsOf(StatusSubscriptionStore, {
      insert: (tenantId, subscription) => sql.run(statements.insertSubscription(schema, tenantId, subscription)),
      mostOfReference: (tenantId, client, references, most) => sql.one(int8, statements.mostOfReference(schema, tenantId, client, references, most)),
      remove: (tenantId, client, id) =>
        !isUuid(id) ? Effect.succeed(false) : Effect.map(sql.one(int8, statements.removeSubscription(schema, tenantId, client, id)), (removed) => removed === 1),
      documents
    })
  })
)
