/** Checks after the end of faults that workers make progress: every partition with work has an owner, shares are even, and every entry that may be sent is sent. */
import type { DeliveryOptionValues } from "@waybill/core/delivery"
import { blocker, isInFlight, type Ledger, type LedgerDestination } from "./Ledger.ts"
import type { LedgerPartition } from "./PartitionLedger.ts"
import type { Shape } from "./Shape.ts"
import type { SimulationContext } from "./SimulationContext.ts"
import type { WorkerProcess } from "./WorkerProcess.ts"

/** Beyond polls and leases: calls, attempts and timers take time. */
const slackMillis = 5_000

/** The maximum time between a signal and the take of its entries. */
const soonMillis = 2_500

const minuteMillis = 60_000

export class ProgressAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly options: DeliveryOptionValues
  /** A worker learns the result of a call without a response by its next renewal. */
  private readonly unknownMillis: number
  private calmSince = Infinity
  /** When each condition was first true, for conditions that were true at every check since then. */
  private readonly since = new Map<string, number>()

  constructor(simulation: SimulationContext, ledger: Ledger, { hasInternalFaults, options }: Pick<Shape, "hasInternalFaults" | "options">) {
    this.simulation = simulation
    this.ledger = ledger
    this.options = options
    this.unknownMillis = hasInternalFaults ? options.leaseMillis / 3 : 0
  }

  /** Faults stop, and all processes run from `now` on. */
  begin(now: number): void {
    this.calmSince = now
  }

  look(processes: ReadonlyArray<WorkerProcess>): void {
    const { simulation } = this
    if (simulation.now < this.calmSince) return
    const { attemptTimeoutMillis, leaseMillis, pollMillis } = this.options
    const running = new Set(processes.map(({ workerId }) => workerId))
    // a crashed worker counts until its lease ends, and its share is reserved
    const isWhole = this.ledger.partitions.alive(simulation.storeNow).every((workerId) => running.has(workerId))
    for (const partition of this.ledger.partitions.all.values()) {
      const isAlone = isWhole && this.isFree(partition) && this.ledger.hasWork(partition, simulation.storeNow)
      this.lasts(`owner of ${partition.name}`, isAlone, pollMillis + slackMillis, "A partition with work has an owner within five seconds after its lease", partition.name)
    }
    const share = this.share(processes)
    for (const { name, workerId } of processes) {
      const own = workerId === undefined ? 0 : this.ledger.partitions.ownedBy(workerId).length
      this.lasts(`share of ${name}`, own > share, leaseMillis + pollMillis + slackMillis, "Workers share partitions evenly", `${name} has ${own}, its share is ${share}`)
    }
    for (const destination of this.ledger.destinations.values()) {
      const limit = pollMillis + soonMillis + this.unknownMillis + minuteMillis / destination.settings.policy.rateLimitPerMinute
      this.lasts(`sends of ${destination.name}`, running.has(destination.partition.owner) && this.waitsAlone(destination), limit, "Entries that may be sent are sent without a delay", destination.name)
      // a crash of the store may lose the outcome of a closed destination, and its flight stays until the partition is released
      const isChecked = running.has(destination.partition.owner) && simulation.counts.lostSettlements === 0
      for (const delivery of destination.unsettled.values()) {
        const name = `outcome of ${delivery.id} in ${delivery.flight}`
        this.lasts(name, isChecked && isInFlight(delivery), attemptTimeoutMillis + soonMillis + this.unknownMillis, "The outcome of an attempt is written soon after its end", delivery.id)
      }
    }
  }

  private lasts(name: string, is: boolean, mostMillis: number, rule: string, detail: string): void {
    if (!is) return void this.since.delete(name)
    const since = this.since.get(name) ?? this.simulation.now
    this.since.set(name, since)
    if (this.simulation.now - since > mostMillis) this.simulation.violate(rule, `${detail}, for ${this.simulation.now - since} ms`)
  }

  private share(processes: ReadonlyArray<WorkerProcess>): number {
    const workers = this.ledger.partitions.alive(this.simulation.storeNow).length
    const active = this.ledger.partitions.leased(this.simulation.storeNow).length
    return workers <= 1 || processes.length <= 1 ? Infinity : Math.max(1, Math.ceil(active / workers))
  }

  private isFree({ leasedUntil, owner }: LedgerPartition): boolean {
    return owner === undefined || leasedUntil <= this.simulation.storeNow
  }

  /** Whether the worker has an attempt in flight, so that it may have no free slots. */
  private isSending(workerId: string | undefined): boolean {
    return [...this.ledger.destinations.values()].some(({ partition, unsettled }) =>
      partition.owner === workerId && [...unsettled.values()].some(isInFlight))
  }

  /** The owner has no attempt in flight although entries may be sent, and neither order, a retry time, the rate nor the breaker delays them. */
  private waitsAlone(destination: LedgerDestination): boolean {
    const now = this.simulation.storeNow
    const { breaker, partition, sends, settings, unsettled, waiting } = destination
    if (this.isFree(partition) || !this.ledger.admits(destination, now) || breaker.openUntil !== undefined) return false
    const deliveries = [...unsettled.values()]
    const lastSent = sends.at(-1) ?? 0
    if (this.isSending(partition.owner) || now - lastSent < (minuteMillis / settings.policy.rateLimitPerMinute) * 1.2) return false
    const isDue = deliveries.some((each) => each.dueAt <= now && blocker(each) === undefined)
    return isDue || [...waiting.keys()].some((key) => deliveries.every(({ keys }) => !keys.has(key)))
  }
}
