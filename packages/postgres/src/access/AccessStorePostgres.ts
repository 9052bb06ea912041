/** Tenants, API keys and clients' access, on Postgres. */
import { AccessStore, type ClientRows, type FoundApiKey, type ListRange, type StoredApiKey, StorageError } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { PgClient } from "../client/PgClient.ts"
import { bool, type Decoded, int4, optional, text, timestamptz } from "../client/SqlRow.ts"
import type { Statement } from "../client/SqlStatement.ts"
import { raiseDestinationsOfAccounts } from "../delivery/SecretSql.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as clients from "./ClientSql.ts"
import * as keys from "./KeySql.ts"
import * as tenants from "./TenantSql.ts"

export const layer = Layer.effect(
  AccessStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { identifier: schema, name } = yield* WaybillSchema

    const findLimits = (tenantId: string, forUpdate: boolean) =>
      Effect.map(sql.rows(optional(text), tenants.findLimits(schema, tenantId, forUpdate)), (rows) =>
        rows.length === 0 ? Option.none() : Option.some(rows[0]))

    const firstTenant = (statement: Statement) =>
      Effect.map(sql.rows(tenants.tenantRow, statement), ([tenant]) => Option.fromUndefinedOr(tenant))

    const isChanged = (statement: Statement) => Effect.map(sql.rows(text, statement), (rows) => rows.length > 0)

    return AccessStore.of({
      ...keyStatements({ schema, sql }),
      ...clientStatements({ schema, sql }),

      putTenant: (tenant) => firstTenant(tenants.putTenant(schema, tenant)).pipe(StorageError.refail("AccessStore.putTenant")),

      findTenant: (tenantId) => firstTenant(tenants.findTenant(schema, tenantId)).pipe(StorageError.refail("AccessStore.findTenant")),

      pageTenants: (range) => sql.rows(tenants.tenantRow, tenants.pageTenants(schema, range)).pipe(StorageError.refail("AccessStore.pageTenants")),

      listTenants: sql.rows(tenants.tenantRow, tenants.listTenants(schema)).pipe(StorageError.refail("AccessStore.listTenants")),

      findLimits: (tenantId) => StorageError.refail("AccessStore.findLimits")(findLimits(tenantId, false)),

      findLimitsForUpdate: (tenantId) => StorageError.refail("AccessStore.findLimitsForUpdate")(findLimits(tenantId, true)),

      putLimits: (tenantId, limits) => sql.run(tenants.putLimits(schema, tenantId, limits)).pipe(StorageError.refail("AccessStore.putLimits")),

      setTenantState: (tenantId, state) =>
        firstTenant(tenants.setTenantState(schema, tenantId, state)).pipe(StorageError.refail("AccessStore.setTenantState")),

      deleteTenant: (tenantId) => isChanged(tenants.deleteTenant(schema, tenantId)).pipe(StorageError.refail("AccessStore.deleteTenant")),

      deletedTenants: sql.rows(text, tenants.deletedTenants(schema)).pipe(StorageError.refail("AccessStore.deletedTenants")),

      purgeTenant: (tenantId, limit) => purgeTenant({ schema, sql }, name, tenantId, limit).pipe(StorageError.refail("AccessStore.purgeTenant")),

      dropTenant: (tenantId, graceMillis) =>
        isChanged(tenants.dropTenant(schema, tenantId, graceMillis)).pipe(StorageError.refail("AccessStore.dropTenant"))
    })
  })
)

type ClientOperations = Pick<
  AccessStore["Service"],
  "putClientAccess" | "clientRows" | "findClientState" | "holdClient" | "dropClient" | "markEnding" | "clientsDue" | "pageClients"
>

interface Database {
  readonly sql: (typeof PgClient)["Service"]
  readonly schema: Statement
}

/** Deletes at most `limit` rows, table by table. Each statement is its own transaction. */
const purgeTenant = Effect.fnUntraced(function*({ schema, sql }: Database, schemaName: string, tenantId: string, limit: number) {
  let removed = 0
  for (const table of yield* sql.rows(text, tenants.tablesOfTenants(schemaName))) {
    if (removed >= limit) break
    removed += yield* sql.one(int4, tenants.purgeTable(schema, tenantId, table, limit - removed))
  }
  return removed
})

