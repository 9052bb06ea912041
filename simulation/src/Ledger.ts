/**
 * The reference model of the delivery store: destinations, entries and deliveries. Every call that reaches the store updates it, and
 * the results of the store are compared with it.
 */
import type { Breaker, DestinationSettings, DestinationState, PausedBy } from "@waybill/core/delivery"
import type { NewEvent } from "@waybill/core/transit-events"
import { AccessLedger } from "./AccessLedger.ts"
import { type LedgerPartition, PartitionLedger } from "./PartitionLedger.ts"
import { SettlementLog } from "./SettlementLog.ts"

/** One event for one subscription. */
export interface LedgerEntry {
  readonly key: string
  readonly sequence: number
  readonly orderId: string
  readonly body: string
  queuedAt: number
  /** The previous event of the shipment for this subscription. */
  readonly before: LedgerEntry | undefined
  /** A receiver answered 2xx to it, or it is dead or dropped: the next event may be sent. */
  passed: boolean
}

export interface LedgerDelivery {
  readonly id: string
  readonly destination: LedgerDestination
  readonly entries: ReadonlyArray<LedgerEntry>
  readonly keys: ReadonlySet<string>
  readonly sentAt: number
  /** The bytes of its events, joined by commas. */
  readonly events: string
  /** The request body that every attempt must have. */
  readonly body: string
  state: "sending" | "waiting" | "delivered" | "dead" | "cancelled"
  /** The flight it was last taken in. */
  flight: string
  attempt: number
  tries: number
  /** Attempts that do not count towards the policy: 410, and those that a stopping worker gave up. */
  excused: number
  /** Attempts whose senders lost their partition. */
  takeovers: number
  /** The attempt that its take counted after the last spare takeover: it is given up without being sent. */
  unsendable: number | undefined
  /** When its next attempt may begin, by the store's clock. */
  dueAt: number
  /** The same, counted from the write of the outcome. The next owner loads this time. */
  storedDueAt: number
  diedAt: number
  posts: number
  accepted: number
}

export interface LedgerDestination {
  readonly tenantId: string
  readonly destinationId: string
  readonly client: string
  readonly name: string
  readonly partition: LedgerPartition
  settings: DestinationSettings
  state: DestinationState
  /** Who paused it, and whether for a purge. */
  pausedBy: PausedBy | undefined
  purging: boolean
  /** The state to restore when an operator's pause ends, if it is not active. */
  resumesAs: "inactive" | undefined
  open: boolean
  /** Entries that waited when it was closed, and are not removed yet. */
  leftover: number
  breaker: Breaker
  /** Consecutive failures that its owner should count; `undefined` if unknown. */
  failures: number | undefined
  /** Its owner got a 2xx that the stored breaker does not count yet. */
  recovered: boolean
  /** When its attempts began, by the store's clock. */
  readonly sends: Array<number>
  /** Until when its attempts have used the rate. */
  paidUntil: number
  /** Attempts that were taken and have no outcome, with the ownership that took them. */
  readonly inFlight: Map<string, number>
  readonly waiting: Map<string, Array<LedgerEntry>>
  /** Every entry by its id; of those that were replayed the last one. */
  readonly entries: Map<string, LedgerEntry>
  readonly last: Map<string, LedgerEntry>
  readonly unsettled: Map<string, LedgerDelivery>
}

/** A signing secret's version, by the store's clock. */
export interface LedgerKey {
  readonly key: Uint8Array
  readonly since: number
  signsUntil: number
}

export const destinationKeyOf = (tenantId: string, destinationId: string): string => `${tenantId}/${destinationId}`

/** An event with its JSON as text. */
export interface PublishedEvent extends Pick<NewEvent, "eventId" | "shipmentId" | "sequence"> {
  readonly body: string
}

