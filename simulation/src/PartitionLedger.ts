/** The reference model of partitions: their owners, epochs, leases and flights. */
import { type OwnedPartition, partitionOf, type WorkerLease, type WrittenOutcome } from "@waybill/core/delivery"
import type { LedgerDelivery } from "./Ledger.ts"

export interface LedgerPartition {
  readonly tenantId: string
  readonly partition: number
  readonly name: string
  epoch: number
  /** The worker with the lease, also if the lease has ended; `undefined` if it was released or never leased. */
  owner: string | undefined
  leasedUntil: number
  leaseMillis: number
  /** Until when previous owners may have sent, beyond what the rate marks say. */
  /** What the store may have. */
  othersUntil: ReadonlyArray<number | undefined>
  /** Counts the owners: unlike the epoch it stays the same when an owner reclaims a take. */
  ownership: number
  /** When the lease of each owner ends, or ended. */
  readonly leaseEnds: Map<number, number>
  /** Deliveries of each flight that may lack an outcome. */
  readonly flights: Map<string, Set<LedgerDelivery>>
}

export class PartitionLedger {
  readonly all = new Map<string, LedgerPartition>()
  /** Until when each worker is alive, by its last renewal, and how long its leases last. */
  readonly workers = new Map<string, { readonly until: number; readonly leaseMillis: number }>()
  private readonly deliveries: ReadonlyMap<string, LedgerDelivery>

  constructor(deliveries: ReadonlyMap<string, LedgerDelivery>) {
    this.deliveries = deliveries
  }

  of(tenantId: string, destinationId: string): LedgerPartition {
    return this.get(tenantId, partitionOf(destinationId))
  }

  get(tenantId: string, partition: number): LedgerPartition {
    const name = `${tenantId}/${partition}`
    let own = this.all.get(name)
    if (own === undefined) {
      own = { tenantId, partition, name, epoch: 0, owner: undefined, leasedUntil: 0, leaseMillis: 0, othersUntil: [undefined], ownership: 0, leaseEnds: new Map(), flights: new Map() }
      this.all.set(name, own)
    }
    return own
  }

  /** Those whose epoch holds, and whose last outcome was not lost in a crash. */
  fenced(tenantId: string, owned: ReadonlyArray<OwnedPartition>): ReadonlyArray<LedgerPartition> {
    return owned
      .filter((each) => each.tenantId === tenantId && this.get(tenantId, each.partition).epoch === each.epoch && (each.lastOutcome === undefined || this.isWritten(each.lastOutcome)))
      .map(({ partition }) => this.get(tenantId, partition))
  }

  private isWritten({ attempt, deliveryId }: WrittenOutcome): boolean {
    const delivery = this.deliveries.get(deliveryId)
    return delivery !== undefined && (delivery.state !== "sending" || delivery.attempt > attempt)
  }

  lease(partition: LedgerPartition, now: number, leaseMillis: number): void {
    partition.leasedUntil = now + leaseMillis
    partition.leaseMillis = leaseMillis
    partition.leaseEnds.set(partition.ownership, partition.leasedUntil)
  }

  /** A renewal: the worker is alive, unless it is stopping, and its partitions stay its own. */
  renew({ isStopping = false, leaseMillis, workerId }: WorkerLease, now: number): void {
    this.workers.set(workerId, { until: isStopping ? now : now + leaseMillis, leaseMillis })
    for (const partition of this.ownedBy(workerId)) this.lease(partition, now, leaseMillis)
  }

  /** Shortens the leases that lie ahead since the store's clock was set back. */
  shortenAhead(now: number): void {
    for (const partition of this.leased(now)) {
      if (partition.leasedUntil > now + 2 * partition.leaseMillis) this.lease(partition, now, partition.leaseMillis)
    }
  }

  /** Workers that count as alive. */
  alive(now: number): ReadonlyArray<string> {
    return [...this.workers].flatMap(([workerId, { leaseMillis, until }]) => until > now && until <= now + 2 * leaseMillis ? [workerId] : [])
  }

  ownedBy(workerId: string): ReadonlyArray<LedgerPartition> {
    return [...this.all.values()].filter(({ owner }) => owner === workerId)
  }

  /** Those with a worker whose lease has not ended. */
  leased(now: number): ReadonlyArray<LedgerPartition> {
    return [...this.all.values()].filter(({ leasedUntil, owner }) => owner !== undefined && leasedUntil > now)
  }
}

/** Deliveries of a flight that are in flight. */
export const unsettledIn = (partition: LedgerPartition, flight: string): ReadonlyArray<LedgerDelivery> =>
  [...partition.flights.get(flight) ?? []].filter((delivery) => delivery.state === "sending" && delivery.flight === flight)