const keyStatements = ({ schema, sql }: Database) => {
  const lockTenant = (tenantId: string) => sql.run(tenants.lockTenant(schema, tenantId))

  return {
    lockKeys: (tenantId: string) => lockTenant(tenantId).pipe(StorageError.refail("AccessStore.lockKeys")),

    addKey: (tenantId: string, key: StoredApiKey) =>
      Effect.andThen(lockTenant(tenantId), sql.run(keys.insertKey(schema, tenantId, key))).pipe(StorageError.refail("AccessStore.addKey")),

    findKeys: (tenantId: string, ids: ReadonlyArray<string>) =>
      sql.rows(keys.foundKeyRow, keys.findKeys(schema, tenantId, [...new Set(ids.filter(isUuid))])).pipe(
        Effect.map((rows) => {
          const found = new Map(rows.map((row): [string, FoundApiKey] => [row.id, keyOf(row)]))
          return ids.map((id) => Option.fromUndefinedOr(found.get(id.toLowerCase())))
        }),
        StorageError.refail("AccessStore.findKeys")
      ),

    revokeKey: (tenantId: string, id: string) =>
      !isUuid(id) ? Effect.succeedNone : Effect.andThen(lockTenant(tenantId), sql.rows(keys.keyRow, keys.revokeKey(schema, tenantId, id))).pipe(
        Effect.map(([row]) => Option.map(Option.fromUndefinedOr(row), keyOf)),
        StorageError.refail("AccessStore.revokeKey")
      ),

    revokeKeysOf: (tenantId: string, name: string) =>
      Effect.andThen(lockTenant(tenantId), sql.run(keys.revokeKeysOf(schema, tenantId, name))).pipe(StorageError.refail("AccessStore.revokeKeysOf")),

    keysOf: (tenantId: string, name: string) =>
      sql.rows(keys.keyRow, keys.keysOf(schema, tenantId, name)).pipe(
        Effect.map((rows) => rows.map(keyOf)),
        StorageError.refail("AccessStore.keysOf")
      ),

    pageKeys: (tenantId: string, range: ListRange) =>
      sql.rows(keys.listedKeyRow, keys.pageKeys(schema, tenantId, range)).pipe(
        Effect.map((rows) =>
          rows.map(({ hash: _, lastUsedAt, ...key }) => ({ ...keyOf(key), ...(lastUsedAt === undefined ? {} : { lastUsedAt }) }))
        ),
        StorageError.refail("AccessStore.pageKeys")
      ),

    touchKeys: (tenantId: string, uses: ReadonlyArray<keys.KeyUse>) => {
      const sorted = uses.toSorted((a, b) => a.id < b.id ? -1 : 1)
      return Effect.andThen(sql.run(keys.touchKeys(schema, tenantId, sorted)), sql.run(keys.touchClients(schema, tenantId, sorted))).pipe(
        StorageError.refail("AccessStore.touchKeys")
      )
    }
  }
}

const clientStatements = ({ schema, sql }: Database): ClientOperations => ({
  putClientAccess: (tenantId, access) =>
    sql.withTransaction(Effect.gen(function*() {
      const wasHeld = yield* sql.one(bool, clients.clientIsHeld(schema, tenantId, access.client))
      yield* sql.run(clients.putClient(schema, tenantId, access))
      const taken = yield* sql.rows(text, clients.takeAccounts(schema, tenantId, access))
      const given = yield* sql.rows(text, clients.giveAccounts(schema, tenantId, access))
      if (taken.length + given.length > 0) yield* sql.run(raiseDestinationsOfAccounts(schema, tenantId, access.client))
      return wasHeld
    })).pipe(StorageError.refail("AccessStore.putClientAccess")),

  clientRows: (tenantId, client) =>
    sql.rows(clients.clientRow, clients.clientRows(schema, tenantId, client)).pipe(
      Effect.flatMap((rows) =>
        rows.length > 0
          ? Effect.succeed(clientRowsOf(rows))
          : Effect.map(sql.one(timestamptz, clients.currentTime), (now) => ({ now, rows: [], endingThrough: undefined }))
      ),
      StorageError.refail("AccessStore.clientRows")
    ),

  findClientState: (tenantId, client) =>
    sql.rows(bool, clients.clientIsLive(schema, tenantId, client)).pipe(
      Effect.map(([live]) => live === undefined ? undefined : live ? "live" as const : "held" as const),
      StorageError.refail("AccessStore.findClientState")
    ),

  holdClient: (tenantId, held) => sql.run(clients.holdClient(schema, tenantId, held)).pipe(StorageError.refail("AccessStore.holdClient")),

  dropClient: (tenantId, client, origin) =>
    sql.withTransaction(Effect.gen(function*() {
      const taken = yield* sql.rows(text, clients.dropAccounts(schema, tenantId, client, origin))
      yield* sql.run(clients.dropClient(schema, tenantId, client, origin))
      if (taken.length > 0) yield* sql.run(raiseDestinationsOfAccounts(schema, tenantId, client))
    })).pipe(StorageError.refail("AccessStore.dropClient")),

  markEnding: (tenantId, client, through) =>
    sql.run(through === undefined ? clients.unmarkEnding(schema, tenantId, client) : clients.markEnding(schema, tenantId, client, through)).pipe(
      StorageError.refail("AccessStore.markEnding")
    ),

  clientsDue: (limit) => sql.rows(clients.dueClientRow, clients.clientsDue(schema, limit)).pipe(StorageError.refail("AccessStore.clientsDue")),

  pageClients: (tenantId, range) =>
    sql.rows(clients.listedClientRow, clients.pageClients(schema, tenantId, range)).pipe(StorageError.refail("AccessStore.pageClients"))
})

/** Ids come from request paths; an id that is not a UUID matches no row. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)

interface OptionalOfKey {
  readonly dot: string | undefined
  readonly mc: string | undefined
  readonly expiresAt: number
}

/** Leaves out what a key does not have. */
const keyOf = <K extends OptionalOfKey>({ dot, expiresAt, mc, ...key }: K) => ({
  ...key,
  ...(dot === undefined ? {} : { dot }),
  ...(mc === undefined ? {} : { mc }),
  ...(expiresAt === Infinity ? {} : { expiresAt })
})

const clientRowsOf = (rows: ReadonlyArray<Decoded<typeof clients.clientRow>>): ClientRows => ({
  now: rows[0]!.now,
  rows: rows.map(({ liveUntil, origin }) => ({ origin, liveUntil })),
  endingThrough: rows.find((each) => each.endingThrough !== undefined)?.endingThrough
})
