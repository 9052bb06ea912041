/** Checks who owns which partition against the reference model. */
import type { AcquiredPartition, DeliveryStore, OwnedPartition, Partition, ReleasedPartition, WaitingDelivery, WorkerLease } from "@waybill/core/delivery"
import type { Effect } from "effect"
import { isInFlight, type Ledger, type LedgerDestination } from "./Ledger.ts"
import type { LedgerPartition } from "./PartitionLedger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

type Answer<Call extends keyof DeliveryStore["Service"]> = Effect.Success<ReturnType<DeliveryStore["Service"][Call]>>

export class OwnershipAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  /** Whether processes, store and network have no faults. */
  private readonly onlyReceiversFail: boolean

  constructor(simulation: SimulationContext, ledger: Ledger, onlyReceiversFail: boolean) {
    this.simulation = simulation
    this.ledger = ledger
    this.onlyReceiversFail = onlyReceiversFail
  }

  renewed(who: string, worker: WorkerLease, { active, now, owned, workers }: Answer<"renew">): void {
    const { ledger: { partitions }, simulation } = this
    partitions.renew(worker, now)
    partitions.shortenAhead(now)
    const own = partitions.ownedBy(worker.workerId)
    const expected = own.map(({ epoch, name }) => `${name} by ${epoch}`).sort().join()
    const answered = owned.map(({ epoch, partition, tenantId }) => `${tenantId}/${partition} by ${epoch}`).sort().join()
    if (answered !== expected) simulation.violate("A renewal extends the leases of its worker, and no others", `${who}: ${answered} instead of ${expected}`)
    const alive = partitions.alive(now).length
    const leased = partitions.leased(now).length
    if (workers !== alive || active !== leased) {
      simulation.violate("A renewal returns the number of workers and owned partitions", `${who}: ${workers} and ${active} instead of ${alive} and ${leased}`)
    }
  }

  /** Every worker finds partitions that need an owner, and none finds partitions with an owner. */
  looked(who: string, workerId: string, { free, signalled }: Answer<"look">): void {
    const { ledger, simulation } = this
    for (const found of free) {
      const partition = this.partition(found)
      if (!this.isFree(partition)) simulation.violate("No partition is free while its owner is alive", `${who}: ${partition.name} is leased until +${partition.leasedUntil - simulation.storeNow} ms`)
    }
    for (const found of signalled) {
      const partition = this.partition(found)
      if (partition.owner !== workerId) simulation.violate("A worker receives the signals of its own partitions", `${who}: ${partition.name}`)
    }
    const names = new Set(free.map((found) => this.partition(found).name))
    for (const partition of ledger.partitions.all.values()) {
      if (!names.has(partition.name) && this.isFree(partition) && ledger.hasWork(partition, simulation.storeNow)) {
        simulation.violate("A partition that needs an owner is found by every worker that looks for one", `${partition.name} by ${who}`)
      }
    }
  }

  acquired(who: string, { leaseMillis, workerId }: WorkerLease, tenantId: string, asked: ReadonlyArray<number>, answer: Answer<"acquire">): void {
    const { ledger, simulation } = this
    const answered = new Map(answer.partitions.map((each) => [each.partition, each]))
    for (const number of asked) {
      const partition = ledger.partitions.get(tenantId, number)
      const acquired = answered.get(number)
      const mayOwn = partition.owner === workerId || this.isFree(partition)
      if (mayOwn !== (acquired !== undefined)) simulation.violate("A partition has one live owner", `${who} ${acquired === undefined ? "did not get" : "got"} ${partition.name}, owned by ${partition.owner}`)
      if (acquired !== undefined) this.takeOver(who, partition, acquired, { leaseMillis, workerId })
    }
  }

  private takeOver(who: string, partition: LedgerPartition, acquired: AcquiredPartition, { leaseMillis, workerId }: WorkerLease): void {
    const { ledger, simulation } = this
    const { leasedUntil, owner } = partition
    this.raise(who, partition, acquired)
    const othersUntil = owner !== undefined && leasedUntil <= simulation.storeNow ? [simulation.storeNow] : partition.othersUntil
    if (!othersUntil.includes(acquired.othersUntil)) {
      simulation.violate("A new owner learns until when previous owners may have sent", `${who}: ${partition.name}, ${acquired.othersUntil} instead of ${othersUntil.join(" or ")}`)
    }
    if (owner !== undefined && owner !== workerId) {
      simulation.counts.takeovers += 1
      if (this.onlyReceiversFail) simulation.violate("A worker without faults keeps its partitions", `${who} took over ${partition.name}`)
    }
    partition.owner = workerId
    partition.ownership += 1
    ledger.partitions.lease(partition, simulation.storeNow, leaseMillis)
    for (const destination of ledger.in(partition)) {
      destination.failures = destination.breaker.failures
      destination.recovered = false
      for (const delivery of destination.unsettled.values()) if (isInFlight(delivery)) ledger.interrupt(delivery, simulation.storeNow, true)
    }
    partition.flights.clear()
    this.compareFound(who, [partition], acquired.destinations)
  }

  private raise(who: string, partition: LedgerPartition, { epoch }: OwnedPartition): void {
    if (epoch <= partition.epoch) this.simulation.violate("Every owner of a partition has a higher epoch than the previous one", `${who}: ${partition.name}, ${epoch} after ${partition.epoch}`)
    partition.epoch = epoch
  }

  reclaimed(who: string, tenantId: string, asked: ReadonlyArray<OwnedPartition>, flight: string, answer: Answer<"reclaim">): void {
    const { ledger, simulation } = this
    const fenced = ledger.partitions.fenced(tenantId, asked)
    if (fenced.map(({ partition }) => partition).sort().join() !== answer.owned.map(({ partition }) => partition).sort().join()) {
      simulation.violate("A worker reclaims a take of its own partitions, and of no others", `${who}: ${answer.owned.length} instead of ${fenced.length}`)
    }
    for (const owned of answer.owned) {
      const partition = ledger.partitions.get(tenantId, owned.partition)
      this.raise(who, partition, owned)
      for (const delivery of partition.flights.get(flight) ?? []) {
        if (isInFlight(delivery) && delivery.flight === flight) ledger.interrupt(delivery, simulation.storeNow, false)
      }
      partition.flights.delete(flight)
    }
    this.compareFound(who, fenced, answer.destinations)
  }

  /** What is in flight for the first time has no row, so its destination may be missing. */
  private compareFound(who: string, partitions: ReadonlyArray<LedgerPartition>, found: ReadonlyArray<string>): void {
    const own = partitions.flatMap((partition) => this.ledger.in(partition))
    const hasEntries = ({ leftover, waiting }: LedgerDestination) => waiting.size > 0 || leftover > 0
    const missing = own.filter((each) => !found.includes(each.destinationId) && (hasEntries(each) || waitingOf(each).length > 0))
    const surplus = found.filter((id) => !own.some((each) => each.destinationId === id && (hasEntries(each) || each.unsettled.size > 0)))
    if (missing.length + surplus.length > 0) {
      this.simulation.violate("An owner finds all destinations with work", `${who}: without ${missing.map(({ name }) => name).join()}, with ${surplus.join()}`)
    }
  }

  /** Returns the released partitions. */
  released(who: string, tenantId: string, partitions: ReadonlyArray<ReleasedPartition>): ReadonlyArray<LedgerPartition> {
    const fenced = this.ledger.partitions.fenced(tenantId, partitions)
    for (const partition of fenced) {
      const left = this.onlyReceiversFail ? this.ledger.in(partition).flatMap(({ unsettled }) => [...unsettled.values()]).filter(isInFlight) : []
      if (left.length > 0) this.simulation.violate("A partition is released when none of its attempts is in flight", `${who}: ${partition.name} with ${left.map(({ id }) => id).join()}`)
      const { othersUntil } = partitions.find((each) => each.partition === partition.partition)!
      // a release that is repeated, because its answer was lost, may have a better estimate of the store's time, and be left out by the store
      if (othersUntil !== undefined) partition.othersUntil = partition.owner === undefined ? [...partition.othersUntil, othersUntil] : [othersUntil]
      partition.owner = undefined
      partition.leasedUntil = 0
    }
    if (fenced.length < partitions.length) this.simulation.note(who, "gave back partitions of another owner")
    return fenced
  }

  private partition({ partition, tenantId }: Partition): LedgerPartition {
    return this.ledger.partitions.get(tenantId, partition)
  }

  private isFree({ leasedUntil, owner }: LedgerPartition): boolean {
    return owner === undefined || leasedUntil <= this.simulation.storeNow
  }
}

/** The waiting deliveries of a destination, as an owner loads them. */
export const waitingOf = ({ unsettled }: LedgerDestination): ReadonlyArray<WaitingDelivery> =>
  [...unsettled.values()].filter(({ state }) => state === "waiting").map(({ id, storedDueAt }) => ({ deliveryId: id, dueAt: storedDueAt }))

export const textOf = (waiting: ReadonlyArray<WaitingDelivery>): string =>
  waiting.map(({ deliveryId, dueAt }) => `${deliveryId} at ${dueAt}`).sort().join()
