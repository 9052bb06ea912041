/**
 * The reference model of the delivery queue: destinations, leases, entries and deliveries. Every call that reaches the store updates it, and
 * the results of the store are compared with it.
 */
import type { Breaker, DestinationSettings, DestinationState, PausedBy } from "@waybill/core"
import { AccessLedger } from "./AccessLedger.ts"

/** One event for one subscription. */
export interface LedgerEntry {
  readonly key: string
  readonly sequence: number
  readonly orderId: string
  readonly body: string
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
  /** The request body that every attempt must have. */
  readonly body: string
  state: "sending" | "waiting" | "delivered" | "dead" | "cancelled"
  token: number
  attempt: number
  tries: number
  /** Attempts that do not count towards the policy: killed senders, stopped workers, and 410. */
  excused: number
  dueAt: number
  diedAt: number
  /** The step of the schedule with its last manual retry. */
  retriedStep: number
  posts: number
  accepted: number
}

export interface LedgerDestination {
  readonly tenantId: string
  readonly destinationId: string
  readonly client: string
  readonly name: string
  settings: DestinationSettings
  state: DestinationState
  /** Who paused it, and whether for a purge. */
  pausedBy: PausedBy | undefined
  purging: boolean
  /** The state to restore when an operator's pause ends, if it is not active. */
  resumesAs: "inactive" | undefined
  /** The step of the schedule with its last purge. */
  purgedStep: number
  open: boolean
  token: number
  leased: boolean
  leasedUntil: number
  breaker: Breaker
  /** Consecutive failures that the store should have; `undefined` if unknown. */
  failures: number | undefined
  /** The last key that was put into a batch. */
  cursor: string | undefined
  /** Times of attempts, for the rate limit, by the store's clock. */
  readonly grants: Array<number>
  /** POSTs in flight, by the token of their lease. */
  readonly inFlight: Map<number, number>
  readonly waiting: Map<string, Array<LedgerEntry>>
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

export interface PublishedEvent {
  readonly eventId: string
  readonly shipmentId: string
  readonly sequence: number
  readonly body: string
}

export class Ledger {
  readonly destinations = new Map<string, LedgerDestination>()
  readonly deliveries = new Map<string, LedgerDelivery>()
  /** Newest first. */
  readonly keys = new Map<string, Array<LedgerKey>>()
  readonly access = new AccessLedger()
  /** How many entries and deliveries are unfinished. */
  unfinished = 0

  destination(tenantId: string, destinationId: string): LedgerDestination | undefined {
    return this.destinations.get(destinationKeyOf(tenantId, destinationId))
  }

  /** The destination, if this lease on it is valid. */
  held(tenantId: string, lease: { readonly destinationId: string; readonly token: number }): LedgerDestination | undefined {
    const destination = this.destination(tenantId, lease.destinationId)
    return destination !== undefined && destination.open && destination.leased && destination.token === lease.token ? destination : undefined
  }

