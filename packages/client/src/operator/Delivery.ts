/** Deliveries as an operator sees them. */
import type { OpenList } from "../shared/OpenList.ts"

/**
 * - `sending`: an attempt is under way.
 * - `waiting`: for its next attempt.
 * - `delivered`: a receiver accepted it.
 * - `dead`: a dead letter; its attempts are used up.
 * - `dismissed`: a dead letter that an operator put aside.
 * - `cancelled`: its subscription was deleted, or purged while the delivery waited for a retry.
 */
export type DeliveryState = "sending" | "waiting" | "delivered" | "dead" | "dismissed" | "cancelled"

/** One POST and what became of it. */
export interface DeliveryAttempt {
  /** From 1. */
  readonly attempt: number
  readonly at: string
  readonly durationMillis: number
  /** Such as `accepted`, `timeout` or `http_5xx`. */
  readonly outcome: string
  /** The receiver's HTTP status, when it answered. */
  readonly status: number | null
  readonly detail: string | null
  /** The first bytes of the receiver's answer, made printable. */
  readonly answer: string | null
}

export interface Delivery {
  readonly deliveryId: string
  readonly subscriptionId: string
  readonly state: OpenList<DeliveryState>
  readonly createdAt: string
  /** When it reached its final state. */
  readonly settledAt: string | null
  readonly nextAttemptAt: string | null
  /** Why it was cancelled, where its subscription was not deleted. */
  readonly reason: string | null
  /** How many events it carries. */
  readonly events: number
  readonly attempts: ReadonlyArray<DeliveryAttempt>
}

export interface DeliveryInFull extends Delivery {
  readonly endpointUrl: string
  /** The exact text of every attempt. */
  readonly body: string
}
