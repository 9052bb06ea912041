/** Tenants, API keys and clients' access, on Postgres. */
import { AccessStore, type ClientRows, type FoundApiKey, type ListRange, type StoredApiKey } from "@waybill/core"
import { Effect, Option } from "effect"
import { bool, type Decoded, float8, int4, optional, text, timestamptz } from "../client/SqlRow.ts"
import type { Statement } from "../client/SqlStatement.ts"
import { raiseDestinationsOfAccounts } from "../delivery/secrets/SecretSql.ts"
import { type Operations, storeLayer, type StoreParts } from "../shared/StoreLayer.ts"
import * as clients from "./ClientSql.ts"
import * as keys from "./KeySql.ts"
import * as tenants from "./TenantSql.ts"

export const layer = storeLayer(AccessStore, (own) => {
  const { schema, sql } = own

  const firstTenant = (statement: Statement) =>
    Effect.map(sql.rows(tenants.tenantRow, statement), ([tenant]) => Option.fromUndefinedOr(tenant))

  const isChanged = (statement: Statement) => Effect.map(sql.rows(text, statement), (rows) => rows.length > 0)

  return {
    ...keyStatements(own),
    ...clientStatements(own),

    now: Effect.map(sql.rows(float8, tenants.now), ([now]) => now!),

    putTenant: (tenant) => firstTenant(tenants.putTenant(schema, tenant)),

    findTenant: (tenantId) => firstTenant(tenants.findTenant(schema, tenantId)),

    pageTenants: (range) => sql.rows(tenants.tenantRow, tenants.pageTenants(schema, range)),

    listTenants: sql.rows(tenants.tenantRow, tenants.listTenants(schema)),

    findLimits: (tenantId, forUpdate = false) =>
      Effect.map(sql.rows(optional(text), tenants.findLimits(schema, tenantId, forUpdate)), (rows) => rows.length === 0 ? Option.none() : Option.some(rows[0])),

    putLimits: (tenantId, limits) => sql.run(tenants.putLimits(schema, tenantId, limits)),

    setTenantState: (tenantId, state) => firstTenant(tenants.setTenantState(schema, tenantId, state)),

    deleteTenant: (tenantId) => isChanged(tenants.deleteTenant(schema, tenantId)),

    deletedTenants: (range) => sql.rows(text, tenants.deletedTenants(schema, range)),

    purgeTenant: (tenantId, limit) => purgeTenant(own, tenantId, limit),

    dropTenant: (tenantId, graceMillis) => isChanged(tenants.dropTenant(schema, tenantId, graceMillis))
  }
})

type ClientOperations = Pick<
  Operations<AccessStore["Service"]>,
  "putClientAccess" | "clientRows" | "isOthersNumber" | "findClientState" | "holdClient" | "dropClient" | "markEnding" | "tenantsWithClientsDue" | "clientsDue" | "pageClients"
>

/** Deletes at most `limit` rows, table by table. Each statement is its own transaction. */
const purgeTenant = Effect.fnUntraced(function*({ name, schema, sql }: StoreParts, tenantId: string, limit: number) {
  let removed = 0
  for (const table of yield* sql.rows(text, tenants.tablesOfTenants(name))) {
    if (removed >= limit) break
    removed += yield* sql.one(int4, tenants.purgeTable(schema, tenantId, table, limit - removed))
  }
  return removed
})

const keyStatements = ({ schema, sql }: StoreParts) => {
  const lockTenant = (tenantId: string) => sql.run(tenants.lockTenant(schema, tenantId))

  return {
    lockKeys: (tenantId: string) => lockTenant(tenantId),

    addKey: (tenantId: string, key: StoredApiKey) => Effect.andThen(lockTenant(tenantId), sql.run(keys.insertKey(schema, tenantId, key))),

    findKeys: (tenantId: string, ids: ReadonlyArray<string>) =>
      Effect.map(sql.rows(keys.foundKeyRow, keys.findKeys(schema, tenantId, [...new Set(ids.filter(isUuid))])), (rows) => {
        const found = new Map(rows.map((row): [string, FoundApiKey] => [row.id, keyOf(row)]))
        return ids.map((id) => Option.fromUndefinedOr(found.get(id.toLowerCase())))
      }),

    revokeKey: (tenantId: string, id: string) =>
      !isUuid(id) ? Effect.succeedNone : Effect.andThen(lockTenant(tenantId), sql.rows(keys.keyRow, keys.revokeKey(schema, tenantId, id))).pipe(
        Effect.map(([row]) => Option.map(Option.fromUndefinedOr(row), keyOf))
      ),

    revokeKeysOf: (tenantId: string, name: string) => Effect.andThen(lockTenant(tenantId), sql.run(keys.revokeKeysOf(schema, tenantId, name))),

    keysOf: (tenantId: string, name: string) => Effect.map(sql.rows(keys.keyRow, keys.keysOf(schema, tenantId, name)), (rows) => rows.map(keyOf)),

    pageKeys: (tenantId: string, range: ListRange) =>
      Effect.map(sql.rows(keys.listedKeyRow, keys.pageKeys(schema, tenantId, range)), (rows) =>
        rows.map(({ hash: _, lastUsedAt, ...key }) => ({ ...keyOf(key), ...(lastUsedAt === undefined ? {} : { lastUsedAt }) }))),

    touchKeys: (tenantId: string, uses: ReadonlyArray<keys.KeyUse>) => {
      const sorted = uses.toSorted((a, b) => a.id < b.id ? -1 : 1)
      return Effect.andThen(sql.run(keys.touchKeys(schema, tenantId, sorted)), sql.run(keys.touchClients(schema, tenantId, sorted)))
    }
  }
}

