/** SQL that queues entries for delivery, in statements of any area, and that signals them to the owners of destinations. */
import { partitionsPerTenant } from "@waybill/core/delivery"
import { type Expression, raw, type Statement, statement } from "../client/SqlStatement.ts"

/** Queues the rows of a query (tenant, destination, key, sequence, ref, size), and returns their destinations and keys. */
export const queueEntries = (schema: Statement, entries: Statement) => statement`INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  ${entries}
  RETURNING destination_id, key`

/** The partition of a destination, like core's `partitionOf`. */
export const partitionOfSql = (destinationId: string): string => `(get_byte(uuid_send(${destinationId}), 15) % ${partitionsPerTenant})`

const partition = raw(partitionOfSql("q.destination_id"))

/** From a relation `queued (destination_id, key)`: one signal for each destination, with its smallest key. */
export const signalQueued = (schema: Statement, tenant: Expression) => statement`INSERT INTO ${schema}.delivery_signals (tenant_id, partition, destination_id, key)
  SELECT ${tenant}::text, ${partition}, q.destination_id, min(q.key) FROM queued AS q GROUP BY q.destination_id`

/** From a relation `changed (destination_id)`: one signal for each row, for a change of any kind. */
export const signalChanged = (schema: Statement, tenant: Expression) => statement`INSERT INTO ${schema}.delivery_signals (tenant_id, partition, destination_id)
  SELECT ${tenant}::text, ${partition}, q.destination_id FROM changed AS q`
