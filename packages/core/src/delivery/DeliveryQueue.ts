/**
 * Storage port: destinations, their waiting entries and deliveries, for subscriptions and operators. Workers use another port,
 * `DeliveryStore`; every change here leaves a signal for the destination's owner.
 *
 * All values are plain: ids, instants in milliseconds since 1970 by the store's clock, and bytes. The stores of the areas queue entries, in the
 * transaction that stores the data.
 */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { Breaker } from "./model/Breaker.ts"
import type { DeliveryFilter, EndpointFilter } from "./model/DeliveryFilter.ts"
import type { DeliveryPolicy } from "./model/DeliveryPolicy.ts"
import type { DeliveryState } from "./model/DeliveryState.ts"
import type { Envelope } from "./model/Envelope.ts"

/** `active`: sends. `paused`: new entries wait. `inactive`: existing entries wait, and none are queued. SPEC-GAP-D9 */
export type DestinationState = "active" | "paused" | "inactive"

/** `required`: nothing is sent unsigned. `whenRegistered`: deliveries are sent unsigned until a secret of that id is registered. */
export type DestinationSigning = "required" | "whenRegistered"

/** Whether a dead letter pauses the destination, so that further deliveries do not become dead letters too. */
export type WhenDead = "continue" | "pause"

/** The settings of a destination, as its area gives them. Its id is the subscription's. */
export interface DestinationSettings {
  readonly destinationId: string
  /** The qualified client that it delivers to. Never changes. */
  readonly client: string
  /** The kind of stored bytes that its entries refer to, such as `transit-events`. */
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

/** A destination's state. */
export interface DestinationStatus {
  readonly state: DestinationState
  /** Why the service or an operator paused it. */
  readonly reason: string | undefined
  /** Set while it is paused. */
  readonly pausedBy: PausedBy | undefined
  /** When the state last changed. */
  readonly since: number
}

/** Record of an ended attempt, stored with its delivery and shown to operators. */
export interface AttemptRecord {
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** When it began. */
  readonly at: number
  readonly durationMillis: number
  /** `accepted`, `gone`, `interrupted`, or an `AttemptFailure`. */
  readonly outcome: string
  /** HTTP status, if a response arrived. */
  readonly status?: number
  /** One sentence for operators. */
  readonly detail?: string
  /** The beginning of the response. */
  readonly excerpt?: string
}

/**
 * Why an entry was removed without being sent: `not_visible`: its client may no longer see it, or it is no longer stored; `over_count`, `over_age`: more entries waited, or it waited
 * longer, than the quota allows; `purged`: an operator removed it.
 */
export type DropReason = "not_visible" | "over_count" | "over_age" | "purged"

/** A delivery without its body. */
export interface DeliverySummary {
  readonly deliveryId: string
  readonly destinationId: string
  readonly state: DeliveryState
  readonly createdAt: number
  /** When it reached its final state. */
  readonly settledAt: number | undefined
  /** When its next attempt is due, while it waits. */
  readonly dueAt: number | undefined
  readonly events: number
  /** Attempts that its policy counts, since its creation or the last manual retry. */
  readonly tries: number
  readonly attempts: ReadonlyArray<AttemptRecord>
  /** Why it was cancelled; `undefined` if its subscription was deleted. */
  readonly reason: string | undefined
}

/** A delivery with the parts of its body: `wrap` makes the exact bytes of them. */
export interface DeliveryDetail extends DeliverySummary {
  readonly endpointUrl: string
  /** When its entries were frozen, as in its body. */
  readonly sentAt: number
  readonly envelope: Envelope
  /** The bytes of its entries, joined by commas; empty where retention removed them. */
  readonly body: Uint8Array
}

/** A filter of deliveries. Omitted members match all. */
export interface DeliveryMatch extends Partial<DeliveryFilter> {
  readonly state: DeliveryState | undefined
}

/** A page of deliveries to read. */
export interface DeliveryQuery extends DeliveryMatch {
  /** By id, which sorts by creation. */
  readonly order: "oldest" | "newest"
  /** Only ids after this one, in `order`. */
  readonly after: string | undefined
  readonly limit: number
  /** About how many deliveries that do not match the store skips before it ends the page. Default: `mostPassedOver`. */
  readonly passOver?: number
}

/** A page of deliveries. */
export interface FoundDeliveries {
  readonly deliveries: ReadonlyArray<DeliverySummary>
  /** The last id that was read, if the page ended before it was full: matching deliveries may follow it. */
  readonly lookedTo: string | undefined
  /** About how many deliveries that do not match were skipped. */
  readonly passedOver: number
}

/** A destination with its state and counts, which stop at `overviewCount`. */
export interface DestinationOverview extends Omit<DestinationSettings, "envelope" | "signing" | "state"> {
  readonly status: DestinationStatus
  /** It is active, but its client or tenant has no access now, so nothing is sent. */
  readonly held: boolean
  readonly breaker: Breaker
  /** Entries that are in no delivery yet. */
  readonly waiting: number
  /** When the oldest of the first `overviewCount` waiting entries was queued. */
  readonly oldestWaitingAt: number | undefined
  /** Deliveries that are `sending` or `waiting`. */
  readonly inFlight: number
  readonly dead: number
  /** Entries that were removed without being sent, since its creation. */
  readonly dropped: number
  /** When its earliest retry is due, while it is active. */
  readonly dueAt: number | undefined
  /**
   * The newest attempt of the deliveries in flight and of the newest one that ended, among the newest `overviewAttempts` of each group. A retry of an
   * older delivery counts until that one ends.
   */
  readonly lastAttempt: AttemptRecord | undefined
}

/** Counts of a destination's overview stop here. */
export const overviewCount = 1000

/** Maximum number of deliveries that do not match in one page, so that a customer with many subscriptions cannot make each page expensive. */
export const mostPassedOver = 2500

/** The total of a list stops here. */
export const totalCount = 10_000

/** Number of a destination's deliveries that are searched for its last attempt. */
export const overviewAttempts = 100

/** A filter of destinations. Omitted members match all. */
export interface DestinationMatch {
  readonly client?: string | undefined
  readonly destinationIds?: ReadonlyArray<string> | undefined
  readonly endpoint?: EndpointFilter | undefined
  /** Only those that `inTrouble` of a tenant's health counts. */
  readonly inTrouble?: boolean | undefined
  readonly state: DestinationState | undefined
}

/** A page of destinations to read, by id. */
export interface DestinationQuery extends DestinationMatch {
  /** Only ids after this one. */
  readonly after: string | undefined
  readonly limit: number
}

/** Ordering keys of entries. A key is valid within these sources only. */
export interface EntryKeys {
  readonly sources: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
}

/** A delivery with the source of its destination. */
export interface CarryingDelivery extends DeliverySummary {
  readonly source: string
}

/** Approximate counts of all tenants, for metrics. */
export interface QueueDepth {
  readonly waitingEntries: number
  /** Deliveries that are `sending` or `waiting`. */
  readonly unsettled: number
  readonly dead: number
  /** How long work has waited for a worker: the oldest signal, or the oldest due retry of an active destination in a partition without an owner. */
  readonly lagMillis: number
}

/** Storage port of destinations and deliveries. */
export class DeliveryQueue extends Context.Service<DeliveryQueue, {
  /**
   * Opens a destination. Returns how many destinations of this source the client has now, this one included. Serializes with other calls that open or close
   * destinations of the client until the transaction ends.
   */
  readonly openDestination: (tenantId: string, destination: DestinationSettings) => Effect.Effect<number, StorageError>
  /**
   * Counts the tenant's destinations, those of this transaction included. Near `limit` it serializes with other calls of the tenant until the
   * transaction ends, so that two of them cannot both take the last place.
   */
  readonly countDestinations: (tenantId: string, limit: number) => Effect.Effect<number, StorageError>
  /** Changes all settings except client, source, envelope, signing and `whenDead`. */
  readonly changeDestination: (tenantId: string, destination: DestinationSettings) => Effect.Effect<void, StorageError>
  /**
   * Closes the destination. Deliveries that wait for a retry end as `cancelled`, those in flight by their outcome. Entries are removed by
   * the owner of the destination's partition, records of dropped entries at once, and the destination itself by `prune`.
   */
  readonly closeDestination: (tenantId: string, destinationId: string) => Effect.Effect<void, StorageError>
  /**
   * Leaves a signal for each destination of the client, or of the tenant, which has access again. Called in the transaction that restores
   * the access, after its write.
   */
  readonly accessRestored: (tenantId: string, client: string | undefined) => Effect.Effect<void, StorageError>
  readonly destinationStatus: (tenantId: string, destinationId: string) => Effect.Effect<Option.Option<DestinationStatus>, StorageError>

