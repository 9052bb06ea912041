/** Why a subscription did or did not receive a subject. */
import type { OpenList } from "../shared/OpenList.ts"
import type { DeliveryState } from "./Delivery.ts"

/**
 * Exactly one of them. A freight bill is found by its PRO, by its id as `shipmentId`, or by its shipment; a pickup by its number or id as
 * `pickupId`, by a PRO, or by a shipment with one of its PROs.
 */
export type ExplainSubject = { readonly eventId: string } | { readonly shipmentId: string } | { readonly pro: string } | { readonly pickupId: string }

/** The result of the subject for this subscription. */
export type Verdict = "delivered" | "in_flight" | "waiting" | "dead" | "dropped" | "not_matched" | "not_visible" | "before_subscription"

/** What a waiting entry waits for: its turn, the entry before it, the rate limit, a retry, the circuit breaker, the end of a pause, or access. */
export type WaitReason = "turn" | "order" | "rate" | "retry" | "breaker" | "paused" | "access"

/** Why a subscription did or did not receive something. */
export interface Explanation {
  readonly verdict: OpenList<Verdict>
  /** Rules that led to the verdict. */
  readonly reasons: ReadonlyArray<{ readonly rule: string; readonly expected: string; readonly actual: string }>
  /** Set while the verdict is `waiting`. */
  readonly waitingFor: OpenList<WaitReason> | null
  /** Newest first, at most 50. */
  readonly deliveries: ReadonlyArray<{
    readonly deliveryId: string
    readonly state: OpenList<DeliveryState>
    readonly attempts: number
    readonly lastStatus: number | null
    readonly at: string
  }>
}
