/**
 * Attempts in flight and their bytes in one worker, shared between tenants, then clients, then destinations.
 *
 * A hanging attempt cannot be preempted, so each owner leaves slots and bytes for others: a tenant uses at most three times what is free, a client
 * at most as much as is free. A single client gets half, two get a third each, and so on, so the next client always finds something free.
 * Destinations whose last attempt failed use at most a tenth, which they share in the same way.
 */
import type { SlotOwner } from "./Destination.ts"

const tenantFactor = 3
const clientFactor = 1
const failingPart = 1 / 10

/** Nobody takes anything while attempts in flight have so many times the limit of bytes: owners may hold more than is counted. */
const memoryFactor = 4

interface Limits {
  readonly concurrency: number
  readonly maxBytesInFlight: number
}

/** What one tenant uses, and each of its clients. */
interface TenantUse {
  used: number
  readonly clients: Map<string, number>
}

/** A limited quantity. */
class Shares {
  used = 0
  private readonly tenants = new Map<string, TenantUse>()
  private readonly all: number

  constructor(all: number) {
    this.all = all
  }

  get free(): number {
    return Math.max(0, this.all - this.used)
  }

  usedBy(tenantId: string): number {
    return this.tenants.get(tenantId)?.used ?? 0
  }

  ofTenant(tenantId: string): number {
    return room(this.all, tenantFactor, this.used, this.usedBy(tenantId))
  }

  ofAnyClient(tenantId: string): number {
    return room(this.all, clientFactor, this.used, this.usedBy(tenantId))
  }

  ofClient({ client, tenantId }: SlotOwner): number {
    return Math.min(this.ofTenant(tenantId), room(this.all, clientFactor, this.used, this.tenants.get(tenantId)?.clients.get(client) ?? 0))
  }

  use({ client, tenantId }: SlotOwner, amount: number): void {
    this.used += amount
    let tenant = this.tenants.get(tenantId)
    if (tenant === undefined) this.tenants.set(tenantId, tenant = { used: 0, clients: new Map() })
    tenant.used += amount
    const ofClient = (tenant.clients.get(client) ?? 0) + amount
    if (ofClient === 0) tenant.clients.delete(client)
    else tenant.clients.set(client, ofClient)
    if (tenant.clients.size === 0) this.tenants.delete(tenantId)
  }
}

/**
 * The slots of one worker.
 *
 * The bytes of a delivery are known once it is taken, so an owner may hold more than its share of them. No more than the share is counted: it takes nothing
 * until it has room again, and takes nothing from others.
 */
export class Slots {
  /** Attempts whose outcomes are not written yet. */
  unwritten = 0
  private readonly attempts: Shares
  private readonly bytes: Shares
  /** Of destinations whose last attempt had failed. They count among all as well. */
  private readonly failingAttempts: Shares
  private readonly failingBytes: Shares
  /** Of events of attempts in flight. */
  private bytesInMemory = 0
  private readonly limits: Limits

  constructor(limits: Limits) {
    this.limits = limits
    this.attempts = new Shares(limits.concurrency)
    this.bytes = new Shares(limits.maxBytesInFlight)
    this.failingAttempts = new Shares(Math.ceil(limits.concurrency * failingPart))
    this.failingBytes = new Shares(Math.ceil(limits.maxBytesInFlight * failingPart))
  }

  /** Attempts in flight, or reserved by a take. */
  get used(): number {
    return this.attempts.used
  }

  usedBy(tenantId: string): number {
    return this.attempts.usedBy(tenantId)
  }

  get free(): number {
    // slow writes of outcomes delay further attempts, because otherwise the buffer could grow without a limit
    return this.unwritten >= this.limits.concurrency || this.bytesInMemory >= this.limits.maxBytesInFlight * memoryFactor ? 0 : this.attempts.free
  }

  /** What a tenant may take before it knows for whom: as if everything that it uses were of that client. */
  ofAnyClient(tenantId: string): number {
    return this.bytes.ofAnyClient(tenantId) === 0 ? 0 : Math.min(this.free, this.attempts.ofAnyClient(tenantId))
  }

  /** What a client may take for destinations whose last attempt failed, or for the others. */
  ofClient(owner: SlotOwner, isFailing: boolean): number {
    if (this.bytes.ofClient(owner) === 0 || isFailing && this.failingBytes.ofClient(owner) === 0) return 0
    return Math.min(this.free, this.attempts.ofClient(owner), isFailing ? this.failingAttempts.ofClient(owner) : Infinity)
  }

  /** Takes slots, or returns them with a negative number. `isFailing`: of a destination whose last attempt had failed when they were taken. */
  use(owner: SlotOwner, attempts: number, isFailing: boolean): void {
    this.attempts.use(owner, attempts)
    if (isFailing) this.failingAttempts.use(owner, attempts)
  }

  /** Takes bytes within the owner's share. Returns how many, to be returned. */
  useBytes(owner: SlotOwner, bytes: number, isFailing: boolean): number {
    const used = Math.min(Math.ceil(bytes), this.bytes.ofClient(owner), isFailing ? this.failingBytes.ofClient(owner) : Infinity)
    this.returnBytes(owner, -used, isFailing)
    return used
  }

  returnBytes(owner: SlotOwner, used: number, isFailing: boolean): void {
    this.bytes.use(owner, -used)
    if (isFailing) this.failingBytes.use(owner, -used)
  }

  /** Begins an attempt that has its slot: its bytes are in memory until it ends. Returns what ends it, and gives back its bytes and its slot. */
  begin(owner: SlotOwner, bytes: number, isFailing: boolean): () => void {
    const used = this.useBytes(owner, bytes, isFailing)
    this.bytesInMemory += bytes
    return () => {
      this.bytesInMemory -= bytes
      this.returnBytes(owner, used, isFailing)
      this.use(owner, -1, isFailing)
    }
  }
}

/** What else an owner may take that has `own` of `used`, so that `own` stays within `factor` times what is free. */
const room = (all: number, factor: number, used: number, own: number): number => {
  const others = used - own
  return Math.max(0, Math.ceil((factor * (all - others)) / (factor + 1)) - own)
}