const clientStatements = ({ schema, sql }: StoreParts): ClientOperations => ({
  putClientAccess: (tenantId, access) =>
    sql.withTransaction(Effect.gen(function*() {
      // all of the client's, before destinations: another call may have locked one of another origin
      yield* sql.run(clients.clientRows(schema, tenantId, access.client))
      const wasHeld = yield* sql.one(bool, clients.clientIsHeld(schema, tenantId, access.client))
      yield* sql.run(clients.putClient(schema, tenantId, access))
      const taken = yield* sql.rows(text, clients.takeAccounts(schema, tenantId, access))
      const given = yield* sql.rows(text, clients.giveAccounts(schema, tenantId, access))
      if (taken.length + given.length > 0) yield* sql.run(raiseDestinationsOfAccounts(schema, tenantId, access.client))
      return wasHeld
    })),

  clientRows: (tenantId, client) =>
    Effect.flatMap(sql.rows(clients.clientRow, clients.clientRows(schema, tenantId, client)), (rows) =>
      rows.length > 0
        ? Effect.succeed(clientRowsOf(rows))
        : Effect.map(sql.one(timestamptz, clients.currentTime), (now) => ({ now, rows: [], endingThrough: undefined }))),

  isOthersNumber: (tenantId, grant, own) => sql.one(bool, clients.isOthersNumber(schema, tenantId, grant, own)),

  findClientState: (tenantId, client) =>
    Effect.map(sql.rows(bool, clients.clientIsLive(schema, tenantId, client)), ([live]) => live === undefined ? undefined : live ? "live" as const : "held" as const),

  holdClient: (tenantId, held) => sql.run(clients.holdClient(schema, tenantId, held)),

  dropClient: (tenantId, client, origin) =>
    sql.withTransaction(Effect.gen(function*() {
      const taken = yield* sql.rows(text, clients.dropAccounts(schema, tenantId, client, origin))
      yield* sql.run(clients.dropClient(schema, tenantId, client, origin))
      if (taken.length > 0) yield* sql.run(raiseDestinationsOfAccounts(schema, tenantId, client))
    })),

  markEnding: (tenantId, client, through) => sql.run(through === undefined ? clients.unmarkEnding(schema, tenantId, client) : clients.markEnding(schema, tenantId, client, through)),

  tenantsWithClientsDue: (range) => sql.rows(text, clients.tenantsWithClientsDue(schema, range)),

  clientsDue: (tenantId, range) => sql.rows(text, clients.clientsDue(schema, tenantId, range)),

  pageClients: (tenantId, range) => sql.rows(clients.listedClientRow, clients.pageClients(schema, tenantId, range))
})

/** Ids come from request paths; an id that is not a UUID matches no row. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)

interface OptionalOfKey {
  readonly dot: string | undefined
  readonly mc: string | undefined
  readonly expiresAt: number | undefined
}

/** Leaves out what a key does not have. */
const keyOf = <K extends OptionalOfKey>({ dot, expiresAt, mc, ...key }: K) => ({
  ...key,
  ...(dot === undefined ? {} : { dot }),
  ...(mc === undefined ? {} : { mc }),
  ...(expiresAt === undefined ? {} : { expiresAt })
})

const clientRowsOf = (rows: ReadonlyArray<Decoded<typeof clients.clientRow>>): ClientRows => ({
  now: rows[0]!.now,
  rows: rows.map(({ liveUntil = Infinity, origin }) => ({ origin, liveUntil })),
  endingThrough: rows.find((each) => each.endingThrough !== undefined)?.endingThrough
})
