/**
 * Storage port: destinations, what waits in them, and deliveries.
 *
 * All values are plain: ids, instants in milliseconds since 1970 by the store's own clock, and bytes. The engine decides;
 * the store keeps, claims and fences. Entries are put in by the areas' own stores, in the transaction that stores what
 * they refer to.
 */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { Breaker } from "./model/Breaker.ts"
import type { DeliveryPolicy } from "./model/DeliveryPolicy.ts"
import type { DeliveryState } from "./model/DeliveryState.ts"
import type { Envelope } from "./model/Envelope.ts"
import type { SealedVersion } from "./SecretStore.ts"

/** `active` sends; `paused` holds what comes; `inactive` holds what was there, and its owner queues nothing more. SPEC-GAP-D9 */
export type DestinationState = "active" | "paused" | "inactive"

/** `whenRegistered`: goes out unsigned as long as no secret of that id is registered. */
export type DestinationSigning = "required" | "whenRegistered"

/** Whether a dead letter pauses the destination, so that nothing more is lost on a receiver that is gone. */
export type WhenDead = "goOn" | "pause"

/** What an area says of a destination. The destination's id is the subscription's. */
export interface DestinationSettings {
  readonly destinationId: string
  /** The client it delivers to, as principals name it. It never changes. */
  readonly client: string
  /** Which kind of stored bytes its entries refer to, such as `transit-events`. */
  readonly source: string
  readonly endpointUrl: string
  readonly hmacSecretId: string
  readonly policy: DeliveryPolicy
  readonly envelope: Envelope
  readonly signing: DestinationSigning
  readonly whenDead: WhenDead
  readonly state: DestinationState
}

/** Who paused a destination: its client, the engine (410, a dead letter, a secret), or an operator. Its client cannot resume what an operator paused. */
export type PausedBy = "client" | "engine" | "operator"

/** A destination's state, and why the engine or an operator changed it when they did. */
export interface DestinationStatus {
  readonly state: DestinationState
  readonly reason: string | undefined
  /** While it is paused. */
  readonly pausedBy: PausedBy | undefined
  /** When the state last changed. */
  readonly since: number
}

/** A lease on a destination. Every write that follows a claim shows it; a stale one changes nothing, nor does one that was given back. */
export interface DestinationLease {
  readonly destinationId: string
  readonly token: number
}

/** Something waiting, with its bytes. */
export interface ClaimedEntry {
  /** The store's own handle. */
  readonly ref: number
  readonly key: string
  readonly sequence: number
  readonly orderId: string
  readonly size: number
  readonly payload: Uint8Array
  readonly traceparent: string | undefined
  /** Where the store found it, in words of its own; it is handed back when the entry is frozen. */
  readonly spot?: string
}

/** A frozen delivery whose next attempt is due, or whose sender died. */
export interface DueDelivery {
  readonly deliveryId: string
  readonly sentAt: number
  /** Attempts so far in all, and since the last manual retry. */
  readonly attempt: number
  readonly tries: number
  /** Its sender's lease ran out before an outcome was written. */
  readonly orphaned: boolean
  /** Entries in it. */
  readonly events: number
  /** Their bytes; a store may hand out several of them joined by commas as one. */
  readonly payloads: ReadonlyArray<Uint8Array>
  readonly traceparent: string | undefined
}

/** A destination under our lease, with what could go out now. */
export interface ClaimedDestination extends DestinationLease {
  readonly client: string
  readonly endpointUrl: string
  readonly hmacSecretId: string
  readonly secrets: ReadonlyArray<SealedVersion>
  /** Whether the secret belongs to somebody else by now: nothing is signed with it for this destination's client. */
  readonly secretRefused: boolean
  readonly bodySignature: boolean
  readonly signing: DestinationSigning
  readonly whenDead: WhenDead
  readonly policy: DeliveryPolicy
  readonly envelope: Envelope
  readonly breaker: Breaker
  readonly rateMark: number | undefined
  /** Counts arrivals the store has told this destination of; shown again at release. */
  readonly arrivals: number
  /** Oldest first. Left out while an older one that has not ended, or one under way, shares a key with it. */
  readonly due: ReadonlyArray<DueDelivery>
  /** From after the destination's cursor, wrapping round; keys of unsettled deliveries left out. */
  readonly waiting: ReadonlyArray<ClaimedEntry>
  /** Whether more waits than was handed out. */
  readonly more: boolean
}

