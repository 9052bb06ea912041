/** Rows of destinations, their entries and deliveries, and of the partitions that workers own; and which of them clients may see. */
import { compareText } from "@waybill/core"
import {
  type AttemptRecord,
  type Breaker,
  bytesOfBody,
  closedBreaker,
  type DeliveryState,
  type DestinationSettings,
  type DestinationState,
  type DestinationStatus,
  keptDrops,
  type OwnedPartition,
  partitionOf,
  type Signal,
  withdrawnReason,
  type WrittenOutcome
} from "@waybill/core/delivery"
import { Context, Effect, Layer, Option } from "effect"
import { type AccessRows, AccessTables } from "../access/AccessTables.ts"
import { type ShipmentRows, ShipmentTables } from "../access/ShipmentTables.ts"
import { lowerBound } from "../shared/Journal.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { TenantRows } from "../shared/TenantRows.ts"

export interface Entry {
  readonly ref: number
  readonly key: string
  readonly sequence: number
  readonly orderId: string
  readonly payload: Uint8Array
  readonly traceparent: string | undefined
  readonly queuedAt: number
  /** Whether a client may see it now, if its key is not a shipment. */
  readonly seenBy?: (client: string) => boolean
  /** Parts, each for clients with one of its accounts. Without parts the entry is for clients that see the shipment, which is its key. */
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

export interface Delivery {
  readonly deliveryId: string
  readonly destinationId: string
  readonly sentAt: number
  readonly entries: ReadonlyArray<Entry>
  /** Of its entries, each once. */
  readonly keys: ReadonlyArray<string>
  readonly traceparent: string | undefined
  state: DeliveryState
  attempt: number
  tries: number
  dueAt: number | undefined
  settledAt: number | undefined
  records: ReadonlyArray<AttemptRecord>
  reason: string | undefined
}

export class Destination {
  readonly destinationId: string
  readonly tenant: Tenant
  readonly partition: number
  settings: DestinationSettings
  status: DestinationStatus
  /** The state before an operator's pause, if it is restored instead of `active`. */
  resumesAs: "inactive" | undefined
  version = 0
  breaker: Breaker = closedBreaker
  rateMark: number | undefined
  /** By key, sequence and id. */
  readonly entries: Array<Entry> = []
  /** Deliveries that wait or are sent again. */
  readonly unsettled = new Map<string, Delivery>()
  /** The number of entries that were removed without being sent, and the newest of them. */
  dropped = 0
  readonly drops: Array<Drop> = []
  closedAt: number | undefined

  constructor(tenant: Tenant, settings: DestinationSettings, now: number) {
    this.destinationId = settings.destinationId
    this.tenant = tenant
    this.partition = partitionOf(settings.destinationId)
    this.settings = settings
    this.status = statusByClient(settings.state, now)
  }
}

export interface SignalRow extends Signal {
  readonly number: number
  readonly partition: number
}

export interface LeaseRow {
  readonly workerId: string
  /** `-Infinity`: the partition was released with work. */
  readonly leasedUntil: number
  /** How long it lasts from a renewal. */
  readonly leaseMillis: number
}

export interface WorkerRow {
  readonly aliveUntil: number
  readonly leaseMillis: number
}

/** The deliveries of one take in one partition. */
export interface Flight {
  readonly partition: number
  /** Sent for the first time. They get a row when their outcome is written. */
  readonly first: ReadonlyArray<Delivery>
  readonly again: ReadonlyArray<Delivery>
}

export class Tenant {
  readonly tenantId: string
  readonly destinations = new Map<string, Destination>()
  readonly closed = new Map<string, Destination>()
  readonly deliveries = new Map<string, Delivery>()
  /** By `flightKey`. */
  readonly flights = new Map<string, Flight>()
  /** By number. */
  readonly signals = new Map<number, SignalRow>()
  /** By partition. */
  readonly epochs = new Map<number, number>()
  readonly othersUntil = new Map<number, number>()
  readonly leases = new Map<number, LeaseRow>()

  constructor(tenantId: string) {
    this.tenantId = tenantId
  }
}

/** The partitions that are still owned. */
export const partitionsHeld = ({ deliveries, epochs }: Tenant, owned: ReadonlyArray<OwnedPartition>): ReadonlySet<number> => {
  const isThere = ({ attempt, deliveryId }: WrittenOutcome) => {
    const delivery = deliveries.get(deliveryId)
    return delivery !== undefined && (delivery.state !== "sending" || delivery.attempt > attempt)
  }
  return new Set(owned.filter(({ epoch, lastOutcome, partition }) => epochs.get(partition) === epoch && (lastOutcome === undefined || isThere(lastOutcome))).map(({ partition }) => partition))
}

export const flightKey = (partition: number, flight: string): string => `${partition}/${flight}`

export class DestinationTables extends Context.Service<DestinationTables, DestinationRows>()("@waybill/testkit/delivery/DestinationTables") {
  static readonly layer = Layer.effect(DestinationTables, Effect.gen(function*() {
    return new DestinationRows(yield* MemoryDatabase, yield* AccessTables, yield* ShipmentTables)
  }))
}

export class DestinationRows extends TenantRows<Tenant> {
  readonly workers = new Map<string, WorkerRow>()
  private readonly access: AccessRows
  private readonly shipments: ShipmentRows
  private lastRef = 0
  private lastSignal = 0

