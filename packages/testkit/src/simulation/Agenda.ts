/** What is going to happen, by its moment; what falls on the same one happens in an order drawn by chance. */
import type { Chance } from "./Chance.ts"

/** Whoever cannot take part now: what concerns it waits, or does not happen any more. */
export interface Attendant {
  readonly dead: boolean
  /** World time before which it stands still. */
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

/** A heap. */
export class Agenda {
  /** World time, in milliseconds since the simulation began. */
  now = 0
  private readonly heap: Array<Happening> = []
  private readonly chance: Chance

  constructor(chance: Chance) {
    this.chance = chance
  }

  after(millis: number, run: Happening["run"], whom?: Attendant): Happening {
    const happening = { at: this.now + millis, tie: this.chance.next(), whom, run, cancelled: false }
    this.push(happening)
    return happening
  }

  /** Takes the next thing and turns the clock to it. */
  next(): Happening | undefined {
    for (let first = this.pop(); first !== undefined; first = this.pop()) {
      if (first.cancelled || first.whom?.dead === true) continue
      if (first.whom !== undefined && first.whom.resumesAt > first.at) {
        first.at = first.whom.resumesAt
        this.push(first)
        continue
      }
      this.now = first.at
      return first
    }
    return undefined
  }

  private push(happening: Happening): void {
    const { heap } = this
    let at = heap.push(happening) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(happening, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = happening
  }

  private pop(): Happening | undefined {
    const { heap } = this
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (!isBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}
