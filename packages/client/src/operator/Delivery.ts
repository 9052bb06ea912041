/** Deliveries in the operator API. */
import type { OpenList } from "../shared/OpenList.ts"

/**
 * - `sending`: an attempt is in progress.
 * - `waiting`: waits for its next attempt.
 * - `delivered`: the receiver accepted it.
 * - `dead`: a dead letter; its attempts are used up.
 * - `dismissed`: a dead letter that an operator dismissed.
 * - `cancelled`: its subscription was deleted, or purged while the delivery waited for a retry.
 */
export type DeliveryState = "sending" | "waiting" | "delivered" | "dead" | "dismissed" | "cancelled"

/** Outcomes of an attempt that was not accepted, which lists and bulk actions can be filtered by. */
export const deliveryErrors = [
  "dns", "address_not_allowed", "connect_refused", "connect_timeout", "tls", "timeout", "response_too_large", "protocol",
  "http_3xx", "http_4xx", "http_429", "http_5xx", "signing", "gone", "interrupted"
] as const

export type DeliveryError = (typeof deliveryErrors)[number]

/** One POST and its outcome. */
export interface DeliveryAttempt {
  /** From 1. */
  readonly attempt: number
  readonly at: string
  readonly durationMillis: number
  /** Such as `accepted`, `timeout` or `http_5xx`. */
  readonly outcome: string
  /** HTTP status of the receiver's response, if there was one. */
  readonly status: number | null
  readonly detail: string | null
  /** First bytes of the receiver's response, made printable. */
  readonly answer: string | null
}

export interface Delivery {
  readonly deliveryId: string
  readonly subscriptionId: string
  readonly state: OpenList<DeliveryState>
  readonly createdAt: string
  /** When the delivery reached its final state. */
  readonly settledAt: string | null
  readonly nextAttemptAt: string | null
  /** Why it was cancelled. Null when its subscription was deleted. */
  readonly reason: string | null
  /** Number of events in the delivery. */
  readonly events: number
  readonly attempts: ReadonlyArray<DeliveryAttempt>
}

export interface DeliveryInFull extends Delivery {
  readonly endpointUrl: string
  /** The exact body of every attempt. */
  readonly body: string
}
