/** SQL statements that make deliveries due again. They run after the lock of the destination. */
import type { DeliveryState } from "@waybill/core/delivery"
import { bool, int8, only, optional, row, text, timestamptz, uuid, uuidArray } from "../../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"
import { inFlightOf } from "./DeliveryLogSql.ts"
import { hasDestination } from "../LookupSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"
import { payloadOf } from "../PayloadSql.ts"
import { signalChanged } from "../DeliveryEntrySql.ts"
import { lockDestinations } from "../DestinationSql.ts"
import { inFlight } from "../../shared/InFlightSql.ts"

/** Locks the destination of a delivery, like `lockDestination`. */
export const lockDestinationOf = (schema: Statement, tenantId: string, deliveryId: string) =>
  lockDestinations(schema, tenantId, statement`= (
  SELECT d.destination_id FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ${uuid(deliveryId)}
)`)

const again = raw("state = 'waiting', due_at = now(), settled_at = NULL, tries = 0")

export const retriedRow = row({ state: only<DeliveryState>(text), whole: bool })

/**
 * Locks a delivery, unless it is sent at this moment: its outcome may wait for the destination. `whole`: it can be sent again. Without all of its
 * bytes it would block its shipments, so one that lost some to retention counts as cancelled.
 */
export const lockRetried = (schema: Statement, tenantId: string, retried: string, sources: ReadonlyArray<PayloadSource>) => statement`
SELECT d.state, d.state <> 'cancelled' AND ${hasDestination(schema, tenantId, statement`l.state <> 'closed' AND (
    SELECT count(x.order_id) = cardinality(d.refs) FROM unnest(d.refs) AS r (ref)
    LEFT JOIN LATERAL (${raw(payloadOf(schema.text, sources, "l.source", "r.ref"))}) AS x ON true
  )`)} AS whole
FROM ${schema}.deliveries AS d
WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ${uuid(retried)} AND d.state <> 'sending'
FOR UPDATE`

export const retryDelivery = (schema: Statement, tenantId: string, retried: string) => statement`
WITH changed AS (
  UPDATE ${schema}.deliveries AS d SET ${again}
  WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ${uuid(retried)}
  RETURNING d.destination_id
)
${signalChanged(schema, tenant(tenantId))}`

/** Whether a delivery that could not be locked is there. */
export const isSending = (schema: Statement, tenantId: string, deliveryId: string) => statement`
SELECT count(*) > 0 AS sending
FROM (
  SELECT d.delivery_id FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ${uuid(deliveryId)}
  UNION ALL
  SELECT d.delivery_id FROM ${inFlight(schema, tenantId)} AS d WHERE d.tenant_id = ${tenant(tenantId)} ${inFlightOf(deliveryId)}
) AS d`

/** At most so many are recovered by a statement, because all of a destination's may take longer than the statement timeout. */
const recoverStep = 10_000

/** `last`: the last delivery of a full step, after which the next one begins. */
export const recoveredRow = row({ recovered: int8, last: optional(uuid) })

export const recoverDeliveries = (schema: Statement, tenantId: string, destinationId: string, since: number, after: string) => statement`
WITH step AS MATERIALIZED (
  SELECT d.delivery_id FROM ${schema}.deliveries AS d
  WHERE d.tenant_id = ${tenant(tenantId)} AND d.destination_id = ${uuid(destinationId)} AND d.state = 'dead'
    AND d.delivery_id > ${uuid(after)} AND d.settled_at >= ${timestamptz(since)}
  ORDER BY d.delivery_id LIMIT ${raw(String(recoverStep))}
),
${retryDeadLetters(schema, tenantId, raw("d.delivery_id = ANY (ARRAY(SELECT s.delivery_id FROM step AS s))"))}
SELECT count(*) AS recovered, (SELECT s.delivery_id FROM step AS s ORDER BY s.delivery_id OFFSET ${raw(String(recoverStep - 1))}) AS last FROM recovered`

/** Locks the destinations of dead letters. */
export const lockDestinationsOf = (schema: Statement, tenantId: string, deliveryIds: ReadonlyArray<string>) =>
  lockDestinations(schema, tenantId, statement`= ANY (ARRAY(
  SELECT d.destination_id FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = ANY (${uuidArray(deliveryIds)}) AND d.state = 'dead'
))`)

export const retryDead = (schema: Statement, tenantId: string, deliveryIds: ReadonlyArray<string>) => statement`
WITH ${retryDeadLetters(schema, tenantId, statement`d.delivery_id = ANY (${uuidArray(deliveryIds)})`)}
SELECT count(*) AS recovered FROM recovered`

function retryDeadLetters(schema: Statement, tenantId: string, condition: Statement): Statement {
  return statement`recovered AS (
  UPDATE ${schema}.deliveries AS d SET ${again}
  WHERE d.tenant_id = ${tenant(tenantId)} AND d.state = 'dead' AND ${condition} AND ${hasDestination(schema, tenantId, raw("l.state <> 'closed'"))}
  RETURNING d.destination_id
),
changed AS (
  SELECT DISTINCT destination_id FROM recovered
),
signalled AS (${signalChanged(schema, tenant(tenantId))})`
}
