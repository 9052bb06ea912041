/** Which subscriptions are replayed, and what a replay queues in the reference model. */
import type { SeededRandom } from "@waybill/conformance/fixtures"
import type { Ledger, LedgerDestination, LedgerEntry, PublishedEvent } from "./Ledger.ts"

interface StoredEvent extends PublishedEvent {
  readonly storedAt: number
}

/** Share of the schedules with interventions that have replays. */
const replayingShare = 1 / 8

export class Replays {
  /** Whether this schedule has replays. */
  readonly happen: boolean
  private readonly ledger: Ledger
  private readonly random: SeededRandom
  /** By tenant, in the order in which they were stored. */
  private readonly history = new Map<string, Array<StoredEvent>>()

  constructor(ledger: Ledger, random: SeededRandom, interventions: number) {
    this.ledger = ledger
    this.random = random
    this.happen = interventions > 0 && random.share(replayingShare)
  }

  /** Times of replays, within `millis`. */
  times(millis: number): ReadonlyArray<number> {
    return this.happen ? Array.from({ length: this.random.pick([1, 2, 4]) }, () => Math.floor(this.random.next() * millis)) : []
  }

  /** Whether a replay comes during a take, instead of another intervention. */
  comesNow(): boolean {
    return this.happen && this.random.share(0.5)
  }

  /** From when on a replay sends events again: mostly all of them. */
  from(now: number): number {
    return this.random.pick([0, 0, now - 1000])
  }

  pick<A>(values: ReadonlyArray<A>): A {
    return this.random.pick(values)
  }

  stored(tenantId: string, events: ReadonlyArray<PublishedEvent>, storedAt: number): void {
    const own = this.history.get(tenantId) ?? []
    own.push(...events.map((event) => ({ ...event, storedAt })))
    this.history.set(tenantId, own)
  }

  /** Queues events again that the client sees now, except those that wait already. Returns their number. */
  replay(destination: LedgerDestination, from: number, now: number): number {
    const again = (this.history.get(destination.tenantId) ?? []).filter(({ shipmentId, storedAt }) => storedAt >= from && this.ledger.access.sees(destination, shipmentId))
    return again.filter((event) => this.queue(destination, event, now)).length
  }

  private queue(destination: LedgerDestination, { body, eventId, sequence, shipmentId }: StoredEvent, now: number): boolean {
    const own = destination.waiting.get(shipmentId) ?? []
    const place = own.findIndex((other) => other.sequence >= sequence)
    if (own[place]?.sequence === sequence) return false
    const before = own[(place < 0 ? own.length : place) - 1]
    const entry: LedgerEntry = { key: shipmentId, sequence, orderId: eventId, body, queuedAt: now, before, passed: false }
    own.splice(place < 0 ? own.length : place, 0, entry)
    destination.waiting.set(shipmentId, own)
    destination.entries.set(eventId, entry)
    // the next event is sent after this one
    if (place < 0) destination.last.set(shipmentId, entry)
    this.ledger.unfinished += 1
    return true
  }
}
