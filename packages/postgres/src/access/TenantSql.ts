/** SQL statements for tenants. */
import type { ListRange, Tenant } from "@waybill/core"
import { float8, int8, only, row, text, textArray } from "../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"

export const tenantRow = row({ tenantId: text, name: text, hosts: textArray, state: only<Tenant["state"]>(text) })

const exists = statement`state <> 'deleted'`

export const putTenant = (schema: Statement, { hosts, name, tenantId }: Omit<Tenant, "state">) => statement`
INSERT INTO ${schema}.tenants AS t (tenant_id, name, hosts)
VALUES (${tenant(tenantId)}, ${name}, ${textArray(hosts)})
ON CONFLICT (tenant_id) DO UPDATE SET name = EXCLUDED.name, hosts = EXCLUDED.hosts WHERE t.${exists}
RETURNING ${tenantRow.columns()}`

export const findTenant = (schema: Statement, tenantId: string) =>
  statement`SELECT ${tenantRow.columns()} FROM ${schema}.tenants WHERE tenant_id = ${tenant(tenantId)} AND ${exists}`

export const now = statement`SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now`

export const pageTenants = (schema: Statement, { after = "", limit }: ListRange) =>
  statement`SELECT ${tenantRow.columns()} FROM ${schema}.tenants WHERE tenant_id > ${after} AND ${exists} ORDER BY tenant_id LIMIT ${int8(limit)}`

export const listTenants = (schema: Statement) =>
  statement`SELECT ${tenantRow.columns()} FROM ${schema}.tenants WHERE ${exists} ORDER BY tenant_id`

export const findLimits = (schema: Statement, tenantId: string, forUpdate: boolean) =>
  statement`SELECT limits FROM ${schema}.tenants WHERE tenant_id = ${tenant(tenantId)} AND ${exists} ${forUpdate ? statement`FOR UPDATE` : nothing}`

export const putLimits = (schema: Statement, tenantId: string, limits: string) =>
  statement`UPDATE ${schema}.tenants SET limits = ${limits} WHERE tenant_id = ${tenant(tenantId)}`

export const setTenantState = (schema: Statement, tenantId: string, state: Tenant["state"]) => statement`
UPDATE ${schema}.tenants SET state = ${state} WHERE tenant_id = ${tenant(tenantId)} AND ${exists} RETURNING ${tenantRow.columns()}`

export const lockTenant = (schema: Statement, tenantId: string) =>
  statement`SELECT 1 AS locked FROM ${schema}.tenants WHERE tenant_id = ${tenant(tenantId)} FOR UPDATE`

export const deleteTenant = (schema: Statement, tenantId: string) => statement`
UPDATE ${schema}.tenants SET state = 'deleted', deleted_at = now() WHERE tenant_id = ${tenant(tenantId)} AND ${exists} RETURNING tenant_id`

export const deletedTenants = (schema: Statement, { after = "", limit }: ListRange) =>
  statement`SELECT tenant_id FROM ${schema}.tenants WHERE state = 'deleted' AND tenant_id > ${after} ORDER BY tenant_id LIMIT ${int8(limit)}`

export const dropTenant = (schema: Statement, tenantId: string, graceMillis: number) => statement`
DELETE FROM ${schema}.tenants
WHERE tenant_id = ${tenant(tenantId)} AND deleted_at <= now() - ${float8(graceMillis)} * interval '1 millisecond'
RETURNING tenant_id`

/** Tables that keep rows of a deleted tenant: its own row reserves the id for a while, and audit entries stay until retention removes them. */
const staying = ["tenants", "audit_entries"]

/** Every table of the schema with a `tenant_id` column, of any area, as quoted names. */
export const tablesOfTenants = (schemaName: string) => statement`
SELECT quote_ident(c.relname) AS relation
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
WHERE n.nspname = ${schemaName} AND c.relkind = 'r' AND c.relname <> ALL (${textArray(staying)})`

/** Returns how many rows were deleted. */
export const purgeTable = (schema: Statement, tenantId: string, quotedTable: string, limit: number) => {
  const table = raw(quotedTable)
  return statement`
WITH gone AS (
  DELETE FROM ${schema}.${table} WHERE tenant_id = ${tenant(tenantId)} AND ctid = ANY (
    ARRAY(SELECT ctid FROM ${schema}.${table} WHERE tenant_id = ${tenant(tenantId)} LIMIT ${int8(limit)})
  ) RETURNING 1 AS gone
)
SELECT count(*)::int4 AS removed FROM gone`
}
