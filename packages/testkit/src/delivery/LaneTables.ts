/** Lanes, what waits in them, and deliveries: the rows behind the memory queue. */
import {
  type AttemptRecord,
  type Breaker,
  closedBreaker,
  type DeliveryState,
  type Envelope,
  type LaneLease,
  type LaneSettings,
  type LaneState,
  type LaneStatus,
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

/** How many drops are kept of each lane. */
const keptDrops = 1000

export interface Delivery {
  readonly deliveryId: string
  readonly laneId: string
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
  /** Its lane's address, or what it was when the lane was closed. */
  endpointUrl: string | undefined
}

export interface Lane {
  readonly laneId: string
  readonly tenant: Tenant
  settings: LaneSettings
  status: LaneStatus
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
  readonly lanes: Map<string, Lane>
  readonly deliveries: Map<string, Delivery>
  /** Lanes with a due time, in the order they got it. */
  readonly scheduled: Set<Lane>
}

export class LaneTables extends Context.Service<LaneTables, LaneRows>()("@waybill/testkit/delivery/LaneTables") {
  static readonly layer = Layer.effect(LaneTables, Effect.map(MemoryDatabase, ({ journal, onPurge }) => purged(onPurge, new LaneRows(journal))))
}

export class LaneRows {
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
      own = { tenantId, lanes: new Map(), deliveries: new Map(), scheduled: new Set() }
      this.tenants.set(tenantId, own)
    }
    return own
  }

  find(tenantId: string, laneId: string): Lane | undefined {
    return this.tenants.get(tenantId)?.lanes.get(laneId)
  }

  /** The lane, when this lease on it still holds. */
  held(tenantId: string, lease: LaneLease): Lane | undefined {
    const lane = this.find(tenantId, lease.laneId)
    return lane !== undefined && lane.leased && lane.token === lease.token ? lane : undefined
  }

  open(tenantId: string, settings: LaneSettings, now: number): void {
    const tenant = this.tenant(tenantId)
    this.journal.put(tenant.lanes, settings.laneId, {
      laneId: settings.laneId,
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

  close(lane: Lane, now: number): void {
    for (const delivery of lane.unsettled.values()) {
      this.journal.set(delivery, "state", "cancelled")
      this.journal.set(delivery, "dueAt", undefined)
      this.journal.set(delivery, "settledAt", now)
    }
    for (const delivery of lane.tenant.deliveries.values()) {
      if (delivery.laneId === lane.laneId) this.journal.set(delivery, "endpointUrl", lane.settings.endpointUrl)
    }
    this.journal.remove(lane.tenant.scheduled, lane)
    this.journal.drop(lane.tenant.lanes, lane.laneId)
  }

  /** By its client, unless a reason is given by somebody else. */
  setState(lane: Lane, state: LaneState, reason: string | undefined, now: number, by: PausedBy = "client"): void {
    if (lane.status.state === state) return
    this.journal.set(lane, "status", { state, reason, pausedBy: state === "paused" ? by : undefined, since: now })
    this.journal.set(lane, "resumesAs", undefined)
  }

  setDue(lane: Lane, at: number | undefined): void {
    this.journal.set(lane, "dueAt", at)
    // always to the back: among lanes due at the same instant, the one that had no turn longest comes first
    this.journal.remove(lane.tenant.scheduled, lane)
    if (at !== undefined) this.journal.add(lane.tenant.scheduled, lane)
  }

  /** Something was published: due now, or as soon as whoever holds the lane gives it back. */
  arrive(lane: Lane, now: number): void {
    if (this.wake(lane, now)) this.journal.set(lane, "arrival", ++this.lastArrival)
  }

  /** Something may go out that could not before. Answers whether that made the lane due. */
  wake(lane: Lane, now: number): boolean {
    this.journal.set(lane, "arrivals", lane.arrivals + 1)
    if (lane.leased || (lane.dueAt !== undefined && lane.dueAt <= now)) return false
    this.setDue(lane, now)
    return true
  }

  /** Puts an entry in its place. */
  enqueue(lane: Lane, what: Omit<Entry, "ref" | "queuedAt">, now: number): void {
    const entry = { ...what, ref: ++this.lastRef, queuedAt: now }
    let own = lane.byKey.get(entry.key)
    if (own === undefined) {
      own = []
      this.journal.put(lane.byKey, entry.key, own)
      this.journal.insert(lane.keys, lowerBound(lane.keys, (key) => compareText(key, entry.key)), entry.key)
    }
    this.journal.insert(own, placeOf(own, entry), entry)
    this.journal.put(lane.byRef, entry.ref, entry)
  }

  /** Whether this very thing waits in the lane. */
  waits(lane: Lane, what: Pick<Entry, "key" | "sequence" | "orderId">): boolean {
    const own = lane.byKey.get(what.key) ?? []
    const at = own[placeOf(own, what)]
    return at !== undefined && at.sequence === what.sequence && at.orderId === what.orderId
  }

  dequeue(lane: Lane, entry: Entry): void {
    const own = lane.byKey.get(entry.key)!
    this.journal.take(own, own.indexOf(entry))
    if (own.length === 0) {
      this.journal.drop(lane.byKey, entry.key)
      this.journal.take(lane.keys, lowerBound(lane.keys, (key) => compareText(key, entry.key)))
    }
    this.journal.drop(lane.byRef, entry.ref)
  }

  /** Removes a waiting entry without sending it. */
  drop(lane: Lane, entry: Entry, reason: string, now: number): void {
    this.dequeue(lane, entry)
    this.journal.set(lane, "dropped", lane.dropped + 1)
    this.journal.insert(lane.drops, lane.drops.length, { key: entry.key, orderId: entry.orderId, reason, at: now })
    if (lane.drops.length > keptDrops) this.journal.take(lane.drops, 0)
  }

  /** The bytes that what waits, and deliveries that may still be sent, refer to. */
  payloadsInUse(tenantId: string): ReadonlySet<Uint8Array> {
    const { deliveries, lanes } = this.tenant(tenantId)
    const waiting = [...lanes.values()].flatMap((lane) => [...lane.byRef.values()].map((entry) => entry.payload))
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