export class Ledger {
  readonly destinations = new Map<string, LedgerDestination>()
  readonly deliveries = new Map<string, LedgerDelivery>()
  readonly partitions = new PartitionLedger(this.deliveries)
  readonly settlements = new SettlementLog()
  /** Newest first. */
  readonly keys = new Map<string, Array<LedgerKey>>()
  readonly access = new AccessLedger()
  /** How many entries and deliveries are unfinished. */
  unfinished = 0
  /** The time of the last publication or change, by the store's clock. */
  changedAt = 0

  destination(tenantId: string, destinationId: string): LedgerDestination | undefined {
    return this.destinations.get(destinationKeyOf(tenantId, destinationId))
  }

  in(partition: LedgerPartition): ReadonlyArray<LedgerDestination> {
    return [...this.destinations.values()].filter((destination) => destination.partition === partition)
  }

  /** Whether its deliveries may be sent. */
  admits(destination: LedgerDestination, now: number): boolean {
    return destination.open && destination.state === "active" && this.access.admits(destination, now)
  }

  /** Whether the partition needs an owner: it has entries to send or remove, or deliveries in flight. */
  hasWork(partition: LedgerPartition, now: number): boolean {
    return this.in(partition).some((destination) => {
      if (destination.leftover > 0) return true
      const states = [...destination.unsettled.values()].map(({ state }) => state)
      return states.includes("sending") || ((destination.waiting.size > 0 || states.includes("waiting")) && this.admits(destination, now))
    })
  }

  liveKeys(tenantId: string, now: number): ReadonlyArray<LedgerKey> {
    return (this.keys.get(tenantId) ?? []).filter(({ signsUntil }) => signsUntil > now).map((version) => ({ ...version }))
  }

  rotate(tenantId: string, key: Uint8Array, now: number, overlapMillis: number): void {
    const versions = this.keys.get(tenantId) ?? []
    for (const version of versions) version.signsUntil = Math.min(version.signsUntil, now + overlapMillis)
    this.keys.set(tenantId, [{ key, since: now, signsUntil: Infinity }, ...versions].slice(0, 3))
  }

  open(tenantId: string, client: string, name: string, settings: DestinationSettings): void {
    this.destinations.set(destinationKeyOf(tenantId, settings.destinationId), {
      tenantId,
      destinationId: settings.destinationId,
      client,
      name,
      partition: this.partitions.of(tenantId, settings.destinationId),
      settings,
      state: settings.state,
      pausedBy: undefined,
      purging: false,
      resumesAs: undefined,
      open: true,
      leftover: 0,
      breaker: { failures: 0, openUntil: undefined },
      failures: 0,
      recovered: false,
      sends: [],
      paidUntil: 0,
      inFlight: new Map(),
      waiting: new Map(),
      entries: new Map(),
      last: new Map(),
      unsettled: new Map()
    })
  }

  change(destination: LedgerDestination, settings: DestinationSettings): void {
    if (settings.endpointUrl !== destination.settings.endpointUrl) {
      destination.breaker = { failures: 0, openUntil: undefined }
      // the owner counts the failures of the old endpoint until it has loaded the change
      destination.failures = undefined
    }
    destination.settings = settings
    if (destination.state === settings.state) return
    this.turn(destination, settings.state, settings.state === "paused" ? "client" : undefined)
  }

  turn(destination: LedgerDestination, state: DestinationState, pausedBy: PausedBy | undefined): void {
    destination.state = state
    destination.pausedBy = pausedBy
    destination.purging = false
    destination.resumesAs = undefined
  }

  /** A pause by an operator, for a purge or otherwise. */
  pause(destination: LedgerDestination, purging: boolean): void {
    const resumesAs = destination.state === "inactive" ? "inactive" : destination.resumesAs
    this.turn(destination, "paused", "operator")
    destination.purging = purging
    destination.resumesAs = resumesAs
  }

  /** A resume by an operator. */
  resume(destination: LedgerDestination): void {
    if (destination.state === "paused") this.turn(destination, destination.resumesAs ?? "active", undefined)
  }

