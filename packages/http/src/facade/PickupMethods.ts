/** Pickups as promises. */
import {
  type CancelledPickup,
  type PickupAnswer,
  type PickupDecision,
  PickupDesk,
  PickupDeskFailed,
  type PickupOrder,
  type PickupQuery,
  type PickupRecord,
  type PickupReport,
  type PickupReportResult,
  type PickupRequest,
  type PickupVisibility
} from "@waybill/core"
import { Effect, Layer } from "effect"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

/** A request as the interface defines it: every member present, `null` for unknown values. */
export type PickupInput = typeof PickupRequest.Encoded

export interface PickupMethods {
  /** The same request with the same `idempotencyKey` gets the same response, and no second truck. */
  readonly create: (
    principal: HostPrincipal,
    request: PickupInput,
    options?: { readonly idempotencyKey?: string }
  ) => Promise<ReadonlyArray<PickupAnswer>>
  /** Replaces the whole request, with the number in it. Until the carrier accepts it, the previous agreement stays valid. */
  readonly update: (principal: HostPrincipal, carrierPickupNumber: string, request: PickupInput) => Promise<ReadonlyArray<PickupAnswer>>
  /** Possible until the driver has arrived. Can be repeated. */
  readonly cancel: (principal: HostPrincipal, carrierPickupNumber: string) => Promise<void>
  /** Reports the progress of a pickup, for carriers; by its number, or by its `pickupId` until it has one. */
  readonly report: (principal: HostPrincipal, pickupId: string, report: typeof PickupReport.Encoded) => Promise<PickupReportResult>
}

export interface PickupReadMethods {
  readonly visibility: (principal: HostPrincipal, query: PickupQuery) => Promise<PickupVisibility>
  /** The pickup with its history, for carriers. */
  readonly record: (principal: HostPrincipal, pickupId: string) => Promise<PickupRecord>
}

/**
 * The host's own dispatch. It runs inside the transaction that stores its answer, so it must not call the service. It
 * may be called again with the same `requestId`, which must not order a second truck.
 */
export type HostPickupDesk =
  | ((order: PickupOrder) => Promise<PickupDecision>)
  | {
    readonly decide: (order: PickupOrder) => Promise<PickupDecision>
    /** Called when the shipper cancelled. */
    readonly cancelled?: (pickup: CancelledPickup) => Promise<void>
  }

/** When it rejects, nothing is stored and the caller is asked to retry. */
export const pickupDeskLayer = (desk: HostPickupDesk): Layer.Layer<never> => {
  const { cancelled, decide } = typeof desk === "function" ? { decide: desk, cancelled: undefined } : desk
  const asked = <A>(call: () => Promise<A>) => Effect.tryPromise({ try: call, catch: (cause) => new PickupDeskFailed({ cause }) })
  return Layer.succeed(PickupDesk, {
    decide: (order) => asked(async () => decide.call(desk, order)),
    ...(cancelled === undefined ? {} : { cancelled: (pickup) => asked(async () => cancelled.call(desk, pickup)) })
  })
}
