/** The work set of a worker: its partitions and destinations by tenant, and those that may send now. */
import { Latch, Semaphore } from "effect"
import { Heap } from "../../shared/Heap.ts"
import { Destination, hasWork, isFailing, isMarkAhead, ownerOf, signalled, type SlotOwner } from "./Destination.ts"
import { type AcquiredPartition, type DropRequest, type OwnedPartition, partitionOf, type WrittenOutcome } from "../DeliveryStore.ts"
import { rateWindowMillis } from "../model/RateLimit.ts"

/** A partition of this worker. */
export class OwnedPartitionState implements OwnedPartition {
  readonly tenant: OwnedTenant
  readonly tenantId: string
  readonly partition: number
  epoch: number
  lastOutcome: WrittenOutcome | undefined
  /** The last time at which a previous owner may have sent, in the worker's time, if it did not release the partition with its rate marks; otherwise -Infinity. */
  readonly othersUntil: number
  readonly destinations = new Map<string, Destination>()
  /** Its flights with unwritten outcomes, by id. */
  readonly flights = new Map<string, OpenFlight>()
  /** Number of pending takes, reclaims and drops that include it. */
  calls = 0
  /** Whether it is being released: nothing is taken from it. */
  leaving = false
  /** It has another owner, or this worker acquired it anew. */
  lost = false
  /** Worker time since which it has had no work. */
  quietSince: number | undefined

  constructor(tenant: OwnedTenant, { epoch, othersUntil = -Infinity, partition }: Omit<AcquiredPartition, "destinations">, now: number, storeAhead: number) {
    this.tenant = tenant
    this.tenantId = tenant.tenantId
    this.partition = partition
    this.epoch = epoch
    // it was stored before the clock was set back if it is later
    this.othersUntil = Math.min(othersUntil - storeAhead, now)
  }
}

/** A flight and the number of its unwritten outcomes. One take has a flight in every partition that it took from. */
export interface OpenFlight {
  readonly partition: number
  readonly flight: string
  left: number
}

/** Destinations of one client that may send. Those whose last attempt failed are apart, because they have slots of their own. */
export interface ReadyGroup {
  readonly name: string
  readonly owner: SlotOwner
  readonly isFailing: boolean
  readonly destinations: Set<Destination>
}

/** A tenant with partitions of this worker. */
export class OwnedTenant {
  readonly tenantId: string
  readonly partitions = new Map<number, OwnedPartitionState>()
  /** Sources of the loaded destinations. */
  readonly sources = new Set<string>()
  /** Whether unread signals may exist. */
  signalled = false
  /** Whether its last take failed. */
  failed = false
  /** Until when no take loop serves it, in `monotonicMillis`, because takes fail. */
  failingUntil = -Infinity
  /** Until when it shares a part of the take loops with other slow tenants, in `monotonicMillis`, because a turn of it lasted long. */
  slowUntil = -Infinity
  /** Whether a take with planned destinations is pending. */
  taking = false
  /** Held while the attempts of a take with planned destinations begin. */
  readonly beginning = Semaphore.makeUnsafe(1)
  /** Whether a take that only consumes signals is pending. */
  takingSignals = false
  /** Takes of signals, and of what they named, that are pending. */
  signalTakes = 0
  /** While a take may return unrequested deliveries: destinations whose deliveries it does not return. */
  guess: ReadonlySet<string> | undefined
  /** Takes whose responses were lost. */
  readonly lostFlights = new Set<string>()
  /** Destinations that must not give unrequested deliveries; may contain idle ones. */
  readonly busy = new Set<Destination>()
  /** Destinations to load before the next take. */
  readonly unloaded = new Set<Destination>()
  /** Destinations that may send, by name of their group. Groups take turns: the one that was served last is the last. */
  readonly ready = new Map<string, ReadyGroup>()
  /** Entries to drop: those that clients may not see, and those of closed destinations. */
  readonly drops = {
    closed: new Set<string>(),
    keys: new Array<DropRequest["keys"][number]>(),
    deliveries: new Array<DropRequest["deliveries"][number]>()
  }

  constructor(tenantId: string) {
    this.tenantId = tenantId
  }
}

/** A check of a destination that is due at a worker time. */
interface ScheduledCheck {
  readonly at: number
  readonly destination: Destination
  /** Whether it counts as a signal: anything may have changed. */
  readonly isSignal: boolean
}

/** Minimum milliseconds between two rounds of due checks: retries of many destinations that are due one after the other share a take. */
const checkGapMillis = 100

