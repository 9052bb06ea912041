/** Who owns which partition, in memory. */
import { compareText } from "@waybill/core"
import {
  type AcquiredPartition,
  type DeliveryStore,
  type OwnedPartition,
  type Partition,
  type ReleasedPartition,
  type WaitingDelivery,
  type WorkerLease
} from "@waybill/core/delivery"
import type { Effect } from "effect"
import type { Journal } from "../shared/Journal.ts"
import { type Delivery, type Destination, type DestinationRows, type Flight, flightKey, type LeaseRow, partitionsHeld, type Tenant } from "./DestinationTables.ts"

type Answer<Call extends keyof DeliveryStore["Service"]> = Effect.Success<ReturnType<DeliveryStore["Service"][Call]>>

export class Ownership {
  private readonly rows: DestinationRows
  private readonly journal: Journal

  constructor(rows: DestinationRows) {
    this.rows = rows
    this.journal = rows.journal
  }

  private leases(): ReadonlyArray<Partition & { readonly tenant: Tenant; readonly lease: LeaseRow }> {
    return [...this.rows.byTenant.values()].flatMap((tenant) =>
      [...tenant.leases].map(([partition, lease]) => ({ tenantId: tenant.tenantId, partition, tenant, lease })))
  }

  renew({ isStopping = false, leaseMillis, workerId }: WorkerLease, now: number): Answer<"renew"> {
    this.journal.put(this.rows.workers, workerId, { aliveUntil: isStopping ? now : now + leaseMillis, leaseMillis })
    const own = this.leases().filter(({ lease }) => lease.workerId === workerId && lease.leasedUntil !== -Infinity)
    for (const { partition, tenant } of own) this.journal.put(tenant.leases, partition, { workerId, leasedUntil: now + leaseMillis, leaseMillis })
    for (const { lease, partition, tenant } of this.leases()) {
      if (isAhead(lease.leasedUntil, lease, now)) this.journal.put(tenant.leases, partition, { ...lease, leasedUntil: now + lease.leaseMillis })
    }
    return {
      now,
      owned: own.map(({ partition, tenant, tenantId }) => ({ tenantId, partition, epoch: tenant.epochs.get(partition)! })),
      workers: [...this.rows.workers.values()].filter((each) => each.aliveUntil > now && !isAhead(each.aliveUntil, each, now)).length,
      active: this.leases().filter(({ lease }) => lease.leasedUntil > now).length
    }
  }

  look(workerId: string, limit: number, now: number): Answer<"look"> {
    const signalled: Array<Partition> = []
    const free = this.leases().filter(({ lease }) => lease.leasedUntil <= now).sort((a, b) => a.lease.leasedUntil - b.lease.leasedUntil)
    const firsts = [...this.rows.byTenant.values()].flatMap((tenant) =>
      [...firstSignals(tenant)].map(([partition, number]) => ({ tenantId: tenant.tenantId, partition, lease: tenant.leases.get(partition), number })))
    const unowned: Array<Partition> = []
    for (const { lease, partition, tenantId } of firsts.sort((a, b) => a.number - b.number)) {
      if (lease === undefined) unowned.push({ tenantId, partition })
      else if (lease.workerId === workerId && lease.leasedUntil > now) signalled.push({ tenantId, partition })
    }
    return {
      signalled: signalled.slice(0, limit),
      free: [...free.map(({ partition, tenantId }) => ({ tenantId, partition })), ...unowned].slice(0, limit)
    }
  }

  acquire({ leaseMillis, workerId }: WorkerLease, tenant: Tenant, partitions: ReadonlyArray<number>, now: number): ReadonlyArray<AcquiredPartition> {
    return partitions.flatMap((partition) => {
      const before = tenant.leases.get(partition)
      const isOver = before !== undefined && before.leasedUntil <= now
      if (before !== undefined && before.workerId !== workerId && !isOver) return []
      this.journal.put(tenant.leases, partition, { workerId, leasedUntil: now + leaseMillis, leaseMillis })
      const epoch = this.raiseEpoch(tenant, partition)
      this.interruptAll(tenant, partition, now)
      const takenOver = isOver && before.leasedUntil !== -Infinity
      return [{ tenantId: tenant.tenantId, partition, epoch, othersUntil: takenOver ? now : tenant.othersUntil.get(partition), destinations: found(tenant, [partition]) }]
    })
  }

  private raiseEpoch(tenant: Tenant, partition: number): number {
    const epoch = (tenant.epochs.get(partition) ?? 0) + 1
    this.journal.put(tenant.epochs, partition, epoch)
    return epoch
  }