  /** Cancels deliveries that wait for a retry. Deliveries in flight end by their outcomes, and the owner removes the waiting entries. */
  close(destination: LedgerDestination): void {
    destination.open = false
    for (const entries of destination.waiting.values()) destination.leftover += entries.length
    destination.waiting.clear()
    for (const delivery of destination.unsettled.values()) if (delivery.state === "waiting") this.cancel(delivery)
  }

  /** Adds the events to every open subscription whose client sees their shipments, also if it has no access at present. */
  publish(tenantId: string, events: ReadonlyArray<PublishedEvent>, now: number): void {
    for (const destination of this.destinations.values()) {
      if (destination.tenantId !== tenantId || !destination.open || destination.state === "inactive" || destination.resumesAs === "inactive") continue
      for (const { body, eventId, sequence, shipmentId } of events) {
        if (!this.access.sees(destination, shipmentId)) continue
        const entry: LedgerEntry = { key: shipmentId, sequence, orderId: eventId, body, queuedAt: now, before: destination.last.get(shipmentId), passed: false }
        destination.last.set(shipmentId, entry)
        destination.entries.set(eventId, entry)
        const own = destination.waiting.get(shipmentId)
        if (own === undefined) destination.waiting.set(shipmentId, [entry])
        else own.push(entry)
        this.unfinished += 1
      }
    }
  }

  /** A batch becomes a delivery: its first attempt is counted. */
  freeze(destination: LedgerDestination, taken: Pick<LedgerDelivery, "id" | "entries" | "flight" | "sentAt" | "events" | "body">): LedgerDelivery {
    const delivery: LedgerDelivery = {
      ...taken,
      destination,
      keys: new Set(taken.entries.map(({ key }) => key)),
      state: "sending",
      attempt: 1,
      tries: 1,
      excused: 0,
      dueAt: 0,
      storedDueAt: 0,
      diedAt: 0,
      takeovers: 0,
      unsendable: undefined,
      posts: 0,
      accepted: 0
    }
    for (const entry of taken.entries) {
      const own = destination.waiting.get(entry.key) ?? []
      const place = own.indexOf(entry)
      if (place >= 0) own.splice(place, 1)
      if (own.length === 0) destination.waiting.delete(entry.key)
    }
    this.unfinished += 1 - taken.entries.length
    this.deliveries.set(delivery.id, delivery)
    destination.unsettled.set(delivery.id, delivery)
    return delivery
  }

  /** The attempt has no outcome and never gets one, so the delivery waits for another. `counts`: it may have been sent. */
  interrupt(delivery: LedgerDelivery, now: number, counts: boolean): void {
    const { destination } = delivery
    for (const permit of destination.inFlight.keys()) if (permit.startsWith(`${delivery.id} `)) destination.inFlight.delete(permit)
    if (counts) delivery.takeovers += 1
    else {
      delivery.attempt -= 1
      delivery.tries -= 1
    }
    delivery.dueAt = delivery.storedDueAt = now
    delivery.state = "waiting"
    if (!destination.open) this.cancel(delivery)
  }

  /** Cancels these deliveries, if they wait with entries that their client may no longer see; their entries wait again. */
  withdrawUnseen(deliveries: Iterable<LedgerDelivery>, now: number): void {
    for (const delivery of deliveries) {
      const { destination } = delivery
      if (delivery.state !== "waiting" || delivery.entries.every(({ key }) => this.access.sees(destination, key))) continue
      this.cancel(delivery)
      for (const entry of delivery.entries) {
        const own = destination.waiting.get(entry.key) ?? []
        // a replay may have queued it
        if (own.some(({ orderId }) => orderId === entry.orderId)) {
          entry.passed = true
          continue
        }
        entry.queuedAt = now
        destination.waiting.set(entry.key, [...own, entry].sort((one, other) => one.sequence - other.sequence))
        this.unfinished += 1
      }
    }
  }

  private cancel(delivery: LedgerDelivery): void {
    delivery.state = "cancelled"
    delivery.destination.unsettled.delete(delivery.id)
    this.unfinished -= 1
  }