  liveKeys(tenantId: string, now: number): ReadonlyArray<Uint8Array> {
    return (this.keys.get(tenantId) ?? []).filter(({ signsUntil }) => signsUntil > now).map(({ key }) => key)
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
      settings,
      state: settings.state,
      pausedBy: undefined,
      purging: false,
      resumesAs: undefined,
      purgedStep: -1,
      open: true,
      token: 0,
      leased: false,
      leasedUntil: 0,
      breaker: { failures: 0, openUntil: undefined },
      failures: 0,
      cursor: undefined,
      grants: [],
      inFlight: new Map(),
      waiting: new Map(),
      last: new Map(),
      unsettled: new Map()
    })
  }

  change(destination: LedgerDestination, settings: DestinationSettings): void {
    if (settings.endpointUrl !== destination.settings.endpointUrl) {
      destination.breaker = { failures: 0, openUntil: undefined }
      // the lease's holder still counts the failures of the old endpoint
      destination.failures = destination.leased ? undefined : 0
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

  close(destination: LedgerDestination): void {
    destination.open = false
    for (const entries of destination.waiting.values()) this.unfinished -= entries.length
    destination.waiting.clear()
    for (const delivery of destination.unsettled.values()) {
      delivery.state = "cancelled"
      this.unfinished -= 1
    }
    destination.unsettled.clear()
  }

  /** Adds the events to every open subscription whose client sees their shipments, also if it has no access at present. */
  publish(tenantId: string, events: ReadonlyArray<PublishedEvent>): void {
    for (const destination of this.destinations.values()) {
      if (destination.tenantId !== tenantId || !destination.open || destination.state === "inactive" || destination.resumesAs === "inactive") continue
      for (const { body, eventId, sequence, shipmentId } of events) {
        if (!this.access.sees(destination, shipmentId)) continue
        const entry: LedgerEntry = { key: shipmentId, sequence, orderId: eventId, body, before: destination.last.get(shipmentId), passed: false }
        destination.last.set(shipmentId, entry)
        const own = destination.waiting.get(shipmentId)
        if (own === undefined) destination.waiting.set(shipmentId, [entry])
        else own.push(entry)
        this.unfinished += 1
      }
    }
  }

  /** A batch becomes a delivery: its first attempt is counted. */
  freeze(destination: LedgerDestination, delivery: Pick<LedgerDelivery, "id" | "entries" | "body">): LedgerDelivery {
    const frozen: LedgerDelivery = {
      ...delivery,
      destination,
      keys: new Set(delivery.entries.map(({ key }) => key)),
      state: "sending",
      token: destination.token,
      attempt: 1,
      tries: 1,
      excused: 0,
      dueAt: 0,
      diedAt: 0,
      retriedStep: -1,
      posts: 0,
      accepted: 0
    }
    for (const entry of delivery.entries) {
      const own = destination.waiting.get(entry.key)!
      own.splice(own.indexOf(entry), 1)
      if (own.length === 0) destination.waiting.delete(entry.key)
    }
    this.unfinished += 1 - delivery.entries.length
    this.deliveries.set(frozen.id, frozen)
    destination.unsettled.set(frozen.id, frozen)
    return frozen
  }

  /**
   * Removes from a destination, as a claim does first, what its client may no longer see: frozen deliveries with such entries are cancelled and
   * their entries wait again, then such entries are dropped. Returns how many were dropped.
   */
  dropUnseen(destination: LedgerDestination): number {
    for (const delivery of destination.unsettled.values()) {
      const inFlight = delivery.state === "sending" && delivery.token === destination.token
      if (!inFlight && delivery.entries.some(({ key }) => !this.access.sees(destination, key))) this.withdraw(delivery)
    }
    let dropped = 0
    for (const [key, entries] of destination.waiting) {
      if (this.access.sees(destination, key)) continue
      dropped += entries.length
      this.drop(destination, key)
    }
    return dropped
  }

  private withdraw(delivery: LedgerDelivery): void {
    const { destination } = delivery
    this.cancel(delivery)
    for (const entry of delivery.entries) {
      const own = destination.waiting.get(entry.key) ?? []
      destination.waiting.set(entry.key, [...own, entry].sort((a, b) => a.sequence - b.sequence))
    }
    this.unfinished += delivery.entries.length
  }

  private cancel(delivery: LedgerDelivery): void {
    delivery.state = "cancelled"
    delivery.destination.unsettled.delete(delivery.id)
    this.unfinished -= 1
  }

  /** Drops the waiting entries of a shipment, so that its next events may be sent. */
  private drop(destination: LedgerDestination, key: string): void {
    const entries = destination.waiting.get(key) ?? []
    for (const entry of entries) entry.passed = true
    destination.waiting.delete(key)
    this.unfinished -= entries.length
  }

  /** Drops waiting entries, and deliveries that wait for a retry. Returns how many entries were dropped. */
  purge(destination: LedgerDestination, step: number): number {
    if (destination.state === "active") return 0
    destination.purgedStep = step
    let dropped = 0
    for (const delivery of destination.unsettled.values()) {
      if (delivery.state !== "waiting") continue
      this.cancel(delivery)
      for (const entry of delivery.entries) entry.passed = true
      dropped += delivery.entries.length
    }
    for (const [key, entries] of destination.waiting) {
      dropped += entries.length
      this.drop(destination, key)
    }
    return dropped
  }

  end(delivery: LedgerDelivery, state: "delivered" | "dead", now: number): void {
    delivery.state = state
    delivery.destination.unsettled.delete(delivery.id)
    this.unfinished -= 1
    if (state === "dead") {
      delivery.diedAt = now
      for (const entry of delivery.entries) entry.passed = true
    }
  }

  /** A manual retry. */
  retry(delivery: LedgerDelivery, now: number, step: number): void {
    if (delivery.state === "delivered" || delivery.state === "dead") this.unfinished += 1
    delivery.state = "waiting"
    delivery.dueAt = now
    delivery.tries = 0
    delivery.excused = 0
    delivery.retriedStep = step
    delivery.destination.unsettled.set(delivery.id, delivery)
  }
}

/** How many attempts a delivery may have beyond its policy after killed senders. */
export const spareTakeovers = 3

