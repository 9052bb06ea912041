/** Pickups as promises. */
import {
  type CancelledPickup,
  type PickupAnswer,
  type PickupDecision,
  PickupDesk,
  type PickupDeskCall,
  PickupDeskFailed,
  type PickupInput,
  type PickupOptions,
  type PickupOrder,
  type PickupQuery,
  type PickupRecord,
  type PickupReportInput,
  type PickupReportResult,
  type PickupVisibility
} from "@waybill/core"
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
}

export interface PickupReadMethods {
  readonly visibility: (principal: HostPrincipal, query: PickupQuery) => Promise<PickupVisibility>
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

/** When it rejects, nothing is stored and the caller is asked to retry. */
export const pickupDeskLayer = (desk: HostPickupDesk): Layer.Layer<never> => {
  const { cancelled, decide } = typeof desk === "function" ? { decide: desk, cancelled: undefined } : desk
  // an interruption waits for the desk, because it uses the transaction
  const asked = <A>(call: () => Promise<A>) =>
    Effect.uninterruptible(Effect.tryPromise({ try: () => insideDesk(service, call), catch: (cause) => new PickupDeskFailed({ cause }) }))
  const service: (typeof PickupDesk)["Service"] = {
    decide: (order, call) => asked(async () => decide.call(desk, order, call)),
    ...(cancelled === undefined ? {} : { cancelled: (pickup, call) => asked(async () => cancelled.call(desk, pickup, call)) })
  }
  return Layer.succeed(PickupDesk, service)
}
