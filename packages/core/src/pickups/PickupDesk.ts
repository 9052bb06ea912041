/** Port: the carrier's decision on each pickup. A host connects its own dispatch system here. */
import { Context, Effect } from "effect"
import type { PickupRequest } from "./model/PickupRequest.ts"
import type { PickupDeskFailed } from "./PickupErrors.ts"

/** A new pickup, or a change of one, for the desk to decide. */
export interface PickupOrder {
  readonly tenantId: string
  /** Equal when the same request is retried. A desk that has already dispatched it must not send a second truck. */
  readonly requestId: string
  /** Waybill's id of the pickup. Status reports use it until there is a pickup number. */
  readonly pickupId: string
  readonly kind: "new" | "modify"
  readonly request: PickupRequest
  /** The agreed pickup, which stays valid until the change is accepted. */
  readonly before?: { readonly carrierPickupNumber: string; readonly request: PickupRequest }
}

/** A desk's answer to an order. */
export interface PickupDecision {
  /** `callUs`: the shipper phones the carrier, which then reports the result. */
  readonly decision: "accept" | "reject" | "callUs"
  /** Only with `accept`, because a number promises a truck. If left out, Waybill issues one; a changed pickup keeps its number. */
  readonly carrierPickupNumber?: string
  /** Messages for the shipper. */
  readonly messages?: ReadonlyArray<string>
  readonly carrierName?: string
  readonly scac?: string
  readonly routing?: string
  readonly trailerNumber?: string
}

/** A pickup that its shipper cancelled. */
export interface CancelledPickup {
  readonly tenantId: string
  readonly pickupId: string
  readonly carrierPickupNumber: string
  readonly request: PickupRequest
}

/** Context of a call to the desk. */
export interface PickupDeskCall<Tx = unknown> {
  /**
   * The transaction that stores the answer, so that the desk's own rows commit with it: the host's transaction as it was passed to
   * `within`, else the handle of Waybill's transaction that the storage adapter provides. Not usable after the desk has answered.
   */
  readonly transaction: Tx
}

/**
 * The host's own dispatch. Runs inside the transaction that stores the answer. If it fails, nothing is stored and the error asks the caller to retry. It must not
 * call Waybill, nor take a connection from the pool that Waybill uses: the pool may have no other connection left. It is not called for test
 * pickups.
 */
export interface PickupDispatch {
  readonly decide: (order: PickupOrder, call: PickupDeskCall) => Effect.Effect<PickupDecision, PickupDeskFailed>
  /** The shipper cancelled a pickup that has a number. May be called more than once for a pickup. */
  readonly cancelled?: (pickup: CancelledPickup, call: PickupDeskCall) => Effect.Effect<void, PickupDeskFailed>
}

/** The carrier decides over intake (`Pickups.decide`). The shipper's call waits this long, and then gets "Call us". */
export interface PickupWait {
  readonly waitMillis: number
}

/** Who decides on pickups. By default every request is accepted. */
export class PickupDesk extends Context.Reference<PickupDispatch | PickupWait>("@waybill/core/pickups/PickupDesk", {
  defaultValue: () => ({ decide: () => Effect.succeed({ decision: "accept" }) })
}) {}
