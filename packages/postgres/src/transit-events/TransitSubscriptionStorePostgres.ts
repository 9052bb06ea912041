/** Subscriptions to transit events on Postgres, with the routes that publishing matches against. */
import {
  type DestinationState,
  type ReplayRequest,
  StorageError,
  type StoredSubscription,
  type SubscriptionRecord,
  TransitSubscriptionStore
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { textArray, timestamptzArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { statusOf } from "../shared/DestinationStatus.ts"
import { makeDocuments } from "../shared/SubscriptionDocuments.ts"
import * as statements from "./TransitSubscriptionSql.ts"

export const layer = Layer.effect(
  TransitSubscriptionStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    const replaceRoutes = (tenantId: string, record: SubscriptionRecord) =>
      Effect.gen(function*() {
        yield* sql.bulk(`DELETE FROM ${schema}.transit_routes WHERE tenant_id = $1 AND subscription_id = $2::uuid`, [tenantId, record.id])
        if (!record.matched) return
        const routes = record.shipmentIds === undefined ? [`c:${record.client}`] : record.shipmentIds.map((id) => `s:${id}`)
        yield* sql.bulk(
          `INSERT INTO ${schema}.transit_routes (tenant_id, route, subscription_id, client, type_mask)
           SELECT $1, route, $2::uuid, $3, $4::int4 FROM unnest($5::text[]) AS route`,
          [tenantId, record.id, record.client, record.typeMask, textArray(routes)]
        )
      })

    /**
     * Publishers lock the rows of their shipments until they commit. Locking the same rows, with placeholders for those that
     * do not exist yet, waits for every publisher that may have matched without this subscription, and makes later publishers wait.
     */
    const insertWithHistory = (tenantId: string, record: SubscriptionRecord, shipmentIds: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const locked = yield* sql.bulk(statements.lockShipments(schema), [tenantId, textArray(shipmentIds)], ["text", "bool"])
        yield* insertRecord(tenantId, record)
        yield* sql.bulk(statements.queueHistory(schema), [tenantId, record.id, record.client, record.typeMask, textArray(shipmentIds)])
        const standIns = locked.filter(([, inserted]) => inserted).map(([shipmentId]) => shipmentId as string)
        yield* sql.bulk(`DELETE FROM ${schema}.shipments WHERE tenant_id = $1 AND shipment_id = ANY ($2::text[])`, [tenantId, textArray(standIns)])
      })

    const insertRecord = (tenantId: string, record: SubscriptionRecord) =>
      Effect.andThen(
        sql.bulk(statements.insertSubscription(schema), [
          tenantId,
          record.id,
          record.client,
          record.doc,
          record.typeMask,
          record.shipmentIds === undefined ? null : textArray(record.shipmentIds),
          timestamptzArray([record.createdAt, record.updatedAt])
        ]),
        replaceRoutes(tenantId, record)
      )

    const find = (tenantId: string, client: string, id: string, lock: string) =>
      !isUuid(id) ? Effect.succeedNone : Effect.map(
        sql.bulk(`${statements.selectSubscriptions(schema)} AND s.client = $2 AND s.id = $3::uuid ${lock}`, [tenantId, client, id], statements.subscriptionColumns),
        ([row]) => row === undefined ? Option.none<StoredSubscription>() : Option.some(subscriptionOf(row))
      )

    const page = (tenantId: string, client: string, state: DestinationState, range: { readonly skip: number; readonly limit: number }) =>
      Effect.gen(function*() {
        const rows = yield* sql.bulk(
          `${statements.selectSubscriptions(schema)} AND s.client = $2 AND l.state = $3 ORDER BY s.id LIMIT $4::int8 OFFSET $5::int8`,
          [tenantId, client, state, range.limit, range.skip],
          statements.subscriptionColumns
        )
        const [count] = yield* sql.bulk(statements.countSubscriptions(schema), [tenantId, client, state], ["int8"])
        return { rows: rows.map(subscriptionOf), totalCount: count![0] as number }
      })

    const remove = (tenantId: string, client: string, id: string) =>
      Effect.gen(function*() {
        if (!isUuid(id)) return "unknown" as const
        const [row] = yield* sql.bulk(
          `SELECT deleted_at IS NOT NULL AS deleted FROM ${schema}.transit_subscriptions
           WHERE tenant_id = $1 AND client = $2 AND id = $3::uuid FOR UPDATE`,
          [tenantId, client, id],
          ["bool"]
        )
        if (row === undefined) return "unknown" as const
        if (row[0] === true) return "gone" as const
        yield* sql.bulk(`DELETE FROM ${schema}.transit_routes WHERE tenant_id = $1 AND subscription_id = $2::uuid`, [tenantId, id])
        // the empty row stays, so that deleting again succeeds
        yield* sql.bulk(
          `UPDATE ${schema}.transit_subscriptions SET deleted_at = now(), doc = '{}', shipment_ids = NULL
           WHERE tenant_id = $1 AND id = $2::uuid`,
          [tenantId, id]
        )
        return "removed" as const
      })

    const replay = (tenantId: string, id: string, request: ReplayRequest) =>
      Effect.gen(function*() {
        if (!isUuid(id)) return Option.none<number>()
        const [row] = yield* sql.bulk(statements.replay(schema), [
          tenantId,
          id,
          timestamptzArray([request.from, request.to ?? Infinity]),
          request.shipmentIds === undefined ? null : textArray(request.shipmentIds)
        ], ["bool", "int8"])
        return row![0] === true ? Option.some(row![1] as number) : Option.none<number>()
      })

    const documents = makeDocuments(sql, `${schema}.transit_subscriptions`, "deleted_at IS NULL")

    return TransitSubscriptionStore.of({
      insert: (tenantId, record) =>
        sql.withTransaction(record.shipmentIds === undefined
          ? insertRecord(tenantId, record)
          : insertWithHistory(tenantId, record, record.shipmentIds)).pipe(
            Effect.asVoid,
            StorageError.refail("TransitSubscriptionStore.insert")
          ),
      update: (tenantId, record) =>
        sql.withTransaction(Effect.andThen(
          sql.bulk(statements.updateSubscription(schema), [
            tenantId,
            record.id,
            record.doc,
            record.typeMask,
            record.shipmentIds === undefined ? null : textArray(record.shipmentIds),
            timestamptzArray([record.updatedAt])
          ]),
          replaceRoutes(tenantId, record)
        )).pipe(StorageError.refail("TransitSubscriptionStore.update")),
      find: (tenantId, client, id) => StorageError.refail("TransitSubscriptionStore.find")(find(tenantId, client, id, "")),
      findForUpdate: (tenantId, client, id) =>
        StorageError.refail("TransitSubscriptionStore.findForUpdate")(find(tenantId, client, id, statements.lockedWithDestination)),
      page: (tenantId, client, state, range) => StorageError.refail("TransitSubscriptionStore.page")(page(tenantId, client, state, range)),
      remove: (tenantId, client, id) =>
        sql.withTransaction(remove(tenantId, client, id)).pipe(StorageError.refail("TransitSubscriptionStore.remove")),
      clientSees: (tenantId, client, shipmentId) =>
        sql.bulk(statements.seesShipment(schema), [tenantId, client, shipmentId], ["bool"]).pipe(
          Effect.map(([row]) => row![0] === true),
          StorageError.refail("TransitSubscriptionStore.clientSees")
        ),
      documents: (tenantId, ids) => StorageError.refail("TransitSubscriptionStore.documents")(documents(tenantId, ids)),
      replay: (tenantId, id, request) => StorageError.refail("TransitSubscriptionStore.replay")(replay(tenantId, id, request))
    })
  })
)

const subscriptionOf = ([id, client, doc, createdAt, updatedAt, ...destination]: ReadonlyArray<unknown>): StoredSubscription => ({
  id: id as string,
  client: client as string,
  doc: doc as string,
  createdAt: createdAt as number,
  updatedAt: updatedAt as number,
  destination: statusOf(destination)
})
