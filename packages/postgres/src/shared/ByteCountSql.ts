/** Counts of stored bytes, for quotas. */
import { type Parameter, type Statement, statement } from "../client/SqlStatement.ts"

/** A table of counts. What it counts for is a parameter for each column of its primary key but `part`, in their order. */
export interface ByteCount {
  readonly table: Statement
  readonly columns: Statement
  readonly values: Statement
  readonly condition: Statement
}

/**
 * CTEs that add bytes, possibly negative. A count is the sum of its parts: each transaction changes one that no other transaction has locked, or adds
 * one, so no call waits for the open transaction of another.
 */
export const addBytes = ({ columns, condition, table, values }: ByteCount, bytes: Parameter): Statement => statement`free_part AS MATERIALIZED (
  SELECT u.part FROM ${table} AS u WHERE ${condition} ORDER BY u.part LIMIT 1 FOR UPDATE SKIP LOCKED
),
changed_part AS (
  UPDATE ${table} AS u SET bytes = u.bytes + ${bytes} WHERE ${condition} AND u.part = (SELECT part FROM free_part)
),
added_part AS (
  INSERT INTO ${table} (${columns}, bytes) SELECT ${values}, ${bytes} WHERE NOT EXISTS (SELECT FROM free_part)
)`

export const sumBytes = ({ condition, table }: ByteCount): Statement =>
  statement`SELECT coalesce(sum(u.bytes), 0)::int8 AS bytes FROM ${table} AS u WHERE ${condition}`
