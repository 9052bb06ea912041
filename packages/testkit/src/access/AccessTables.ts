/** Access of clients, indexed for publishing by client and by account. */
import type { ClientAccess, Role, StoredApiKey, Tenant } from "@waybill/core"
import { Context, Effect, Layer } from "effect"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { setIn } from "../shared/EntryIn.ts"
import { TenantRows } from "../shared/TenantRows.ts"

export interface TenantRow extends Omit<Tenant, "state"> {
  readonly state: Tenant["state"] | "deleted"
  readonly deletedAt?: number
}

export interface KeyRow extends StoredApiKey {
  readonly createdAt: number
  readonly lastUsedAt?: number
  readonly revoked: boolean
}

/** One source's view of a client. */
interface OriginRow {
  readonly origin: ClientAccess["origin"]
  readonly seesAll: boolean
  readonly accounts: ReadonlyArray<string>
  readonly roles: ReadonlyArray<Role>
  readonly liveUntil: number
  readonly lastSeenAt: number | undefined
  /** When access has to be computed again. */
  readonly reviewAt: number | undefined
}

interface Client {
  readonly origins: ReadonlyMap<string, OriginRow>
  readonly seesAll: boolean
  readonly accounts: ReadonlySet<string>
  readonly endingThrough: string | undefined
}

class TenantAccess {
  readonly keys = new Map<string, KeyRow>()
  readonly clients = new Map<string, Client>()
  readonly byAccount = new Map<string, Set<string>>()
  readonly seeingAll = new Set<string>()
  limits: string | undefined
}

const nobody: Client = { origins: new Map(), seesAll: false, accounts: new Set(), endingThrough: undefined }

export class AccessTables extends Context.Service<AccessTables, AccessRows>()("@waybill/testkit/access/AccessTables") {
  static readonly layer = Layer.effect(AccessTables, Effect.map(MemoryDatabase, (database) => new AccessRows(database, () => new TenantAccess())))
}

export class AccessRows extends TenantRows<TenantAccess> {
  readonly tenants = new Map<string, TenantRow>()

  /** Replaces one source's view of a client; the client may see the union of its sources. */
  putClient(tenantId: string, { accounts, client, live, origin, reviewAt, roles = [], seesAll }: ClientAccess, now: number): boolean {
    const wasHeld = this.of(tenantId).clients.has(client) && !this.isLive(tenantId, client, now)
    const liveUntil = live === undefined ? Infinity : "until" in live ? live.until : now + live.forMillis
    const before = this.of(tenantId).clients.get(client)?.origins.get(origin)
    this.changeOrigin(tenantId, client, origin, {
      seesAll,
      accounts,
      roles,
      liveUntil,
      lastSeenAt: origin === "token" ? now : before?.lastSeenAt,
      reviewAt: reviewAt ?? (liveUntil === Infinity ? undefined : liveUntil)
    }, true)
    return wasHeld
  }

  /** Changes one source's view of a client, if it exists; `adding` inserts a missing row. */
  changeOrigin(tenantId: string, client: string, origin: ClientAccess["origin"], parts: Partial<OriginRow>, adding = false): void {
    const before = this.of(tenantId).clients.get(client) ?? nobody
    const row = before.origins.get(origin)
    if (row === undefined && !adding) return
    const empty: OriginRow = { origin, seesAll: false, accounts: [], roles: [], liveUntil: -Infinity, lastSeenAt: undefined, reviewAt: undefined }
    this.putOrigins(tenantId, client, new Map(before.origins).set(origin, { ...row ?? empty, ...parts }), before.endingThrough)
  }

  seeClient(tenantId: string, client: string, at: number): void {
    const row = this.of(tenantId).clients.get(client)?.origins.get("key")
    if (row !== undefined && (row.lastSeenAt ?? -Infinity) < at) this.changeOrigin(tenantId, client, "key", { lastSeenAt: at })
  }

  dropClient(tenantId: string, client: string, origin: ClientAccess["origin"] | undefined): void {
    const { clients } = this.of(tenantId)
    const before = clients.get(client)
    if (before === undefined) return
    const origins = new Map([...before.origins].filter(([each]) => origin !== undefined && each !== origin))
    this.putOrigins(tenantId, client, origins, before.endingThrough)
    if (origins.size === 0) this.journal.drop(clients, client)
  }

  markEnding(tenantId: string, client: string, through: string | undefined, now: number): void {
    const before = this.of(tenantId).clients.get(client)
    if (before === undefined) this.changeOrigin(tenantId, client, "key", {}, true)
    const origins = [...this.of(tenantId).clients.get(client)!.origins].map(([origin, row]) =>
      [origin, {
        ...row,
        liveUntil: through === undefined ? row.liveUntil : Math.min(row.liveUntil, now),
        reviewAt: through !== undefined ? now : row.liveUntil === Infinity ? undefined : row.liveUntil
      }] as const
    )
    this.putOrigins(tenantId, client, new Map(origins), through)
  }

  private putOrigins(tenantId: string, client: string, origins: ReadonlyMap<string, OriginRow>, endingThrough: string | undefined): void {
    const { byAccount, clients, seeingAll } = this.of(tenantId)
    const before = clients.get(client) ?? nobody
    const all = [...origins.values()]
    const after: Client = {
      origins,
      seesAll: all.some((each) => each.seesAll),
      accounts: new Set(all.flatMap((each) => each.accounts)),
      endingThrough
    }
    this.journal.put(clients, client, after)
    if (after.seesAll) this.journal.add(seeingAll, client)
    else this.journal.remove(seeingAll, client)
    for (const account of before.accounts) {
      if (!after.accounts.has(account)) this.journal.remove(byAccount.get(account)!, client)
    }
    for (const account of after.accounts) this.journal.add(setIn(byAccount, account), client)
  }

  /** The accounts of a client, of all sources. */
  accountsOf(tenantId: string, client: string): ReadonlySet<string> {
    return this.of(tenantId).clients.get(client)?.accounts ?? nobody.accounts
  }

  /** Whether the tenant may send. An unregistered tenant may. */
  isActive(tenantId: string): boolean {
    const tenant = this.tenants.get(tenantId)
    return tenant === undefined || tenant.state === "active"
  }

  /** Whether one of a client's sources is still live. */
  isLive(tenantId: string, client: string, now: number): boolean {
    return [...this.of(tenantId).clients.get(client)?.origins.values() ?? []].some(({ liveUntil }) => liveUntil > now)
  }

  /** Clients whose access has to be computed again. */
  clientsDue(tenantId: string, now: number): ReadonlyArray<string> {
    return [...this.of(tenantId).clients].flatMap(([client, { origins }]) =>
      [...origins.values()].some(({ reviewAt }) => reviewAt !== undefined && reviewAt <= now) ? [client] : [])
  }

  /** Whether a client may see a shipment of these accounts. */
  maySee(tenantId: string, client: string, shipmentAccounts: ReadonlyArray<string>): boolean {
    const known = this.of(tenantId).clients.get(client)
    return known !== undefined && (known.seesAll || shipmentAccounts.some((account) => known.accounts.has(account)))
  }

  /** Every client that may see a shipment of these accounts. */
  audience(tenantId: string, shipmentAccounts: ReadonlyArray<string>): ReadonlySet<string> {
    const { byAccount, seeingAll } = this.of(tenantId)
    const clients = new Set(seeingAll)
    for (const account of shipmentAccounts) {
      for (const client of byAccount.get(account) ?? []) clients.add(client)
    }
    return clients
  }
}
