/** Tenants, API keys and clients' access, in memory. */
import { AccessStore, compareText, keyClient, type ListedApiKey, type ListRange, type Tenant } from "@waybill/core"
import { Clock, Effect, Option } from "effect"
import { type DestinationRows, DestinationTables } from "../delivery/DestinationTables.ts"
import { type SecretRows, SecretTables } from "../delivery/SecretTables.ts"
import type { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { type AccessRows, AccessTables, type KeyRow, type TenantRow } from "./AccessTables.ts"

export const layer = storeLayer(
  AccessStore,
  { rows: AccessTables, destinations: DestinationTables, secrets: SecretTables },
  ({ destinations, rows, secrets, ...database }) => ({ ...tenantsIn(database, rows), ...keysIn(database, rows), ...clientsIn(database, rows, destinations, secrets) })
)

type Database = MemoryDatabase["Service"]

const tenantsIn = ({ journal, operate, purge }: Database, rows: AccessRows) => ({
  putTenant: ({ hosts, name, tenantId }: Omit<Tenant, "state">) =>
    operate(() => {
      const before = rows.tenants.get(tenantId)
      if (before?.state === "deleted") return Option.none()
      const tenant: Tenant = { tenantId, name, hosts, state: before?.state ?? "active" }
      journal.put(rows.tenants, tenantId, tenant)
      return Option.some(tenant)
    }),
  now: Clock.currentTimeMillis,
  findTenant: (tenantId: string) => operate(() => Option.fromUndefinedOr(existing(rows.tenants.get(tenantId)))),
  pageTenants: ({ after, limit }: ListRange) =>
    operate(() => allTenants(rows).filter(({ tenantId }) => after === undefined || compareText(tenantId, after) > 0).slice(0, limit)),
  listTenants: operate(() => allTenants(rows)),
  setTenantState: (tenantId: string, state: Tenant["state"]) =>
    operate(() => {
      const before = existing(rows.tenants.get(tenantId))
      if (before === undefined) return Option.none()
      const tenant = { ...before, state }
      journal.put(rows.tenants, tenantId, tenant)
      return Option.some(tenant)
    }),
  deleteTenant: (tenantId: string) =>
    operate((now) => {
      const before = existing(rows.tenants.get(tenantId))
      if (before === undefined) return false
      journal.put(rows.tenants, tenantId, { ...before, state: "deleted" as const, deletedAt: now })
      return true
    }),
  purgeTenant: (tenantId: string) => purge(tenantId),
  dropTenant: (tenantId: string, graceMillis: number) =>
    operate((now) => {
      const row = rows.tenants.get(tenantId)
      if (row?.state !== "deleted" || row.deletedAt! > now - graceMillis) return false
      journal.drop(rows.tenants, tenantId)
      return true
    }),
  findLimits: (tenantId: string) => operate(() => limitsOf(rows, tenantId)),
  putLimits: (tenantId: string, limits: string) =>
    operate(() => {
      if (rows.tenants.has(tenantId)) journal.set(rows.of(tenantId), "limits", limits)
    }),
  deletedTenants: (range: ListRange) => operate(() => pageOf([...rows.tenants.values()].flatMap(({ state, tenantId }) => state === "deleted" ? [tenantId] : []), range))
})

const pageOf = (ids: ReadonlyArray<string>, { after = "", limit }: ListRange): ReadonlyArray<string> =>
  ids.filter((id) => compareText(id, after) > 0).sort(compareText).slice(0, limit)

const limitsOf = (rows: AccessRows, tenantId: string): Option.Option<string | undefined> =>
  existing(rows.tenants.get(tenantId)) === undefined ? Option.none() : Option.some(rows.of(tenantId).limits)

/** The tenant, unless it is missing or deleted. */
const existing = (row: TenantRow | undefined): Tenant | undefined =>
  row === undefined || row.state === "deleted" ? undefined : { tenantId: row.tenantId, name: row.name, hosts: row.hosts, state: row.state }

const allTenants = ({ tenants }: AccessRows): ReadonlyArray<Tenant> =>
  [...tenants.values()].flatMap((row) => existing(row) ?? []).sort((a, b) => compareText(a.tenantId, b.tenantId))

const isAlive = (now: number) => ({ expiresAt, revoked }: KeyRow): boolean => !revoked && (expiresAt === undefined || expiresAt > now)

/** Removes the fields that only lists return. */
const withoutListFields = ({ createdAt: _, lastUsedAt: __, revoked: ___, ...key }: KeyRow) => key

const keysIn = ({ journal, operate }: Database, rows: AccessRows) => {
  const keysOf = (tenantId: string, name: string) => [...rows.of(tenantId).keys.values()].filter((key) => key.name === name)
  return {
    lockKeys: () => Effect.void,
    addKey: (tenantId: string, key: Omit<KeyRow, "createdAt" | "revoked">) =>
      operate((now) => journal.put(rows.of(tenantId).keys, key.id, { ...key, createdAt: now, revoked: false })),
    findKeys: (tenantId: string, ids: ReadonlyArray<string>) =>
      operate((now) =>
        ids.map((id) => {
          const tenant = existing(rows.tenants.get(tenantId))
          const key = rows.of(tenantId).keys.get(id)
          return key !== undefined && tenant !== undefined && isAlive(now)(key) ? Option.some({ ...withoutListFields(key), tenantState: tenant.state }) : Option.none()
        })
      ),
    revokeKey: (tenantId: string, id: string) =>
      operate(() => {
        const { keys } = rows.of(tenantId)
        const key = keys.get(id)
        if (key === undefined || key.revoked) return Option.none()
        journal.put(keys, id, { ...key, revoked: true })
        return Option.some(withoutListFields(key))
      }),
    revokeKeysOf: (tenantId: string, name: string) =>
      operate(() => {
        for (const key of keysOf(tenantId, name)) journal.put(rows.of(tenantId).keys, key.id, { ...key, revoked: true })
      }),
    keysOf: (tenantId: string, name: string) => operate((now) => keysOf(tenantId, name).filter(isAlive(now)).map(withoutListFields)),
    pageKeys: (tenantId: string, { after, limit }: ListRange) =>
      operate(() =>
        [...rows.of(tenantId).keys.values()]
          .filter(({ id, revoked }) => !revoked && (after === undefined || compareText(id, after) > 0))
          .sort((a, b) => compareText(a.id, b.id))
          .slice(0, limit)
          .map(({ hash: _, revoked: __, ...key }): ListedApiKey => key)
      ),
    touchKeys: (tenantId: string, uses: ReadonlyArray<{ readonly id: string; readonly client: string; readonly at: number }>) =>
      operate(() =>
        journal.asRecord(() => {
          for (const { at, client, id } of uses) {
            const key = rows.of(tenantId).keys.get(id)
            if (key !== undefined && (key.lastUsedAt ?? -Infinity) < at) journal.put(rows.of(tenantId).keys, id, { ...key, lastUsedAt: at })
            rows.seeClient(tenantId, client, at)
          }
        })
      )
  }
}

/** Changes a client's access. Where its accounts change, so may who owns its secrets: the owners of its destinations load them again. */
const changeAccounts = <A>(rows: AccessRows, destinations: DestinationRows, secrets: SecretRows, tenantId: string, client: string, change: () => A): A => {
  const accounts = () => JSON.stringify([...rows.accountsOf(tenantId, client)].sort(compareText))
  const before = accounts()
  const changed = change()
  if (accounts() === before) return changed
  for (const destination of destinations.of(tenantId).destinations.values()) {
    const { client: owner, hmacSecretId } = destination.settings
    if (owner !== client || secrets.of(tenantId).get(hmacSecretId)?.owner._tag !== "Accounts") continue
    destinations.raiseVersion(destination)
    destinations.signal(destination, undefined)
  }
  return changed
}

const clientsIn = ({ operate }: Database, rows: AccessRows, destinations: DestinationRows, secrets: SecretRows): Pick<
  AccessStore["Service"],
  "putClientAccess" | "clientRows" | "isOthersNumber" | "findClientState" | "holdClient" | "dropClient" | "markEnding" | "tenantsWithClientsDue" | "clientsDue" | "pageClients"
> => ({
  putClientAccess: (tenantId, access) => operate((now) => changeAccounts(rows, destinations, secrets, tenantId, access.client, () => rows.putClient(tenantId, access, now))),
  clientRows: (tenantId, client) =>
    operate((now) => {
      const known = rows.of(tenantId).clients.get(client)
      return {
        now,
        rows: [...known?.origins.values() ?? []].map(({ liveUntil, origin }) => ({ origin, liveUntil })),
        endingThrough: known?.endingThrough
      }
    }),
  isOthersNumber: (tenantId, grant, own) =>
    operate(() => {
      const having = [...rows.of(tenantId).byAccount.get(grant) ?? []]
      return having.length > 0 && !having.some((client) => own.some((each) => rows.accountsOf(tenantId, client).has(each)))
    }),
  findClientState: (tenantId, client) =>
    operate((now) => rows.of(tenantId).clients.has(client) ? rows.isLive(tenantId, client, now) ? "live" : "held" : undefined),
  holdClient: (tenantId, { client, origin, reviewAt, until }) => operate(() => rows.changeOrigin(tenantId, client, origin, { liveUntil: until, reviewAt })),
  dropClient: (tenantId, client, origin) => operate(() => changeAccounts(rows, destinations, secrets, tenantId, client, () => rows.dropClient(tenantId, client, origin))),
  markEnding: (tenantId, client, through) => operate((now) => rows.markEnding(tenantId, client, through, now)),
  tenantsWithClientsDue: (range) => operate((now) => pageOf([...rows.byTenant.keys()].filter((tenantId) => rows.clientsDue(tenantId, now).length > 0), range)),
  clientsDue: (tenantId, range) => operate((now) => pageOf(rows.clientsDue(tenantId, now), range)),
  pageClients: (tenantId, { after, limit }) =>
    operate((now) => {
      const { clients, keys } = rows.of(tenantId)
      const names = [...clients.keys()].filter((client) => after === undefined || compareText(client, after) > 0).sort(compareText).slice(0, limit)
      return names.map((client) => {
        const known = clients.get(client)!
        const origins = [...known.origins.values()]
        const seen = origins.flatMap(({ lastSeenAt }) => lastSeenAt ?? [])
        return {
          client,
          roles: [...new Set(origins.flatMap(({ roles }) => roles))].sort(),
          accounts: [...known.accounts].sort(compareText),
          keys: [...keys.values()].filter((key) => keyClient(key.name) === client && isAlive(now)(key)).length,
          subscriptions: [...destinations.of(tenantId).destinations.values()].filter(({ settings }) => settings.client === client).length,
          lastSeenAt: seen.length === 0 ? undefined : Math.max(...seen),
          live: rows.isLive(tenantId, client, now)
        }
      })
    })
})
