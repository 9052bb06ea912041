/** What a worker owns: tenants, their partitions and destinations, and which of them may have something to send now. */
import { Latch } from "effect"
import { type Destination, hasWork, makeDestination, signalled } from "./Destination.ts"
import { type AcquiredPartition, type OwnedPartition, partitionOf } from "./DeliveryStore.ts"

/** A rate limit looks back so far. */
export const rememberedMillis = 60_000

export interface HeldPartition {
  readonly tenantId: string
  readonly partition: number
  epoch: number
  /** When somebody else may last have sent of it, by the store's clock, where no rate marks tell that: an owner before did not give it back. */
  readonly othersUntil: number | undefined
  readonly destinations: Map<string, Destination>
  /** It is being given back: nothing more is taken from it. */
  leaving: boolean
  /** Worker time since which there was nothing to do in it. */
  quietSince: number | undefined
}

/** How a tenant's open flights are named: one take has a flight of its name in every partition that it took of. */
export const flightName = (partition: number, flight: string): string => `${partition} ${flight}`

/** A flight with deliveries whose outcome is not written. */
export interface OpenFlight {
  readonly partition: number
  readonly flight: string
  left: number
}

export interface HeldTenant {
  readonly tenantId: string
  readonly partitions: Map<number, HeldPartition>
  /** Those of the destinations that were loaded. */
  readonly sources: Set<string>
  /** Signals may be there. */
  signalled: boolean
  /** A take of what may go out has no answer yet. */
  taking: boolean
  /** A take of what was published meanwhile has no answer yet. */
  hearing: boolean
  /** While a take may take of destinations unasked: those it leaves alone unless it names them. */
  guess: ReadonlySet<string> | undefined
  /** Takes whose answers were lost. */
  readonly lostFlights: Set<string>
  /** Destinations of which nothing may be taken unasked, and perhaps some that have become idle since. */
  readonly busy: Set<Destination>
  /** Destinations that have to be loaded before anything is asked of them. */
  readonly unloaded: Set<Destination>
  /** Destinations that may have something to send, by client: each client has its turn. */
  readonly ready: Map<string, Set<Destination>>
  readonly flights: Map<string, OpenFlight>
  /** What its clients may not be sent, or closed destinations left behind. */
  readonly drops: { readonly closed: Set<string>; readonly keys: Array<{ readonly destinationId: string; readonly key: string }>; readonly deliveries: Array<{ readonly destinationId: string; readonly deliveryId: string }> }
}

/** A destination that is looked at again at an instant by the store's clock. */
interface Appointment {
  readonly at: number
  readonly destination: Destination
}

export class HeldWork {
  readonly tenants = new Map<string, HeldTenant>()
  /** Tenants that a take may find something for, whose turn comes first first. */
  readonly demand = new Set<HeldTenant>()
  /** Tenants with something to send that waits until an attempt ends. */
  readonly crowded = new Set<HeldTenant>()
  /** Open while a loop that takes should look. */
  readonly bell = Latch.makeUnsafe(false)
  private readonly appointments: Array<Appointment> = []
  private events = 0

  /** Counts what is asked, heard and written, so that of two events the later one is known. */
  nextEvent(): number {
    return ++this.events
  }

  get partitions(): ReadonlyArray<HeldPartition> {
    return Array.from(this.tenants.values()).flatMap((tenant) => Array.from(tenant.partitions.values()))
  }

  owned(tenant: HeldTenant): ReadonlyArray<OwnedPartition> {
    return Array.from(tenant.partitions.values(), ({ epoch, partition, tenantId }) => ({ tenantId, partition, epoch }))
  }

  partition(tenantId: string, partition: number): HeldPartition | undefined {
    return this.tenants.get(tenantId)?.partitions.get(partition)
  }

  find(tenantId: string, destinationId: string): Destination | undefined {
    return this.partition(tenantId, partitionOf(destinationId))?.destinations.get(destinationId)
  }

  /** The destination, new where it was unknown; undefined where its partition is not held. */
  destination(tenantId: string, destinationId: string): Destination | undefined {
    const partition = this.partition(tenantId, partitionOf(destinationId))
    if (partition === undefined) return undefined
    let destination = partition.destinations.get(destinationId)
    if (destination === undefined) {
      destination = makeDestination({ tenantId, destinationId, partition: partition.partition, othersUntil: partition.othersUntil })
      partition.destinations.set(destinationId, destination)
    }
    return destination
  }

  hold(acquired: AcquiredPartition, now: number): void {
    const { epoch, othersUntil, partition, takenOver, tenantId } = acquired
    const tenant = this.tenants.get(tenantId) ?? makeTenant(tenantId)
    this.tenants.set(tenantId, tenant)
    this.lose(tenantId, partition)
    this.tenants.set(tenantId, tenant)
    tenant.partitions.set(partition, {
      tenantId,
      partition,
      epoch,
      othersUntil: takenOver ? now : othersUntil,
      destinations: new Map(),
      leaving: false,
      quietSince: undefined
    })
    tenant.signalled = true
    this.found(tenantId, acquired)
    this.want(tenant)
  }

  /** Destinations in which something waits. What signals told of them may be lost. */
  found(tenantId: string, { backlogs, waiting }: Pick<AcquiredPartition, "backlogs" | "waiting">): void {
    for (const destinationId of new Set([...backlogs, ...waiting.map((each) => each.destinationId)])) {
      const destination = this.destination(tenantId, destinationId)
      if (destination === undefined) continue
      signalled(destination, undefined, this.nextEvent())
      this.touch(destination)
    }
  }

