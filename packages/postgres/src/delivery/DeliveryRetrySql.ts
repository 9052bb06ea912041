/** SQL statements that make deliveries due again. They run after the lock of the destination. */
import type { DeliveryState } from "@waybill/core/delivery"
import { int8, only, row, text, timestamptz, uuid, uuidArray } from "../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { inFlightOf } from "./DeliveryLogSql.ts"
import type { PayloadSource } from "./PayloadSource.ts"
import { payloadOf } from "./PayloadSql.ts"
import { signalChanged } from "../shared/DeliveryEntrySql.ts"

/** Locks the destination of a delivery, like `lockDestination`. */
export const lockDestinationOf = (schema: Statement, tenantId: string, deliveryId: string) => statement`
SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id = (
  SELECT d.destination_id FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ${uuid(deliveryId)}
)
FOR NO KEY UPDATE`

const again = raw("state = 'waiting', due_at = now(), settled_at = NULL, tries = 0")

export const stateRow = row({ state: only<DeliveryState>(text) })

/**
 * Returns the state before. One that is sent at this moment is not locked, because its outcome may wait for the destination. Sent again
 * without all of its bytes, a delivery would block its shipments, so one that lost some to retention counts as cancelled.
 */
export const retryDelivery = (schema: Statement, tenantId: string, retried: string, sources: ReadonlyArray<PayloadSource>) => {
  const [own, deliveryId] = [tenant(tenantId), uuid(retried)]
  return statement`
WITH before AS MATERIALIZED (
  SELECT d.state, d.destination_id, d.refs FROM ${schema}.deliveries AS d
  WHERE d.tenant_id = ${own} AND d.delivery_id = ${deliveryId} AND d.state <> 'sending'
  FOR UPDATE
),
whole AS MATERIALIZED (
  SELECT l.destination_id FROM before AS d
  CROSS JOIN LATERAL (
    SELECT l.destination_id, l.source FROM ${schema}.delivery_destinations AS l
    WHERE l.tenant_id = ${own} AND l.destination_id = d.destination_id AND l.state <> 'closed'
    OFFSET 0
  ) AS l
  WHERE d.state <> 'cancelled' AND (
    SELECT count(x.order_id) = cardinality(d.refs) FROM unnest(d.refs) AS r (ref)
    LEFT JOIN LATERAL (${raw(payloadOf(schema.text, sources, "l.source", "r.ref"))}) AS x ON true
  )
),
changed AS (
  UPDATE ${schema}.deliveries AS d SET ${again}
  WHERE d.tenant_id = ${own} AND d.delivery_id = ${deliveryId} AND (SELECT count(*) FROM whole) > 0
  RETURNING d.destination_id
),
signalled AS (${signalChanged(schema, tenant(tenantId))})
SELECT CASE WHEN (SELECT count(*) FROM changed) > 0 THEN b.state ELSE 'cancelled' END AS state FROM before AS b
UNION ALL
SELECT 'sending' WHERE (SELECT count(*) FROM before) = 0 AND (
  EXISTS (SELECT FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${own} AND d.delivery_id = ${deliveryId})
  OR EXISTS (SELECT FROM ${schema}.deliveries_in_flight AS d WHERE d.tenant_id = ${own} ${inFlightOf(retried)})
)`
}

export const recoveredRow = row({ recovered: int8 })

export const recoverDeliveries = (schema: Statement, tenantId: string, destinationId: string, since: number) =>
  retryDeadLetters(schema, tenantId, statement`AND d.destination_id = ${uuid(destinationId)} AND d.settled_at >= ${timestamptz(since)}`)

/** Locks the destinations of dead letters, like `lockDestination`, in one order for all who do. */
export const lockDestinationsOf = (schema: Statement, tenantId: string, deliveryIds: ReadonlyArray<string>) => {
  const own = tenant(tenantId)
  return statement`
SELECT l.destination_id FROM ${schema}.delivery_destinations AS l
WHERE l.tenant_id = ${own} AND l.destination_id = ANY (ARRAY(
  SELECT d.destination_id FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${own} AND d.delivery_id = ANY (${uuidArray(deliveryIds)}) AND d.state = 'dead'
))
ORDER BY l.destination_id
FOR NO KEY UPDATE`
}

export const retryDead = (schema: Statement, tenantId: string, deliveryIds: ReadonlyArray<string>) =>
  retryDeadLetters(schema, tenantId, statement`AND d.delivery_id = ANY (${uuidArray(deliveryIds)})`)

const retryDeadLetters = (schema: Statement, tenantId: string, condition: Statement) => {
  const own = tenant(tenantId)
  return statement`
WITH recovered AS (
  UPDATE ${schema}.deliveries AS d SET ${again}
  WHERE d.tenant_id = ${own} AND d.state = 'dead' ${condition} AND EXISTS (
    SELECT FROM ${schema}.delivery_destinations AS l WHERE l.tenant_id = ${own} AND l.destination_id = d.destination_id AND l.state <> 'closed' OFFSET 0
  )
  RETURNING d.destination_id
),
changed AS (
  SELECT DISTINCT destination_id FROM recovered
),
signalled AS (${signalChanged(schema, tenant(tenantId))})
SELECT count(*) AS recovered FROM recovered`
}
