/** Destinations, what waits in them, and deliveries: the rows behind the memory queue. */
import {
  type AttemptRecord,
  type Breaker,
  closedBreaker,
  type DeliveryState,
  type Envelope,
  type DestinationLease,
  type DestinationSettings,
  type DestinationState,
  type DestinationStatus,
  type PausedBy
} from "@waybill/core"
import { Context, Effect, Layer } from "effect"
import { compareText } from "../shared/CodePoints.ts"
import { type Journal, lowerBound } from "../shared/Journal.ts"
import { MemoryDatabase, purged } from "../shared/MemoryDatabase.ts"

export interface Entry {
  readonly ref: number
  readonly key: string
  readonly sequence: number
  readonly orderId: string
  readonly payload: Uint8Array
  readonly traceparent: string | undefined
  readonly queuedAt: number
  /** What it is made of, each for clients that have one of some accounts. Without it, it is for whoever sees the shipment that is its key. */
  readonly parts?: ReadonlyArray<EntryPart>
}

export interface EntryPart {
  readonly accounts: ReadonlyArray<string>
  readonly payload: Uint8Array
}

/** An entry that was removed without being sent. */
export interface Drop {
  readonly key: string
  readonly orderId: string
  readonly reason: string
  readonly at: number
}

/** How many drops are kept of each destination. */
const keptDrops = 1000

export interface Delivery {
  readonly deliveryId: string
  readonly destinationId: string
  readonly source: string
  readonly createdAt: number
  readonly sentAt: number
  readonly keys: ReadonlyArray<string>
  /** Of each entry. */
  readonly orderIds: ReadonlyArray<string>
  readonly payloads: ReadonlyArray<Uint8Array>
  readonly entries: ReadonlyArray<Entry>
  readonly traceparent: string | undefined
  readonly envelope: Envelope
  state: DeliveryState
  /** The lease it was last sent under. */
  token: number
  attempt: number
  tries: number
  dueAt: number | undefined
  settledAt: number | undefined
  records: ReadonlyArray<AttemptRecord>
  reason: string | undefined
  /** Its destination's address, or what it was when the destination was closed. */
  endpointUrl: string | undefined
}

export interface Destination {
  readonly destinationId: string
  readonly tenant: Tenant
  settings: DestinationSettings
  status: DestinationStatus
  /** Active and not due: its client, or its tenant, has no access. */
  held: boolean
  /** The state that an operator's pause found, where it is not active that comes back. */
  resumesAs: "inactive" | undefined
  token: number
  leased: boolean
  dueAt: number | undefined
  /** Due only because something was published for it: its place among all such. */
  arrival: number | undefined
  arrivals: number
  breaker: Breaker
  rateMark: number | undefined
  cursor: string | undefined
  /** Keys with entries, sorted. */
  readonly keys: Array<string>
  /** Entries of each key by sequence and id. */
  readonly byKey: Map<string, Array<Entry>>
  readonly byRef: Map<number, Entry>
  /** Sending or waiting. */
  readonly unsettled: Map<string, Delivery>
  /** Entries that were removed without being sent, ever, and the newest of them. */
  dropped: number
  readonly drops: Array<Drop>
  /** How much had been said of access when it was last looked through; `undefined`: it has to be, whatever was said. */
  clearedAt: number | undefined
}

export interface Tenant {
  readonly tenantId: string
  readonly destinations: Map<string, Destination>
  readonly deliveries: Map<string, Delivery>
  /** Destinations with a due time, in the order they got it. */
  readonly scheduled: Set<Destination>
}

export class DestinationTables extends Context.Service<DestinationTables, DestinationRows>()("@waybill/testkit/delivery/DestinationTables") {
  static readonly layer = Layer.effect(DestinationTables, Effect.map(MemoryDatabase, ({ journal, onPurge }) => purged(onPurge, new DestinationRows(journal))))
}

export class DestinationRows {
  readonly tenants = new Map<string, Tenant>()
  private readonly journal: Journal
  private lastRef = 0
  private lastArrival = 0

  constructor(journal: Journal) {
    this.journal = journal
  }

  /** Takes out everything of a tenant. Whether there was anything. */
  forgetTenant(tenantId: string): boolean {
    return this.tenants.delete(tenantId)
  }

  tenant(tenantId: string): Tenant {
    let own = this.tenants.get(tenantId)
    if (own === undefined) {
      own = { tenantId, destinations: new Map(), deliveries: new Map(), scheduled: new Set() }
      this.tenants.set(tenantId, own)
    }
    return own
  }

  find(tenantId: string, destinationId: string): Destination | undefined {
    return this.tenants.get(tenantId)?.destinations.get(destinationId)
  }

  /** The destination, when this lease on it still holds. */
  held(tenantId: string, lease: DestinationLease): Destination | undefined {
    const destination = this.find(tenantId, lease.destinationId)
    return destination !== undefined && destination.leased && destination.token === lease.token ? destination : undefined
  }

