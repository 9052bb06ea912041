/**
 * Storage port of a delivery worker: partitions, takes from their destinations, and outcomes.
 *
 * A worker owns partitions, fixed shares of a tenant's destinations. Only the owner takes entries, sends deliveries and writes their
 * outcomes, so due deliveries, deliveries in flight and limits are in its memory. Every write has the epoch of the ownership and the last outcome that it
 * wrote. After another worker's acquisition, or a crash in which the store lost that outcome, it changes nothing and reports that.
 *
 * All values are plain. Instants are milliseconds since 1970 by the store's clock. Keys are in the order of their code points.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { AttemptRecord, DestinationSettings } from "./DeliveryQueue.ts"
import type { Breaker } from "./model/Breaker.ts"
import type { SealedVersion } from "./secrets/SecretStore.ts"

/** Number of partitions of every tenant, and so of workers that can share the work of one tenant. */
export const partitionsPerTenant = 8

/**
 * The partition of a destination, from 0: its id's last byte modulo `partitionsPerTenant`, and so its last hexadecimal digit modulo that. Publishers
 * compute the same in SQL.
 */
export const partitionOf = (destinationId: string): number => {
  const code = destinationId.charCodeAt(destinationId.length - 1)
  return (code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57) % partitionsPerTenant
}

/** A fixed share of a tenant's destinations. `partition` is from 0 to `partitionsPerTenant` - 1. */
export interface Partition {
  readonly tenantId: string
  readonly partition: number
}

/** A partition with what fences its owner's writes. */
export interface OwnedPartition extends Partition {
  /** Every owner has a higher one than the previous owner. */
  readonly epoch: number
  /** The last outcome in it that the store answered as written; undefined before the first one. Without it the store has crashed, and the owner's memory is ahead of it. */
  readonly lastOutcome?: WrittenOutcome | undefined
}

/** An outcome that was written: its delivery has ended, waits, or is sent by a later attempt. */
export interface WrittenOutcome {
  readonly deliveryId: string
  readonly attempt: number
}

/** A delivery that waits for its next attempt. */
export interface WaitingDelivery {
  readonly deliveryId: string
  readonly dueAt: number
}

/** A partition as its new owner acquires it. */
export interface AcquiredPartition extends OwnedPartition {
  /**
   * The last time at which previous owners may have sent more than the rate marks record. If the previous owner did not release the partition: now, because its
   * deliveries in flight may have been sent; they are `waiting`, due at once, with that attempt counted. Otherwise the value of the last release, or its time if another transaction had then locked a destination, so that its rate mark could not be stored.
   */
  readonly othersUntil: number | undefined
  /** Destinations with entries or deliveries that wait, closed ones included. */
  readonly destinations: ReadonlyArray<string>
}

/** A partition as its owner releases it. */
export interface ReleasedPartition extends OwnedPartition {
  /** It has no work, so it needs no owner until new entries arrive. Otherwise it is free at once. */
  readonly idle: boolean
  /** The last time at which previous owners may have sent, if one of them ended without a release. */
  readonly othersUntil: number | undefined
}

/** Maximum number of waiting deliveries that a `load` returns of a destination: of those that no other holds back, the ones that are due first. */
export const waitingPerDestination = 200

/** A destination as its owner loads it. */
export interface LoadedDestination extends Omit<DestinationSettings, "state"> {
  /** Increases with every change of settings, secret or state. */
  readonly version: number
  readonly secrets: ReadonlyArray<SealedVersion>
  /** Whether it may send; false while it is paused or inactive. */
  readonly isActive: boolean
  /** Whether the secret now belongs to another client, so that nothing may be signed with it. */
  readonly secretRefused: boolean
  /** Whether deliveries also have the older `X-Signature`. */
  readonly bodySignature: boolean
  readonly breaker: Breaker
  /** The mark of its rate limit (see `takeFromRate`) at the last release. */
  readonly rateMark: number | undefined
  /**
   * Deliveries that wait, by due time; at most `waitingPerDestination`. Without those that an older one of their shipment holds back, or one that is being sent again: an
   * operator's recovery may leave hundreds of them, which must not hide other shipments.
   */
  readonly waiting: ReadonlyArray<WaitingDelivery>
  /** Whether more of these wait than `waiting` has. */
  readonly moreWaiting: boolean
  /** Whether others hold some back. Load again when one that was sent again has an outcome. */
  readonly holdsBack: boolean
}

