/** SQL statements for API keys. */
import type { FoundApiKey, ListRange, StoredApiKey } from "@waybill/core"
import { bytea, int8, only, optional, row, text, textArray, timestamptz, timestamptzArray, uuid, uuidArray } from "../client/SqlRow.ts"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"

const storedColumns = {
  id: uuid,
  name: text,
  roles: only<StoredApiKey["roles"]>(textArray),
  accounts: textArray,
  dot: optional(text),
  mc: optional(text),
  hash: bytea
}

const keyColumns = { ...storedColumns, expiresAt: optional(timestamptz) }

export const keyRow = row(keyColumns)

/** Without infinity, which parsers of hosts fail on. */
const keyList = statement`${row(storedColumns).columns("k")}, nullif(k.expires_at, 'infinity') AS expires_at`

const unrevoked = statement`k.revoked_at IS NULL`
const isLive = statement`${unrevoked} AND k.expires_at > now()`

export const insertKey = (schema: Statement, tenantId: string, { accounts, dot, expiresAt, hash, id, mc, name, roles }: StoredApiKey) => statement`
INSERT INTO ${schema}.api_keys (tenant_id, id, name, roles, accounts, dot, mc, hash, expires_at)
VALUES (${tenant(tenantId)}, ${uuid(id)}, ${name}, ${textArray(roles)}, ${textArray(accounts)}, ${text(dot)}, ${text(mc)}, ${bytea(hash)},
  coalesce(${timestamptz(expiresAt)}, 'infinity'))`

export const foundKeyRow = row({ ...keyColumns, tenantState: only<FoundApiKey["tenantState"]>(text) })

/** Every request needs its key. The planner must not take the index of keys that are not revoked: without statistics it reads all keys of the tenant by it. */
export const findKeys = (schema: Statement, tenantId: string, ids: ReadonlyArray<string>) => statement`
SELECT ${keyList}, t.state FROM ${schema}.tenants AS t
CROSS JOIN unnest(${uuidArray(ids)}) AS g (id)
CROSS JOIN LATERAL (
  SELECT k.* FROM ${schema}.api_keys AS k WHERE k.tenant_id = ${tenant(tenantId)} AND k.id = g.id AND coalesce(k.revoked_at, 'infinity') = 'infinity' AND k.expires_at > now()
  OFFSET 0
) AS k
WHERE t.tenant_id = ${tenant(tenantId)} AND t.state <> 'deleted'`

export const revokeKey = (schema: Statement, tenantId: string, id: string) => statement`
UPDATE ${schema}.api_keys AS k SET revoked_at = now()
WHERE k.tenant_id = ${tenant(tenantId)} AND k.id = ${uuid(id)} AND ${unrevoked} RETURNING ${keyList}`

export const revokeKeysOf = (schema: Statement, tenantId: string, name: string) =>
  statement`UPDATE ${schema}.api_keys AS k SET revoked_at = now() WHERE k.tenant_id = ${tenant(tenantId)} AND k.name = ${name} AND ${unrevoked}`

export const keysOf = (schema: Statement, tenantId: string, name: string) => statement`
SELECT ${keyList} FROM ${schema}.api_keys AS k
WHERE k.tenant_id = ${tenant(tenantId)} AND k.name = ${name} AND ${isLive}`

export const listedKeyRow = row({ ...keyColumns, createdAt: timestamptz, lastUsedAt: optional(timestamptz) })

export const pageKeys = (schema: Statement, tenantId: string, { after = "00000000-0000-0000-0000-000000000000", limit }: ListRange) => statement`
SELECT ${keyList}, k.created_at, k.last_used_at FROM ${schema}.api_keys AS k
WHERE k.tenant_id = ${tenant(tenantId)} AND k.id > ${uuid(after)} AND ${unrevoked} ORDER BY k.id LIMIT ${int8(limit)}`

export interface KeyUse {
  readonly id: string
  readonly client: string
  readonly at: number
}

/** Keys and the rows of their clients, locked in key order so that two processes cannot deadlock. */
export const touchKeys = (schema: Statement, tenantId: string, sorted: ReadonlyArray<KeyUse>) => {
  const ids = uuidArray(sorted.map(({ id }) => id))
  return statement`
UPDATE ${schema}.api_keys AS k SET last_used_at = u.at
FROM unnest(${ids}, ${timestamptzArray(sorted.map(({ at }) => at))}) AS u (id, at)
WHERE k.tenant_id = ${tenant(tenantId)} AND k.id = u.id AND k.id = ANY (${ids}) AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`
}

export const touchClients = (schema: Statement, tenantId: string, sorted: ReadonlyArray<KeyUse>) => statement`
UPDATE ${schema}.clients AS c SET last_seen_at = u.at
FROM (
  SELECT client, max(at) AS at
  FROM unnest(${textArray(sorted.map(({ client }) => client))}, ${timestamptzArray(sorted.map(({ at }) => at))}) AS u (client, at)
  GROUP BY client
) AS u
WHERE c.tenant_id = ${tenant(tenantId)} AND c.client = u.client AND c.origin = 'key' AND (c.last_seen_at IS NULL OR c.last_seen_at < u.at)`
