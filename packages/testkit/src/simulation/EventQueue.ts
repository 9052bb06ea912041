/** What is going to happen, by its moment; what falls on the same one happens in an order drawn by chance. */
import { Heap } from "../shared/Heap.ts"
import type { SimulationRandom } from "./SimulationRandom.ts"

/** Whoever cannot take part now: what concerns it waits, or does not happen any more. */
export interface Attendant {
  readonly dead: boolean
  /** Simulated time before which it stands still. */
  readonly resumesAt: number
}

export interface Happening {
  at: number
  readonly tie: number
  readonly whom: Attendant | undefined
  readonly run: () => void | Promise<void>
  cancelled: boolean
}

const isBefore = (a: Happening, b: Happening): boolean => a.at < b.at || (a.at === b.at && a.tie < b.tie)

export class EventQueue {
  /** Simulated time, in milliseconds since the simulation began. */
  now = 0
  private readonly happenings = new Heap(isBefore)
  private readonly random: SimulationRandom

  constructor(random: SimulationRandom) {
    this.random = random
  }

  after(millis: number, run: Happening["run"], whom?: Attendant): Happening {
    const happening = { at: this.now + millis, tie: this.random.next(), whom, run, cancelled: false }
    this.happenings.add(happening)
    return happening
  }

  /** Takes the next thing and turns the clock to it. */
  next(): Happening | undefined {
    for (let first = this.happenings.take(); first !== undefined; first = this.happenings.take()) {
      if (first.cancelled || first.whom?.dead === true) continue
      if (first.whom !== undefined && first.whom.resumesAt > first.at) {
        first.at = first.whom.resumesAt
        this.happenings.add(first)
        continue
      }
      this.now = first.at
      return first
    }
    return undefined
  }
}