export interface ClaimRequest {
  readonly tenantId: string
  /** Destinations to lease anew, at most. */
  readonly maxDestinations: number
  /** Destinations already leased that have room for more. */
  readonly refill: ReadonlyArray<DestinationLease>
  /**
   * Lease only destinations that something `arrived` for, or only those that are `due` already: what was published just now does not wait
   * behind retries. Without it, both. What arrived for more destinations than are leased may become due.
   */
  readonly only?: "arrived" | "due"
  readonly leaseMillis: number
  /** Deliveries one destination may be handed, at most; one whose breaker is not closed is handed one, its probe. */
  readonly deliveriesPerDestination: number
  /** Bytes handed out per destination, about. */
  readonly bytesPerDestination: number
}

export interface Claim {
  /** The store's clock. */
  readonly now: number
  readonly destinations: ReadonlyArray<ClaimedDestination>
  /** A destination that something may wait in was passed over, because somebody was writing to it: worth asking again in a moment. */
  readonly crossed: boolean
  /** Entries that were dropped on the way, because their destinations' clients may no longer see them. */
  readonly dropped: number
}

/** A batch to freeze: its attempt is counted now. */
export interface FreshDelivery {
  readonly deliveryId: string
  readonly sentAt: number
  /** In the order of the body. */
  readonly entries: ReadonlyArray<Pick<ClaimedEntry, "ref" | "key" | "sequence" | "spot">>
  readonly traceparent: string | undefined
}

export interface Freeze extends DestinationLease {
  readonly rateMark: number
  /** Key after which the next claim starts looking. */
  readonly cursor: string | undefined
  readonly fresh: ReadonlyArray<FreshDelivery>
  /** Frozen deliveries to attempt again. */
  readonly again: ReadonlyArray<string>
  /** Their tries by the claim, each in its place: where an operator began a new series since, the freeze fails. */
  readonly againTries?: ReadonlyArray<number>
}

/** What an attempt left behind; kept with the delivery, shown to operators. */
export interface AttemptRecord {
  readonly attempt: number
  readonly at: number
  readonly durationMillis: number
  readonly outcome: string
  readonly status?: number
  readonly detail?: string
  readonly excerpt?: string
}

export interface Settlement extends DestinationLease {
  readonly deliveryId: string
  readonly state: "delivered" | "waiting" | "dead"
  /** Milliseconds until the next attempt, when `waiting`. */
  readonly dueInMillis: number
  /** The attempt did not count: this process stopped before it had an answer. */
  readonly uncount: boolean
  readonly record: AttemptRecord | undefined
  /** The attempt that this is about, where no record tells. */
  readonly attempt?: number
}

export interface DestinationSettlement extends DestinationLease {
  /**
   * Whom breaker and pause speak of: where the destination's owner has named another endpoint meanwhile they count for nothing, and nothing waits
   * for them. A dead letter in the same call pauses all the same.
   */
  readonly endpointUrl?: string
  readonly breaker: Breaker
  /** The receiver answered 410, or a dead letter pauses this destination: pause, and say why. */
  readonly pause: string | undefined
  /** Gives the lease back. Otherwise it is kept. */
  readonly release: {
    readonly arrivals: number
    /** Whether waiting entries may have become sendable. Where they have without, the destination is due in `doubtMillis`. */
    readonly progress: boolean
    /** Not before this many milliseconds, for rate or breaker. */
    readonly notBeforeMillis: number
  } | undefined
}

/**
 * Why an entry was removed without being sent: its client may no longer see it, more waited than the quota allows, it waited longer
 * than that, or an operator removed it.
 */
export type DropReason = "not_visible" | "over_count" | "over_age" | "purged"

export interface DeliverySummary {
  readonly deliveryId: string
  readonly destinationId: string
  readonly state: DeliveryState
  readonly createdAt: number
  /** When it reached its final state. */
  readonly settledAt: number | undefined
  /** When it goes out next. */
  readonly dueAt: number | undefined
  readonly events: number
  readonly attempts: ReadonlyArray<AttemptRecord>
  /** Why it was cancelled, where its subscription was not deleted. */
  readonly reason: string | undefined
}

