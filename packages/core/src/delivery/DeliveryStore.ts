/**
 * Storage port of a delivery worker: partitions, takes from their destinations, and outcomes.
 *
 * A worker owns partitions, fixed shares of a tenant's destinations. Only the owner takes entries, sends deliveries and writes their
 * outcomes, so due deliveries, deliveries in flight and limits are in its memory. Every write names the epoch of the ownership; a write with an
 * earlier epoch changes nothing and reports this.
 *
 * All values are plain. Instants are milliseconds since 1970 by the store's clock. Keys are in the order of their code points.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { AttemptRecord, DestinationSettings } from "./DeliveryQueue.ts"
import type { Breaker } from "./model/Breaker.ts"
import type { SealedVersion } from "./secrets/SecretStore.ts"

/** Partitions of every tenant: as many workers can share the work of one tenant. */
export const partitionsPerTenant = 8

/**
 * The partition of a destination, from 0: its id's last byte modulo `partitionsPerTenant`, and so its last hexadecimal digit modulo that. Publishers
 * compute the same in SQL.
 */
export const partitionOf = (destinationId: string): number => {
  const code = destinationId.charCodeAt(destinationId.length - 1)
  return (code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57) % partitionsPerTenant
}

export interface Partition {
  readonly tenantId: string
  readonly partition: number
}

/** A partition and the number that fences its owner's writes: every owner has a higher one than the owner before. */
export interface OwnedPartition extends Partition {
  readonly epoch: number
}

/** A delivery that waits for its next attempt. */
export interface WaitingDelivery {
  readonly deliveryId: string
  readonly dueAt: number
}

/** A partition as its new owner acquires it. */
export interface AcquiredPartition extends OwnedPartition {
  /**
   * The last time at which previous owners may have sent, beyond what the rate marks say. Now if the previous owner did not release the partition: its
   * deliveries in flight may have been sent, and are `waiting` now, due at once, with that attempt counted. Otherwise from the last release.
   */
  readonly othersUntil: number | undefined
  /** Destinations with entries or deliveries that wait, closed ones included. */
  readonly destinations: ReadonlyArray<string>
}

export interface ReleasedPartition extends OwnedPartition {
  /** It has no work, so it needs no owner until new entries arrive. Otherwise it is free at once. */
  readonly idle: boolean
  /** The last time at which previous owners may have sent, if one of them ended without a release. */
  readonly othersUntil: number | undefined
}

/** Maximum number of waiting deliveries that a `load` returns of a destination; when they have ended, the next one returns others. */
export const waitingPerDestination = 200

/** A destination as its owner loads it. */
export interface LoadedDestination extends Omit<DestinationSettings, "state"> {
  /** Increases with every change of settings, secret or state. */
  readonly version: number
  readonly secrets: ReadonlyArray<SealedVersion>
  /** Whether it may send; false while it is paused or inactive. */
  readonly isActive: boolean
  /** The secret has another owner now, so nothing is signed with it for this client. */
  readonly secretRefused: boolean
  readonly bodySignature: boolean
  readonly breaker: Breaker
  /** When the allowance of its rate is used up to, as the last owner left it. */
  readonly rateMark: number | undefined
  /** Deliveries that wait, by due time; at most `waitingPerDestination`. */
  readonly waiting: ReadonlyArray<WaitingDelivery>
  /** More deliveries wait than are named. */
  readonly moreWaiting: boolean
}

export interface TakeFrom {
  readonly destinationId: string
  /** Entries are taken after this key; from the first one when undefined. */
  readonly after: string | undefined
  /** New deliveries, at most. 0: only `again`. */
  readonly batches: number
  /**
   * New deliveries of this destination that are in flight, whose keys are passed over. Empty where `after` lies beyond all their keys. Keys of
   * deliveries that wait or are sent again are always passed over.
   */
  readonly inFlight: ReadonlyArray<string>
  /** Waiting deliveries to send again, oldest first. */
  readonly again: ReadonlyArray<string>
}