  /** Drops the waiting entries of a shipment that its client may no longer see, so that its next events may be sent. Returns how many. */
  dropUnseen(destination: LedgerDestination, key: string): number {
    return this.access.sees(destination, key) ? 0 : this.drop(destination, key)
  }

  private drop(destination: LedgerDestination, key: string): number {
    const entries = destination.waiting.get(key) ?? []
    for (const entry of entries) entry.passed = true
    destination.waiting.delete(key)
    this.unfinished -= entries.length
    return entries.length
  }

  /** Removes the entries that waited when the destination was closed. Returns their number. */
  dropLeftover(destination: LedgerDestination): number {
    const { leftover } = destination
    destination.leftover = 0
    this.unfinished -= leftover
    return leftover
  }

  /** Drops the first waiting entries, by shipment and sequence, that were queued before an instant. Returns how many. */
  dropExcess(destination: LedgerDestination, queuedBefore: number, limit: number): number {
    const waiting = [...destination.waiting.keys()].sort().flatMap((key) => destination.waiting.get(key)!)
    const excess = waiting.filter(({ queuedAt }) => queuedAt < queuedBefore).slice(0, limit)
    for (const entry of excess) {
      const own = destination.waiting.get(entry.key)!
      own.splice(own.indexOf(entry), 1)
      if (own.length === 0) destination.waiting.delete(entry.key)
      entry.passed = true
    }
    this.unfinished -= excess.length
    return excess.length
  }

  /** Drops waiting entries, and deliveries that wait for a retry. Returns how many entries were dropped. */
  purge(destination: LedgerDestination): number {
    if (destination.state === "active") return 0
    let dropped = 0
    for (const delivery of destination.unsettled.values()) {
      if (delivery.state !== "waiting") continue
      this.cancel(delivery)
      for (const entry of delivery.entries) entry.passed = true
      dropped += delivery.entries.length
    }
    for (const key of destination.waiting.keys()) dropped += this.drop(destination, key)
    return dropped
  }

  /** Writes the outcome of an attempt. In a closed destination, a delivery that would wait is cancelled. */
  end(delivery: LedgerDelivery, state: "delivered" | "dead" | "waiting", now: number): void {
    if (state === "waiting") {
      delivery.state = "waiting"
      if (!delivery.destination.open) this.cancel(delivery)
      return
    }
    delivery.state = state
    delivery.destination.unsettled.delete(delivery.id)
    this.unfinished -= 1
    if (state === "dead") {
      delivery.diedAt = now
      for (const entry of delivery.entries) entry.passed = true
    }
  }

  /** A manual retry. */
  retry(delivery: LedgerDelivery, now: number): void {
    if (delivery.state === "delivered" || delivery.state === "dead") this.unfinished += 1
    delivery.state = "waiting"
    delivery.dueAt = delivery.storedDueAt = now
    delivery.tries = 0
    delivery.excused = 0
    delivery.takeovers = 0
    delivery.destination.unsettled.set(delivery.id, delivery)
  }
}

/** How many attempts a delivery may have beyond its policy after killed senders. */
export const spareTakeovers = 3

/** Whether an attempt of the delivery is in flight, by the store. */
export const isInFlight = (delivery: LedgerDelivery): boolean => delivery.state === "sending"

/** The delivery that this one has to wait for: one with the same shipment that is older or in flight. */
export const blocker = (delivery: LedgerDelivery): LedgerDelivery | undefined => {
  if (delivery.destination.unsettled.size < 2) return undefined
  for (const other of delivery.destination.unsettled.values()) {
    if (other !== delivery && sharesKey(other, delivery) && (isInFlight(other) || other.id < delivery.id)) return other
  }
  return undefined
}

export const sharesKey = (one: LedgerDelivery, other: LedgerDelivery): boolean => {
  for (const key of one.keys) if (other.keys.has(key)) return true
  return false
}

/** Names an attempt. */
export const permitOf = (deliveryId: string, attempt: number): string => `${deliveryId} ${attempt}`
