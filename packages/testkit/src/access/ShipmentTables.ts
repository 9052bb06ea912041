/** Accounts and carriers of shipments, and which have a status. The event log and shipment statuses write and read it. */
import { isOwn } from "@waybill/core"
import { Context, Effect, Layer } from "effect"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { setIn } from "../shared/EntryIn.ts"
import { TenantRows } from "../shared/TenantRows.ts"

/** `undefined` leaves accounts and carrier unchanged. */
interface ShipmentClaim {
  readonly shipmentId: string
  readonly accounts: ReadonlyArray<string> | undefined
  readonly carrier?: ReadonlyArray<string> | undefined
  readonly written?: boolean
}

class TenantShipments {
  readonly accounts = new Map<string, ReadonlyArray<string>>()
  readonly carriers = new Map<string, ReadonlyArray<string>>()
  /** Shipments with accepted writes. */
  readonly written = new Set<string>()
  /** By account and by carrier number. */
  readonly byAccount = new Map<string, Set<string>>()
  readonly withStatus = new Set<string>()
}

export class ShipmentTables extends Context.Service<ShipmentTables, ShipmentRows>()("@waybill/testkit/access/ShipmentTables") {
  static readonly layer = Layer.effect(ShipmentTables, Effect.map(MemoryDatabase, (database) => new ShipmentRows(database, () => new TenantShipments())))
}

export class ShipmentRows extends TenantRows<TenantShipments> {
  /** Empty until a call sets them. */
  accountsOf(tenantId: string, shipmentId: string): ReadonlyArray<string> {
    return this.of(tenantId).accounts.get(shipmentId) ?? []
  }

  /** The numbers of its carrier, if it has one. */
  carrierOf(tenantId: string, shipmentId: string): ReadonlyArray<string> {
    return this.of(tenantId).carriers.get(shipmentId) ?? []
  }

  /** Its accounts and carrier numbers: a client with one of them sees the shipment. */
  grantsOf(tenantId: string, shipmentId: string): ReadonlyArray<string> {
    return [...this.accountsOf(tenantId, shipmentId), ...this.carrierOf(tenantId, shipmentId)]
  }

  /** The carriers of shipments that have been written. */
  carriers(tenantId: string, shipmentIds: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> {
    const { written } = this.of(tenantId)
    return new Map(shipmentIds.filter((shipmentId) => written.has(shipmentId)).map((shipmentId) => [shipmentId, this.carrierOf(tenantId, shipmentId)]))
  }

  /** Whether a writer may write to it; any writer may write to a new shipment. */
  mayWrite(tenantId: string, shipmentId: string, writer: ReadonlyArray<string> | undefined): boolean {
    return !this.of(tenantId).written.has(shipmentId) || isOwn(writer, this.carrierOf(tenantId, shipmentId))
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

  /** `undefined` keeps the stored value. A writer with a number cannot change the carrier of an existing shipment. */
  claim(tenantId: string, { accounts, carrier, shipmentId, written }: ShipmentClaim, writer: ReadonlyArray<string> | undefined): void {
    const own = this.of(tenantId)
    const before = this.grantsOf(tenantId, shipmentId)
    for (const grant of before) this.journal.remove(setIn(own.byAccount, grant), shipmentId)
    if (accounts !== undefined) this.journal.put(own.accounts, shipmentId, accounts)
    if (carrier !== undefined && (writer === undefined || !own.written.has(shipmentId))) this.journal.put(own.carriers, shipmentId, carrier)
    const after = this.grantsOf(tenantId, shipmentId)
    for (const grant of after) this.journal.add(setIn(own.byAccount, grant), shipmentId)
    if (written === true) this.journal.add(own.written, shipmentId)
  }
}
