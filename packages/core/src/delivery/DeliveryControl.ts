/**
 * Storage port: changes of destinations and deliveries by operators. All values are plain. A change of a destination raises its version and leaves a
 * signal for its owner. Deliveries in flight end by their outcome.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { AttemptRecord, PausedBy } from "./DeliveryQueue.ts"
import type { DeliveryState } from "./model/DeliveryState.ts"

/** Maximum number of entries that one step of a purge removes. */
export const purgeStep = 5000

/** Maximum number of entries that one step over a backlog reads, and removes. */
export const backlogStep = 5000

/** Counts of a tenant's health stop here. */
export const healthCount = 10_000

/** Maximum number of a destination's deliveries that a trace searches, newest first, in each group of states. */
export const traceDeliveries = 1000

/** Records of dropped entries that are kept of each destination: the newest. */
export const keptDrops = 1000

/** Position of a purge: the last entry that its previous step read. */
export interface PurgePosition {
  readonly key: string
  readonly sequence: number
  readonly ref: number
}

/** Result of one step of a purge. */
export interface PurgeStep {
  /** Entries removed, and entries of deliveries that were cancelled. */
  readonly dropped: number
  /** Where the next step starts; `undefined` after the last entry. */
  readonly next: PurgePosition | undefined
}

/** Position of a count of a tenant's backlog. */
export interface BacklogPosition extends PurgePosition {
  readonly destinationId: string
}

/** Number of entries that were queued within one time range. */
export interface BacklogCount {
  readonly destinationId: string
  readonly client: string
  /** Start of the time range: a multiple of the requested width. */
  readonly queuedFrom: number
  readonly entries: number
  /** Entries of the destination that were dropped since its creation, at the time of the count. */
  readonly dropped: number
}

/** Result of one step of a count. */
export interface BacklogCounts {
  /** The store's clock. */
  readonly now: number
  /** By destination. */
  readonly counts: ReadonlyArray<BacklogCount>
  /** Where the next step starts; `undefined` after the last entry. */
  readonly next: BacklogPosition | undefined
}

/** Entries of a destination that exceed a quota. */
export interface BacklogExcess {
  readonly queuedBefore: number
  /** Maximum number of entries to remove; one step removes at most `backlogStep`. */
  readonly limit: number
  readonly reason: "over_count" | "over_age"
  /** `dropped` of the count that found the excess. A higher stored number means that a concurrent sweep drops the same entries. */
  readonly dropped: number
}

/** Why a destination is paused during a purge. An interrupted purge leaves it paused. */
export const purgeReason = "What waits is being removed. If this lasts, the purge was interrupted: purge again, or resume the subscription."

/** How to pause a destination. Attempts in flight finish. */
export interface Pause {
  readonly by: Exclude<PausedBy, "service">
  readonly reason: string | undefined
  /** Whether to pause only an active destination; otherwise one in any state, also a paused one. */
  readonly onlyActive: boolean
}

/** An operator's pause, for any state. */
export const pauseByOperator = (reason: string): Pause => ({ by: "operator", reason, onlyActive: false })

/** A pause by the destination's client, of an active destination. */
export const pauseByClient: Pause = { by: "client", reason: undefined, onlyActive: true }

/** The pause of a purge: until it ends, no worker takes entries that the purge removes. */
export const pauseForPurge: Pause = { by: "operator", reason: purgeReason, onlyActive: true }

/** Which pauses a resume ends: all, those not by an operator, or those of a purge. */
export type EndedPauses = "all" | "not by operator" | "purge"

/** Effect of a call on a destination; `unknown`: it does not exist. */
export type DestinationChanged = "changed" | "unchanged" | "unknown"

/** Which entries a trace finds: those with this ordering key, and with `orderIds` only those with one of these ids. */
export interface TraceSubject {
  readonly key: string
  readonly orderIds: ReadonlyArray<string> | undefined
}

/** A delivery that a trace found. */
export interface TracedDelivery {
  readonly deliveryId: string
  readonly state: DeliveryState
  /** Number of all attempts so far. */
  readonly attempt: number
  readonly lastAttempt: AttemptRecord | undefined
  readonly sentAt: number
}

/** Entries and deliveries of a destination about one subject. */
export interface DestinationTrace {
  /** The store's clock. */
  readonly now: number
  /** Whether an entry of the subject waits. */
  readonly waiting: boolean
  /** Whether an earlier entry or delivery of the same key is sent first. */
  readonly behind: boolean
  /** Newest first. */
  readonly deliveries: ReadonlyArray<TracedDelivery>
  /** The last dropped entry of the subject, among the stored drops of the destination. */
  readonly dropped: { readonly reason: string; readonly at: number } | undefined
  /** Creation times of the destination's deliveries of the last minute, oldest first; the newest `traceDeliveries` of them. */
  readonly recent: ReadonlyArray<number>
}