/** What to take from one destination. */
export interface TakeFrom {
  readonly destinationId: string
  /** Takes entries after this key; from the first key if undefined. */
  readonly after: string | undefined
  /** Maximum number of new deliveries. 0: only `again`. */
  readonly batches: number
  /** No further event is read once the events of new deliveries have these bytes. One is read in any case. */
  readonly bytes: number
  /**
   * Deliveries of this destination that are in flight for the first time, whose keys are skipped. Empty if `after` is beyond all their keys. Keys of
   * deliveries that wait or are sent again are always skipped.
   */
  readonly inFlight: ReadonlyArray<string>
  /** Waiting deliveries to send again, oldest first. */
  readonly again: ReadonlyArray<string>
}

/** One take from destinations of a tenant. */
export interface TakeRequest {
  readonly tenantId: string
  /** Partitions to take from. */
  readonly owned: ReadonlyArray<OwnedPartition>
  /** The id of this take. Its n-th new delivery has the id `deliveryIdOf(flight, n)`; every partition that it takes from has one flight with this id. */
  readonly flight: string
  /** Becomes `sentAt` of new deliveries. */
  readonly sentAt: number
  readonly from: ReadonlyArray<TakeFrom>
  /** Sources (see `DestinationSettings`) of the destinations to take from; nothing is taken from others. */
  readonly sources: ReadonlyArray<string>
  /** Maximum number of signals to consume. 0: signals are left to another take, possibly a concurrent one. */
  readonly signals: number
  /**
   * Destinations that must not give unrequested deliveries. Any other destination with a consumed signal that is not in `from` gives one new delivery, from its
   * first key on, unless its stored breaker is open or its stored rate mark is in the future.
   */
  readonly skip: ReadonlyArray<string>
  /** Maximum number of unrequested new deliveries. */
  readonly unrequested: number
  /** `bytes` of each unrequested delivery. */
  readonly unrequestedBytes: number
  /** Maximum bytes of the events in one new delivery, unless a single event is larger than half of it. */
  readonly maxBatchBytes: number
  /** Maximum number of entries that are read in one destination, skipped ones included. */
  readonly lookAt: number
}

/** The id of the n-th new delivery of a take, from 0. `flight` is an id whose last four hexadecimal digits are zeros. */
export const deliveryIdOf = (flight: string, n: number): string => flight.slice(0, -4) + n.toString(16).padStart(4, "0")

/** The id of the flight in which a delivery was sent for the first time. */
export const flightOf = (deliveryId: string): string => `${deliveryId.slice(0, -4)}0000`

/** Maximum number of new deliveries of one take. */
export const deliveriesPerTake = 1024

/** A taken delivery, to be sent now. Its attempt is counted. */
export interface TakenDelivery {
  readonly destinationId: string
  readonly deliveryId: string
  /** The flight of this take. */
  readonly flight: string
  /** When its entries were frozen, as in its body. */
  readonly sentAt: number
  /** Number of all attempts, this one included. */
  readonly attempt: number
  /** Number of counted attempts since the last manual retry, this one included. */
  readonly tries: number
  readonly events: number
  /** The bytes of its events, joined by commas. */
  readonly body: Uint8Array
  /** The largest of its keys. */
  readonly lastKey: string
  readonly traceparent: string | undefined
}

/** Result of a take in one destination. */
export interface TakenFrom {
  readonly destinationId: string
  readonly version: number
  /** Whether it is active and its client and tenant have access. Otherwise nothing was taken, and a signal follows when that changes. */
  readonly sends: boolean
  /** The start of the next take. */
  readonly after: string | undefined
  /** Whether entries wait after that key, or were not read. */
  readonly more: boolean
  /** Whether entries wait at or before that key under the key of an unfinished delivery. When one of those ends, take from the first key again. */
  readonly blocked: boolean
  /** Keys and deliveries with entries that its client may no longer see. They were not taken; `drop` them. */
  readonly unseenKeys: ReadonlyArray<string>
  readonly unseenDeliveries: ReadonlyArray<string>
}

/** A destination has new entries or changes. */
export interface Signal {
  readonly destinationId: string
  /** The smallest published key; undefined: anything may have changed. */
  readonly key: string | undefined
}

