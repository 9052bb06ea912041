/** Takes entries out of destinations in memory, and freezes them as deliveries. */
import { compareText } from "@waybill/core"
import { deliveryIdOf, flightOf, partitionOf, pickEntries, type Signal, smallestOfEach, type TakeFrom, type Taken, type TakenDelivery, type TakenFrom, type TakeRequest, type WaitingEntry } from "@waybill/core/delivery"
import type { Journal } from "../shared/Journal.ts"
import { type Delivery, type Destination, type DestinationRows, type Entry, firstByKey, flightKey, isHeldBack, joinedPayloads, partitionsHeld, placeAfter, type Tenant } from "./DestinationTables.ts"

export class Take {
  private readonly request: TakeRequest
  private readonly rows: DestinationRows
  private readonly journal: Journal
  private readonly now: number
  private readonly tenant: Tenant
  private readonly held: ReadonlySet<number>
  private readonly again: Array<Delivery> = []
  private readonly first: Array<Delivery> = []

  constructor(request: TakeRequest, rows: DestinationRows, now: number) {
    this.request = request
    this.rows = rows
    this.journal = rows.journal
    this.now = now
    this.tenant = rows.of(request.tenantId)
    this.held = partitionsHeld(this.tenant, request.owned)
  }

  run(): Taken {
    const { held, now, request, tenant } = this
    const signalled = [...tenant.signals.values()].filter(({ partition }) => held.has(partition)).sort((a, b) => a.number - b.number)
    const consumed = signalled.slice(0, request.signals)
    for (const { number } of consumed) this.journal.drop(tenant.signals, number)
    const signals = smallestOfEach(consumed)
    const from = [...request.from.filter(({ destinationId }) => held.has(partitionOf(destinationId))), ...this.unrequested(signals)].flatMap((each) => {
      const destination = tenant.destinations.get(each.destinationId)
      return destination === undefined || !request.sources.includes(destination.settings.source) ? [] : [this.takeFrom(destination, each)]
    })
    this.putFlights()
    return {
      now,
      owned: [...held],
      signals,
      moreSignals: request.signals > 0 && signalled.length > consumed.length,
      from,
      deliveries: [...this.again, ...this.first].map((delivery) => takenOf(delivery, request.flight))
    }
  }

  private unrequested(signals: ReadonlyArray<Signal>): ReadonlyArray<TakeFrom> {
    const { from, skip, unrequested, unrequestedBytes: bytes } = this.request
    const named = new Set([...from.map(({ destinationId }) => destinationId), ...skip])
    return signals
      .filter(({ destinationId }) => !named.has(destinationId) && this.mayGuess(this.tenant.destinations.get(destinationId)))
      .slice(0, unrequested)
      .map(({ destinationId }) => ({ destinationId, after: undefined, batches: 1, bytes, inFlight: [], again: [] }))
  }

  /** Its breaker was closed, and its rate not used up, when its last owner wrote them. */
  private mayGuess(destination: Destination | undefined): boolean {
    return destination === undefined || (destination.breaker.openUntil === undefined && (destination.rateMark ?? 0) <= this.now)
  }

  private takeFrom(destination: Destination, from: TakeFrom): TakenFrom {
    const { destinationId, version } = destination
    const answer = { destinationId, version, after: from.after, more: false, blocked: false, unseenKeys: [], unseenDeliveries: [] }
    if (destination.status.state !== "active" || !this.rows.admits(destination, this.now)) return { ...answer, sends: false }
    const keysInFlight = new Set(from.inFlight.flatMap((id) => this.flown(destination, id)?.keys ?? []))
    return { ...answer, sends: true, ...this.sendAgain(destination, from.again, keysInFlight), ...this.takeNew(destination, from, keysInFlight) }
  }

  private flown({ partition }: Destination, deliveryId: string): Delivery | undefined {
    return this.tenant.flights.get(flightKey(partition, flightOf(deliveryId)))?.first.find((each) => each.deliveryId === deliveryId)
  }

