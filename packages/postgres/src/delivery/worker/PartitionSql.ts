/** SQL for the owner of a partition: what fences its writes. */
import type { OwnedPartition } from "@waybill/core/delivery"
import { int4Array, int8Array } from "../../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"

/**
 * `fence (partition)`: the partitions whose epoch holds. Their rows stay locked until the transaction ends, so that an epoch is not raised beside a
 * write of its owner. One that was raised while this statement waited for the lock is compared as it is now. `lock` is stronger where the rows are written.
 */
export const fenced = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>, lock: "SHARE" | "NO KEY UPDATE" = "SHARE"): Statement => {
  const partitions = int4Array(owned.map(({ partition }) => partition))
  return statement`locked AS MATERIALIZED (
  SELECT p.partition, p.epoch FROM ${schema}.delivery_partitions AS p
  WHERE p.tenant_id = ${tenant(tenantId)} AND p.partition = ANY (${partitions})
  ORDER BY p.partition
  FOR ${raw(lock)}
),
fence AS MATERIALIZED (
  SELECT l.partition::int4 AS partition FROM locked AS l
  WHERE l.epoch = (${int8Array(owned.map(({ epoch }) => epoch))})[array_position(${partitions}, l.partition::int4)]
)`
}

/** `fence (partition)` for a statement that only reads. */
export const ownedNow = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>): Statement => {
  const partitions = int4Array(owned.map(({ partition }) => partition))
  return statement`fence AS MATERIALIZED (
  SELECT p.partition::int4 AS partition FROM ${schema}.delivery_partitions AS p
  WHERE p.tenant_id = ${tenant(tenantId)} AND p.partition = ANY (${partitions})
    AND p.epoch = (${int8Array(owned.map(({ epoch }) => epoch))})[array_position(${partitions}, p.partition::int4)]
)`
}

/** A statement of its own, in front of others in a transaction. */
export const lockFence = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>) => statement`
WITH ${fenced(schema, tenantId, owned)}
SELECT f.partition FROM fence AS f`

export const readFence = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>) => statement`
WITH ${ownedNow(schema, tenantId, owned)}
SELECT f.partition FROM fence AS f`