/** How long an idle destination is remembered, so that its next event needs no load, and how long while there are many. */
const rememberedMillis = 15 * 60_000
const rememberedOfManyMillis = rateWindowMillis
const manyDestinations = 10_000

/** Tenants, partitions and destinations of this worker. */
export class WorkSet {
  readonly tenants = new Map<string, OwnedTenant>()
  /** Tenants that may have work, in the order of their turns. */
  readonly demand = new Set<OwnedTenant>()
  /** Tenants with entries to send that wait for free slots. */
  readonly waitingForSlots = new Set<OwnedTenant>()
  /** Open while a take loop should run. */
  readonly workAvailable = Latch.makeUnsafe(false)
  private readonly scheduledChecks = new Heap<ScheduledCheck>((one, other) => one.at < other.at)
  private nextChecksAt = -Infinity
  private events = 0
  private knownDestinations = 0
  /** Called when the store refused partitions. */
  onRefused: () => void = () => {}

  /** Numbers requests, signals and writes, to compare their order. */
  nextEvent(): number {
    return ++this.events
  }

  get partitions(): ReadonlyArray<OwnedPartitionState> {
    return Array.from(this.tenants.values()).flatMap((tenant) => Array.from(tenant.partitions.values()))
  }

  partition(tenantId: string, partition: number): OwnedPartitionState | undefined {
    return this.tenants.get(tenantId)?.partitions.get(partition)
  }

  find(tenantId: string, destinationId: string): Destination | undefined {
    return this.partition(tenantId, partitionOf(destinationId))?.destinations.get(destinationId)
  }

  /** Returns the destination, and creates it if it is unknown; undefined if its partition is not owned. */
  destination(tenantId: string, destinationId: string): Destination | undefined {
    const partition = this.partition(tenantId, partitionOf(destinationId))
    if (partition === undefined) return undefined
    let destination = partition.destinations.get(destinationId)
    if (destination === undefined) {
      partition.destinations.set(destinationId, destination = new Destination(destinationId, partition))
      this.knownDestinations += 1
    }
    return destination
  }

  /** Adds a partition that was acquired at `now`, without state of an earlier ownership. */
  hold(acquired: AcquiredPartition, now: number, storeAhead: number): void {
    const { partition, tenantId } = acquired
    const tenant = this.tenants.get(tenantId) ?? new OwnedTenant(tenantId)
    const before = tenant.partitions.get(partition)
    if (before !== undefined) this.lose(before)
    this.tenants.set(tenantId, tenant)
    tenant.partitions.set(partition, new OwnedPartitionState(tenant, acquired, now, storeAhead))
    tenant.signalled = true
    this.found(tenantId, acquired.destinations)
    this.want(tenant)
  }

  /** Adds destinations with work, whose signals may be lost. */
  found(tenantId: string, destinationIds: ReadonlyArray<string>): void {
    for (const destinationId of destinationIds) {
      const destination = this.destination(tenantId, destinationId)
      if (destination === undefined) continue
      signalled(destination, undefined, this.nextEvent())
      this.touch(destination)
    }
  }

  /** Removes a partition: outcomes of its attempts in flight are ignored. */
  lose(owned: OwnedPartitionState): void {
    if (owned.lost) return
    const { partition, tenant, tenantId } = owned
    owned.lost = true
    tenant.partitions.delete(partition)
    this.knownDestinations -= owned.destinations.size
    for (const destination of owned.destinations.values()) this.setAside(destination)
    if (tenant.partitions.size > 0) return
    this.tenants.delete(tenantId)
    this.demand.delete(tenant)
  }

  /** Loses partitions that the store refused, unless this worker has raised their epoch since. Returns their number. */
  loseRefused(refused: ReadonlyArray<OwnedPartition>): number {
    const lost = refused.flatMap(({ epoch, partition, tenantId }) => {
      const owned = this.partition(tenantId, partition)
      return owned?.epoch === epoch ? [owned] : []
    })
    for (const owned of lost) this.lose(owned)
    if (lost.length > 0) this.onRefused()
    return lost.length
  }

  /** Marks the destination as possibly ready to send. */
  touch(destination: Destination): void {
    const { destinationId, loads, owned, settings, stale } = destination
    const { tenant } = owned
    // it may have been removed and created again
    if (owned.lost || owned.destinations.get(destinationId) !== destination) return
    if (settings === undefined || stale) {
      // a load that is pending touches it again
      if (stale || loads === 0) tenant.unloaded.add(destination)
    } else {
      const name = `${isFailing(destination)} ${settings.client}`
      const group = tenant.ready.get(name) ?? { name, owner: ownerOf(destination), isFailing: isFailing(destination), destinations: new Set() }
      if (destination.readyIn !== group) this.unready(destination)
      tenant.ready.set(name, group)
      group.destinations.add(destination)
      destination.readyIn = group
    }
    this.want(tenant)
  }

