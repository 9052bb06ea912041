/** SQL for the owner of a partition: what fences its writes. */
import type { OwnedPartition } from "@waybill/core/delivery"
import { int4Array, int8Array, uuidArray } from "../../client/SqlRow.ts"
import { nothing, ofAnyLength, raw, type Statement, statement, tenant } from "../../client/SqlStatement.ts"

/**
 * `fence (partition)`: the partitions that are still owned. Their rows stay locked until the transaction ends, so that an epoch is not raised beside a
 * write of its owner. One that was raised while this statement waited for the lock is compared as it is now. `lock` is stronger where the rows are written.
 */
export const fenced = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>, lock: "SHARE" | "NO KEY UPDATE" = "SHARE"): Statement =>
  statement`locked AS MATERIALIZED (
  SELECT p.partition, p.epoch FROM ${schema}.delivery_partitions AS p
  WHERE p.tenant_id = ${tenant(tenantId)} AND p.partition = ANY (${partitionsOf(owned)})
  ORDER BY p.partition
  FOR ${raw(lock)}
),
fence AS MATERIALIZED (
  SELECT p.partition::int4 AS partition FROM locked AS p WHERE ${isOwned(schema, tenantId, owned)}
)`

/** `fence (partition)` for a statement that only reads. The write that may follow it asks for the last outcomes too. */
export const ownedNow = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>): Statement =>
  statement`fence AS MATERIALIZED (
  SELECT p.partition::int4 AS partition FROM ${schema}.delivery_partitions AS p
  WHERE p.tenant_id = ${tenant(tenantId)} AND p.partition = ANY (${partitionsOf(owned)}) AND ${hasEpoch(owned)}
)`

const partitionsOf = (owned: ReadonlyArray<OwnedPartition>) => int4Array(owned.map(({ partition }) => partition))

const hasEpoch = (owned: ReadonlyArray<OwnedPartition>) => statement`p.epoch = (${int8Array(owned.map(({ epoch }) => epoch))})[array_position(${partitionsOf(owned)}, p.partition::int4)]`

const isOwned = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>): Statement => {
  const last = owned.flatMap(({ lastOutcome, partition }) => lastOutcome === undefined ? [] : [{ partition, ...lastOutcome }])
  return statement`${hasEpoch(owned)}
    ${last.length === 0 ? nothing : statement`AND p.partition <> ALL (ARRAY(${forgotten(schema, tenantId, last)}))`}`
}

/** Partitions whose last outcome is not there: the database has lost it in a crash, because commits of outcomes do not wait for the disk. */
const forgotten = (schema: Statement, tenantId: string, last: ReadonlyArray<{ readonly partition: number; readonly deliveryId: string; readonly attempt: number }>) => statement`
      SELECT o.partition::int2
      FROM unnest(${ofAnyLength(int4Array(last.map(({ partition }) => partition)))}, ${uuidArray(last.map(({ deliveryId }) => deliveryId))}, ${int4Array(last.map(({ attempt }) => attempt))}) AS o (partition, delivery_id, attempt)
      LEFT JOIN LATERAL (
        SELECT d.state, d.attempt FROM ${schema}.deliveries AS d WHERE d.tenant_id = ${tenant(tenantId)} AND d.delivery_id = o.delivery_id
        LIMIT 1
      ) AS d ON true
      WHERE (d.state <> 'sending' OR d.attempt > o.attempt) IS NOT TRUE`

/** A statement of its own. */
export const lockFence = (schema: Statement, tenantId: string, owned: ReadonlyArray<OwnedPartition>) => statement`
WITH ${fenced(schema, tenantId, owned)}
SELECT f.partition FROM fence AS f`