/** Delivery counts of a tenant. They stop at `healthCount`. */
export interface TenantHealth {
  readonly subscriptions: number
  /** Destinations that the engine or an operator paused, whose breaker is not closed, or that have a dead letter. */
  readonly inTrouble: number
  readonly waiting: number
  readonly oldestWaitingAt: number | undefined
  readonly dead: number
}

/** A destination that may need an operator's action. */
export interface TroubledDestination {
  readonly tenantId: string
  readonly destinationId: string
  readonly source: string
  /** Whether the engine paused it. Pauses by its client or an operator do not count. */
  readonly paused: boolean
  readonly breakerOpen: boolean
  /** Dead letters of the last `recentDeadMillis` that were neither sent again nor dismissed. */
  readonly dead: number
  /** How long its oldest entry has waited, unless its client or an operator paused it. */
  readonly waitingMillis: number | undefined
}

/** The same counts for all destinations of one source; `waitingMillis` is the longest. */
export interface TroubleOfSource {
  readonly source: string
  readonly paused: number
  readonly breakersOpen: number
  readonly dead: number
  readonly waitingMillis: number | undefined
}

/** Unhealthy destinations of all tenants. */
export interface DeliveryTroubles {
  /** The time of the store in milliseconds since 1970, as those of deliveries; 0 if there are no destinations. */
  readonly now: number
  readonly sources: ReadonlyArray<TroubleOfSource>
  /**
   * At most `mostTroubled`. Tenants take turns, and clients within a tenant, each with its worst destination first (most dead letters, then the oldest entry), so that
   * one client with many of them does not displace others.
   */
  readonly destinations: ReadonlyArray<TroubledDestination>
}

/** Maximum number of unhealthy destinations that are named. */
export const mostTroubled = 100

/** Age in milliseconds up to which a dead letter makes its destination unhealthy: a day. */
export const recentDeadMillis = 86_400_000

/** Milliseconds that the oldest entry of an unhealthy destination has waited at least: five minutes. */
export const lateWaitingMillis = 300_000

/** Storage port of operators' changes. */
export class DeliveryControl extends Context.Service<DeliveryControl, {
  /** Pauses a destination in the states that `pause` says. A paused one gets the new reason and pauser, and keeps its `since`. */
  readonly pause: (tenantId: string, destinationId: string, pause: Pause) => Effect.Effect<DestinationChanged, StorageError>
  /**
   * Makes a paused destination active; one that its client had made inactive becomes inactive again. Other pauses than `pauses` stay, concurrent
   * ones too.
   */
  readonly resume: (tenantId: string, destinationId: string, pauses: EndedPauses) => Effect.Effect<DestinationChanged, StorageError>
  /**
   * Cancels deliveries that wait for a retry and removes waiting entries in order, at most `purgeStep` of each, and counts them as dropped. Does nothing
   * if the destination was resumed after the purge paused it.
   */
  readonly purgeNext: (tenantId: string, destinationId: string, after: PurgePosition | undefined) => Effect.Effect<PurgeStep, StorageError>
  /** Counts at most `backlogStep` waiting entries of a tenant by destination and time range of this width (milliseconds). Takes no lock. */
  readonly countBacklog: (tenantId: string, widthMillis: number, after: BacklogPosition | undefined) => Effect.Effect<BacklogCounts, StorageError>
  /**
   * Reads at most `backlogStep` waiting entries of a destination in order and removes the excess, in any state of the destination. Removes nothing, and has
   * no next step, if more entries were dropped since the count. Entries in deliveries stay.
   */
  readonly dropExcess: (tenantId: string, destinationId: string, excess: BacklogExcess, after: PurgePosition | undefined) => Effect.Effect<PurgeStep, StorageError>
  /** Dismisses the dead letters among these deliveries. Returns their number. */
  readonly dismiss: (tenantId: string, deliveryIds: ReadonlyArray<string>) => Effect.Effect<number, StorageError>
  /** Finds entries and deliveries of a subject. Reads by index only, and at most `traceDeliveries` deliveries of each group. */
  readonly trace: (tenantId: string, destinationId: string, subject: TraceSubject) => Effect.Effect<DestinationTrace, StorageError>
  readonly health: (tenantId: string) => Effect.Effect<TenantHealth, StorageError>
  /** Unhealthy destinations, for metrics. Reads a bounded number of rows, and is approximate beyond it. */
  readonly troubles: Effect.Effect<DeliveryTroubles, StorageError>
}>()("@waybill/core/delivery/DeliveryControl") {}
