/** Which lanes may be sent to, which entries their clients may still see, and what becomes of those they may not. */
import type { DropReason } from "@waybill/core"
import type { AccessRows } from "../access/AccessTables.ts"
import type { ShipmentRows } from "../access/ShipmentTables.ts"
import type { Journal } from "../shared/Journal.ts"
import { type Delivery, type Entry, joinedParts, type Lane, type LaneRows } from "./LaneTables.ts"

export const withdrawnReason =
  "Its client may no longer see everything in it. What the client may still see goes out in another delivery."

export class LaneGate {
  private readonly rows: LaneRows
  private readonly access: AccessRows
  private readonly shipments: ShipmentRows
  private readonly journal: Journal

  constructor(rows: LaneRows, parts: { readonly access: AccessRows; readonly shipments: ShipmentRows; readonly journal: Journal }) {
    this.rows = rows
    this.access = parts.access
    this.shipments = parts.shipments
    this.journal = parts.journal
  }

  /** Whether anything goes out of the lane: its tenant is active, and its client has access. */
  admits(lane: Lane, now: number): boolean {
    const { tenantId } = lane.tenant
    return this.access.isActive(tenantId) && this.access.isLive(tenantId, lane.settings.client, now)
  }

  private sees(lane: Lane, entry: Entry): boolean {
    const { tenantId } = lane.tenant
    const { client } = lane.settings
    if (entry.parts === undefined) return this.access.maySee(tenantId, client, this.shipments.grantsOf(tenantId, entry.key))
    return entry.parts.every(({ accounts }) => this.hasOneOf(lane, accounts))
  }

  private hasOneOf(lane: Lane, accounts: ReadonlyArray<string>): boolean {
    const own = this.access.accountsOf(lane.tenant.tenantId, lane.settings.client)
    return accounts.some((account) => own.has(account))
  }

  /**
   * Takes out of a lane what its client may no longer see: frozen deliveries with such a thing in them end and their entries wait again, then such
   * entries are dropped. Answers how many.
   */
  clear(lane: Lane, now: number): number {
    // whatever was queued was seen then
    const changes = this.access.changes + this.shipments.changes
    if (lane.clearedAt === changes) return 0
    const frozen = [...lane.unsettled.values()].filter((each) => each.entries.some((entry) => !this.sees(lane, entry)))
    const ended = frozen.filter(({ state, token }) => state !== "sending" || token !== lane.token)
    for (const delivery of ended) this.withdraw(lane, delivery, now)
    // what is being sent ends by itself, and is judged when it waits for another attempt
    lane.clearedAt = ended.length === frozen.length ? changes : undefined
    const unseen = [...lane.byRef.values()].filter((entry) => !this.sees(lane, entry))
    for (const entry of unseen) this.drop(lane, entry, "not_visible", now)
    return unseen.length
  }

  private withdraw(lane: Lane, delivery: Delivery, now: number): void {
    this.journal.set(delivery, "state", "cancelled")
    this.journal.set(delivery, "dueAt", undefined)
    this.journal.set(delivery, "settledAt", now)
    this.journal.set(delivery, "reason", withdrawnReason)
    this.journal.drop(lane.unsettled, delivery.deliveryId)
    for (const entry of delivery.entries) if (!this.rows.waits(lane, entry)) this.rows.enqueue(lane, entry, now)
  }

  private drop(lane: Lane, entry: Entry, reason: DropReason, now: number): void {
    this.rows.drop(lane, entry, reason, now)
    // of a window, what is left goes out as another one
    const seen = entry.parts?.filter(({ accounts }) => this.hasOneOf(lane, accounts)) ?? []
    if (seen.length > 0) this.rows.enqueue(lane, { ...entry, parts: seen, payload: joinedParts(seen) }, now)
  }
}
