/** Who may see what, indexed for publishing: by client, and by account. */
import type { ClientAccess, StoredApiKey, Tenant } from "@waybill/core"
import { Context, Effect, Layer } from "effect"
import type { Journal } from "../shared/Journal.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"

interface Client {
  readonly origins: ReadonlyMap<string, ClientAccess>
  readonly seesAll: boolean
  readonly accounts: ReadonlySet<string>
}

interface TenantAccess {
  readonly keys: Map<string, StoredApiKey>
  readonly clients: Map<string, Client>
  readonly byAccount: Map<string, Set<string>>
  readonly seeingAll: Set<string>
}

const nobody: Client = { origins: new Map(), seesAll: false, accounts: new Set() }

export class AccessTables extends Context.Service<AccessTables, AccessRows>()("@waybill/testkit/access/AccessTables") {
  static readonly layer = Layer.effect(AccessTables, Effect.map(MemoryDatabase, ({ journal }) => new AccessRows(journal)))
}

export class AccessRows {
  readonly tenants = new Map<string, Tenant>()
  readonly limits = new Map<string, string>()
  private readonly access = new Map<string, TenantAccess>()
  private readonly journal: Journal

  constructor(journal: Journal) {
    this.journal = journal
  }

  of(tenantId: string): TenantAccess {
    let own = this.access.get(tenantId)
    if (own === undefined) {
      own = { keys: new Map(), clients: new Map(), byAccount: new Map(), seeingAll: new Set() }
      this.access.set(tenantId, own)
    }
    return own
  }

  /** Replaces what one source says of a client; what the client may see is the union over its sources. */
  putClient(tenantId: string, access: ClientAccess): void {
    const { byAccount, clients, seeingAll } = this.of(tenantId)
    const before = clients.get(access.client) ?? nobody
    const origins = new Map(before.origins).set(access.origin, access)
    const all = [...origins.values()]
    const after: Client = {
      origins,
      seesAll: all.some((each) => each.seesAll),
      accounts: new Set(all.flatMap((each) => each.accounts))
    }
    this.journal.put(clients, access.client, after)
    if (after.seesAll) this.journal.add(seeingAll, access.client)
    else this.journal.remove(seeingAll, access.client)
    for (const account of before.accounts) {
      if (!after.accounts.has(account)) this.journal.remove(byAccount.get(account)!, access.client)
    }
    for (const account of after.accounts) {
      let holders = byAccount.get(account)
      if (holders === undefined) {
        holders = new Set()
        byAccount.set(account, holders)
      }
      this.journal.add(holders, access.client)
    }
  }

  /** The accounts of a client, whichever source says so. */
  accountsOf(tenantId: string, client: string): ReadonlySet<string> {
    return this.of(tenantId).clients.get(client)?.accounts ?? nobody.accounts
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
