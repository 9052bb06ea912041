/** What each client and each tenant has under way in one worker, and how much of the room it may take: what hangs leaves the rest to others. */

/** Half of all attempts and bytes. */
const clientPart = 1 / 2
/** However many clients a tenant has. */
const tenantPart = 3 / 4

/** Whose lane it is. */
export interface LaneOwner {
  readonly tenantId: string
  readonly client: string
}

interface Holding {
  attempts: number
  bytes: number
}

interface Whole {
  readonly attempts: number
  readonly bytes: number
}

const none: Holding = { attempts: 0, bytes: 0 }

export class AttemptShares {
  private readonly whole: Whole
  /** Only of those who have something under way. */
  private readonly holdings = new Map<string, Holding>()

  constructor(whole: Whole) {
    this.whole = whole
  }

  /** Attempts that this client may start, as its own part and its tenant's allow. */
  freeFor(owner: LaneOwner): number {
    return Math.min(...this.partsOf(owner).map(({ attempts, bytes, part }) =>
      bytes >= this.whole.bytes * part ? 0 : Math.max(0, Math.ceil(this.whole.attempts * part) - attempts)))
  }

  /** What of the narrower part is left, from 0 to 1. */
  leftFor(owner: LaneOwner): number {
    return Math.min(...this.partsOf(owner).map(({ attempts, part }) => Math.max(0, 1 - attempts / Math.ceil(this.whole.attempts * part))))
  }

  /** Negative numbers take back. */
  add({ client, tenantId }: LaneOwner, attempts: number, bytes: number): void {
    for (const key of [tenantKey(tenantId), clientKey(tenantId, client)]) {
      const held = this.holdings.get(key) ?? { ...none }
      held.attempts += attempts
      held.bytes += bytes
      if (held.attempts === 0 && held.bytes === 0) this.holdings.delete(key)
      else this.holdings.set(key, held)
    }
  }

  private partsOf({ client, tenantId }: LaneOwner) {
    return [
      { ...this.holdings.get(clientKey(tenantId, client)) ?? none, part: clientPart },
      { ...this.holdings.get(tenantKey(tenantId)) ?? none, part: tenantPart }
    ]
  }
}

const tenantKey = (tenantId: string): string => `tenant ${tenantId}`
const clientKey = (tenantId: string, client: string): string => `client ${tenantId}\n${client}`
