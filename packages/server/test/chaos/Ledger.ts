/** Records acknowledged and received events, and checks the rules while they come in. */
import type { EventPlace, Workload, Subscriber } from "./Workload.ts"
import type { Rule } from "./Rules.ts"

export interface ArrivedEvent {
  readonly eventId: string
  readonly sequence: number
}

const offendersKept = 10

export class Ledger {
  readonly workload: Workload
  readonly violations = new Map<Rule, { count: number; readonly first: Array<string> }>()
  acknowledged = 0
  expected = 0
  arrivals = 0
  requests = 0
  /** Requests with a repeated webhook-id. */
  duplicates = 0
  /** Largest difference of webhook-timestamps to this machine's clock when requests were read, in both directions. */
  readonly clockSeconds = { behind: 0, ahead: 0 }
  /** The highest received event of each shipment, by subscriber. */
  private readonly arrived: ReadonlyArray<Map<number, number>>
  /** The events that each subscriber accepted. A later event of a shipment says nothing about earlier ones. */
  private readonly accepted: ReadonlyArray<Set<number>>
  /** The delivery of each event, by subscriber. */
  private readonly carriedBy: ReadonlyArray<Map<number, string>>
  private readonly bodies = new Map<string, string>()
  private readonly sequences = new Map<number, number>()
  private readonly acked = new Set<number>()
  private readonly expectedOf: Array<number>

  constructor(workload: Workload) {
    this.workload = workload
    this.arrived = workload.subscribers.map(() => new Map())
    this.accepted = workload.subscribers.map(() => new Set())
    this.carriedBy = workload.subscribers.map(() => new Map())
    this.expectedOf = workload.subscribers.map(() => 0)
  }

  get deliveries(): number {
    return this.bodies.size
  }

  violated(rule: Rule, offender: string): void {
    const known = this.violations.get(rule) ?? { count: 0, first: [] }
    known.count += 1
    if (known.first.length < offendersKept) known.first.push(offender)
    this.violations.set(rule, known)
  }

  private key({ number, shipment }: EventPlace): number {
    return shipment * 1000 + number
  }

  /** Intake acknowledged the event. */
  acknowledge(place: EventPlace, sequence: number): void {
    const key = this.key(place)
    this.sequenced(place, sequence)
    if (this.acked.has(key)) return
    this.acked.add(key)
    this.acknowledged += 1
    for (const subscriber of this.workload.entitled(place)) {
      this.expected += 1
      this.expectedOf[subscriber.index]! += 1
    }
  }

  /** A body was received in full. */
  arrive(subscriber: Subscriber, webhookId: string, sha256: string, events: ReadonlyArray<ArrivedEvent>): void {
    this.requests += 1
    const name = `${subscriber.tenant}/${subscriber.index}`
    const body = this.bodies.get(webhookId)
    if (body === undefined) this.bodies.set(webhookId, `${subscriber.index} ${sha256}`)
    else {
      this.duplicates += 1
      if (body !== `${subscriber.index} ${sha256}`) this.violated("every attempt of a delivery has the same body", `${name} ${webhookId}`)
    }
    if (events.length > subscriber.batchMaxSize) this.violated("a batch is not larger than batchMaxSize", `${name} ${webhookId}`)
    const inThisBody = new Map<number, number>()
    for (const event of events) {
      const place = this.workload.placeOf(event.eventId)
      if (place === undefined || !this.workload.receives(subscriber, place)) {
        this.violated("a receiver gets only its own events", `${name} ${event.eventId}`)
        continue
      }
      this.sequenced(place, event.sequence)
      this.arriveOne(subscriber, webhookId, place, inThisBody.get(place.shipment) ?? 0, `${name} ${event.eventId} in ${webhookId}`)
      inThisBody.set(place.shipment, place.number)
    }
  }

  private arriveOne(subscriber: Subscriber, webhookId: string, place: EventPlace, beforeInBody: number, offender: string): void {
    const carried = this.carriedBy[subscriber.index]!
    const key = this.key(place)
    const known = carried.get(key)
    if (beforeInBody >= place.number) this.violated("events of a body are in order of sequence", offender)
    if (known !== undefined) {
      if (known !== webhookId) this.violated("an event is in one delivery per subscription", `${offender}, before in ${known}`)
      return
    }
    carried.set(key, webhookId)
    this.arrivals += 1
    const arrived = this.arrived[subscriber.index]!.get(place.shipment) ?? 0
    const before = this.workload.before(subscriber, place)
    if (arrived !== before) this.violated("first arrivals are in order", `${offender}, after ${arrived}`)
    if (before > 0 && before !== beforeInBody && !this.isAccepted(subscriber, { ...place, number: before })) this.violated("an event is sent after the previous one is accepted", offender)
    this.arrived[subscriber.index]!.set(place.shipment, Math.max(arrived, place.number))
  }

  /** The receiver accepts them now. */
  accept(subscriber: Subscriber, events: ReadonlyArray<ArrivedEvent>): void {
    for (const event of events) {
      const place = this.workload.placeOf(event.eventId)
      if (place === undefined || !this.workload.receives(subscriber, place)) continue
      this.accepted[subscriber.index]!.add(this.key(place))
    }
  }

  private isAccepted(subscriber: Subscriber, place: EventPlace): boolean {
    return this.accepted[subscriber.index]!.has(this.key(place))
  }

  /** An event keeps its sequence, and later events have greater ones. */
  private sequenced(place: EventPlace, sequence: number): void {
    const key = this.key(place)
    const known = this.sequences.get(key)
    if (known === sequence) return
    if (known !== undefined) this.violated("an event has one sequence", `${this.workload.eventId(place)}: ${known} and ${sequence}`)
    this.sequences.set(key, sequence)
    const before = place.number > 1 ? this.sequences.get(key - 1) : undefined
    const after = this.sequences.get(key + 1)
    if ((before ?? 0) >= sequence || (after ?? Infinity) <= sequence) {
      this.violated("sequences follow the order of publication", `${this.workload.eventId(place)}: ${sequence} between ${before} and ${after}`)
    }
  }

  /** Whether acknowledged events are still missing at this subscriber. */
  isMissingEvents(subscriber: Subscriber): boolean {
    return this.accepted[subscriber.index]!.size < this.expectedOf[subscriber.index]!
  }

  get settled(): boolean {
    return this.workload.subscribers.every((subscriber) => !this.isMissingEvents(subscriber))
  }

  get acceptances(): number {
    return this.accepted.reduce((sum, each) => sum + each.size, 0)
  }

  /** At the end: every acknowledged event was received by every subscription that must get it. */
  judgeLosses(): void {
    for (const key of this.acked) {
      const place = { shipment: Math.floor(key / 1000), number: key % 1000 }
      for (const subscriber of this.workload.entitled(place)) {
        const delivery = this.carriedBy[subscriber.index]!.get(key)
        if (delivery === undefined) {
          this.violated("no event is lost", `${subscriber.tenant}/${subscriber.index} ${this.workload.eventId(place)}`)
        } else if (!this.isAccepted(subscriber, place)) {
          this.violated("every event is finally accepted", `${subscriber.tenant}/${subscriber.index} ${this.workload.eventId(place)} in ${delivery}`)
        }
      }
    }
  }
}
