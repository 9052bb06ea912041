/** Scheduled events by time. Events with the same time run in random order. */
import type { SeededRandom } from "@waybill/conformance/fixtures"
import { Heap } from "@waybill/core"

/** The owner of an event. Events wait while their owner is paused, and are dropped when it is dead. */
export interface Participant {
  readonly dead: boolean
  /** Simulated time until which it is paused. */
  readonly resumesAt: number
}

export interface ScheduledEvent {
  at: number
  readonly tie: number
  readonly participant: Participant | undefined
  readonly run: () => void | Promise<void>
  cancelled: boolean
}

const isBefore = (a: ScheduledEvent, b: ScheduledEvent): boolean => a.at < b.at || (a.at === b.at && a.tie < b.tie)

export class EventQueue {
  /** Simulated time, in milliseconds since the simulation began. */
  now = 0
  private readonly events = new Heap(isBefore)
  private readonly random: SeededRandom

  constructor(random: SeededRandom) {
    this.random = random
  }

  after(millis: number, run: ScheduledEvent["run"], participant?: Participant): ScheduledEvent {
    const event = { at: this.now + millis, tie: this.random.next(), participant, run, cancelled: false }
    this.events.add(event)
    return event
  }

  /** Removes the next event and advances the clock to its time. */
  next(): ScheduledEvent | undefined {
    for (let first = this.events.take(); first !== undefined; first = this.events.take()) {
      if (first.cancelled || first.participant?.dead === true) continue
      if (first.participant !== undefined && first.participant.resumesAt > first.at) {
        first.at = first.participant.resumesAt
        this.events.add(first)
        continue
      }
      this.now = first.at
      return first
    }
    return undefined
  }
}