export interface DeliveryDetail extends DeliverySummary {
  readonly endpointUrl: string
  readonly sentAt: number
  readonly envelope: Envelope
  readonly payloads: ReadonlyArray<Uint8Array>
}

export interface DeliveryQuery {
  readonly state: DeliveryState | undefined
  readonly destinationId: string | undefined
  /** Only of this client's destinations that are not closed. */
  readonly client?: string | undefined
  /** Created at or after: a store may pass over ids that begin with an earlier millisecond. */
  readonly since: number | undefined
  /** By id: ids sort by creation. */
  readonly order: "oldest" | "newest"
  /** Only ids beyond this one, in that order. */
  readonly after: string | undefined
  readonly limit: number
}

/** A destination with what it holds. Counts stop at `overviewCount`. */
export interface DestinationOverview {
  readonly destinationId: string
  readonly client: string
  readonly source: string
  readonly endpointUrl: string
  readonly hmacSecretId: string
  readonly policy: DeliveryPolicy
  readonly whenDead: WhenDead
  readonly status: DestinationStatus
  /** Its client or its tenant has no access at present, so that nothing is sent. */
  readonly held: boolean
  readonly breaker: Breaker
  /** When it may send next by its rate. */
  readonly rateMark: number | undefined
  /** Entries in no delivery yet. */
  readonly waiting: number
  /** When the oldest of the first `overviewCount` waiting entries was queued. */
  readonly oldestWaitingAt: number | undefined
  /** Deliveries that are `sending` or `waiting`. */
  readonly inFlight: number
  readonly dead: number
  /** Entries that were removed without being sent, ever. */
  readonly dropped: number
  /** When it is looked at next, or its lease ends. */
  readonly dueAt: number | undefined
  /** The last attempt of the newest delivery that had one, among the newest `overviewAttempts`. */
  readonly lastAttempt: AttemptRecord | undefined
}

/**
 * A destination is looked at again after so many milliseconds when it is given back by a worker that has nothing to do in it, although
 * something could be sent: what that worker saw was overtaken by what others wrote.
 */
export const doubtMillis = 1000

/** Nothing is counted beyond this for a destination's overview. */
export const overviewCount = 1000

/** Deliveries of a destination that are looked through for its last attempt. */
export const overviewAttempts = 100

export interface DestinationQuery {
  readonly client?: string | undefined
  readonly state: DestinationState | undefined
  /** Only ids after this one. */
  readonly after: string | undefined
  readonly limit: number
}

/** What entries of some destinations are ordered by. A key means something in the sources it is given with only. */
export interface EntryKeys {
  readonly sources: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
}

export interface CarryingDelivery extends DeliverySummary {
  readonly source: string
}

export interface QueueDepth {
  readonly waitingEntries: number
  readonly unsettled: number
  readonly dead: number
  /** Milliseconds the longest due destination has been due. */
  readonly lagMillis: number
}

export class DeliveryQueue extends Context.Service<DeliveryQueue, {
  /**
   * Answers how many destinations of this source the client has now, this one included. Serialises with other calls that open or close destinations
   * of the client until the transaction ends.
   */
  readonly openDestination: (tenantId: string, destination: DestinationSettings) => Effect.Effect<number, StorageError>
  /**
   * How many destinations the tenant has, those of this transaction included. Near `limit` it serialises with other calls of the tenant until the
   * transaction ends, so that two of them never both find the last place.
   */
  readonly countDestinations: (tenantId: string, limit: number) => Effect.Effect<number, StorageError>
  /** Changes everything but client, source, envelope, signing and `whenDead`. Turning `active` makes the destination due. */
  readonly changeDestination: (tenantId: string, destination: DestinationSettings) => Effect.Effect<void, StorageError>
  /** Removes the destination and what waits in it; unsettled deliveries end as `cancelled`. */
  readonly closeDestination: (tenantId: string, destinationId: string) => Effect.Effect<void, StorageError>
  /**
   * The client, or all of the tenant, has access again: destinations that were held are due at once. Called in the transaction that gives
   * the access, after the write that gives it.
   */
  readonly accessRestored: (tenantId: string, client: string | undefined) => Effect.Effect<void, StorageError>
  readonly destinationStatus: (tenantId: string, destinationId: string) => Effect.Effect<Option.Option<DestinationStatus>, StorageError>