  constructor(database: MemoryDatabase["Service"], access: AccessRows, shipments: ShipmentRows) {
    super(database, (tenantId) => new Tenant(tenantId))
    this.access = access
    this.shipments = shipments
  }

  /** The destination if it is not closed. */
  find(tenantId: string, destinationId: string): Destination | undefined {
    return this.byTenant.get(tenantId)?.destinations.get(destinationId)
  }

  /** The destination of a delivery, closed or not. */
  destinationOf(tenant: Tenant, { destinationId }: Delivery): Destination {
    return tenant.destinations.get(destinationId) ?? tenant.closed.get(destinationId)!
  }

  /** A delivery, in flight for the first time or with a row. */
  delivery(tenantId: string, deliveryId: string): Option.Option<Delivery> {
    const { deliveries, flights } = this.of(tenantId)
    return Option.fromUndefinedOr(deliveries.get(deliveryId) ?? [...flights.values()].flatMap(({ first }) => first).find((each) => each.deliveryId === deliveryId))
  }

  open(tenantId: string, settings: DestinationSettings, now: number): void {
    const tenant = this.of(tenantId)
    this.journal.put(tenant.destinations, settings.destinationId, new Destination(tenant, settings, now))
  }

  /** Cancels deliveries that wait; those in flight end with their outcome, and the owner drops the entries. */
  close(destination: Destination, now: number): void {
    const { destinationId, tenant } = destination
    this.journal.drop(tenant.destinations, destinationId)
    this.journal.put(tenant.closed, destinationId, destination)
    this.journal.set(destination, "closedAt", now)
    for (const _ of destination.drops.slice()) this.journal.take(destination.drops, 0)
    for (const delivery of destination.unsettled.values()) if (delivery.state === "waiting") this.write(destination, delivery, "cancelled", now)
    this.signal(destination, undefined)
  }

  setStatus(destination: Destination, status: DestinationStatus, resumesAs?: Destination["resumesAs"]): void {
    this.journal.set(destination, "status", status)
    this.journal.set(destination, "resumesAs", resumesAs)
    this.raiseVersion(destination)
  }

  raiseVersion(destination: Destination): void {
    this.journal.set(destination, "version", destination.version + 1)
  }

  /** Tells the owner that something was published from `key` on; `undefined`: that anything may have changed. */
  signal({ destinationId, partition, tenant }: Destination, key: string | undefined): void {
    const number = ++this.lastSignal
    this.journal.put(tenant.signals, number, { number, partition, destinationId, key })
  }

  /** Writes the state of a delivery. In a closed destination `waiting` becomes `cancelled`. */
  write(destination: Destination, delivery: Delivery, state: DeliveryState, now: number, dueAt?: number): void {
    const { deliveryId } = delivery
    const { closed, deliveries } = destination.tenant
    const written = state === "waiting" && closed.has(destination.destinationId) ? "cancelled" : state
    const isUnsettled = written === "waiting" || written === "sending"
    if (!deliveries.has(deliveryId)) this.journal.put(deliveries, deliveryId, delivery)
    this.journal.set(delivery, "state", written)
    this.journal.set(delivery, "dueAt", written === "waiting" ? dueAt : undefined)
    this.journal.set(delivery, "settledAt", isUnsettled ? undefined : now)
    if (isUnsettled) this.journal.put(destination.unsettled, deliveryId, delivery)
    else this.journal.drop(destination.unsettled, deliveryId)
  }

  /** All deliveries, those in flight for the first time included. */
  deliveries(tenant: Tenant): ReadonlyArray<Delivery> {
    const first = [...tenant.flights.values()].flatMap((flight) => flight.first).filter(({ deliveryId }) => !tenant.deliveries.has(deliveryId))
    return [...tenant.deliveries.values(), ...first]
  }

  /** Puts an entry in its place. */
  enqueue(destination: Destination, what: Omit<Entry, "ref" | "queuedAt">, now: number): void {
    this.journal.insert(destination.entries, placeOf(destination, what), { ...what, ref: ++this.lastRef, queuedAt: now })
  }

  /** Whether the destination has this entry. */
  waits(destination: Destination, what: Pick<Entry, "key" | "sequence" | "orderId">): boolean {
    const at = destination.entries[placeOf(destination, what)]
    return at !== undefined && at.key === what.key && at.sequence === what.sequence && at.orderId === what.orderId
  }

  dequeue(destination: Destination, entry: Entry): void {
    this.journal.take(destination.entries, destination.entries.indexOf(entry, placeOf(destination, entry)))
  }

