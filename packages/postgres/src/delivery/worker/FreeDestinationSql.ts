/** SQL that locks destinations without waiting for those that another transaction has locked: a host may keep one open for long, and the work of all others would wait for it. */
import { bool, row, uuid, uuidArray } from "../../client/SqlRow.ts"
import { ofAnyLength, type Statement, statement, tenant } from "../../client/SqlStatement.ts"

/** `destinations`: those of a relation `(destination_id)` that are locked now. `busy`: those that another transaction has locked. */
export const freeDestinations = (schema: Statement, tenantId: string, of: Statement) => {
  const named = statement`
  FROM ${of} AS g (destination_id)
  CROSS JOIN LATERAL (
    SELECT l.destination_id, l.state FROM ${schema}.delivery_destinations AS l
    WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id = g.destination_id`
  return statement`
destinations AS MATERIALIZED (
  SELECT l.destination_id, l.state ${named}
    FOR NO KEY UPDATE SKIP LOCKED
  ) AS l
),
busy AS MATERIALIZED (
  SELECT l.destination_id ${named}
    LIMIT 1
  ) AS l
  WHERE l.destination_id NOT IN (SELECT d.destination_id FROM destinations AS d)
)`
}

export const lockedRow = row({ destinationId: uuid, isFree: bool })

/** A statement of its own, in front of others in a transaction. */
export const lockFreeDestinations = (schema: Statement, tenantId: string, destinationIds: ReadonlyArray<string>) => statement`
WITH ${freeDestinations(schema, tenantId, statement`unnest(${ofAnyLength(uuidArray(destinationIds))})`)}
SELECT d.destination_id, true AS is_free FROM destinations AS d UNION ALL SELECT b.destination_id, false FROM busy AS b`
