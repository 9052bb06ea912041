/** Reference model of access: accounts of clients and shipments, how long clients have access, suspended tenants. */

interface LedgerClient {
  readonly accounts: ReadonlySet<string>
  readonly liveUntil: number
  readonly changedAt: number
}

interface LedgerShipment {
  readonly accounts: ReadonlyArray<string>
  readonly changedAt: number
}

/** The client of a subscription. */
interface Recipient {
  readonly tenantId: string
  readonly client: string
}

const placeOf = (tenantId: string, name: string): string => `${tenantId}/${name}`

/** All times are times of the store's clock. */
export class AccessLedger {
  private readonly clients = new Map<string, LedgerClient>()
  private readonly shipments = new Map<string, LedgerShipment>()
  private readonly suspended = new Map<string, number>()

  putClient({ client, tenantId }: Recipient, accounts: ReadonlyArray<string>, liveUntil: number, now: number): void {
    this.clients.set(placeOf(tenantId, client), { accounts: new Set(accounts), liveUntil, changedAt: now })
  }

  putShipment(tenantId: string, shipmentId: string, accounts: ReadonlyArray<string>, now: number): void {
    const place = placeOf(tenantId, shipmentId)
    const before = this.shipments.get(place)
    const changed = before === undefined || before.accounts.join() !== accounts.join()
    this.shipments.set(place, { accounts, changedAt: changed ? now : before.changedAt })
  }

  suspend(tenantId: string, now: number): void {
    if (!this.suspended.has(tenantId)) this.suspended.set(tenantId, now)
  }

  resume(tenantId: string): void {
    this.suspended.delete(tenantId)
  }

  isSuspended(tenantId: string): boolean {
    return this.suspended.has(tenantId)
  }

  accountsOf({ client, tenantId }: Recipient): ReadonlySet<string> {
    return this.clients.get(placeOf(tenantId, client))!.accounts
  }

  isLive({ client, tenantId }: Recipient, now: number): boolean {
    return this.clients.get(placeOf(tenantId, client))!.liveUntil > now
  }

  /** Whether the client may receive deliveries: its tenant is active, and it has access. */
  admits(recipient: Recipient, now: number): boolean {
    return !this.isSuspended(recipient.tenantId) && this.isLive(recipient, now)
  }

  sees(recipient: Recipient, shipmentId: string): boolean {
    const accounts = this.accountsOf(recipient)
    return this.shipments.get(placeOf(recipient.tenantId, shipmentId))!.accounts.some((account) => accounts.has(account))
  }

  /** When the client lost access to one of these shipments; `undefined` if it has access to all. */
  endedAt(recipient: Recipient, shipmentIds: Iterable<string>, now: number): number | undefined {
    const { tenantId } = recipient
    const { changedAt, liveUntil } = this.clients.get(placeOf(tenantId, recipient.client))!
    const ends: Array<number> = []
    if (this.isSuspended(tenantId)) ends.push(this.suspended.get(tenantId)!)
    if (liveUntil <= now) ends.push(Math.max(liveUntil, changedAt))
    for (const shipmentId of shipmentIds) {
      if (!this.sees(recipient, shipmentId)) ends.push(Math.max(changedAt, this.shipments.get(placeOf(tenantId, shipmentId))!.changedAt))
    }
    return ends.length === 0 ? undefined : Math.min(...ends)
  }
}
