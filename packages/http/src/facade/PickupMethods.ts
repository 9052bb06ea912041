/** Pickups as promises. */
import type { ListPage } from "@waybill/core"
import {
  type CancelledPickup,
  type CarrierDecisionInput,
  type PickupAnswer,
  type PickupChangeEntry,
  type PickupChangeQueryInput,
  type PickupDecision,
  PickupDesk,
  type PickupDeskCall,
  type PickupDispatch,
  PickupDeskFailed,
  type PickupInput,
  type PickupOptions,
  type PickupOrder,
  type PickupQuery,
  type PickupRecord,
  type PickupReportInput,
  type PickupReportResult,
  type PickupSubscription,
  type PickupSubscriptionInput,
  type PickupSubscriptionPatchInput,
  type PickupSubscriptionQueryInput,
  type PickupVisibility
} from "@waybill/core/pickups"
import { Effect, Layer } from "effect"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"
import { insideDesk } from "./InsideDesk.ts"

export interface PickupMethods {
  /** Unknown values may be left out. The same request with the same `idempotencyKey` gets the same response, and no second truck. */
  readonly create: (
    principal: HostPrincipal,
    request: PickupInput,
    options?: PickupOptions
  ) => Promise<ReadonlyArray<PickupAnswer>>
  /** Replaces the whole request. Until the carrier accepts it, the previous agreement stays valid. */
  readonly update: (principal: HostPrincipal, carrierPickupNumber: string, request: PickupInput) => Promise<ReadonlyArray<PickupAnswer>>
  /** Possible until the driver has arrived. Can be repeated. */
  readonly cancel: (principal: HostPrincipal, carrierPickupNumber: string) => Promise<void>
  /** Reports the progress of a pickup, for carriers; by its number, or by its `pickupId` until it has one. */
  readonly report: (principal: HostPrincipal, pickupId: string, report: PickupReportInput) => Promise<PickupReportResult>
  /** Decides on an order, or on a change of it, that waits for a decision, for carriers. */
  readonly decide: (principal: HostPrincipal, pickupId: string, decision: CarrierDecisionInput) => Promise<PickupReportResult>
}

export interface PickupChanges {
  readonly data: ReadonlyArray<PickupChangeEntry>
  /** Always present: use it later to get newer changes. */
  readonly nextCursor: string
}

/** Carriers' webhooks for the changes of pickups. */
export interface PickupSubscriptionMethods {
  readonly create: (principal: HostPrincipal, subscription: PickupSubscriptionInput) => Promise<PickupSubscription>
  readonly list: (principal: HostPrincipal, query?: PickupSubscriptionQueryInput) => Promise<ListPage<PickupSubscription>>
  readonly get: (principal: HostPrincipal, id: string) => Promise<PickupSubscription>
  /** JSON merge patch: changes only the named members. */
  readonly patch: (principal: HostPrincipal, id: string, patch: PickupSubscriptionPatchInput) => Promise<PickupSubscription>
  /** Stops deliveries at once. Can be repeated. */
  readonly remove: (principal: HostPrincipal, id: string) => Promise<void>
}

export interface PickupReadMethods {
  readonly visibility: (principal: HostPrincipal, query: PickupQuery) => Promise<PickupVisibility>
  /** The work list, for carriers: every order, change, cancellation, decision and report once, in commit order. */
  readonly changes: (principal: HostPrincipal, query?: PickupChangeQueryInput) => Promise<PickupChanges>
  /** The pickup with its history, for carriers. */
  readonly record: (principal: HostPrincipal, pickupId: string) => Promise<PickupRecord>
}

/**
 * The host's own dispatch. It runs inside the transaction that stores its answer, and gets that transaction, so that the truck
 * and the answer are stored together. It must not call the service, and must send its statements on the transaction: a
 * connection of its own from the same pool could wait forever. It may be called again with the same `requestId`, which must not
 * order a second truck.
 */
export type HostPickupDesk<Tx = unknown> =
  | ((order: PickupOrder, call: PickupDeskCall<Tx>) => Promise<PickupDecision>)
  | {
    readonly decide: (order: PickupOrder, call: PickupDeskCall<Tx>) => Promise<PickupDecision>
    /** Called when the shipper cancelled. */
    readonly cancelled?: (pickup: CancelledPickup, call: PickupDeskCall<Tx>) => Promise<void>
  }

/** The carrier decides with `pickups.decide` or over intake. The shipper's call waits this long, and then gets "Call us". */
export interface WaitingPickupDesk {
  readonly waitSeconds: number
}

/** When the host's dispatch rejects, nothing is stored and the caller is asked to retry. */
export const pickupDeskLayer = (desk: HostPickupDesk | WaitingPickupDesk): Layer.Layer<never> => {
  if ("waitSeconds" in desk) return Layer.succeed(PickupDesk, { waitMillis: waitMillisOf(desk) })
  const { cancelled, decide } = typeof desk === "function" ? { decide: desk, cancelled: undefined } : desk
  // an interruption waits for the desk, because it uses the transaction
  const asked = <A>(call: () => Promise<A>) =>
    Effect.uninterruptible(Effect.tryPromise({ try: () => insideDesk(service, call), catch: (cause) => new PickupDeskFailed({ cause }) }))
  const service: PickupDispatch = {
    decide: (order, call) => asked(async () => decide.call(desk, order, call)),
    ...(cancelled === undefined ? {} : { cancelled: (pickup, call) => asked(async () => cancelled.call(desk, pickup, call)) })
  }
  return Layer.succeed(PickupDesk, service)
}

/** Calls over HTTP end after minutes at the latest, in the service or in a proxy before it. */
const maxWaitSeconds = 300

const waitMillisOf = ({ waitSeconds }: WaitingPickupDesk): number => {
  if (!(waitSeconds >= 0 && waitSeconds <= maxWaitSeconds)) throw new RangeError(`pickupDesk.waitSeconds is a number from 0 to ${maxWaitSeconds}.`)
  return waitSeconds * 1000
}
