/** Tenants, API keys and what clients may see, on Postgres. */
import { AccessStore, type ClientRows, type FoundApiKey, type ListedApiKey, type ListedClient, type ListRange, type StoredApiKey, StorageError, type Tenant } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { textArray, timestamptzArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as statements from "./AccessSql.ts"

export const layer = Layer.effect(
  AccessStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { name, quoted: schema } = yield* WaybillSchema
    const tenantColumns = "tenant_id, name, hosts, state"
    const there = "state <> 'deleted'"

    const findLimits = (tenantId: string, lock = "") =>
      Effect.map(
        sql.bulk(`SELECT limits FROM ${schema}.tenants WHERE tenant_id = $1 AND ${there} ${lock}`, [tenantId], ["text"]),
        ([row]) => row === undefined ? Option.none<string | undefined>() : Option.some((row[0] as string | null) ?? undefined)
      )

    return AccessStore.of({
      ...keyStatements({ schema, sql }),
      ...clientStatements({ schema, sql }),

      putTenant: ({ hosts, name, tenantId }) =>
        sql.bulk(
          `INSERT INTO ${schema}.tenants AS t (tenant_id, name, hosts)
           VALUES ($1, $2, $3::text[])
           ON CONFLICT (tenant_id) DO UPDATE SET name = EXCLUDED.name, hosts = EXCLUDED.hosts WHERE t.${there}
           RETURNING ${tenantColumns}`,
          [tenantId, name, textArray(hosts)]
        ).pipe(Effect.map(firstTenant), StorageError.refail("AccessStore.putTenant")),

      findTenant: (tenantId) =>
        sql.bulk(`SELECT ${tenantColumns} FROM ${schema}.tenants WHERE tenant_id = $1 AND ${there}`, [tenantId], ["text", "text", "text[]", "text"]).pipe(
          Effect.map(firstTenant),
          StorageError.refail("AccessStore.findTenant")
        ),

      pageTenants: ({ after, limit }) =>
        sql.bulk(
          `SELECT ${tenantColumns} FROM ${schema}.tenants WHERE tenant_id > $1 AND ${there} ORDER BY tenant_id LIMIT $2::int8`,
          [after ?? "", limit]
        ).pipe(Effect.map((rows) => rows.map(tenantOf)), StorageError.refail("AccessStore.pageTenants")),

      listTenants: sql.bulk(`SELECT ${tenantColumns} FROM ${schema}.tenants WHERE ${there} ORDER BY tenant_id`, []).pipe(
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

      setTenantState: (tenantId, state) =>
        sql.bulk(`UPDATE ${schema}.tenants SET state = $2 WHERE tenant_id = $1 AND ${there} RETURNING ${tenantColumns}`, [tenantId, state]).pipe(
          Effect.map(firstTenant),
          StorageError.refail("AccessStore.setTenantState")
        ),

      deleteTenant: (tenantId) =>
        sql.bulk(
          `UPDATE ${schema}.tenants SET state = 'deleted', deleted_at = now() WHERE tenant_id = $1 AND ${there} RETURNING tenant_id`,
          [tenantId]
        ).pipe(Effect.map((rows) => rows.length > 0), StorageError.refail("AccessStore.deleteTenant")),

      deletedTenants: sql.bulk(`SELECT tenant_id FROM ${schema}.tenants WHERE state = 'deleted' ORDER BY tenant_id`, []).pipe(
        Effect.map((rows) => rows.map(([tenantId]) => tenantId as string)),
        StorageError.refail("AccessStore.deletedTenants")
      ),

      purgeTenant: (tenantId, limit) => purgeTenant({ schema, sql }, name, tenantId, limit).pipe(StorageError.refail("AccessStore.purgeTenant")),

      dropTenant: (tenantId, graceMillis) =>
        sql.bulk(
          `DELETE FROM ${schema}.tenants
           WHERE tenant_id = $1 AND state = 'deleted' AND deleted_at <= now() - $2::float8 * interval '1 millisecond' RETURNING tenant_id`,
          [tenantId, graceMillis]
        ).pipe(Effect.map((rows) => rows.length > 0), StorageError.refail("AccessStore.dropTenant"))
    })
  })
)