/** Result of a take. */
export interface Taken {
  /** The store's clock. */
  readonly now: number
  /** Partitions of `owned` that the caller still owned. Nothing was taken from the others. */
  readonly owned: ReadonlyArray<number>
  readonly signals: ReadonlyArray<Signal>
  /** Whether unread signals remain. */
  readonly moreSignals: boolean
  /** Destinations of `from` and unrequested ones. A missing one is closed, or its source is not in `sources`. */
  readonly from: ReadonlyArray<TakenFrom>
  readonly deliveries: ReadonlyArray<TakenDelivery>
}

/** The outcome of an attempt. */
export interface DeliveryOutcome {
  readonly destinationId: string
  readonly deliveryId: string
  /** The flight it was last taken in. */
  readonly flight: string
  /** Number of the attempt: writing an outcome again changes nothing. */
  readonly attempt: number
  /** `waiting` in a closed destination becomes `cancelled`. */
  readonly state: "delivered" | "waiting" | "dead"
  /** Milliseconds until the next attempt, if `waiting`. */
  readonly dueInMillis: number
  /** The attempt is not counted, because this process stopped before the response. */
  readonly notCounted: boolean
  readonly record: AttemptRecord | undefined
}

/** Breaker, and possibly a pause, of a destination to write. */
export interface DestinationChange {
  readonly destinationId: string
  /** The endpoint that breaker and pause apply to. If the stored one differs, both are ignored, except for a pause with `always`. */
  readonly endpointUrl: string
  readonly breaker: Breaker
  /** Reason for a pause of a destination that is active, or paused for a purge (`purgeReason`); undefined: no pause. */
  readonly pause: string | undefined
  readonly always: boolean
  /**
   * The delivery whose outcome is the cause of the pause, if there is one. The pause is written only together with that outcome: a settlement that is sent again
   * must not pause a destination that was resumed since.
   */
  readonly cause?: string | undefined
}

/** Outcomes and changes of destinations to write. */
export interface SettleRequest {
  readonly tenantId: string
  readonly owned: ReadonlyArray<OwnedPartition>
  readonly outcomes: ReadonlyArray<DeliveryOutcome>
  /** Flights to remove: with this request every one of their deliveries has a written outcome. */
  readonly ended: ReadonlyArray<{ readonly partition: number; readonly flight: string }>
  readonly destinations: ReadonlyArray<DestinationChange>
}

/** Result of a settlement. */
export interface Settled {
  /** Partitions that the caller still owned. Nothing was written for the others. */
  readonly owned: ReadonlyArray<number>
  /** Destinations that another transaction has locked. Nothing was written for them: settle it again. */
  readonly locked: ReadonlyArray<string>
}

/**
 * Whether the commit of a settlement has to wait for the disk: if a crash loses it, the owner of each partition notices that by an outcome in it (`lastOutcome`), but a
 * pause may be written of a destination without an outcome.
 */
export const waitsForDisk = ({ destinations, outcomes }: SettleRequest): boolean => {
  const ended = new Set(outcomes.map(({ destinationId }) => destinationId))
  return destinations.some(({ destinationId }) => !ended.has(destinationId))
}

/** Waiting entries that must not be sent. */
export interface DropRequest {
  readonly tenantId: string
  readonly owned: ReadonlyArray<OwnedPartition>
  /** Closed destinations, removed ones included: all their entries, and deliveries that an `acquire` or a `reclaim` made wait while they were closed. */
  readonly closed: ReadonlyArray<string>
  /** Of these keys: the entries that the client may no longer see. */
  readonly keys: ReadonlyArray<{ readonly destinationId: string; readonly key: string }>
  /** Waiting deliveries with entries that their client may no longer see: they are cancelled, and their entries wait again. */
  readonly deliveries: ReadonlyArray<{ readonly destinationId: string; readonly deliveryId: string }>
}

/** Result of a drop. */
export interface Dropped {
  /** Number of dropped entries, of closed destinations included. */
  readonly dropped: number
  /** Whether entries are left for another call. */
  readonly more: boolean
  /** Destinations that another transaction has locked. Nothing was dropped in them: ask again later. */
  readonly locked: ReadonlyArray<string>
}

/** Reason of a delivery that was cancelled because its client may no longer see one of its entries. */
export const withdrawnReason = "Its client may no longer see everything in it, or not all of it is still stored. The rest is sent in another delivery."

/** A worker and the duration of its leases. */
export interface WorkerLease {
  readonly workerId: string
  readonly leaseMillis: number
  /** It takes nothing more, so that it does not count as alive. Its leases last until its attempts have ended. */
  readonly isStopping?: boolean
}