  /** Removes a waiting entry without sending it. */
  drop(destination: Destination, entry: Entry, reason: string, now: number): void {
    this.dequeue(destination, entry)
    this.journal.set(destination, "dropped", destination.dropped + 1)
    this.journal.insert(destination.drops, destination.drops.length, { key: entry.key, orderId: entry.orderId, reason, at: now })
    if (destination.drops.length > keptDrops) this.journal.take(destination.drops, 0)
  }

  /** Whether the destination's tenant is active and its client has access. */
  admits({ settings, tenant: { tenantId } }: Destination, now: number): boolean {
    return this.access.isActive(tenantId) && this.access.isLive(tenantId, settings.client, now)
  }

  /** Whether the client may see the entry. */
  sees(destination: Destination, entry: Entry): boolean {
    const { settings: { client }, tenant: { tenantId } } = destination
    if (entry.seenBy !== undefined) return entry.seenBy(client)
    if (entry.parts === undefined) return this.access.maySee(tenantId, client, this.shipments.grantsOf(tenantId, entry.key))
    return entry.parts.every(({ accounts }) => this.hasOneOf(destination, accounts))
  }

  private hasOneOf({ settings, tenant: { tenantId } }: Destination, accounts: ReadonlyArray<string>): boolean {
    const own = this.access.accountsOf(tenantId, settings.client)
    return accounts.some((account) => own.has(account))
  }

  /** Cancels a delivery with something that the client may no longer see, and lets its entries wait again. */
  withdraw(destination: Destination, delivery: Delivery, now: number): void {
    this.write(destination, delivery, "cancelled", now)
    this.journal.set(delivery, "reason", withdrawnReason)
    for (const entry of delivery.entries) if (!this.waits(destination, entry)) this.enqueue(destination, entry, now)
  }

  /** Drops an entry that the client may not see. Parts of it that the client may see become a new entry. */
  dropUnseen(destination: Destination, entry: Entry, now: number): void {
    this.drop(destination, entry, "not_visible", now)
    const seen = entry.parts?.filter(({ accounts }) => this.hasOneOf(destination, accounts)) ?? []
    if (seen.length > 0) this.enqueue(destination, { ...entry, parts: seen, payload: joinedPayloads(seen) }, now)
  }

  /** Bytes of entries and of deliveries that may still be sent: dead letters of a closed destination may not. */
  payloadsInUse(tenantId: string): ReadonlySet<Uint8Array> {
    const tenant = this.of(tenantId)
    const waiting = [...tenant.destinations.values()].flatMap(({ entries }) => entries)
    const kept = this.deliveries(tenant).filter(({ destinationId, state }) =>
      state === "sending" || state === "waiting" || (state === "dead" && !tenant.closed.has(destinationId)))
    return new Set([...waiting, ...kept.flatMap(({ entries }) => entries)].map(({ payload }) => payload))
  }
}

export const statusByClient = (state: DestinationState, now: number): DestinationStatus =>
  ({ state, reason: undefined, pausedBy: state === "paused" ? "client" : undefined, since: now })

/** The payloads, joined by commas. */
export const joinedPayloads = (parts: ReadonlyArray<{ readonly payload: Uint8Array }>): Uint8Array =>
  bytesOfBody(parts.flatMap(({ payload }, n) => n === 0 ? [payload] : [",", payload]))

const placeOf = ({ entries }: Destination, what: Pick<Entry, "key" | "sequence" | "orderId">): number =>
  lowerBound(entries, (entry) => compareText(entry.key, what.key) || entry.sequence - what.sequence || compareText(entry.orderId, what.orderId))

/** Deliveries that share a key are sent one after the other: by key, the unfinished one that goes first, which is one that is being sent, else the oldest. */
export const firstByKey = ({ unsettled }: Destination): ReadonlyMap<string, Delivery> => {
  const first = new Map<string, Delivery>()
  for (const delivery of unsettled.values()) {
    for (const key of delivery.keys) {
      const other = first.get(key)
      if (other === undefined || goesBefore(delivery, other)) first.set(key, delivery)
    }
  }
  return first
}

const goesBefore = (one: Delivery, other: Delivery): boolean =>
  one.state === other.state ? compareText(one.deliveryId, other.deliveryId) < 0 : one.state === "sending"

/** `first`: by `firstByKey`. */
export const isHeldBack = (delivery: Delivery, first: ReadonlyMap<string, Delivery>): boolean => delivery.keys.some((key) => first.get(key) !== delivery)

/** The place of the first entry after a key. */
export const placeAfter = ({ entries }: Destination, key: string | undefined): number =>
  key === undefined ? 0 : lowerBound(entries, (entry) => compareText(entry.key, key) <= 0 ? -1 : 1)

export const entriesOf = (destination: Destination, key: string): ReadonlyArray<Entry> =>
  destination.entries.slice(lowerBound(destination.entries, (entry) => compareText(entry.key, key)), placeAfter(destination, key))
