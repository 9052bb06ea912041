/** A customer's wish to be told of transit events (area D, Subscription). */
import type { OpenList } from "../shared/OpenList.ts"
import type { EventType } from "./TransitEvent.ts"

/** `paused` holds events back and sends them on resume; `inactive` does not collect any. */
export type SubscriptionStatus = "active" | "paused" | "inactive"

/** Both must match; one that is absent or empty lets everything through. */
export interface SubscriptionFilters {
  readonly eventTypes?: ReadonlyArray<OpenList<EventType>>
  readonly shipmentIds?: ReadonlyArray<string>
}

/** How patiently, how fast and in what portions deliveries come. What is left out takes the server's default. */
export interface DeliveryMetadata {
  readonly maxAttempts?: number
  readonly initialBackoffSeconds?: number
  readonly maxBackoffSeconds?: number
  /** Most events in one POST. */
  readonly batchMaxSize?: number
  /** Most POSTs in a minute. */
  readonly rateLimitPerMinute?: number
}

export interface TransitSubscription {
  readonly id: string
  readonly endpointUrl: string
  readonly hmacSecretId?: string
  readonly filters?: SubscriptionFilters
  readonly delivery?: DeliveryMetadata
  readonly createdAt: string
  readonly updatedAt: string
  readonly status: OpenList<SubscriptionStatus>
}

export interface TransitSubscriptionCreate {
  /** Where deliveries are POSTed to; https. */
  readonly endpointUrl: string
  /** Names the secret that deliveries are signed with. */
  readonly hmacSecretId: string
  readonly filters?: SubscriptionFilters
  readonly delivery?: DeliveryMetadata
}

/** JSON merge patch: what is absent stays, `null` takes away, lists are replaced whole. */
export interface TransitSubscriptionPatch {
  readonly endpointUrl?: string
  readonly hmacSecretId?: string
  readonly filters?: OrNull<SubscriptionFilters> | null
  readonly delivery?: OrNull<DeliveryMetadata> | null
  readonly status?: SubscriptionStatus
}

type OrNull<A> = { readonly [Member in keyof A]: A[Member] | null }