type ClientOperations = Pick<
  AccessStore["Service"],
  "putClientAccess" | "clientRows" | "holdClient" | "dropClient" | "markEnding" | "clientsDue" | "pageClients"
>

interface Database {
  readonly sql: (typeof PgClient)["Service"]
  readonly schema: string
}

/** Tables that keep rows of a deleted tenant: its own row reserves the id for a while, and audit entries stay until retention removes them. */
const staying = ["tenants", "audit_entries"]

/** Every table of the schema with a `tenant_id` column, of any area. */
const tablesOf = (sql: Database["sql"], schema: string) =>
  Effect.map(
    sql.bulk(
      `SELECT quote_ident(c.relname) AS relation
       FROM pg_class AS c
       JOIN pg_namespace AS n ON n.oid = c.relnamespace
       JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
       WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> ALL ($2::text[])
       ORDER BY c.relname`,
      [schema, textArray(staying)]
    ),
    (rows) => rows.map(([relation]) => relation as string)
  )

/** Deletes at most `limit` rows, table by table. Each statement is its own transaction. */
const purgeTenant = Effect.fnUntraced(function*({ schema, sql }: Database, schemaName: string, tenantId: string, limit: number) {
  let removed = 0
  for (const table of yield* tablesOf(sql, schemaName)) {
    if (removed >= limit) break
    const rows = yield* sql.bulk(
      `WITH gone AS (
         DELETE FROM ${schema}.${table} WHERE tenant_id = $1 AND ctid = ANY (
           ARRAY(SELECT ctid FROM ${schema}.${table} WHERE tenant_id = $1 LIMIT $2::int8)
         ) RETURNING 1 AS gone
       ) SELECT count(*)::int4 AS removed FROM gone`,
      [tenantId, limit - removed]
    )
    removed += rows[0]![0] as number
  }
  return removed
})

const keyColumns = "k.id, k.name, k.roles, k.accounts, k.dot, k.mc, k.hash, k.expires_at"

const unrevoked = "k.revoked_at IS NULL"
const alive = `${unrevoked} AND k.expires_at > now()`

