/**
 * SQL statements for the accounts that may see invoices and records of documents: those that one names, or else those of its shipment. Lists of
 * accounts read them from a table. The tenants and ids may be SQL, because functions of the database have the same statements.
 */
import { bool, row, text, textArray } from "../client/SqlRow.ts"
import { type Expression, raw, type Statement, type StatementPart, statement, tenant, value } from "../client/SqlStatement.ts"

/** Rows that belong to accounts, their key besides DOT and MC, and the table of the accounts. */
export interface SeenRows {
  readonly rows: Statement
  readonly id: Statement
  readonly accounts: Statement
}

export const invoices: SeenRows = { rows: raw("invoices"), id: raw("unique_id"), accounts: raw("invoice_accounts") }
export const documents: SeenRows = { rows: raw("document_records"), id: raw("invoice_number"), accounts: raw("document_accounts") }

export interface SeenRowKey {
  readonly id: Expression
  readonly dot: Expression
  readonly mc: Expression
}

const isKey = (alias: Statement, { id }: SeenRows, key: SeenRowKey) => statement`${alias}.${id} = ${key.id} AND ${alias}.dot = ${key.dot} AND ${alias}.mc = ${key.mc}`

/** Locks the rows of shipments whose accounts decide who sees an invoice or documents, in the common order. A shipment may be unknown yet. */
export const lockInvoiced = (schema: Statement, tenant: Expression, shipmentIds: Expression) => statement`
INSERT INTO ${schema}.shipments (tenant_id, shipment_id, invoiced)
SELECT ${tenant}, id, true FROM unnest(${shipmentIds}) AS id
ORDER BY id COLLATE "C"
ON CONFLICT (tenant_id, shipment_id) DO UPDATE SET invoiced = true`

export const shipmentRow = row({ shipmentId: text, isAddressed: bool })

/** The shipment of a row, and whether the row names accounts. */
export const shipmentOf = (schema: Statement, tenant: Expression, of: SeenRows, key: SeenRowKey) => statement`
SELECT i.shipment_id, i.accounts <> '{}' AS addressed FROM ${schema}.${of.rows} AS i
WHERE i.tenant_id = ${tenant} AND ${isKey(raw("i"), of, key)}`

/** One lookup for each shipment, because Postgres before 17 may read all rows of the tenant for an array of them. */
const unaddressed = (schema: Statement, tenant: Expression, { rows }: SeenRows, shipmentIds: Expression) => statement`
  unnest(${shipmentIds}) AS named (shipment_id)
  CROSS JOIN LATERAL (
    SELECT i.* FROM ${schema}.${rows} AS i
    WHERE i.tenant_id = ${tenant} AND i.shipment_id = named.shipment_id AND i.accounts = '{}'
    OFFSET 0
  )`

/** Replaces the accounts of one row, or of the rows of shipments that name none. The rows of the shipments are locked. */
export const replaceAccountsOf = (schema: Statement, tenant: Expression, of: SeenRows, which: SeenRowKey | { readonly shipmentIds: Expression }) => statement`
WITH given AS MATERIALIZED (
  SELECT i.${of.id}, i.dot, i.mc, CASE WHEN i.accounts = '{}' THEN coalesce(s.accounts, '{}') ELSE i.accounts END AS accounts
  FROM ${
  "shipmentIds" in which
    ? unaddressed(schema, tenant, of, which.shipmentIds)
    : statement`(SELECT i.* FROM ${schema}.${of.rows} AS i WHERE i.tenant_id = ${tenant} AND ${isKey(raw("i"), of, which)})`
} AS i
  LEFT JOIN LATERAL (
    SELECT s.accounts FROM ${schema}.shipments AS s
    WHERE s.tenant_id = ${tenant} AND s.shipment_id = i.shipment_id
    OFFSET 0
  ) AS s ON true
),
dropped AS (
  DELETE FROM ${schema}.${of.accounts} AS a
  USING given AS g
  WHERE a.tenant_id = ${tenant} AND a.${of.id} = g.${of.id} AND a.dot = g.dot AND a.mc = g.mc
    AND a.${of.id} = ANY (ARRAY(SELECT ${of.id} FROM given)) AND a.account <> ALL (g.accounts)
)
INSERT INTO ${schema}.${of.accounts} (tenant_id, account, ${of.id}, dot, mc)
SELECT ${tenant}::text, account, g.${of.id}, g.dot, g.mc
FROM given AS g CROSS JOIN unnest(g.accounts) AS account
ON CONFLICT DO NOTHING`

/** A key that has no row any more. */
export const removeAccountsOf = (schema: Statement, tenant: Expression, of: SeenRows, key: SeenRowKey) => statement`
DELETE FROM ${schema}.${of.accounts} AS a WHERE a.tenant_id = ${tenant} AND ${isKey(raw("a"), of, key)}`

/**
 * The first rows `t` that accounts may see, in the order of a list: the first of each account, by index. `condition`: of the key's columns in `t`.
 * For `FROM`.
 */
export const seenByAccounts = (
  schema: Statement,
  tenantId: string,
  { accounts: table, id, rows }: SeenRows,
  accounts: ReadonlyArray<string>,
  condition: Statement,
  limit: StatementPart
): Statement => statement`(
  SELECT DISTINCT t.${id}, t.dot, t.mc FROM unnest(${textArray(accounts)}) AS g (account) CROSS JOIN LATERAL (
    SELECT t.${id}, t.dot, t.mc FROM ${schema}.${table} AS t WHERE t.tenant_id = ${tenant(tenantId)} AND t.account = g.account ${condition}
    ORDER BY t.${id}, t.dot, t.mc LIMIT ${limit}
  ) AS t
  ORDER BY t.${id}, t.dot, t.mc LIMIT ${limit}
) AS mine
CROSS JOIN LATERAL (
  SELECT t.* FROM ${schema}.${rows} AS t
  WHERE t.tenant_id = ${tenant(tenantId)} AND t.${id} = mine.${id} AND t.dot = mine.dot AND t.mc = mine.mc
  OFFSET 0
) AS t`

/** The rows of a carrier with a number: `column` is `dot` or `mc`. */
export interface OfNumber {
  readonly column: Statement
  readonly number: string
  readonly condition: Statement
}

/**
 * The first rows `t` of a carrier, in the order of a list, by the index of each number. They are compared and sorted with the number (BETWEEN), so that no other index will do:
 * by the primary key, the rows of all carriers would be read. For `FROM`.
 */
export const seenByNumbers = (
  schema: Statement,
  tenantId: string,
  { id, rows }: SeenRows,
  numbers: ReadonlyArray<OfNumber>,
  condition: Statement,
  limit: StatementPart
): Statement => {
  const [first, ...others] = numbers.map(({ column, condition: more, number }) => {
    const own = value(number)
    return statement`(
    SELECT t.* FROM ${schema}.${rows} AS t WHERE t.tenant_id = ${tenant(tenantId)} AND t.${column} BETWEEN ${own} AND ${own} ${more} ${condition}
    ORDER BY t.${column}, t.${id}, t.dot, t.mc LIMIT ${limit}
  )`
  })
  return statement`(${others.reduce((union, each) => statement`${union} UNION ALL ${each}`, first!)}) AS t`
}
