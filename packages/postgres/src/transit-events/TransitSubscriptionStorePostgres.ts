/** Subscriptions to transit events on Postgres, with the routes that publishing matches against. */
import type { DestinationState } from "@waybill/core/delivery"
import { type SubscriptionRecord, TransitSubscriptionStore } from "@waybill/core/transit-events"
import { Effect } from "effect"
import { bool, int8 } from "../client/SqlRow.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { makeEditable } from "../subscriptions/EditableSubscriptions.ts"
import { subscriptionOf, subscriptionRow } from "../subscriptions/SubscriptionSql.ts"
import * as statements from "./TransitSubscriptionSql.ts"

export const layer = storeLayer(TransitSubscriptionStore, ({ schema, sql }) => {
  const table = statements.transitSubscriptions(schema)

  const replaceRoutes = (tenantId: string, record: SubscriptionRecord) =>
    Effect.gen(function*() {
      yield* sql.run(statements.deleteRoutes(schema, tenantId, record.id))
      if (!record.matched) return
      const routes = record.shipmentIds === undefined ? [`c:${record.client}`] : record.shipmentIds.map((id) => `s:${id}`)
      yield* sql.run(statements.insertRoutes(schema, tenantId, record, routes))
    })

  /**
   * Publishers lock the rows of their shipments until they commit. Locking the same rows, with placeholders for those that
   * do not exist yet, waits for every publisher that may have matched without this subscription, and makes later publishers wait.
   */
  const insertWithHistory = (tenantId: string, record: SubscriptionRecord, shipmentIds: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const locked = yield* sql.rows(statements.lockedRow, statements.lockShipments(schema, tenantId, shipmentIds))
      yield* insertRecord(tenantId, record)
      yield* sql.run(statements.queueHistory(schema, tenantId, record, shipmentIds))
      const placeholders = locked.filter((each) => each.isInserted).map((each) => each.shipmentId)
      yield* sql.run(statements.deleteShipments(schema, tenantId, placeholders))
    })

  const insertRecord = (tenantId: string, record: SubscriptionRecord) =>
    Effect.andThen(sql.run(statements.insertSubscription(schema, tenantId, record)), replaceRoutes(tenantId, record))

  const { documents, find, prune, remove, replay } = makeEditable(sql, schema, table, (tenantId, id) =>
    Effect.andThen(sql.run(statements.deleteRoutes(schema, tenantId, id)), sql.run(statements.emptySubscription(schema, tenantId, id))))

  const page = (tenantId: string, client: string, state: DestinationState, range: { readonly skip: number; readonly limit: number }) =>
    Effect.gen(function*() {
      const rows = yield* sql.rows(subscriptionRow, statements.pageSubscriptions(schema, tenantId, client, state, range))
      const totalCount = yield* sql.one(int8, statements.countSubscriptions(schema, tenantId, client, state))
      return { rows: rows.map(subscriptionOf), totalCount }
    })

  return {
    insert: (tenantId, record) =>
      sql.withTransaction(record.shipmentIds === undefined ? insertRecord(tenantId, record) : insertWithHistory(tenantId, record, record.shipmentIds)),
    update: (tenantId, record) =>
      sql.withTransaction(Effect.andThen(sql.run(statements.updateSubscription(schema, tenantId, record)), replaceRoutes(tenantId, record))),
    find,
    page,
    remove,
    prune,
    clientSees: (tenantId, client, shipmentId) => sql.one(bool, statements.seesShipment(schema, tenantId, client, shipmentId)),
    documents,
    replay: (tenantId, id, request) => replay(tenantId, id, statements.replayedEvents(schema, tenantId, request))
  }
})