  /** Destinations that are not closed, by id, and the store's clock. The cost depends on the page, not on the entries of its destinations. */
  readonly destinations: (tenantId: string, query: DestinationQuery) => Effect.Effect<
    { readonly now: number; readonly destinations: ReadonlyArray<DestinationOverview> },
    StorageError
  >
  /** Number of matching destinations that are not closed, up to `totalCount`. */
  readonly countMatching: (tenantId: string, match: DestinationMatch) => Effect.Effect<number, StorageError>
  /** Lists deliveries. The cost depends on what a page shows and skips, not on the number of a client's destinations. */
  readonly list: (tenantId: string, query: DeliveryQuery) => Effect.Effect<FoundDeliveries, StorageError>
  /** Number of matching deliveries, up to `totalCount`; `undefined` if too many others would have to be skipped. */
  readonly count: (tenantId: string, match: DeliveryMatch) => Effect.Effect<number | undefined, StorageError>
  /**
   * Deliveries with an entry under one of these keys, newest first, among the tenant's `newest` newest deliveries. `since`: when the oldest of
   * those was created; `undefined` if the tenant has no older one.
   */
  readonly carrying: (
    tenantId: string,
    keys: ReadonlyArray<EntryKeys>,
    range: { readonly newest: number; readonly limit: number }
  ) => Effect.Effect<{ readonly deliveries: ReadonlyArray<CarryingDelivery>; readonly since: number | undefined }, StorageError>
  readonly find: (tenantId: string, deliveryId: string) => Effect.Effect<Option.Option<DeliveryDetail>, StorageError>
  /** Makes a delivery due now, with a full series of attempts. Returns its previous state; `sending` and `cancelled` do not change, and a delivery whose bytes retention removed counts as cancelled. */
  readonly retry: (tenantId: string, deliveryId: string) => Effect.Effect<Option.Option<DeliveryState>, StorageError>
  /** Makes every dead letter of the destination since an instant due again, under the same ids. Returns their number. */
  readonly recover: (tenantId: string, destinationId: string, since: number) => Effect.Effect<number, StorageError>
  /** Makes the dead letters among these deliveries due again, under the same ids. Returns their number. */
  readonly retryDead: (tenantId: string, deliveryIds: ReadonlyArray<string>) => Effect.Effect<number, StorageError>
  /**
   * Removes deliveries that were settled before an instant, unless others of their flight are still in flight. Where there are none, removes destinations that were
   * closed before it and have neither entries nor deliveries. Returns their number; at most a few thousand per call.
   */
  readonly prune: (tenantId: string, before: number) => Effect.Effect<number, StorageError>
  /** For metrics; approximate. */
  readonly depth: Effect.Effect<QueueDepth, StorageError>
}>()("@waybill/core/delivery/DeliveryQueue") {}