  /** Counts the next attempt of deliveries that wait. */
  private sendAgain(destination: Destination, deliveryIds: ReadonlyArray<string>, keysInFlight: ReadonlySet<string>): Pick<TakenFrom, "unseenDeliveries"> {
    const unseenDeliveries: Array<string> = []
    if (deliveryIds.length === 0) return { unseenDeliveries }
    const first = firstByKey(destination)
    for (const deliveryId of deliveryIds) {
      const delivery = destination.unsettled.get(deliveryId)
      if (delivery?.state !== "waiting") continue
      if (delivery.entries.some((entry) => !this.rows.sees(destination, entry))) {
        unseenDeliveries.push(deliveryId)
        continue
      }
      if (delivery.keys.some((key) => keysInFlight.has(key)) || isHeldBack(delivery, first)) continue
      this.rows.write(destination, delivery, "sending", this.now)
      this.journal.set(delivery, "attempt", delivery.attempt + 1)
      this.journal.set(delivery, "tries", delivery.tries + 1)
      this.again.push(delivery)
    }
    return { unseenDeliveries }
  }

  private takeNew(destination: Destination, { after, batches, bytes }: TakeFrom, keysInFlight: ReadonlySet<string>): Pick<TakenFrom, "after" | "more" | "blocked" | "unseenKeys"> {
    const start = placeAfter(destination, after)
    if (batches === 0) return { after, more: start < destination.entries.length, blocked: false, unseenKeys: [] }
    const held = new Set([...keysInFlight, ...[...destination.unsettled.values()].flatMap((each) => each.keys)])
    const { batchMaxSize: maxSize } = destination.settings.policy
    const waiting = this.waitingIn(destination, { start, held, most: batches * maxSize, bytes })
    const picked = pickEntries(after, waiting, { batches, maxSize, maxBytes: this.request.maxBatchBytes })
    for (const entries of picked.batches) this.freeze(destination, entries.map(({ entry }) => entry))
    return picked
  }

  /** One more of those that may be taken than can be. */
  private waitingIn(
    destination: Destination,
    { bytes, held, most, start }: { readonly start: number; readonly held: ReadonlySet<string>; readonly most: number; readonly bytes: number }
  ) {
    const entries: Array<WaitingEntry & { readonly entry: Entry }> = []
    let free = 0
    let read = 0
    for (let at = start; at < destination.entries.length; at++) {
      if (entries.length === this.request.lookAt || free > most) return { entries, more: true }
      const entry = destination.entries[at]!
      const { key, payload: { length: size } } = entry
      const isHeld = held.has(key)
      entries.push({ entry, key, size, held: isHeld, unseen: !this.rows.sees(destination, entry), readable: read < bytes })
      if (isHeld) continue
      free += 1
      read += size
    }
    return { entries, more: false }
  }

  private freeze(destination: Destination, entries: ReadonlyArray<Entry>): void {
    for (const entry of entries) this.rows.dequeue(destination, entry)
    this.first.push({
      deliveryId: deliveryIdOf(this.request.flight, this.first.length),
      destinationId: destination.destinationId,
      sentAt: this.request.sentAt,
      entries,
      keys: [...new Set(entries.map(({ key }) => key))],
      traceparent: entries.find(({ traceparent }) => traceparent !== undefined)?.traceparent,
      state: "sending",
      attempt: 1,
      tries: 1,
      dueAt: undefined,
      settledAt: undefined,
      records: [],
      reason: undefined
    })
  }

  private putFlights(): void {
    for (const partition of this.held) {
      const [first, again] = [this.first, this.again].map((all) => all.filter(({ destinationId }) => partitionOf(destinationId) === partition))
      if (first!.length + again!.length === 0) continue
      this.journal.put(this.tenant.flights, flightKey(partition, this.request.flight), { partition, first: first!, again: again! })
    }
  }
}

const takenOf = ({ attempt, deliveryId, destinationId, entries, keys, sentAt, traceparent, tries }: Delivery, flight: string): TakenDelivery => ({
  destinationId,
  deliveryId,
  flight,
  sentAt,
  attempt,
  tries,
  events: entries.length,
  body: joinedPayloads(entries),
  lastKey: keys.reduce((last, key) => compareText(key, last) > 0 ? key : last),
  traceparent
})
