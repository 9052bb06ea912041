/** Events that were published from SQL and have not changed the status of their shipment. */
import { EventsAwaitingStatus, type ListRange } from "@waybill/core"
import { Effect } from "effect"
import { int8, text, textArray } from "../client/SqlRow.ts"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { eventRow } from "./TransitEventSql.ts"

/** One look at the index for each tenant, however many events wait. */
const waitingTenants = (schema: Statement, { after = "", limit }: ListRange) => statement`
SELECT t.tenant_id FROM ${schema}.tenants AS t
WHERE t.state <> 'deleted' AND t.tenant_id > ${after} AND EXISTS (SELECT FROM ${schema}.transit_events_awaiting_status AS e WHERE e.tenant_id = t.tenant_id)
ORDER BY t.tenant_id
LIMIT ${int8(limit)}`

const waitingShipments = (schema: Statement, tenantId: string, { after = "", limit }: ListRange) => statement`
SELECT shipment_id FROM ${schema}.transit_events_awaiting_status WHERE tenant_id = ${tenant(tenantId)} AND shipment_id > ${text(after)}
GROUP BY shipment_id ORDER BY shipment_id LIMIT ${int8(limit)}`

/** With the lock that orders all writes to a shipment. */
const lockFree = (schema: Statement, tenantId: string, shipmentIds: ReadonlyArray<string>) => statement`
SELECT shipment_id FROM ${schema}.shipments WHERE tenant_id = ${tenant(tenantId)} AND shipment_id = ANY (${textArray(shipmentIds)})
FOR UPDATE SKIP LOCKED`

const takeEvents = (schema: Statement, tenantId: string, shipmentIds: ReadonlyArray<string>) => statement`
WITH taken AS (
  DELETE FROM ${schema}.transit_events_awaiting_status
  WHERE tenant_id = ${tenant(tenantId)} AND shipment_id = ANY (${textArray(shipmentIds)})
  RETURNING event_no
)
SELECT ${eventRow.columns("e")}
FROM taken AS w JOIN ${schema}.transit_events AS e ON e.tenant_id = ${tenant(tenantId)} AND e.event_no = w.event_no
ORDER BY e.event_no`

export const layer = storeLayer(EventsAwaitingStatus, ({ schema, sql }) => ({
  tenants: (range) => sql.rows(text, waitingTenants(schema, range)),
  lockShipments: Effect.fnUntraced(function*(tenantId: string, range: ListRange) {
    const waiting = yield* sql.rows(text, waitingShipments(schema, tenantId, range))
    return {
      shipmentIds: waiting.length === 0 ? [] : yield* sql.rows(text, lockFree(schema, tenantId, waiting)),
      last: waiting.length < range.limit ? undefined : waiting.at(-1)
    }
  }),
  take: (tenantId, shipmentIds) => sql.rows(eventRow, takeEvents(schema, tenantId, shipmentIds))
}))