  /** Forgets a partition: what is running of it ends unheard. */
  lose(tenantId: string, partition: number): boolean {
    const tenant = this.tenants.get(tenantId)
    const lost = tenant?.partitions.get(partition)
    if (tenant === undefined || lost === undefined) return false
    tenant.partitions.delete(partition)
    for (const destination of lost.destinations.values()) {
      destination.lost = true
      tenant.busy.delete(destination)
      this.unready(tenant, destination)
    }
    for (const [name, flight] of tenant.flights) if (flight.partition === partition) tenant.flights.delete(name)
    if (tenant.partitions.size === 0) {
      this.tenants.delete(tenantId)
      this.demand.delete(tenant)
    }
    return true
  }

  /** Something may go out of the destination now. */
  touch(destination: Destination): void {
    const { destinationId, partition, tenantId } = destination
    const tenant = this.tenants.get(tenantId)
    // it may be forgotten, and known anew by now
    if (tenant?.partitions.get(partition)?.destinations.get(destinationId) !== destination) return
    const { settings, stale } = destination
    if (settings === undefined || stale) tenant.unloaded.add(destination)
    else {
      let own = tenant.ready.get(settings.client)
      if (own === undefined) tenant.ready.set(settings.client, own = new Set())
      own.add(destination)
    }
    this.want(tenant)
  }

  /** A take leaves it alone unless it asks for it. */
  keepBusy(destination: Destination): void {
    this.tenants.get(destination.tenantId)?.busy.add(destination)
  }

  unready(tenant: HeldTenant, destination: Destination): void {
    tenant.unloaded.delete(destination)
    const client = destination.settings?.client ?? ""
    const own = tenant.ready.get(client)
    if (own === undefined || !own.delete(destination)) return
    if (own.size === 0) tenant.ready.delete(client)
  }

  /** Publishers or operators left signals. */
  hint(tenantId: string): void {
    const tenant = this.tenants.get(tenantId)
    if (tenant === undefined) return
    tenant.signalled = true
    this.want(tenant)
  }

  /** An attempt ended. */
  makeRoom(): void {
    if (this.crowded.size > 0) this.retryCrowded()
    if (this.demand.size > 0) this.bell.openUnsafe()
  }

  private retryCrowded(): void {
    for (const tenant of this.crowded) if (this.tenants.get(tenant.tenantId) === tenant) this.demand.add(tenant)
    this.crowded.clear()
  }

  want(tenant: HeldTenant): void {
    this.demand.add(tenant)
    this.bell.openUnsafe()
  }

  /** A take of the tenant has no answer yet. */
  isTaking(tenantId: string): boolean {
    const tenant = this.tenants.get(tenantId)
    return tenant !== undefined && (tenant.taking || tenant.hearing)
  }

  lookAt(destination: Destination, at: number): void {
    if (destination.lookAt !== undefined && destination.lookAt <= at) return
    destination.lookAt = at
    push(this.appointments, { at, destination })
  }

  /** When time alone makes something ready next. */
  get nextAppointment(): number | undefined {
    return this.appointments[0]?.at
  }

  /** Destinations whose time has come are ready. */
  keepAppointments(now: number): void {
    for (let first = this.appointments[0]; first !== undefined && first.at <= now; first = this.appointments[0]) {
      pop(this.appointments)
      if (first.destination.lookAt !== first.at) continue
      first.destination.lookAt = undefined
      this.touch(first.destination)
    }
  }

  /** Forgets destinations in which there is nothing to do and of which nothing has to be remembered; whether the partition is quiet. */
  tidy(partition: HeldPartition, now: number): boolean {
    const tenant = this.tenants.get(partition.tenantId)
    if (tenant === undefined) return true
    let quiet = !hasDrops(tenant)
    for (const [destinationId, destination] of partition.destinations) {
      if (destination.taking || destination.loads > 0 || destination.stale || destination.pause !== undefined || destination.sends && hasWork(destination) || destination.inFlight.size > 0) quiet = false
      else if (destination.usedAt + rememberedMillis <= now && destination.breaker.failures === 0 && destination.unreadableUntil === undefined) {
        partition.destinations.delete(destinationId)
        tenant.busy.delete(destination)
        this.unready(tenant, destination)
      }
    }
    return quiet
  }
}

/** Whether something is to be dropped of it that the store has not dropped. */
export const hasDrops = ({ drops }: HeldTenant): boolean => drops.closed.size + drops.keys.length + drops.deliveries.length > 0

const makeTenant = (tenantId: string): HeldTenant => ({
  tenantId,
  partitions: new Map(),
  sources: new Set(),
  signalled: false,
  taking: false,
  hearing: false,
  guess: undefined,
  lostFlights: new Set(),
  busy: new Set(),
  unloaded: new Set(),
  ready: new Map(),
  flights: new Map(),
  drops: { closed: new Set(), keys: [], deliveries: [] }
})

/** A heap by time. */
const push = (heap: Array<Appointment>, one: Appointment): void => {
  let at = heap.length
  heap.push(one)
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (heap[parent]!.at <= one.at) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = one
}

const pop = (heap: Array<Appointment>): void => {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = 2 * at + 1
    if (left >= heap.length) break
    const child = left + 1 < heap.length && heap[left + 1]!.at < heap[left]!.at ? left + 1 : left
    if (heap[child]!.at >= last.at) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
}
