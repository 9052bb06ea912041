/** The shared state of one schedule: time, random numbers, counts, trace and violation. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { EventQueue, type Participant, type ScheduledEvent } from "./EventQueue.ts"

export interface SimulationCounts {
  /** Events that ran: tasks of a process, calls, answers, timers. */
  steps: number
  /** Processes killed. */
  crashes: number
  /** POSTs that workers began. */
  posts: number
  /** POSTs of a delivery that had been sent before. */
  duplicates: number
  /** Lost answers of the store or of a receiver. */
  drops: number
  /** Calls with an epoch that was no longer valid. */
  lostLeases: number
  /** Settlements that crashes of the store lost. */
  lostSettlements: number
  /** Partitions that were taken over from a worker that had not released them. */
  takeovers: number
  /** Events to be delivered, summed over all subscriptions. */
  owed: number
  deadLetters: number
}

export const noCounts = (): SimulationCounts => ({
  steps: 0,
  crashes: 0,
  posts: 0,
  duplicates: 0,
  drops: 0,
  lostLeases: 0,
  lostSettlements: 0,
  takeovers: 0,
  owed: 0,
  deadLetters: 0
})

/** A violated invariant. */
export interface SimulationViolation {
  /** The invariant, as a sentence. */
  readonly rule: string
  /** What happened instead. */
  readonly detail: string
  /** Milliseconds since the schedule began. */
  readonly at: number
}

/** The store's clock when a schedule begins, in milliseconds since 1970. */
export const storeEpoch = 1_763_600_000_000

export const nanosOf = (millis: number): bigint => BigInt(Math.floor(millis)) * 1_000_000n

export class SimulationContext {
  readonly queue: EventQueue
  /** Chooses latencies, and the order of events with the same time. */
  readonly random: SeededRandom
  readonly counts = noCounts()
  readonly trace: Array<string> | undefined
  violation: SimulationViolation | undefined

  constructor(seed: number, tracing: boolean) {
    this.random = new SeededRandom(seed, "world")
    this.queue = new EventQueue(this.random)
    this.trace = tracing ? [] : undefined
  }

  get now(): number {
    return this.queue.now
  }

  get storeNow(): number {
    return storeEpoch + this.queue.now
  }

  after(millis: number, run: ScheduledEvent["run"], participant?: Participant): ScheduledEvent {
    return this.queue.after(millis, run, participant)
  }

  /** Adds a line to the trace. Call it as `simulation.trace && simulation.note(…)` if building the text is expensive. */
  note(actor: string, action: string): true {
    this.trace?.push(`${(this.now / 1000).toFixed(3).padStart(9)} ${actor.padEnd(8)} ${action}`)
    return true
  }

  /** The first violation ends the schedule. */
  violate(rule: string, detail: string): void {
    if (this.violation !== undefined) return
    this.violation = { rule, detail, at: this.now }
    this.note("violated", `${rule}: ${detail}`)
  }
}
