/** Pickups as plain promises. */
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

/** A request as it is sent: every member there, `null` where nothing is known. */
export type PickupInput = typeof PickupRequest.Encoded

export interface PickupMethods {
  /** The same request under the same `idempotencyKey` gets the same answer, and no second truck. */
  readonly create: (
    principal: HostPrincipal,
    request: PickupInput,
    options?: { readonly idempotencyKey?: string }
  ) => Promise<ReadonlyArray<PickupAnswer>>
  /** The whole request anew, with the number in it. Until the carrier accepts, what was agreed before stands. */
  readonly update: (principal: HostPrincipal, carrierPickupNumber: string, request: PickupInput) => Promise<ReadonlyArray<PickupAnswer>>
  /** Until the driver has arrived. Cancelling again is fine. */
  readonly cancel: (principal: HostPrincipal, carrierPickupNumber: string) => Promise<void>
  /** What became of a pickup, for carriers; by its number, or by its `pickupId` while it has none. */
  readonly report: (principal: HostPrincipal, pickupId: string, report: typeof PickupReport.Encoded) => Promise<PickupReportResult>
}

export interface PickupReadMethods {
  readonly visibility: (principal: HostPrincipal, query: PickupQuery) => Promise<PickupVisibility>
  /** The pickup with everything that happened, for carriers. */
  readonly record: (principal: HostPrincipal, pickupId: string) => Promise<PickupRecord>
}

/**
 * The host's own dispatch. It is asked inside the transaction that stores its answer, so it must not call the service; and it
 * may be asked about the same `requestId` again, which is one truck.
 */
export type HostPickupDesk =
  | ((order: PickupOrder) => Promise<PickupDecision>)
  | {
    readonly decide: (order: PickupOrder) => Promise<PickupDecision>
    /** The shipper cancelled. */
    readonly cancelled?: (pickup: CancelledPickup) => Promise<void>
  }

/** When it rejects, nothing is stored and the caller is told to try again. */
export const pickupDeskLayer = (desk: HostPickupDesk): Layer.Layer<never> => {
  const { cancelled, decide } = typeof desk === "function" ? { decide: desk, cancelled: undefined } : desk
  const asked = <A>(call: () => Promise<A>) => Effect.tryPromise({ try: call, catch: (cause) => new PickupDeskFailed({ cause }) })
  return Layer.succeed(PickupDesk, {
    decide: (order) => asked(async () => decide.call(desk, order)),
    ...(cancelled === undefined ? {} : { cancelled: (pickup) => asked(async () => cancelled.call(desk, pickup)) })
  })
}