  open(tenantId: string, settings: DestinationSettings, now: number): void {
    const tenant = this.tenant(tenantId)
    this.journal.put(tenant.destinations, settings.destinationId, {
      destinationId: settings.destinationId,
      tenant,
      settings,
      status: { state: settings.state, reason: undefined, pausedBy: settings.state === "paused" ? "client" : undefined, since: now },
      held: false,
      resumesAs: undefined,
      token: 0,
      leased: false,
      dueAt: undefined,
      arrival: undefined,
      arrivals: 0,
      breaker: closedBreaker,
      rateMark: undefined,
      cursor: undefined,
      keys: [],
      byKey: new Map(),
      byRef: new Map(),
      unsettled: new Map(),
      clearedAt: undefined,
      dropped: 0,
      drops: []
    })
  }

  close(destination: Destination, now: number): void {
    for (const delivery of destination.unsettled.values()) {
      this.journal.set(delivery, "state", "cancelled")
      this.journal.set(delivery, "dueAt", undefined)
      this.journal.set(delivery, "settledAt", now)
    }
    for (const delivery of destination.tenant.deliveries.values()) {
      if (delivery.destinationId === destination.destinationId) this.journal.set(delivery, "endpointUrl", destination.settings.endpointUrl)
    }
    this.journal.remove(destination.tenant.scheduled, destination)
    this.journal.drop(destination.tenant.destinations, destination.destinationId)
  }

  /** By its client, unless a reason is given by somebody else. */
  setState(destination: Destination, state: DestinationState, reason: string | undefined, now: number, by: PausedBy = "client"): void {
    if (destination.status.state === state) return
    this.journal.set(destination, "status", { state, reason, pausedBy: state === "paused" ? by : undefined, since: now })
    this.journal.set(destination, "resumesAs", undefined)
  }

  setDue(destination: Destination, at: number | undefined): void {
    this.journal.set(destination, "dueAt", at)
    // always to the back: among destinations due at the same instant, the one that had no turn longest comes first
    this.journal.remove(destination.tenant.scheduled, destination)
    if (at !== undefined) this.journal.add(destination.tenant.scheduled, destination)
  }

  /** Something was published: due now, or as soon as whoever holds the destination gives it back. */
  arrive(destination: Destination, now: number): void {
    if (this.wake(destination, now)) this.journal.set(destination, "arrival", ++this.lastArrival)
  }

  /** Something may go out that could not before. Answers whether that made the destination due. */
  wake(destination: Destination, now: number): boolean {
    this.journal.set(destination, "arrivals", destination.arrivals + 1)
    if (destination.leased || (destination.dueAt !== undefined && destination.dueAt <= now)) return false
    this.setDue(destination, now)
    return true
  }

  /** Puts an entry in its place. */
  enqueue(destination: Destination, what: Omit<Entry, "ref" | "queuedAt">, now: number): void {
    const entry = { ...what, ref: ++this.lastRef, queuedAt: now }
    let own = destination.byKey.get(entry.key)
    if (own === undefined) {
      own = []
      this.journal.put(destination.byKey, entry.key, own)
      this.journal.insert(destination.keys, lowerBound(destination.keys, (key) => compareText(key, entry.key)), entry.key)
    }
    this.journal.insert(own, placeOf(own, entry), entry)
    this.journal.put(destination.byRef, entry.ref, entry)
  }

  /** Whether this very thing waits in the destination. */
  waits(destination: Destination, what: Pick<Entry, "key" | "sequence" | "orderId">): boolean {
    const own = destination.byKey.get(what.key) ?? []
    const at = own[placeOf(own, what)]
    return at !== undefined && at.sequence === what.sequence && at.orderId === what.orderId
  }

  dequeue(destination: Destination, entry: Entry): void {
    const own = destination.byKey.get(entry.key)!
    this.journal.take(own, own.indexOf(entry))
    if (own.length === 0) {
      this.journal.drop(destination.byKey, entry.key)
      this.journal.take(destination.keys, lowerBound(destination.keys, (key) => compareText(key, entry.key)))
    }
    this.journal.drop(destination.byRef, entry.ref)
  }

  /** Removes a waiting entry without sending it. */
  drop(destination: Destination, entry: Entry, reason: string, now: number): void {
    this.dequeue(destination, entry)
    this.journal.set(destination, "dropped", destination.dropped + 1)
    this.journal.insert(destination.drops, destination.drops.length, { key: entry.key, orderId: entry.orderId, reason, at: now })
    if (destination.drops.length > keptDrops) this.journal.take(destination.drops, 0)
  }

  /** The bytes that what waits, and deliveries that may still be sent, refer to. */
  payloadsInUse(tenantId: string): ReadonlySet<Uint8Array> {
    const { deliveries, destinations } = this.tenant(tenantId)
    const waiting = [...destinations.values()].flatMap((destination) => [...destination.byRef.values()].map((entry) => entry.payload))
    const kept = [...deliveries.values()].filter(({ state }) => state !== "delivered" && state !== "dismissed" && state !== "cancelled")
    return new Set([...waiting, ...kept.flatMap((each) => each.payloads)])
  }
}

const comma = new TextEncoder().encode(",")

/** The bytes of several things, joined by commas. */
export const joinedParts = (parts: ReadonlyArray<EntryPart>): Uint8Array => {
  const pieces = parts.flatMap(({ payload }, n) => n === 0 ? [payload] : [comma, payload])
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

const placeOf = (list: ReadonlyArray<Entry>, what: Pick<Entry, "sequence" | "orderId">): number =>
  lowerBound(list, (item) => item.sequence - what.sequence || compareText(item.orderId, what.orderId))