  /** Removes the destination from those that may send and those to load. */
  unready(destination: Destination): void {
    const { owned: { tenant }, readyIn } = destination
    tenant.unloaded.delete(destination)
    if (readyIn === undefined) return
    destination.readyIn = undefined
    readyIn.destinations.delete(destination)
    tenant.ready.delete(readyIn.name)
    if (readyIn.destinations.size > 0) tenant.ready.set(readyIn.name, readyIn)
  }

  /** Nothing is sent to it any more, or it is idle. */
  private setAside(destination: Destination): void {
    destination.owned.tenant.busy.delete(destination)
    this.unready(destination)
  }

  /** Publishers or operators left signals. */
  hint(tenantId: string): void {
    const tenant = this.tenants.get(tenantId)
    if (tenant === undefined) return
    tenant.signalled = true
    this.want(tenant)
  }

  /** Wakes take loops after slots became free. */
  makeRoom(): void {
    for (const tenant of this.waitingForSlots) if (this.tenants.get(tenant.tenantId) === tenant) this.demand.add(tenant)
    this.waitingForSlots.clear()
    if (this.demand.size > 0) this.workAvailable.openUnsafe()
  }

  /** Marks the tenant as possibly having work. */
  want(tenant: OwnedTenant): void {
    this.demand.add(tenant)
    this.workAvailable.openUnsafe()
  }

  /** Schedules a check of the destination, unless an earlier one is scheduled. */
  lookAt(destination: Destination, at: number): void {
    if ((destination.checksAt.at(-1) ?? Infinity) <= at) return
    destination.checksAt.push(at)
    this.scheduledChecks.add({ at, destination, isSignal: false })
  }

  /** Schedules a signal of the destination, unless one is scheduled. */
  signalAt(destination: Destination, at: number): void {
    if (destination.signalScheduled) return
    destination.signalScheduled = true
    this.scheduledChecks.add({ at, destination, isSignal: true })
  }

  /** When the next round of checks is due. */
  get nextCheckAt(): number | undefined {
    const { first } = this.scheduledChecks
    return first === undefined ? undefined : Math.max(first.at, this.nextChecksAt)
  }

  /** Marks destinations with due checks as ready. */
  runDueChecks(now: number): void {
    if (now < (this.nextCheckAt ?? Infinity)) return
    this.nextChecksAt = now + checkGapMillis
    for (let { first } = this.scheduledChecks; first !== undefined && first.at <= now; first = this.scheduledChecks.first) {
      this.scheduledChecks.take()
      const { destination, isSignal } = first
      if (isSignal) {
        destination.signalScheduled = false
        signalled(destination, undefined, this.nextEvent())
      } else destination.checksAt.pop()
      this.touch(destination)
    }
  }

  /** Removes idle destinations without state to keep. Returns whether the partition is idle. */
  tidy(partition: OwnedPartitionState, now: number, storeNow: number): boolean {
    let quiet = !hasDrops(partition.tenant)
    const usedSince = now - (this.knownDestinations > manyDestinations ? rememberedOfManyMillis : rememberedMillis)
    for (const [destinationId, destination] of partition.destinations) {
      if (destination.taking || destination.loads > 0 || destination.stale || destination.signalScheduled || destination.pause !== undefined || destination.sends && hasWork(destination) || destination.inFlight.size > 0) quiet = false
      else if (destination.usedAt <= usedSince && destination.breaker.failures === 0 && destination.unreadableUntil === undefined && !isMarkAhead(destination, storeNow)) {
        partition.destinations.delete(destinationId)
        this.knownDestinations -= 1
        this.setAside(destination)
      }
    }
    return quiet
  }
}

/** Partitions as a call names them. */
export const ownershipOf = (partitions: Iterable<OwnedPartitionState>): ReadonlyArray<OwnedPartition> =>
  Array.from(partitions, ({ epoch, lastOutcome, partition, tenantId }) => ({ tenantId, partition, epoch, lastOutcome }))

/** Counts a call that names these partitions, until the returned function is called. */
export const beginCall = (partitions: ReadonlyArray<OwnedPartitionState>): () => void => {
  for (const partition of partitions) partition.calls += 1
  return () => {
    for (const partition of partitions) partition.calls -= 1
  }
}

/** Whether entries wait to be dropped. */
export const hasDrops = ({ drops }: OwnedTenant): boolean => drops.closed.size + drops.keys.length + drops.deliveries.length > 0
