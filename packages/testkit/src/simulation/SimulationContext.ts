/** Where everything of one schedule meets: time, chance, what is counted, what is told, and what went wrong. */
import { EventQueue, type Attendant, type Happening } from "./EventQueue.ts"
import { SimulationRandom } from "./SimulationRandom.ts"

export interface SimulationCounts {
  /** Things that happened one after the other: turns of a process, calls, answers, timers. */
  steps: number
  /** Processes killed. */
  crashes: number
  /** POSTs that workers began. */
  posts: number
  /** Of them, those of a delivery that had been sent before. */
  duplicates: number
  /** Answers that were lost, of the store or of a receiver. */
  drops: number
  /** Writes that showed a lease which somebody else had by then. */
  lostLeases: number
  /** Events owed, over all subscriptions. */
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
  owed: 0,
  deadLetters: 0
})

/** A promise that was broken. */
export interface SimulationViolation {
  /** The promise, as a sentence. */
  readonly rule: string
  /** What happened instead. */
  readonly detail: string
  /** Milliseconds since the schedule began. */
  readonly at: number
}

/** The store's clock when a schedule begins, in milliseconds since 1970. */
export const storeEpoch = 1_763_600_000_000

export class SimulationContext {
  readonly queue: EventQueue
  /** Draws latencies and who comes first. */
  readonly random: SimulationRandom
  readonly counts = noCounts()
  readonly trace: Array<string> | undefined
  violation: SimulationViolation | undefined

  constructor(seed: number, tracing: boolean) {
    this.random = new SimulationRandom(seed, "world")
    this.queue = new EventQueue(this.random)
    this.trace = tracing ? [] : undefined
  }

  get now(): number {
    return this.queue.now
  }

  get storeNow(): number {
    return storeEpoch + this.queue.now
  }

  after(millis: number, run: Happening["run"], whom?: Attendant): Happening {
    return this.queue.after(millis, run, whom)
  }

  /** Call as `world.trace && world.note(…)`: without a trace nothing is put together. */
  note(who: string, what: string): true {
    this.trace?.push(`${(this.now / 1000).toFixed(3).padStart(9)} ${who.padEnd(8)} ${what}`)
    return true
  }

  /** The first one ends the schedule. */
  violate(rule: string, detail: string): void {
    if (this.violation !== undefined) return
    this.violation = { rule, detail, at: this.now }
    this.note("broken", `${rule}: ${detail}`)
  }
}