export interface TakeRequest {
  readonly tenantId: string
  readonly owned: ReadonlyArray<OwnedPartition>
  /** Names this take. Its n-th new delivery has the id `deliveryIdOf(flight, n)`; every partition with deliveries in it has one flight of this name. */
  readonly flight: string
  /** Becomes `sentAt` of new deliveries. */
  readonly sentAt: number
  readonly from: ReadonlyArray<TakeFrom>
  /** What the entries of these destinations refer to, as `DestinationSettings` names it; of others nothing is taken. */
  readonly sources: ReadonlyArray<string>
  /** Signals to consume, at most. 0: they are left to another take, also beside this one. */
  readonly signals: number
  /**
   * Whether a destination with a consumed signal, which is neither in `from` nor in `skip`, gives one new delivery too, from its first
   * key on: its owner knows nothing of it that would forbid it. Not where its stored breaker is open or its stored rate mark lies ahead.
   */
  readonly skip: ReadonlyArray<string>
  /** New deliveries from such destinations, at most. 0: none. */
  readonly unrequested: number
  /** Bytes of the events in one new delivery, at most, unless a single event is larger than half of it. */
  readonly maxBatchBytes: number
  /** Entries that are looked at in one destination, at most: those that are passed over cost time too. */
  readonly lookAt: number
}

/** The id of the n-th new delivery of a take, from 0. `flight` is an id whose last four hexadecimal digits are zeros. */
export const deliveryIdOf = (flight: string, n: number): string => flight.slice(0, -4) + n.toString(16).padStart(4, "0")

/** The flight of a new delivery. */
export const flightOf = (deliveryId: string): string => `${deliveryId.slice(0, -4)}0000`

/** New deliveries of one take, at most. */
export const deliveriesPerTake = 1024

/** A delivery with its attempt counted: it is sent now. */
export interface TakenDelivery {
  readonly destinationId: string
  readonly deliveryId: string
  /** Of this take. */
  readonly flight: string
  readonly sentAt: number
  /** Attempts in all and since the last manual retry, this one included. */
  readonly attempt: number
  readonly tries: number
  readonly events: number
  /** The bytes of its events, joined by commas. */
  readonly body: Uint8Array
  /** The largest of its keys. */
  readonly lastKey: string
  readonly traceparent: string | undefined
}

/** What a take found in a destination it took from, or would have. */
export interface TakenFrom {
  readonly destinationId: string
  readonly version: number
  /** It is active and its client and tenant have access. Otherwise nothing was taken; a signal tells when that changes. */
  readonly sends: boolean
  /** The start of the next take. */
  readonly after: string | undefined
  /** Entries wait after that key, or were not scanned. */
  readonly more: boolean
  /** Something waits at or before that key under a key in flight or of a delivery that waits: look again from the first key when one of them ends. */
  readonly blocked: boolean
  /** Keys and deliveries with things that its client may no longer see; they were not taken: `drop` them. */
  readonly unseenKeys: ReadonlyArray<string>
  readonly unseenDeliveries: ReadonlyArray<string>
}

/** A destination has new entries or changes. */
export interface Signal {
  readonly destinationId: string
  /** The smallest published key; undefined: anything may have changed. */
  readonly key: string | undefined
}

export interface Taken {
  readonly now: number
  /** Those of `owned` whose epoch still held. Of the others nothing was taken. */
  readonly owned: ReadonlyArray<number>
  readonly signals: ReadonlyArray<Signal>
  /** More signals are there than were to be consumed. */
  readonly moreSignals: boolean
  /** Destinations of `from` and unrequested ones; one that is missing is closed, or of none of `sources`. */
  readonly from: ReadonlyArray<TakenFrom>
  readonly deliveries: ReadonlyArray<TakenDelivery>
}

/** The outcome of an attempt. */
export interface DeliveryOutcome {
  readonly destinationId: string
  readonly deliveryId: string
  /** The flight it was last taken in. */
  readonly flight: string
  /** Of the attempt: an outcome that is written twice changes nothing more. */
  readonly attempt: number
  /** `waiting` in a closed destination becomes `cancelled`. */
  readonly state: "delivered" | "waiting" | "dead"
  /** Until the next attempt, when `waiting`. */
  readonly dueInMillis: number
  /** The attempt is not counted, because this process stopped before the response. */
  readonly notCounted: boolean
  readonly record: AttemptRecord | undefined
}

export interface DestinationChange {
  readonly destinationId: string
  /** The endpoint of breaker and pause. If it has changed meanwhile, both are ignored, except for a pause with `always`. */
  readonly endpointUrl: string
  readonly breaker: Breaker
  /** Reason for a pause; undefined: no pause. */
  readonly pause: string | undefined
  readonly always: boolean
}

