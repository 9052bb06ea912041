/**
 * Attempts in flight and their bytes in one worker, shared between tenants, then clients, then destinations.
 *
 * A hanging attempt cannot be preempted, so each owner leaves slots for others: a tenant uses at most three times the free slots, a client
 * at most as many as are free. A single client gets half, two get a third each, and so on, so the next client always finds free slots.
 * Destinations whose last attempt failed share a tenth.
 */
import { type Destination, isFailing, type SlotOwner } from "./Destination.ts"

const tenantFactor = 3
const clientFactor = 1
const failingPart = 1 / 10

interface Limits {
  readonly concurrency: number
  readonly maxBytesInFlight: number
}

/** Attempts of one tenant, and of each of its clients. */
interface TenantSlots {
  used: number
  readonly clients: Map<string, number>
}

/** The slots of one worker. */
export class Slots {
  /** Attempts in flight, or reserved by a take. */
  used = 0
  /** Attempts whose outcomes are not written yet. */
  unwritten = 0
  /** Bytes of events of attempts in flight. */
  bytes = 0
  /** Slots of destinations whose last attempt had failed. */
  failing = 0
  private readonly tenants = new Map<string, TenantSlots>()
  private readonly limits: Limits

  constructor(limits: Limits) {
    this.limits = limits
  }

  get free(): number {
    // slow writes of outcomes delay further attempts, because otherwise the buffer could grow without a limit
    if (this.unwritten >= this.limits.concurrency || this.bytes >= this.limits.maxBytesInFlight) return 0
    return Math.max(0, this.limits.concurrency - this.used)
  }

  get freeBytes(): number {
    return Math.max(0, this.limits.maxBytesInFlight - this.bytes)
  }

  ofTenant(tenantId: string): number {
    return Math.min(this.free, room(this.limits.concurrency, tenantFactor, this.used, this.tenants.get(tenantId)?.used ?? 0))
  }

  ofClient({ client, tenantId }: SlotOwner): number {
    return Math.min(this.ofTenant(tenantId), room(this.limits.concurrency, clientFactor, this.used, this.tenants.get(tenantId)?.clients.get(client) ?? 0))
  }

  of(destination: Destination, owner: SlotOwner): number {
    const free = this.ofClient(owner)
    if (!isFailing(destination)) return free
    return Math.min(free, Math.max(0, Math.ceil(this.limits.concurrency * failingPart) - this.failing), destination.running > 0 ? 0 : 1)
  }

  /** Takes slots, or returns them with a negative number. `isFailing`: of a destination whose last attempt had failed when they were taken. */
  use({ client, tenantId }: SlotOwner, attempts: number, isFailing: boolean): void {
    this.used += attempts
    if (isFailing) this.failing += attempts
    let tenant = this.tenants.get(tenantId)
    if (tenant === undefined) this.tenants.set(tenantId, tenant = { used: 0, clients: new Map() })
    tenant.used += attempts
    const ofClient = (tenant.clients.get(client) ?? 0) + attempts
    if (ofClient === 0) tenant.clients.delete(client)
    else tenant.clients.set(client, ofClient)
    if (tenant.clients.size === 0) this.tenants.delete(tenantId)
  }
}

/** Additional slots for an owner that has `own` of `used`, so that `own` stays within `factor` times the free slots. */
const room = (all: number, factor: number, used: number, own: number): number => {
  const others = used - own
  return Math.max(0, Math.ceil((factor * (all - others)) / (factor + 1)) - own)
}

