/**
 * Storage port: destinations, what waits in them and deliveries, as subscriptions and operators see them. Workers have a port of
 * their own, `DeliveryStore`; whatever is changed here leaves a signal for the destination's owner.
 *
 * All values are plain: ids, instants in milliseconds since 1970 by the store's own clock, and bytes. Entries are put in by the areas'
 * own stores, in the transaction that stores what they refer to.
 */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { Breaker } from "./model/Breaker.ts"
import type { DeliveryFilter, EndpointFilter } from "./model/DeliveryFilter.ts"
import type { DeliveryPolicy } from "./model/DeliveryPolicy.ts"
import type { DeliveryState } from "./model/DeliveryState.ts"
import type { Envelope } from "./model/Envelope.ts"

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

/** Who paused a destination: its client, the service (410, a dead letter, a secret), or an operator. Its client cannot resume what an operator paused. */
export type PausedBy = "client" | "service" | "operator"

/** A destination's state, and why the service or an operator changed it when they did. */
export interface DestinationStatus {
  readonly state: DestinationState
  readonly reason: string | undefined
  /** While it is paused. */
  readonly pausedBy: PausedBy | undefined
  /** When the state last changed. */
  readonly since: number
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
  /** Attempts since creation or the last manual retry, as far as its policy counts them. */
  readonly tries: number
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

/** Members that are left out are not filtered by. */
export interface DeliveryMatch extends Partial<DeliveryFilter> {
  readonly state: DeliveryState | undefined
}

export interface DeliveryQuery extends DeliveryMatch {
  /** By id: ids sort by creation. */
  readonly order: "oldest" | "newest"
  /** Only ids beyond this one, in that order. */
  readonly after: string | undefined
  readonly limit: number
  /** Deliveries that do not match and that the store passes over, about, before it ends the page; `mostPassedOver` by default. */
  readonly passOver?: number
}

/** A page of deliveries. */
export interface FoundDeliveries {
  readonly deliveries: ReadonlyArray<DeliverySummary>
  /** Where the page ended although it is not full, after others that do not match: more may follow this id. */
  readonly lookedTo: string | undefined
  /** Deliveries that do not match and were passed over, about. */
  readonly passedOver: number
}

/** A destination with what it holds. Counts stop at `overviewCount`. */
export interface DestinationOverview extends Omit<DestinationSettings, "envelope" | "signing" | "state"> {
  readonly status: DestinationStatus
  /** It is active, and its client or its tenant has no access at present, so that nothing is sent. */
  readonly held: boolean
  readonly breaker: Breaker
  /** Entries in no delivery yet. */
  readonly waiting: number
  /** When the oldest of the first `overviewCount` waiting entries was queued. */
  readonly oldestWaitingAt: number | undefined
  /** Deliveries that are `sending` or `waiting`. */
  readonly inFlight: number
  readonly dead: number
  /** Entries that were removed without being sent, ever. */
  readonly dropped: number
  /** When its earliest retry is due, while it is active. */
  readonly dueAt: number | undefined
  /** The last attempt of the newest delivery that had one, among the newest `overviewAttempts`. */
  readonly lastAttempt: AttemptRecord | undefined
}

/** Nothing is counted beyond this for a destination's overview. */
export const overviewCount = 1000

/** No page of deliveries passes over more that do not match, or a customer with many subscriptions could make each page expensive. */
export const mostPassedOver = 2500

/** Nothing is counted beyond this for the total of a list. */
export const totalCount = 10_000

/** Deliveries of a destination that are looked through for its last attempt. */
export const overviewAttempts = 100

export interface DestinationMatch {
  readonly client?: string | undefined
  readonly endpoint?: EndpointFilter | undefined
  readonly state: DestinationState | undefined
}

export interface DestinationQuery extends DestinationMatch {
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
  /** How long work has waited for a worker: the oldest signal, or the oldest due retry of an active destination in a partition without an owner. */
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
  /** Changes everything but client, source, envelope, signing and `whenDead`. */
  readonly changeDestination: (tenantId: string, destination: DestinationSettings) => Effect.Effect<void, StorageError>
  /**
   * Closes the destination. Deliveries that wait for a retry end as `cancelled`, those in flight by their outcome. Entries are removed by
   * the owner of the destination's partition.
   */
  readonly closeDestination: (tenantId: string, destinationId: string) => Effect.Effect<void, StorageError>
  /**
   * The client, or all of the tenant, has access again: leaves a signal for each of its destinations. Called in the transaction that gives
   * the access, after the write that gives it.
   */
  readonly accessRestored: (tenantId: string, client: string | undefined) => Effect.Effect<void, StorageError>
  readonly destinationStatus: (tenantId: string, destinationId: string) => Effect.Effect<Option.Option<DestinationStatus>, StorageError>

  /** Destinations that are not closed, by id, and the store's clock. Costs what a page shows, whatever lies in its destinations. */
  readonly destinations: (tenantId: string, query: DestinationQuery) => Effect.Effect<
    { readonly now: number; readonly destinations: ReadonlyArray<DestinationOverview> },
    StorageError
  >
  /** Destinations that match and are not closed, up to `totalCount`. */
  readonly countMatching: (tenantId: string, match: DestinationMatch) => Effect.Effect<number, StorageError>
  /** Costs what a page shows and passes over, whatever number of destinations a client has. */
  readonly list: (tenantId: string, query: DeliveryQuery) => Effect.Effect<FoundDeliveries, StorageError>
  /** Deliveries that match, up to `totalCount`. Without a value where too many others lie between them. */
  readonly count: (tenantId: string, match: DeliveryMatch) => Effect.Effect<number | undefined, StorageError>
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
  /** Makes those of these deliveries that are dead letters due again, under the same ids. Answers how many. */
  readonly retryDead: (tenantId: string, deliveryIds: ReadonlyArray<string>) => Effect.Effect<number, StorageError>
  /** Removes settled deliveries older than this, unless others of their flight are still in flight. Answers how many; at most a few thousand a call. */
  readonly prune: (tenantId: string, settledBefore: number) => Effect.Effect<number, StorageError>
  /** For metrics; approximate. */
  readonly depth: Effect.Effect<QueueDepth, StorageError>
}>()("@waybill/core/delivery/DeliveryQueue") {}
