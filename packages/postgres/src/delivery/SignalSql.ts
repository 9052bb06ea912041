/** Signals: rows that tell the owner of a partition that something is new in a destination. */
import { partitionsPerTenant } from "@waybill/core"

/** The partition of a destination, like core's `partitionOf`. */
export const partitionOfSql = (destinationId: string): string => `(get_byte(uuid_send(${destinationId}), 15) % ${partitionsPerTenant})`

/** One signal for each destination of a relation `(destination_id, key)` of entries, with the destination's smallest key. */
export const signalEntries = (schema: string, entries: string): string => `
  INSERT INTO ${schema}.delivery_signals (tenant_id, partition, destination_id, key)
  SELECT $1::text, ${partitionOfSql("q.destination_id")}, q.destination_id, min(q.key) FROM ${entries} AS q GROUP BY q.destination_id`

/** One signal for each row of a relation `(destination_id)`: anything may have changed in these destinations. */
export const signalChanges = (schema: string, destinations: string): string => `
  INSERT INTO ${schema}.delivery_signals (tenant_id, partition, destination_id)
  SELECT $1::text, ${partitionOfSql("q.destination_id")}, q.destination_id FROM ${destinations} AS q`