const keyStatements = ({ schema, sql }: Database) => {
  const lockTenant = (tenantId: string) => sql.bulk(`SELECT 1 AS locked FROM ${schema}.tenants WHERE tenant_id = $1 FOR UPDATE`, [tenantId])

  return {
    lockKeys: (tenantId: string) => lockTenant(tenantId).pipe(Effect.asVoid, StorageError.refail("AccessStore.lockKeys")),

    addKey: (tenantId: string, key: StoredApiKey) =>
      Effect.andThen(
        lockTenant(tenantId),
        sql.bulk(
          `INSERT INTO ${schema}.api_keys (tenant_id, id, name, roles, accounts, dot, mc, hash, expires_at)
           VALUES ($1, $2::uuid, $3, $4::text[], $5::text[], $6, $7, $8::bytea, coalesce(($9::timestamptz[])[1], 'infinity'))`,
          [
            tenantId,
            key.id,
            key.name,
            textArray(key.roles),
            textArray(key.accounts),
            key.dot ?? null,
            key.mc ?? null,
            Buffer.from(key.hash),
            key.expiresAt === undefined ? null : timestamptzArray([key.expiresAt])
          ]
        )
      ).pipe(Effect.asVoid, StorageError.refail("AccessStore.addKey")),

    findKeys: (tenantId: string, ids: ReadonlyArray<string>) =>
      sql.bulk(
        `SELECT ${keyColumns}, t.state FROM ${schema}.api_keys AS k
         JOIN ${schema}.tenants AS t ON t.tenant_id = k.tenant_id
         WHERE k.tenant_id = $1 AND k.id = ANY ($2::uuid[]) AND ${alive} AND t.state <> 'deleted'`,
        [tenantId, uuidArray([...new Set(ids.filter(isUuid))])]
      ).pipe(
        Effect.map((rows) => {
          const keys = new Map(rows.map((row): FoundApiKey => ({ ...keyOf(row), tenantState: row[8] as FoundApiKey["tenantState"] })).map((key) => [key.id, key]))
          return ids.map((id) => Option.fromUndefinedOr(keys.get(id.toLowerCase())))
        }),
        StorageError.refail("AccessStore.findKeys")
      ),

    revokeKey: (tenantId: string, id: string) =>
      !isUuid(id) ? Effect.succeedNone : Effect.andThen(
        lockTenant(tenantId),
        sql.bulk(
          `UPDATE ${schema}.api_keys AS k SET revoked_at = now() WHERE k.tenant_id = $1 AND k.id = $2::uuid AND ${unrevoked} RETURNING ${keyColumns}`,
          [tenantId, id]
        )
      ).pipe(
        Effect.map(([row]) => row === undefined ? Option.none() : Option.some(keyOf(row))),
        StorageError.refail("AccessStore.revokeKey")
      ),

    revokeKeysOf: (tenantId: string, name: string) =>
      Effect.andThen(
        lockTenant(tenantId),
        sql.bulk(`UPDATE ${schema}.api_keys AS k SET revoked_at = now() WHERE k.tenant_id = $1 AND k.name = $2 AND ${unrevoked}`, [tenantId, name])
      ).pipe(Effect.asVoid, StorageError.refail("AccessStore.revokeKeysOf")),

    keysOf: (tenantId: string, name: string) =>
      sql.bulk(`SELECT ${keyColumns} FROM ${schema}.api_keys AS k WHERE k.tenant_id = $1 AND k.name = $2 AND ${alive} ORDER BY k.id`, [tenantId, name]).pipe(
        Effect.map((rows) => rows.map(keyOf)),
        StorageError.refail("AccessStore.keysOf")
      ),

    pageKeys: (tenantId: string, { after, limit }: ListRange) =>
      sql.bulk(
        `SELECT ${keyColumns}, k.created_at, k.last_used_at FROM ${schema}.api_keys AS k
         WHERE k.tenant_id = $1 AND k.id > $2::uuid AND ${unrevoked} ORDER BY k.id LIMIT $3::int8`,
        [tenantId, after ?? "00000000-0000-0000-0000-000000000000", limit]
      ).pipe(Effect.map((rows) => rows.map(listedKeyOf)), StorageError.refail("AccessStore.pageKeys")),

    touchKeys: (tenantId: string, uses: ReadonlyArray<{ readonly id: string; readonly client: string; readonly at: number }>) => {
      const sorted = uses.toSorted((a, b) => a.id < b.id ? -1 : 1)
      const times = timestamptzArray(sorted.map(({ at }) => at))
      return Effect.andThen(
        sql.bulk(statements.touchKeys(schema), [tenantId, uuidArray(sorted.map(({ id }) => id)), times]),
        sql.bulk(statements.touchClients(schema), [tenantId, textArray(sorted.map(({ client }) => client)), times])
      ).pipe(Effect.asVoid, StorageError.refail("AccessStore.touchKeys"))
    }
  }
}

