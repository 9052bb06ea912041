/** Deliveries in the operator API. */
import type { PageQuery } from "../connection/CursorPages.ts"
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

/** How an attempt failed, without `accepted`. */
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

/** A delivery with its attempts. Times are RFC 3339 in UTC. */
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

/** A delivery with the exact bytes that were or will be sent. */
export interface DeliveryInFull extends Delivery {
  /** The subscription's endpoint now. Attempts before it was changed were sent to the previous one. */
  readonly endpointUrl: string
  /** The exact body of every attempt. */
  readonly body: string
}

/** Filters of the list of deliveries; all given ones must match. */
export interface DeliveryQuery extends PageQuery {
  readonly state?: DeliveryState | undefined
  readonly subscriptionId?: string | undefined
  /** A bare name means `key:<name>`. Deliveries of deleted subscriptions are excluded. */
  readonly client?: string | undefined
  /** A host, with its port if the address names one, or a whole address. Deliveries of deleted subscriptions are excluded. */
  readonly endpoint?: string | undefined
  /** Outcome of the last attempt, of deliveries that wait for a retry or are dead letters. */
  readonly error?: DeliveryError | undefined
  /** Created at this time or later. */
  readonly since?: string | Date | undefined
  /** Created before this time. */
  readonly until?: string | Date | undefined
  /** Whether to count all pages, up to 10,000. */
  readonly total?: boolean | undefined
  /** Order of creation, the same for all pages. The server's default is `newest` first. */
  readonly order?: "oldest" | "newest" | undefined
}

/** What dead letters are found by, as in the list of deliveries; at least one member. */
export interface DeadLettersFilter extends Pick<DeliveryQuery, "subscriptionId" | "client" | "endpoint" | "error" | "since" | "until"> {
  /** `nextCursor` of the previous step. */
  readonly cursor?: string | undefined
}

/** What one step of a bulk action did. */
export interface BulkResult {
  /** Dead letters that it changed. */
  readonly changed: number
  /** For the next step, with the same filter; `null` when nothing is left. */
  readonly nextCursor: string | null
}
