/** SQL that queues entries for delivery, in statements of any area. */
import { type Expression, type Statement, statement } from "../client/SqlStatement.ts"

/** Queues the rows of a query (tenant, destination, key, sequence, ref, size), and returns their destinations. */
export const queueEntries = (schema: Statement, entries: Statement) => statement`INSERT INTO ${schema}.delivery_entries (tenant_id, destination_id, key, sequence, ref, size)
  ${entries}
  RETURNING destination_id`

/** Signals to delivery workers which destinations have new entries, from a relation `queued (destination_id)`. */
export const signalQueued = (schema: Statement, tenant: Expression) => statement`INSERT INTO ${schema}.delivery_arrivals (tenant_id, destination_id)
  SELECT DISTINCT ${tenant}::text, destination_id FROM queued`
