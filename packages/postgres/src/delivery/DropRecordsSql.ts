/** SQL for the records of entries that were removed without being sent. */
import { type DropReason, keptDrops } from "@waybill/core/delivery"
import { text, uuidArray } from "../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"

const mostDrops = raw(String(keptDrops))

/** Records the newest entries of a relation `gone (destination_id, key, sequence, ref)`: an INSERT. */
export const recordDrops = (schema: Statement, tenantId: string, reason: DropReason): Statement => statement`
  INSERT INTO ${schema}.delivery_drops (tenant_id, destination_id, key, sequence, ref, reason)
  SELECT ${tenant(tenantId)}, g.destination_id, g.key, g.sequence, g.ref, ${text(reason)}
  FROM (SELECT g.*, row_number() OVER (PARTITION BY g.destination_id ORDER BY g.ref DESC) AS place FROM gone AS g) AS g
  WHERE g.place <= ${mostDrops}
  ORDER BY g.destination_id, g.ref`

/** Adds the numbers of removed entries in a relation `removed (destination_id, entries)` of few destinations: an UPDATE. The version stays. */
export const countDrops = (schema: Statement, tenantId: string): Statement => statement`
  UPDATE ${schema}.delivery_destinations AS l SET dropped = l.dropped + r.entries
  FROM removed AS r
  WHERE l.tenant_id = ${tenant(tenantId)} AND l.destination_id = r.destination_id AND l.destination_id = ANY (ARRAY(SELECT destination_id FROM removed)) AND r.entries > 0`

/** Removes all but the newest records of some destinations: a statement of its own afterwards. */
export const trimDrops = (schema: Statement, tenantId: string, destinationIds: ReadonlyArray<string>): Statement => {
  const [own, destinations] = [tenant(tenantId), uuidArray(destinationIds)]
  return statement`
DELETE FROM ${schema}.delivery_drops AS d
USING (
  SELECT g.destination_id, o.drop_no
  FROM unnest(${destinations}) AS g (destination_id)
  CROSS JOIN LATERAL (
    SELECT d.drop_no FROM ${schema}.delivery_drops AS d
    WHERE d.tenant_id = ${own} AND d.destination_id = g.destination_id
    ORDER BY d.drop_no DESC
    LIMIT 1 OFFSET ${mostDrops}
  ) AS o
) AS o
WHERE d.tenant_id = ${own} AND d.destination_id = o.destination_id AND d.drop_no <= o.drop_no AND d.destination_id = ANY (${destinations})`
}
