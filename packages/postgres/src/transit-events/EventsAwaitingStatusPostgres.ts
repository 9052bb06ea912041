/** Events that were published from SQL and have not changed the status of their shipment. */
import { EventsAwaitingStatus, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { textArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { eventOf } from "./TransitEventStorePostgres.ts"

export const layer = Layer.effect(
  EventsAwaitingStatus,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    return {
      tenants: (limit: number) =>
        sql.bulk(
          // from one tenant to the next on the index, however many events wait
          `WITH RECURSIVE waiting AS (
             (SELECT tenant_id FROM ${schema}.transit_events_awaiting_status ORDER BY tenant_id LIMIT 1)
             UNION ALL
             SELECT (
               SELECT e.tenant_id FROM ${schema}.transit_events_awaiting_status AS e
               WHERE e.tenant_id > w.tenant_id ORDER BY e.tenant_id LIMIT 1
             )
             FROM waiting AS w WHERE w.tenant_id IS NOT NULL
           )
           SELECT w.tenant_id FROM waiting AS w
           WHERE EXISTS (SELECT FROM ${schema}.tenants AS t WHERE t.tenant_id = w.tenant_id AND t.state <> 'deleted')
           LIMIT $1::int8`,
          [limit],
          ["text"]
        ).pipe(Effect.map((rows) => rows.map(([tenantId]) => tenantId as string)), StorageError.refail("EventsAwaitingStatus.tenants")),

      shipments: (tenantId: string, limit: number) =>
        sql.bulk(
          `SELECT shipment_id FROM ${schema}.transit_events_awaiting_status WHERE tenant_id = $1
           GROUP BY shipment_id ORDER BY shipment_id LIMIT $2::int8`,
          [tenantId, limit],
          ["text"]
        ).pipe(Effect.map((rows) => rows.map(([shipmentId]) => shipmentId as string)), StorageError.refail("EventsAwaitingStatus.shipments")),

      take: (tenantId: string, shipmentIds: ReadonlyArray<string>) =>
        sql.bulk(
          `WITH taken AS (
             DELETE FROM ${schema}.transit_events_awaiting_status WHERE tenant_id = $1 AND shipment_id = ANY ($2::text[])
             RETURNING event_no
           )
           SELECT e.event_id, e.shipment_id, e.sequence, e.body
           FROM taken AS w JOIN ${schema}.transit_events AS e ON e.tenant_id = $1 AND e.event_no = w.event_no
           ORDER BY e.event_no`,
          [tenantId, textArray(shipmentIds)],
          ["text", "text", "int8", "bytea"]
        ).pipe(Effect.map((rows) => rows.map(eventOf)), StorageError.refail("EventsAwaitingStatus.take"))
    }
  })
)