/** Storage port of delivery workers. A conflict of owners is a result, not an error. */
export class DeliveryStore extends Context.Service<DeliveryStore, {
  /**
   * Registers the worker as alive, unless it is stopping, and extends its leases. Returns the partitions that it still owns, the number of live workers, this one included, and
   * the number of partitions with an owner.
   *
   * A lease that ends later than twice its duration from now was granted before the clock was set back. It is shortened to one duration: a live owner renews it
   * in that time. A worker whose registration ends as late does not count as alive.
   */
  readonly renew: (worker: WorkerLease) => Effect.Effect<{
    readonly now: number
    readonly owned: ReadonlyArray<OwnedPartition>
    readonly workers: number
    readonly active: number
  }, StorageError>
  /** Partitions of this worker with signals, and partitions with work that have no owner or whose lease has ended, longest waiting first; at most `limit` of each. */
  readonly look: (workerId: string, limit: number) => Effect.Effect<{
    readonly signalled: ReadonlyArray<Partition>
    readonly free: ReadonlyArray<Partition>
  }, StorageError>
  /** Makes the worker the owner of those partitions that are free or already its own, with new epochs, and returns their destinations with work. */
  readonly acquire: (worker: WorkerLease, tenantId: string, partitions: ReadonlyArray<number>) => Effect.Effect<{
    readonly now: number
    readonly partitions: ReadonlyArray<AcquiredPartition>
  }, StorageError>
  /** Loads destinations by id, without closed ones. */
  readonly load: (tenantId: string, destinationIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<LoadedDestination>, StorageError>
  /**
   * Consumes signals, freezes waiting entries as new deliveries, and counts the next attempt of waiting deliveries. A key is in one unfinished delivery at a
   * time. Returned deliveries are in flight, and stored in the flight until their outcomes are settled. Waits for the disk.
   */
  readonly take: (request: TakeRequest) => Effect.Effect<Taken, StorageError>
  /**
   * After a take without a response: raises the epochs, so that the take can no longer happen, and makes its deliveries, of which none was sent, wait again
   * with the attempt not counted. Returns the partitions that were still owned, with their new epochs, and their destinations with work as `acquire` does,
   * because the take may have consumed their signals.
   */
  readonly reclaim: (tenantId: string, owned: ReadonlyArray<OwnedPartition>, flight: string) => Effect.Effect<{
    readonly owned: ReadonlyArray<OwnedPartition>
    readonly destinations: ReadonlyArray<string>
  }, StorageError>
  /**
   * Writes outcomes, without waiting for the disk unless `waitsForDisk`. After a crash the last outcomes may be missing, and with them everything that
   * was settled later. It waits for no transaction that has locked a destination, which a host may keep open for long.
   */
  readonly settle: (request: SettleRequest) => Effect.Effect<Settled, StorageError>
  /** Removes entries that must not be sent, in bounded steps. It waits for no transaction that has locked a destination, as `settle`. */
  readonly drop: (request: DropRequest) => Effect.Effect<Dropped, StorageError>
  /** Releases partitions. `load` returns the `rateMarks` to the next owner. */
  readonly release: (
    tenantId: string,
    partitions: ReadonlyArray<ReleasedPartition>,
    rateMarks: ReadonlyArray<{ readonly destinationId: string; readonly mark: number }>
  ) => Effect.Effect<void, StorageError>
}>()("@waybill/core/delivery/DeliveryStore") {}

type Store = DeliveryStore["Service"]

/** Wraps a store: every call goes through `answer`, with its name. */
export const wrapCalls = (store: Store, answer: <A>(call: keyof Store, from: Effect.Effect<A, StorageError>) => Effect.Effect<A, StorageError>): Store => ({
  renew: (worker) => answer("renew", store.renew(worker)),
  look: (workerId, limit) => answer("look", store.look(workerId, limit)),
  acquire: (worker, tenantId, partitions) => answer("acquire", store.acquire(worker, tenantId, partitions)),
  load: (tenantId, destinationIds) => answer("load", store.load(tenantId, destinationIds)),
  take: (request) => answer("take", store.take(request)),
  reclaim: (tenantId, owned, flight) => answer("reclaim", store.reclaim(tenantId, owned, flight)),
  settle: (request) => answer("settle", store.settle(request)),
  drop: (request) => answer("drop", store.drop(request)),
  release: (tenantId, partitions, rateMarks) => answer("release", store.release(tenantId, partitions, rateMarks))
})
