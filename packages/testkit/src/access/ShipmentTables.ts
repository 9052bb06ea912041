/** Whose shipments are whose, and which have a status: said by the event log and by shipment statuses, read by both. */
import { Context, Effect, Layer } from "effect"
import type { Journal } from "../shared/Journal.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { routeIn } from "../shared/Routes.ts"

interface TenantShipments {
  readonly accounts: Map<string, ReadonlyArray<string>>
  readonly byAccount: Map<string, Set<string>>
  readonly withStatus: Set<string>
}

export class ShipmentTables extends Context.Service<ShipmentTables, ShipmentRows>()("@waybill/testkit/access/ShipmentTables") {
  static readonly layer = Layer.effect(ShipmentTables, Effect.map(MemoryDatabase, ({ journal }) => new ShipmentRows(journal)))
}

export class ShipmentRows {
  private readonly tenants = new Map<string, TenantShipments>()
  private readonly journal: Journal

  constructor(journal: Journal) {
    this.journal = journal
  }

  private of(tenantId: string): TenantShipments {
    let own = this.tenants.get(tenantId)
    if (own === undefined) {
      own = { accounts: new Map(), byAccount: new Map(), withStatus: new Set() }
      this.tenants.set(tenantId, own)
    }
    return own
  }

  /** Nobody's, as long as nobody said whose. */
  accountsOf(tenantId: string, shipmentId: string): ReadonlyArray<string> {
    return this.of(tenantId).accounts.get(shipmentId) ?? []
  }

  ofAccount(tenantId: string, account: string): ReadonlySet<string> {
    return this.of(tenantId).byAccount.get(account) ?? new Set()
  }

  hasStatus(tenantId: string, shipmentId: string): boolean {
    return this.of(tenantId).withStatus.has(shipmentId)
  }

  setStatus(tenantId: string, shipmentId: string, has: boolean): void {
    const { withStatus } = this.of(tenantId)
    if (has) this.journal.add(withStatus, shipmentId)
    else this.journal.remove(withStatus, shipmentId)
  }

  /** `undefined` leaves them as they are. */
  setAccounts(tenantId: string, shipmentId: string, accounts: ReadonlyArray<string> | undefined): void {
    if (accounts === undefined) return
    const own = this.of(tenantId)
    for (const account of own.accounts.get(shipmentId) ?? []) this.journal.remove(routeIn(own.byAccount, account), shipmentId)
    for (const account of accounts) this.journal.add(routeIn(own.byAccount, account), shipmentId)
    this.journal.put(own.accounts, shipmentId, accounts)
  }
}
