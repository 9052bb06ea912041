/** Which destinations may be sent to, which entries their clients may still see, and what becomes of those they may not. */
import type { DropReason } from "@waybill/core"
import type { AccessRows } from "../access/AccessTables.ts"
import type { ShipmentRows } from "../access/ShipmentTables.ts"
import type { Journal } from "../shared/Journal.ts"
import { type Delivery, type Entry, joinedParts, type Destination, type DestinationRows } from "./DestinationTables.ts"

export const withdrawnReason =
  "Its client may no longer see everything in it. What the client may still see goes out in another delivery."

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

  /** Whether anything goes out of the destination: its tenant is active, and its client has access. */
  admits(destination: Destination, now: number): boolean {
    const { tenantId } = destination.tenant
    return this.access.isActive(tenantId) && this.access.isLive(tenantId, destination.settings.client, now)
  }

  private sees(destination: Destination, entry: Entry): boolean {
    const { tenantId } = destination.tenant
    const { client } = destination.settings
    if (entry.parts === undefined) return this.access.maySee(tenantId, client, this.shipments.grantsOf(tenantId, entry.key))
    return entry.parts.every(({ accounts }) => this.hasOneOf(destination, accounts))
  }

  private hasOneOf(destination: Destination, accounts: ReadonlyArray<string>): boolean {
    const own = this.access.accountsOf(destination.tenant.tenantId, destination.settings.client)
    return accounts.some((account) => own.has(account))
  }

  /**
   * Takes out of a destination what its client may no longer see: frozen deliveries with such a thing in them end and their entries wait again, then such
   * entries are dropped. Answers how many.
   */
  clear(destination: Destination, now: number): number {
    // whatever was queued was seen then
    const changes = this.access.changes + this.shipments.changes
    if (destination.clearedAt === changes) return 0
    const frozen = [...destination.unsettled.values()].filter((each) => each.entries.some((entry) => !this.sees(destination, entry)))
    const ended = frozen.filter(({ state, token }) => state !== "sending" || token !== destination.token)
    for (const delivery of ended) this.withdraw(destination, delivery, now)
    // what is being sent ends by itself, and is judged when it waits for another attempt
    destination.clearedAt = ended.length === frozen.length ? changes : undefined
    const unseen = [...destination.byRef.values()].filter((entry) => !this.sees(destination, entry))
    for (const entry of unseen) this.drop(destination, entry, "not_visible", now)
    return unseen.length
  }

  private withdraw(destination: Destination, delivery: Delivery, now: number): void {
    this.journal.set(delivery, "state", "cancelled")
    this.journal.set(delivery, "dueAt", undefined)
    this.journal.set(delivery, "settledAt", now)
    this.journal.set(delivery, "reason", withdrawnReason)
    this.journal.drop(destination.unsettled, delivery.deliveryId)
    for (const entry of delivery.entries) if (!this.rows.waits(destination, entry)) this.rows.enqueue(destination, entry, now)
  }

  private drop(destination: Destination, entry: Entry, reason: DropReason, now: number): void {
    this.rows.drop(destination, entry, reason, now)
    // of a window, what is left goes out as another one
    const seen = entry.parts?.filter(({ accounts }) => this.hasOneOf(destination, accounts)) ?? []
    if (seen.length > 0) this.rows.enqueue(destination, { ...entry, parts: seen, payload: joinedParts(seen) }, now)
  }
}
