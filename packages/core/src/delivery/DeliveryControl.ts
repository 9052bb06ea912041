/**
 * Storage port: what operators do to destinations and deliveries, beside the worker's port. All values are plain. A change of a
 * destination raises its version and leaves a signal for its owner. What is in flight at that moment ends by its outcome.
 */
import { Context, type Effect, type Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { AttemptRecord, PausedBy } from "./DeliveryQueue.ts"
import type { DeliveryState } from "./model/DeliveryState.ts"

/** Entries that one step of a purge removes, at most. */
export const purgeStep = 5000

/** Entries that one step over a backlog looks at, and removes, at most. */
export const backlogStep = 5000

/** Nothing is counted beyond this for a tenant's health. */
export const healthCount = 10_000

/** Deliveries of a destination that are looked through for a subject, newest first, in each group of states. */
export const traceDeliveries = 1000

/** Where a purge goes on: the last entry that its step before looked at. */
export interface PurgePosition {
  readonly key: string
  readonly sequence: number
  readonly ref: number
}

export interface PurgeStep {
  /** Entries removed, and entries of deliveries that were cancelled. */
  readonly dropped: number
  /** `undefined` when nothing is left to look at. */
  readonly next: PurgePosition | undefined
}

/** Where a count of a tenant's backlog goes on. */
export interface BacklogPosition extends PurgePosition {
  readonly destinationId: string
}

/** Entries that were queued within one stretch of time. */
export interface BacklogCount {
  readonly destinationId: string
  readonly client: string
  /** When the stretch begins: a multiple of the width that was asked for. */
  readonly queuedFrom: number
  readonly entries: number
  /** How many entries the destination had lost at that moment, ever. */
  readonly dropped: number
}

export interface BacklogCounts {
  /** The store's clock. */
  readonly now: number
  /** By destination. */
  readonly counts: ReadonlyArray<BacklogCount>
  /** `undefined` when nothing is left to look at. */
  readonly next: BacklogPosition | undefined
}

/** What is too much in a destination. */
export interface BacklogExcess {
  readonly queuedBefore: number
  /** Entries, at most; a step removes `backlogStep` at most. */
  readonly limit: number
  readonly reason: "over_count" | "over_age"
  /** How many entries the destination has lost, ever, as far as the caller knows: where it is more, somebody else counts at the same time. */
  readonly dropped: number
}

/** Why a destination is paused while it is purged. A purge that was interrupted leaves it so. */
export const purgeReason = "What waits is being removed. If this lasts, the purge was interrupted: purge again, or resume the subscription."

/** How a destination is paused. What is in flight ends by itself. */
export interface Pause {
  readonly by: Exclude<PausedBy, "service">
  readonly reason: string | undefined
  /** Only an active destination is paused; otherwise one in any state, also one that is paused already. */
  readonly onlyActive: boolean
}

export const pauseByOperator = (reason: string): Pause => ({ by: "operator", reason, onlyActive: false })

export const pauseByClient: Pause = { by: "client", reason: undefined, onlyActive: true }

/** No worker takes what the purge removes, until it ends. */
export const pauseForPurge: Pause = { by: "operator", reason: purgeReason, onlyActive: true }

/** Pauses that are ended: all, those not by an operator, or those of a purge. */
export type EndedPauses = "all" | "not by operator" | "purge"

/** What a call did to a destination; `unknown`: there is none. */
export type DestinationChanged = "changed" | "unchanged" | "unknown"

/** What entries are found by: their ordering key, and of one key those with these ids of their own only, where some are given. */
export interface TraceSubject {
  readonly key: string
  readonly orderIds: ReadonlyArray<string> | undefined
}

export interface TracedDelivery {
  readonly deliveryId: string
  readonly state: DeliveryState
  /** Attempts so far in all. */
  readonly attempt: number
  readonly lastAttempt: AttemptRecord | undefined
  readonly sentAt: number
}

/** What a destination knows of a subject. */
export interface DestinationTrace {
  /** The store's clock. */
  readonly now: number
  /** Whether an entry of it waits. */
  readonly waiting: boolean
  /** Whether something of the same key goes out before what waits. */
  readonly behind: boolean
  /** Newest first. */
  readonly deliveries: ReadonlyArray<TracedDelivery>
  /** The last entry of it that was dropped, as far as the destination's newest drops tell. */
  readonly dropped: { readonly reason: string; readonly at: number } | undefined
  /** When the destination's deliveries of the last minute were created, oldest first: the newest `traceDeliveries` of them. */
  readonly recent: ReadonlyArray<number>
}

/** One tenant's destinations in numbers. Counts stop at `healthCount`. */
export interface TenantHealth {
  readonly subscriptions: number
  /** Destinations that the engine or an operator paused, whose breaker is not closed, or that have a dead letter. */
  readonly inTrouble: number
  readonly waiting: number
  readonly oldestWaitingAt: number | undefined
  readonly dead: number
}

/** A destination that somebody may have to look at. */
export interface TroubledDestination {
  readonly tenantId: string
  readonly destinationId: string
  readonly source: string
  /** The engine paused it. A pause by its client or an operator is on purpose. */
  readonly paused: boolean
  readonly breakerOpen: boolean
  /** Dead letters of the last `recentDeadMillis` that nobody sent again or dismissed. */
  readonly dead: number
  /** How long its oldest entry has waited, unless its client or an operator paused it. */
  readonly waitingMillis: number | undefined
}

export interface TroubleOfSource {
  readonly source: string
  readonly paused: number
  readonly breakersOpen: number
  readonly dead: number
  readonly waitingMillis: number | undefined
}

/** Of all tenants. */
export interface DeliveryTroubles {
  readonly sources: ReadonlyArray<TroubleOfSource>
  /**
   * `mostTroubled` of them. The worst of each tenant and, within it, of each client come first: most dead letters, then the oldest entry. So nobody
   * hides the trouble of others.
   */
  readonly destinations: ReadonlyArray<TroubledDestination>
}

export const mostTroubled = 100
export const recentDeadMillis = 86_400_000

/** An entry that waits for less does not make its destination one of those in trouble. */
export const lateWaitingMillis = 300_000

export class DeliveryControl extends Context.Service<DeliveryControl, {
  readonly pause: (tenantId: string, destinationId: string, pause: Pause) => Effect.Effect<DestinationChanged, StorageError>
  /**
   * Makes a paused destination active; one that its client had made inactive becomes that again. Other pauses than the named ones stay, however late
   * they come.
   */
  readonly resume: (tenantId: string, destinationId: string, pauses: EndedPauses) => Effect.Effect<DestinationChanged, StorageError>
  /**
   * Cancels deliveries that wait for a retry and removes waiting entries in their order, `purgeStep` of each at most; what was removed
   * counts as dropped. Does nothing where the destination was resumed meanwhile.
   */
  readonly purgeNext: (tenantId: string, destinationId: string, after: PurgePosition | undefined) => Effect.Effect<PurgeStep, StorageError>
  /** Counts `backlogStep` waiting entries of a tenant, destination by destination, in stretches of time of this width. Takes no lock. */
  readonly countBacklog: (tenantId: string, widthMillis: number, after: BacklogPosition | undefined) => Effect.Effect<BacklogCounts, StorageError>
  /**
   * Looks at `backlogStep` waiting entries of a destination in their order and removes those that are too much, in whatever state the destination is.
   * Removes nothing, and has no next step, where the destination has lost more than the caller knows. What is frozen stays.
   */
  readonly dropExcess: (tenantId: string, destinationId: string, excess: BacklogExcess, after: PurgePosition | undefined) => Effect.Effect<PurgeStep, StorageError>
  /** A dead letter is `dismissed` afterwards. Answers the state it was in; other states are left alone. */
  readonly dismiss: (tenantId: string, deliveryId: string) => Effect.Effect<Option.Option<DeliveryState>, StorageError>
  /** Dismisses those of these deliveries that are dead letters. Answers how many. */
  readonly dismissDead: (tenantId: string, deliveryIds: ReadonlyArray<string>) => Effect.Effect<number, StorageError>
  /** What the destination knows of a subject. Reads by index only, and no more than `traceDeliveries` deliveries of a group. */
  readonly trace: (tenantId: string, destinationId: string, subject: TraceSubject) => Effect.Effect<DestinationTrace, StorageError>
  readonly health: (tenantId: string) => Effect.Effect<TenantHealth, StorageError>
  /** For metrics. Reads a bounded number of rows; with more dead letters or waiting entries than that it is approximate. */
  readonly troubles: Effect.Effect<DeliveryTroubles, StorageError>
}>()("@waybill/core/delivery/DeliveryControl") {}
