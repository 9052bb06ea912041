/** A customer's subscription to transit events (area D, Subscription). */
import type { OpenList, OrNull } from "../shared/OpenList.ts"
import type { EventType } from "./TransitEvent.ts"

/** `paused`: events wait and are sent on resume. `inactive`: events are not collected. */
export type SubscriptionStatus = "active" | "paused" | "inactive"

/** Both filters must match. An absent or empty filter matches everything. */
export interface SubscriptionFilters {
  readonly eventTypes?: ReadonlyArray<OpenList<EventType>>
  readonly shipmentIds?: ReadonlyArray<string>
}

/** Retry, rate and batch settings of deliveries. Absent members use the server's defaults. */
export interface DeliveryMetadata {
  readonly maxAttempts?: number
  readonly initialBackoffSeconds?: number
  readonly maxBackoffSeconds?: number
  /** Maximum events per POST. */
  readonly batchMaxSize?: number
  /** Maximum POSTs per minute. */
  readonly rateLimitPerMinute?: number
}

/** A new subscription to transit events: `POST /v1/subscriptions` of area D. */
export interface TransitSubscriptionCreate {
  /** Target of deliveries; https. */
  readonly endpointUrl: string
  /** The secret that signs deliveries. */
  readonly hmacSecretId: string
  readonly filters?: SubscriptionFilters
  readonly delivery?: DeliveryMetadata
}

/** A subscription to transit events (area D). */
export interface TransitSubscription extends Omit<TransitSubscriptionCreate, "hmacSecretId"> {
  readonly id: string
  readonly hmacSecretId?: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly status: OpenList<SubscriptionStatus>
}

/** JSON merge patch: absent members stay, `null` removes, lists are replaced. */
export interface TransitSubscriptionPatch {
  readonly endpointUrl?: string
  readonly hmacSecretId?: string
  readonly filters?: OrNull<SubscriptionFilters> | null
  readonly delivery?: OrNull<DeliveryMetadata> | null
  readonly status?: SubscriptionStatus
}
