/** Tenants, API keys and what clients may see, on Postgres. */
import { AccessStore, type StoredApiKey, StorageError } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { textArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"

export const layer = Layer.effect(
  AccessStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema
    const keyColumns = "id, name, roles, accounts, dot, mc, hash"

    const lockTenant = (tenantId: string) =>
      sql.bulk(`SELECT 1 AS locked FROM ${schema}.tenants WHERE tenant_id = $1 FOR UPDATE`, [tenantId])

    const findLimits = (tenantId: string, lock = "") =>
      Effect.map(
        sql.bulk(`SELECT limits FROM ${schema}.tenants WHERE tenant_id = $1 ${lock}`, [tenantId], ["text"]),
        ([row]) => row === undefined ? Option.none<string | undefined>() : Option.some((row[0] as string | null) ?? undefined)
      )

    return AccessStore.of({
      putTenant: ({ hosts, name, tenantId }) =>
        sql.bulk(
          `INSERT INTO ${schema}.tenants (tenant_id, name, hosts)
           VALUES ($1, $2, $3::text[])
           ON CONFLICT (tenant_id) DO UPDATE SET name = EXCLUDED.name, hosts = EXCLUDED.hosts`,
          [tenantId, name, textArray(hosts)]
        ).pipe(Effect.asVoid, StorageError.refail("AccessStore.putTenant")),

      findTenant: (tenantId) =>
        sql.bulk(`SELECT tenant_id, name, hosts FROM ${schema}.tenants WHERE tenant_id = $1`, [tenantId], ["text", "text", "text[]"]).pipe(
          Effect.map(([row]) => row === undefined ? Option.none() : Option.some(tenantOf(row))),
          StorageError.refail("AccessStore.findTenant")
        ),

      pageTenants: ({ after, limit }) =>
        sql.bulk(
          `SELECT tenant_id, name, hosts FROM ${schema}.tenants WHERE tenant_id > $1 ORDER BY tenant_id LIMIT $2::int8`,
          [after ?? "", limit]
        ).pipe(Effect.map((rows) => rows.map(tenantOf)), StorageError.refail("AccessStore.pageTenants")),

      listTenants: sql.bulk(`SELECT tenant_id, name, hosts FROM ${schema}.tenants ORDER BY tenant_id`, []).pipe(
        Effect.map((rows) => rows.map(tenantOf)),
        StorageError.refail("AccessStore.listTenants")
      ),

      findLimits: (tenantId) => StorageError.refail("AccessStore.findLimits")(findLimits(tenantId)),

      findLimitsForUpdate: (tenantId) => StorageError.refail("AccessStore.findLimitsForUpdate")(findLimits(tenantId, "FOR UPDATE")),

      putLimits: (tenantId, limits) =>
        sql.bulk(`UPDATE ${schema}.tenants SET limits = $2 WHERE tenant_id = $1`, [tenantId, limits]).pipe(
          Effect.asVoid,
          StorageError.refail("AccessStore.putLimits")
        ),

      addKey: (tenantId, key) =>
        Effect.andThen(
          lockTenant(tenantId),
          sql.bulk(
            `INSERT INTO ${schema}.api_keys (tenant_id, id, name, roles, accounts, dot, mc, hash)
             VALUES ($1, $2::uuid, $3, $4::text[], $5::text[], $6, $7, $8::bytea)`,
            [tenantId, key.id, key.name, textArray(key.roles), textArray(key.accounts), key.dot ?? null, key.mc ?? null, Buffer.from(key.hash)]
          )
        ).pipe(Effect.asVoid, StorageError.refail("AccessStore.addKey")),

      findKeys: (tenantId, ids) =>
        sql.bulk(
          `SELECT ${keyColumns} FROM ${schema}.api_keys WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) AND revoked_at IS NULL`,
          [tenantId, uuidArray([...new Set(ids.filter(isUuid))])]
        ).pipe(
          Effect.map((rows) => {
            const keys = new Map(rows.map(keyOf).map((key) => [key.id, key]))
            return ids.map((id) => Option.fromUndefinedOr(keys.get(id.toLowerCase())))
          }),
          StorageError.refail("AccessStore.findKeys")
        ),

      revokeKey: (tenantId, id) =>
        !isUuid(id) ? Effect.succeedNone : Effect.andThen(
          lockTenant(tenantId),
          sql.bulk(
            `UPDATE ${schema}.api_keys SET revoked_at = now()
             WHERE tenant_id = $1 AND id = $2::uuid AND revoked_at IS NULL
             RETURNING ${keyColumns}`,
            [tenantId, id]
          )
        ).pipe(
          Effect.map(([row]) => row === undefined ? Option.none() : Option.some(keyOf(row))),
          StorageError.refail("AccessStore.revokeKey")
        ),

      keysOf: (tenantId, name) =>
        sql.bulk(
          `SELECT ${keyColumns} FROM ${schema}.api_keys WHERE tenant_id = $1 AND name = $2 AND revoked_at IS NULL ORDER BY id`,
          [tenantId, name]
        ).pipe(Effect.map((rows) => rows.map(keyOf)), StorageError.refail("AccessStore.keysOf")),

      putClientAccess: (tenantId, { accounts, client, origin, seesAll }) =>
        sql.withTransaction(Effect.gen(function*() {
          yield* sql.bulk(
            `INSERT INTO ${schema}.clients (tenant_id, client, origin, sees_all)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (tenant_id, client, origin) DO UPDATE SET sees_all = EXCLUDED.sees_all`,
            [tenantId, client, origin, seesAll]
          )
          yield* sql.bulk(
            `DELETE FROM ${schema}.client_accounts
             WHERE tenant_id = $1 AND client = $2 AND origin = $3 AND account <> ALL ($4::text[])`,
            [tenantId, client, origin, textArray(accounts)]
          )
          yield* sql.bulk(
            `INSERT INTO ${schema}.client_accounts (tenant_id, account, client, origin)
             SELECT $1, account, $2, $3 FROM unnest($4::text[]) AS given (account)
             ON CONFLICT DO NOTHING`,
            [tenantId, client, origin, textArray(accounts)]
          )
        })).pipe(StorageError.refail("AccessStore.putClientAccess"))
    })
  })
)

/** Ids arrive from paths; what is no uuid names nothing. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)

type Row = ReadonlyArray<unknown>

const tenantOf = ([tenantId, name, hosts]: Row) => ({
  tenantId: tenantId as string,
  name: name as string,
  hosts: hosts as ReadonlyArray<string>
})

const keyOf = ([id, name, roles, accounts, dot, mc, hash]: Row): StoredApiKey => ({
  id: id as string,
  name: name as string,
  roles: roles as StoredApiKey["roles"],
  accounts: accounts as ReadonlyArray<string>,
  ...(dot === null ? {} : { dot: dot as string }),
  ...(mc === null ? {} : { mc: mc as string }),
  hash: hash as Uint8Array
})
