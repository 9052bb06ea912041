/** Port: the carrier decides on every pickup. A host puts its own dispatch here. */
import { Context, Effect } from "effect"
import type { PickupRequest } from "./model/PickupRequest.ts"
import type { PickupDeskFailed } from "./PickupErrors.ts"

export interface PickupOrder {
  readonly tenantId: string
  /** The same when the same request comes again: a desk that dispatched it before must not send a second truck. */
  readonly requestId: string
  /** The service's own id of the pickup. Until there is a number, it is what status reports name. */
  readonly pickupId: string
  readonly kind: "new" | "modify"
  readonly request: PickupRequest
  /** What stands until a change is accepted. */
  readonly before?: { readonly carrierPickupNumber: string; readonly request: PickupRequest }
}

export interface PickupDecision {
  /** With `callUs` the shipper phones the carrier, which then reports what became of it. */
  readonly decision: "accept" | "reject" | "callUs"
  /** Promises the truck, so it goes with `accept` only. Left out, the service issues one, or a changed pickup keeps its own. */
  readonly carrierPickupNumber?: string
  /** What the shipper should read. */
  readonly messages?: ReadonlyArray<string>
  readonly carrierName?: string
  readonly scac?: string
  readonly routing?: string
  readonly trailerNumber?: string
}

export interface CancelledPickup {
  readonly tenantId: string
  readonly pickupId: string
  readonly carrierPickupNumber: string
  readonly request: PickupRequest
}

/**
 * Asked inside the transaction that stores the answer: when it fails, nothing is stored and the caller is told to try again.
 * It must not call the service meanwhile. Never asked about tests. Without a desk of the host's, every request is accepted.
 */
export class PickupDesk extends Context.Reference<{
  readonly decide: (order: PickupOrder) => Effect.Effect<PickupDecision, PickupDeskFailed>
  /** The shipper cancelled. May be told of the same pickup again. */
  readonly cancelled?: (pickup: CancelledPickup) => Effect.Effect<void, PickupDeskFailed>
}>("@waybill/core/pickups/PickupDesk", {
  defaultValue: () => ({ decide: () => Effect.succeed({ decision: "accept" }) })
}) {}