export interface SettleRequest {
  readonly tenantId: string
  readonly owned: ReadonlyArray<OwnedPartition>
  readonly outcomes: ReadonlyArray<DeliveryOutcome>
  /** Flights of which every delivery's outcome is written with this. */
  readonly ended: ReadonlyArray<{ readonly partition: number; readonly flight: string }>
  readonly destinations: ReadonlyArray<DestinationChange>
}

/** Waiting entries that must not be sent. */
export interface DropRequest {
  readonly tenantId: string
  readonly owned: ReadonlyArray<OwnedPartition>
  /** Closed destinations: all their entries. */
  readonly closed: ReadonlyArray<string>
  /** What the client may no longer see among the entries of these keys. */
  readonly keys: ReadonlyArray<{ readonly destinationId: string; readonly key: string }>
  /** Waiting deliveries with something that their client may no longer see: they are cancelled, and what is in them waits again. */
  readonly deliveries: ReadonlyArray<string>
}

/** What operators read of a delivery that was cancelled because of what was in it. */
export const withdrawnReason = "Its client may no longer see everything in it. What the client may still see goes out in another delivery."

export interface WorkerLease {
  readonly workerId: string
  readonly leaseMillis: number
}

export class DeliveryStore extends Context.Service<DeliveryStore, {
  /**
   * Says that the worker is alive, and extends its leases. Answers what it still owns, how many workers are alive, this one included, and
   * how many partitions have an owner. `startedAt`: when the store last began to run; outcomes that were settled just before may be lost.
   *
   * A lease that ends more than two of its lengths from now was granted by a clock that was set back since. It ends in one length: an owner that is
   * alive has renewed it by then. A worker whose registration lies as far ahead does not count as alive.
   */
  readonly renew: (worker: WorkerLease) => Effect.Effect<{
    readonly now: number
    readonly startedAt: number
    readonly owned: ReadonlyArray<OwnedPartition>
    readonly workers: number
    readonly active: number
  }, StorageError>
  /** Partitions of this worker with signals, and partitions with work whose owner is gone or that have none, longest first; so many of each at most. */
  readonly look: (workerId: string, limit: number) => Effect.Effect<{
    readonly signalled: ReadonlyArray<Partition>
    readonly free: ReadonlyArray<Partition>
  }, StorageError>
  /** Makes the worker the owner of those that are free or its own already, under a new epoch, and answers what it finds in them. */
  readonly acquire: (worker: WorkerLease, tenantId: string, partitions: ReadonlyArray<number>) => Effect.Effect<{
    readonly now: number
    readonly partitions: ReadonlyArray<AcquiredPartition>
  }, StorageError>
  /** Destinations by their ids; closed ones are left out. */
  readonly load: (tenantId: string, destinationIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<LoadedDestination>, StorageError>
  /**
   * Consumes signals, takes entries out of destinations and freezes them as new deliveries, and counts the next attempt of deliveries that waited. One
   * key is in one delivery at a time. What is answered is in flight from now on, and stands in the flight until its outcome is settled.
   */
  readonly take: (request: TakeRequest) => Effect.Effect<Taken, StorageError>
  /**
   * After a take whose answer was lost: raises the epochs, so that the take happened or never will, and makes what it took, of which nothing was sent, wait again
   * with the attempt uncounted. Answers the partitions that were still owned, with their new epochs, and their destinations as `acquire` does:
   * the signals that the take consumed are gone.
   */
  readonly reclaim: (tenantId: string, owned: ReadonlyArray<OwnedPartition>, flight: string) => Effect.Effect<{
    readonly owned: ReadonlyArray<OwnedPartition>
    readonly destinations: ReadonlyArray<string>
  }, StorageError>
  /** Writes outcomes. Does not wait for the disk. Answers the partitions whose epoch still held; of the others nothing was written. */
  readonly settle: (request: SettleRequest) => Effect.Effect<ReadonlyArray<number>, StorageError>
  /** Removes what is not to be sent, in bounded steps. Answers what was dropped and whether another call is needed. */
  readonly drop: (request: DropRequest) => Effect.Effect<{ readonly dropped: number; readonly more: boolean }, StorageError>
  /** Gives partitions back. `rateMarks` are what `load` answers to the next owner. */
  readonly release: (
    tenantId: string,
    partitions: ReadonlyArray<ReleasedPartition>,
    rateMarks: ReadonlyArray<{ readonly destinationId: string; readonly mark: number }>
  ) => Effect.Effect<void, StorageError>
}>()("@waybill/core/delivery/DeliveryStore") {}

type Store = DeliveryStore["Service"]

/** A store whose calls all pass through `answer`. */
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
