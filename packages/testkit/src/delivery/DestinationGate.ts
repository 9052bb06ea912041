/** Which destinations may be sent to and which entries their clients may see. Removes entries and deliveries that they may not see. */
import { withdrawnReason } from "@waybill/core/delivery"
import type { AccessRows } from "../access/AccessTables.ts"
import type { ShipmentRows } from "../access/ShipmentTables.ts"
import type { Journal } from "../shared/Journal.ts"
import { type Delivery, type Entry, joinedPayloads, type Destination, type DestinationRows } from "./DestinationTables.ts"

export class DestinationGate {
  private readonly rows: DestinationRows
  private readonly access: AccessRows
  private readonly shipments: ShipmentRows
  private readonly journal: Journal

  constructor(rows: DestinationRows, parts: { readonly access: AccessRows; readonly shipments: ShipmentRows; readonly journal: Journal }) {
    this.rows = rows
    this.access = parts.access
    this.shipments = parts.shipments
    this.journal = parts.journal
  }

  /** Whether its tenant is active and its client has access. */
  admits(destination: Destination, now: number): boolean {
    const { tenantId } = destination.tenant
    return this.access.isActive(tenantId) && this.access.isLive(tenantId, destination.settings.client, now)
  }

  /** Whether the client may see the entry. */
  sees(destination: Destination, entry: Entry): boolean {
    const { tenantId } = destination.tenant
    const { client } = destination.settings
    if (entry.seenBy !== undefined) return entry.seenBy(client)
    if (entry.parts === undefined) return this.access.maySee(tenantId, client, this.shipments.grantsOf(tenantId, entry.key))
    return entry.parts.every(({ accounts }) => this.hasOneOf(destination, accounts))
  }

  private hasOneOf(destination: Destination, accounts: ReadonlyArray<string>): boolean {
    const own = this.access.accountsOf(destination.tenant.tenantId, destination.settings.client)
    return accounts.some((account) => own.has(account))
  }

  /** Cancels a delivery and lets its entries wait again. */
  withdraw(destination: Destination, delivery: Delivery, now: number): void {
    this.rows.write(destination, delivery, "cancelled", now)
    this.journal.set(delivery, "reason", withdrawnReason)
    for (const entry of delivery.entries) if (!this.rows.waits(destination, entry)) this.rows.enqueue(destination, entry, now)
  }

  /** Drops an entry that the client may not see. Parts of it that the client may see become a new entry. */
  drop(destination: Destination, entry: Entry, now: number): void {
    this.rows.drop(destination, entry, "not_visible", now)
    const seen = entry.parts?.filter(({ accounts }) => this.hasOneOf(destination, accounts)) ?? []
    if (seen.length > 0) this.rows.enqueue(destination, { ...entry, parts: seen, payload: joinedPayloads(seen) }, now)
  }
}