const clientStatements = ({ schema, sql }: Database): ClientOperations => ({
  putClientAccess: (tenantId, { accounts, client, live, origin, reviewAt, roles = [], seesAll }) =>
    sql.withTransaction(Effect.gen(function*() {
      const [before] = yield* sql.bulk(statements.putClient(schema), [
        tenantId,
        client,
        origin,
        seesAll,
        textArray(roles),
        live !== undefined && "until" in live ? timestamptzArray([live.until]) : null,
        live !== undefined && "forMillis" in live ? live.forMillis : null,
        reviewAt === undefined ? null : timestamptzArray([reviewAt])
      ], ["bool"])
      yield* sql.bulk(statements.takeAccounts(schema), [tenantId, client, origin, textArray(accounts)])
      yield* sql.bulk(statements.giveAccounts(schema), [tenantId, client, origin, textArray(accounts)])
      return before![0] === true
    })).pipe(StorageError.refail("AccessStore.putClientAccess")),

  clientRows: (tenantId, client) =>
    sql.bulk(statements.clientRows(schema), [tenantId, client]).pipe(
      Effect.flatMap((rows) => rows.length > 0 ? Effect.succeed(clientRowsOf(rows)) : Effect.map(sql.bulk("SELECT now() AS now", []), ([row]) => ({
        now: row![0] as number,
        rows: [],
        endingThrough: undefined
      }))),
      StorageError.refail("AccessStore.clientRows")
    ),

  holdClient: (tenantId, { client, origin, reviewAt, until }) =>
    sql.bulk(statements.holdClient(schema), [tenantId, client, origin, timestamptzArray([until, reviewAt])]).pipe(
      Effect.asVoid,
      StorageError.refail("AccessStore.holdClient")
    ),

  dropClient: (tenantId, client, origin) => {
    const which = "tenant_id = $1 AND client = $2 AND ($3::text IS NULL OR origin = $3::text)"
    return sql.withTransaction(Effect.andThen(
      sql.bulk(`DELETE FROM ${schema}.client_accounts WHERE ${which}`, [tenantId, client, origin ?? null]),
      sql.bulk(`DELETE FROM ${schema}.clients WHERE ${which}`, [tenantId, client, origin ?? null])
    )).pipe(Effect.asVoid, StorageError.refail("AccessStore.dropClient"))
  },

  markEnding: (tenantId, client, through) =>
    (through === undefined
      ? sql.bulk(statements.unmarkEnding(schema), [tenantId, client])
      : sql.bulk(statements.markEnding(schema), [tenantId, client, through])).pipe(Effect.asVoid, StorageError.refail("AccessStore.markEnding")),

  clientsDue: (limit) =>
    sql.bulk(statements.clientsDue(schema), [limit]).pipe(
      Effect.map((rows) => rows.map(([tenantId, client]) => ({ tenantId: tenantId as string, client: client as string }))),
      StorageError.refail("AccessStore.clientsDue")
    ),

  pageClients: (tenantId, { after, limit }) =>
    sql.bulk(statements.pageClients(schema), [tenantId, after ?? "", limit]).pipe(
      Effect.map((rows) => rows.map(listedClientOf)),
      StorageError.refail("AccessStore.pageClients")
    )
})

/** Ids come from request paths; an id that is not a UUID matches no row. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)

type Row = ReadonlyArray<unknown>

const tenantOf = ([tenantId, name, hosts, state]: Row): Tenant => ({
  tenantId: tenantId as string,
  name: name as string,
  hosts: hosts as ReadonlyArray<string>,
  state: state as Tenant["state"]
})

const firstTenant = ([row]: ReadonlyArray<Row>): Option.Option<Tenant> => row === undefined ? Option.none() : Option.some(tenantOf(row))

const keyOf = ([id, name, roles, accounts, dot, mc, hash, expiresAt]: Row): StoredApiKey => ({
  id: id as string,
  name: name as string,
  roles: roles as StoredApiKey["roles"],
  accounts: accounts as ReadonlyArray<string>,
  ...(dot === null ? {} : { dot: dot as string }),
  ...(mc === null ? {} : { mc: mc as string }),
  hash: hash as Uint8Array,
  ...(expiresAt === Infinity ? {} : { expiresAt: expiresAt as number })
})

const listedKeyOf = (row: Row): ListedApiKey => {
  const { hash: _, ...key } = keyOf(row)
  const [createdAt, lastUsedAt] = row.slice(8)
  return { ...key, createdAt: createdAt as number, ...(lastUsedAt === null ? {} : { lastUsedAt: lastUsedAt as number }) }
}

const clientRowsOf = (rows: ReadonlyArray<Row>): ClientRows => ({
  now: rows[0]![3] as number,
  rows: rows.map(([origin, liveUntil]) => ({ origin: origin as ClientRows["rows"][number]["origin"], liveUntil: liveUntil as number })),
  endingThrough: rows.map(([, , endingThrough]) => endingThrough as string | null).find((each) => each !== null) ?? undefined
})

const listedClientOf = ([client, roles, accounts, keys, subscriptions, lastSeenAt, live]: Row): ListedClient => ({
  client: client as string,
  roles: roles as ListedClient["roles"],
  accounts: accounts as ReadonlyArray<string>,
  keys: keys as number,
  subscriptions: subscriptions as number,
  lastSeenAt: lastSeenAt === null ? undefined : lastSeenAt as number,
  live: live as boolean
})
