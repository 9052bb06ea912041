/** What each client and each tenant has under way in one worker, and how much of the room it may take: what hangs leaves the rest to others. */

/** Half of all attempts and bytes. */
const clientPart = 1 / 2
/** However many clients a tenant has. */
const tenantPart = 3 / 4

/** Whose destination it is. */
export interface DestinationOwner {
  readonly tenantId: string
  readonly client: string
}

interface Holding {
  attempts: number
  bytes: number
}

interface TenantHolding extends Holding {
  readonly clients: Map<string, Holding>
}

interface Whole {
  readonly attempts: number
  readonly bytes: number
}

export class AttemptShares {
  private readonly clientLimit: Whole
  private readonly tenantLimit: Whole
  /** Only of those who have something under way. */
  private readonly tenants = new Map<string, TenantHolding>()

  constructor(whole: Whole) {
    this.clientLimit = partOf(whole, clientPart)
    this.tenantLimit = partOf(whole, tenantPart)
  }

  /** Attempts that this client may start, as its own part and its tenant's allow, and what of the narrower part is left, from 0 to 1. */
  roomFor({ client, tenantId }: DestinationOwner): { readonly free: number; readonly left: number } {
    const tenant = this.tenants.get(tenantId)
    const ofClient = freeOf(tenant?.clients.get(client), this.clientLimit)
    const ofTenant = freeOf(tenant, this.tenantLimit)
    return {
      free: Math.min(ofClient, ofTenant),
      left: Math.min(ofClient / this.clientLimit.attempts, ofTenant / this.tenantLimit.attempts)
    }
  }

  /** Negative numbers take back. */
  add({ client, tenantId }: DestinationOwner, attempts: number, bytes: number): void {
    const tenant = this.tenants.get(tenantId) ?? { attempts: 0, bytes: 0, clients: new Map<string, Holding>() }
    const own = tenant.clients.get(client) ?? { attempts: 0, bytes: 0 }
    if (change(own, attempts, bytes)) tenant.clients.delete(client)
    else tenant.clients.set(client, own)
    if (change(tenant, attempts, bytes)) this.tenants.delete(tenantId)
    else this.tenants.set(tenantId, tenant)
  }
}

const partOf = ({ attempts, bytes }: Whole, part: number): Whole => ({ attempts: Math.ceil(attempts * part), bytes: bytes * part })

const freeOf = (held: Holding | undefined, limit: Whole): number => {
  if (held === undefined) return limit.attempts
  return held.bytes >= limit.bytes ? 0 : Math.max(0, limit.attempts - held.attempts)
}

/** Whether nothing is left. */
const change = (held: Holding, attempts: number, bytes: number): boolean => {
  held.attempts += attempts
  held.bytes += bytes
  return held.attempts === 0 && held.bytes === 0
}
