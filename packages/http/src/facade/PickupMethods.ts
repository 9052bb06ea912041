/** Pickups as promises. */
import type { ListPage } from "@waybill/core"
import type * as pickups from "@waybill/core/pickups"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

export type {
  CancelledPickup,
  CarrierDecisionInput,
  PickupAnswer,
  PickupChangeEntry,
  PickupChangeQueryInput,
  PickupDecision,
  PickupDeskCall,
  PickupInput,
  PickupOptions,
  PickupOrder,
  PickupQuery,
  PickupRecord,
  PickupReportInput,
  PickupReportResult,
  PickupRequest,
  PickupSubscription,
  PickupSubscriptionInput,
  PickupSubscriptionPatchInput,
  PickupSubscriptionQueryInput,
  PickupVisibility
} from "@waybill/core/pickups"

export interface PickupMethods {
  /** Unknown values may be left out. The same request with the same `idempotencyKey` gets the same response, and no second truck. */
  readonly create: (
    principal: HostPrincipal,
    request: pickups.PickupInput,
    options?: pickups.PickupOptions
  ) => Promise<ReadonlyArray<pickups.PickupAnswer>>
  /** Replaces the whole request. Until the carrier accepts it, the previous agreement stays valid. */
  readonly update: (principal: HostPrincipal, carrierPickupNumber: string, request: pickups.PickupInput) => Promise<ReadonlyArray<pickups.PickupAnswer>>
  /** By its number, or by its `pickupId`. Possible until the driver has arrived, then rejects with `pickup_final`. Can be repeated. */
  readonly cancel: (principal: HostPrincipal, pickupId: string) => Promise<void>
  /** Reports the progress of a pickup, for carriers; by its number, or by its `pickupId` until it has one. */
  readonly report: (principal: HostPrincipal, pickupId: string, report: pickups.PickupReportInput) => Promise<pickups.PickupReportResult>
  /** Decides on an order, or on a change of it, that waits for a decision, for carriers. Rejects with `pickup_decided` if nothing waits. */
  readonly decide: (principal: HostPrincipal, pickupId: string, decision: pickups.CarrierDecisionInput) => Promise<pickups.PickupReportResult>
}

export interface PickupChanges {
  readonly data: ReadonlyArray<pickups.PickupChangeEntry>
  /** Always present: use it later to get newer changes. */
  readonly nextCursor: string
}

/** Carriers' webhooks for the changes of pickups. */
export interface PickupSubscriptionMethods {
  readonly create: (principal: HostPrincipal, subscription: pickups.PickupSubscriptionInput) => Promise<pickups.PickupSubscription>
  readonly list: (principal: HostPrincipal, query?: pickups.PickupSubscriptionQueryInput) => Promise<ListPage<pickups.PickupSubscription>>
  readonly get: (principal: HostPrincipal, id: string) => Promise<pickups.PickupSubscription>
  /** JSON merge patch: changes only the named members. */
  readonly patch: (principal: HostPrincipal, id: string, patch: pickups.PickupSubscriptionPatchInput) => Promise<pickups.PickupSubscription>
  /** Stops deliveries at once. Can be repeated. */
  readonly remove: (principal: HostPrincipal, id: string) => Promise<void>
}

export interface PickupReadMethods {
  /** The status of a pickup that the carrier has accepted, by number or PRO. Rejects with `pickup_not_found` for all others. */
  readonly visibility: (principal: HostPrincipal, query: pickups.PickupQuery) => Promise<pickups.PickupVisibility>
  /** The work list, for carriers: every order, change, cancellation, decision and report once, in commit order. */
  readonly changes: (principal: HostPrincipal, query?: pickups.PickupChangeQueryInput) => Promise<PickupChanges>
  /** The pickup with its history, for carriers; of a history of more than 8 MB the newest part. */
  readonly record: (principal: HostPrincipal, pickupId: string) => Promise<pickups.PickupRecord>
}

/**
 * The host's own dispatch. It runs inside the transaction that stores its answer, and gets that transaction, so that the truck
 * and the answer are stored together. It must not call the service, and must send its statements on the transaction: a
 * connection of its own from the same pool could wait forever. It may be called again with the same `requestId`, which must not
 * order a second truck.
 */
export type HostPickupDesk<Tx = unknown> =
  | ((order: pickups.PickupOrder, call: pickups.PickupDeskCall<Tx>) => Promise<pickups.PickupDecision>)
  | {
    readonly decide: (order: pickups.PickupOrder, call: pickups.PickupDeskCall<Tx>) => Promise<pickups.PickupDecision>
    /** Called when the shipper cancelled. */
    readonly cancelled?: (pickup: pickups.CancelledPickup, call: pickups.PickupDeskCall<Tx>) => Promise<void>
  }

/** The carrier decides with `pickups.decide` or over intake. The shipper's call waits this long, and then gets "Call us". */
export interface WaitingPickupDesk {
  readonly waitSeconds: number
}