  /** Makes everything in flight wait, due now. */
  private interruptAll(tenant: Tenant, partition: number, now: number): void {
    for (const [key, flight] of tenant.flights) {
      if (flight.partition !== partition) continue
      this.interrupt(tenant, flight, now)
      this.journal.drop(tenant.flights, key)
    }
  }

  /** Returns the deliveries that were in flight. */
  private interrupt(tenant: Tenant, { again, first }: Flight, now: number): ReadonlyArray<Delivery> {
    const sending = [...first, ...again].filter(({ state }) => state === "sending")
    for (const delivery of sending) this.rows.write(this.rows.destinationOf(tenant, delivery), delivery, "waiting", now, now)
    return sending
  }

  reclaim(tenant: Tenant, owned: ReadonlyArray<OwnedPartition>, flight: string, now: number): Answer<"reclaim"> {
    const partitions = [...partitionsHeld(tenant, owned)]
    const renewed = partitions.map((partition) => {
      const key = flightKey(partition, flight)
      const taken = tenant.flights.get(key)
      for (const delivery of taken === undefined ? [] : this.interrupt(tenant, taken, now)) {
        this.journal.set(delivery, "attempt", delivery.attempt - 1)
        this.journal.set(delivery, "tries", delivery.tries - 1)
      }
      this.journal.drop(tenant.flights, key)
      return { tenantId: tenant.tenantId, partition, epoch: this.raiseEpoch(tenant, partition) }
    })
    return { owned: renewed, destinations: found(tenant, partitions) }
  }

  release(
    tenant: Tenant,
    partitions: ReadonlyArray<ReleasedPartition>,
    rateMarks: ReadonlyArray<{ readonly destinationId: string; readonly mark: number }>,
    now: number
  ): void {
    const held = partitionsHeld(tenant, partitions)
    for (const { destinationId, mark } of rateMarks) {
      const destination = tenant.destinations.get(destinationId)
      if (destination !== undefined && held.has(destination.partition)) this.journal.set(destination, "rateMark", mark)
    }
    for (const { idle, othersUntil, partition } of partitions) {
      const lease = tenant.leases.get(partition)
      if (lease === undefined || !held.has(partition)) continue
      if (othersUntil !== undefined) this.journal.put(tenant.othersUntil, partition, othersUntil)
      if (idle && !this.hasWork(tenant, partition, now)) this.journal.drop(tenant.leases, partition)
      else this.journal.put(tenant.leases, partition, { ...lease, leasedUntil: -Infinity })
    }
  }

  /** Destinations that do not send do not count: a signal follows when they may send. */
  private hasWork(tenant: Tenant, partition: number, now: number): boolean {
    const isOwn = (each: { readonly partition: number }) => each.partition === partition
    const sends = (destination: Destination) => destination.status.state === "active" && this.rows.admits(destination, now)
    return [...tenant.signals.values()].some(isOwn) || [...tenant.flights.values()].some(isOwn) ||
      [...tenant.destinations.values()].some((each) => isOwn(each) && each.entries.length + each.unsettled.size > 0 && sends(each))
  }
}

/** Later than its owner can have asked for: the clock was set back since. Within two leases it is left to run out. */
const isAhead = (until: number, { leaseMillis }: { readonly leaseMillis: number }, now: number): boolean => until > now + 2 * leaseMillis

/** The number of the first signal of each partition. */
const firstSignals = ({ signals }: Tenant): ReadonlyMap<number, number> => {
  const firsts = new Map<number, number>()
  for (const { number, partition } of signals.values()) firsts.set(partition, Math.min(number, firsts.get(partition) ?? Infinity))
  return firsts
}

/** By due time. */
export const waitingIn = ({ unsettled }: Destination): ReadonlyArray<WaitingDelivery> =>
  [...unsettled.values()]
    .filter(({ state }) => state === "waiting")
    .sort((a, b) => a.dueAt! - b.dueAt! || compareText(a.deliveryId, b.deliveryId))
    .map(({ deliveryId, dueAt }) => ({ deliveryId, dueAt: dueAt! }))

/** Destinations of these partitions with entries or deliveries that are not settled. */
const found = ({ closed, destinations }: Tenant, partitions: ReadonlyArray<number>): ReadonlyArray<string> =>
  [...destinations.values(), ...closed.values()]
    .filter(({ entries, partition, unsettled }) => partitions.includes(partition) && entries.length + unsettled.size > 0)
    .map(({ destinationId }) => destinationId)
