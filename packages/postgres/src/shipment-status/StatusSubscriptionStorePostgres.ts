/** Status subscriptions by reference, on Postgres. */
import { StatusSubscriptionStore } from "@waybill/core/shipment-status"
import { Effect } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { statement } from "../client/SqlStatement.ts"
import { int8 } from "../client/SqlRow.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { makeDocuments } from "../subscriptions/SubscriptionDocuments.ts"
import * as statements from "./StatusSubscriptionSql.ts"

export const layer = storeLayer(StatusSubscriptionStore, ({ schema, sql }) => {
  const documents = makeDocuments(sql, statement`${schema}.shipment_status_subscriptions`)

  return {
    insert: (tenantId, subscription) => sql.run(statements.insertSubscription(schema, tenantId, subscription)),
    mostOfReference: (tenantId, client, references, most) => sql.one(int8, statements.mostOfReference(schema, tenantId, client, references, most)),
    remove: (tenantId, client, id) =>
      !isUuid(id) ? Effect.succeed(false) : Effect.map(sql.one(int8, statements.removeSubscription(schema, tenantId, client, id)), (removed) => removed === 1),
    documents
  }
})
