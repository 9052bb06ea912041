/** Removes rows that are no longer needed. */
import { raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"

/** `key`: the columns of the primary key after `tenant_id`. `which`: a condition on the rows, with an order and a limit. */
interface Pruned {
  readonly table: string
  readonly key: ReadonlyArray<string>
  readonly which: Statement
}

/** Rows that another transaction has locked are left to the next call. Returns how many were removed. */
export const pruneRows = (schema: Statement, tenantId: string, { key, table, which }: Pruned): Statement => {
  const [own, rows] = [tenant(tenantId), statement`${schema}.${raw(table)}`]
  return statement`
WITH old AS (
  SELECT ${raw(key.join(", "))} FROM ${rows} WHERE tenant_id = ${own} AND ${which} FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM ${rows} AS r USING old AS o WHERE r.tenant_id = ${own} AND ${raw(key.map((name) => `r.${name} = o.${name}`).join(" AND "))} RETURNING 1
)
SELECT count(*) AS pruned FROM gone`
}