  /** Tenants with a destination due and those with an arrival, who waits longest first, each so many at most, and how long until the next destination is due otherwise. */
  readonly tenantsDue: (limit: number) => Effect.Effect<{
    readonly due: ReadonlyArray<string>
    readonly arrived: ReadonlyArray<string>
    readonly nextDueInMillis: number | undefined
  }, StorageError>
  /**
   * Hands out nothing of a tenant that is not active, of a destination whose client has no access, and nothing that a destination's client may not see
   * any more: such a destination is set aside until `accessRestored`, such entries are dropped, and a frozen delivery with such a
   * thing in it is cancelled, while the rest of it waits again.
   */
  readonly claim: (request: ClaimRequest) => Effect.Effect<Claim, StorageError>
  /**
   * Freezes batches and counts attempts. Answers the destinations whose lease still held and whose client has access; only those may send. Fails, and changes nothing, where an
   * entry or a delivery is no longer as the claim told.
   */
  readonly freeze: (tenantId: string, destinations: ReadonlyArray<Freeze>) => Effect.Effect<ReadonlySet<string>, StorageError>
  /**
   * Writes outcomes and gives leases back; where the lease was lost, the attempt is recorded and nothing else changes.
   * Settling the same twice changes nothing more. Answers whether a destination that was given back is due at once.
   */
  readonly settle: (
    tenantId: string,
    outcomes: { readonly deliveries: ReadonlyArray<Settlement>; readonly destinations: ReadonlyArray<DestinationSettlement> }
  ) => Effect.Effect<boolean, StorageError>
  /** Extends leases. Answers the destinations that are still ours. */
  readonly heartbeat: (
    tenantId: string,
    leases: ReadonlyArray<DestinationLease>,
    leaseMillis: number
  ) => Effect.Effect<ReadonlySet<string>, StorageError>

  /** Destinations that are not closed, by id, and the store's clock. Costs what a page shows, whatever lies in its destinations. */
  readonly destinations: (tenantId: string, query: DestinationQuery) => Effect.Effect<
    { readonly now: number; readonly destinations: ReadonlyArray<DestinationOverview> },
    StorageError
  >
  readonly list: (tenantId: string, query: DeliveryQuery) => Effect.Effect<ReadonlyArray<DeliverySummary>, StorageError>
  /**
   * Deliveries with an entry under one of these keys, newest first, among the tenant's newest `newest`. `since` is when the
   * oldest one of these was created, `undefined` when the tenant has no older.
   */
  readonly carrying: (
    tenantId: string,
    keys: ReadonlyArray<EntryKeys>,
    range: { readonly newest: number; readonly limit: number }
  ) => Effect.Effect<{ readonly deliveries: ReadonlyArray<CarryingDelivery>; readonly since: number | undefined }, StorageError>
  readonly find: (tenantId: string, deliveryId: string) => Effect.Effect<Option.Option<DeliveryDetail>, StorageError>
  /** Makes it due now with its attempts counted afresh. Answers the state it was in; `sending` and `cancelled` are left alone, and one whose bytes went with retention counts as cancelled. A dismissed one goes out like any other. */
  readonly retry: (tenantId: string, deliveryId: string) => Effect.Effect<Option.Option<DeliveryState>, StorageError>
  /** Makes every dead letter of the destination that died since then due again, under the same ids. Answers how many. */
  readonly recover: (tenantId: string, destinationId: string, since: number) => Effect.Effect<number, StorageError>
  /** Removes settled deliveries older than this. Answers how many; at most a few thousand a call. */
  readonly prune: (tenantId: string, settledBefore: number) => Effect.Effect<number, StorageError>
  /** For metrics; approximate. */
  readonly depth: Effect.Effect<QueueDepth, StorageError>
}>()("@waybill/core/delivery/DeliveryQueue") {}
