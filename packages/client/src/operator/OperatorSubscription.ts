/** Subscriptions of a tenant in the operator API: backlog, dead letters, and why nothing is sent. */
import type { PageQuery } from "../connection/CursorPages.ts"
import type { OpenList, OrNull } from "../shared/OpenList.ts"
import type { DeliveryMetadata } from "../transit-events/TransitSubscription.ts"
import type { DeliveryError } from "./Delivery.ts"

/** Areas that deliver to subscriptions. */
export type DeliveringArea = "transit-events" | "shipment-status" | "freight-charges" | "pickups" | "notices"

/** `active`: sends. `paused`: new entries wait. `inactive`: keeps waiting entries, and queues no new ones. */
export type SubscriptionState = "active" | "paused" | "inactive"

/** A client cannot resume a subscription that an operator paused. */
export type PausedBy = "client" | "service" | "operator"

/** `open`: nothing is sent until `until`. `half-open`: exactly one delivery is sent, the probe. */
export type BreakerState = "closed" | "open" | "half-open"

/** The circuit breaker of a subscription's endpoint. */
interface SubscriptionBreaker {
  readonly state: OpenList<BreakerState>
  /** Failed attempts since the last accepted one. */
  readonly failures: number
  /** Set while it is open. */
  readonly until: string | null
}

/** Counts stop at 1,000, which means 1,000 or more. */
export interface OperatorSubscription {
  readonly subscriptionId: string
  readonly area: OpenList<DeliveringArea>
  /** Owner: `key:<name>` or `jwt:<issuer>:<sub>`. */
  readonly client: string
  readonly endpointUrl: string
  readonly hmacSecretId: string
  /** Its filters, in the terms of its area. */
  readonly filters: Readonly<Record<string, unknown>>
  /** Selected accounts; `null` for all accounts of its client. */
  readonly accounts: ReadonlyArray<string> | null
  readonly delivery: Required<DeliveryMetadata>
  readonly state: OpenList<SubscriptionState>
  /** Reason of a pause by the service or an operator. */
  readonly reason: string | null
  readonly pausedBy: OpenList<PausedBy> | null
  /** When the state last changed. */
  readonly since: string
  /** Whether its client or tenant has no access at present, so that nothing is sent. */
  readonly held: boolean
  /** Entries that are in no delivery yet. */
  readonly waiting: number
  /** Oldest of the first 1,000 waiting entries. */
  readonly oldestWaitingAt: string | null
  /** Deliveries in progress, or waiting for their next attempt. */
  readonly inFlight: number
  /** Dead letters. */
  readonly dead: number
  /** Total of entries that were removed without being sent. */
  readonly dropped: number
  /** When its earliest retry is due; `null` if none waits. */
  readonly dueAt: string | null
  readonly breaker: SubscriptionBreaker
  /** Last attempt of the newest delivery that had one, among the newest hundred of the subscription. */
  readonly lastAttempt: {
    readonly at: string
    /** Such as `accepted`, `timeout` or `http_5xx`. */
    readonly outcome: string
    readonly status: number | null
  } | null
}

/** Members that are left out stay as they are; `null` resets one to its default. */
export interface SubscriptionChange {
  readonly endpointUrl?: string
  /** One that the subscription's client may use. */
  readonly hmacSecretId?: string
  /** Of transit events only. */
  readonly filters?: { readonly eventTypes?: ReadonlyArray<string> | null; readonly shipmentIds?: ReadonlyArray<string> | null } | null
  readonly delivery?: OrNull<DeliveryMetadata> | null
}

/** Counters of one tenant. Counts stop at 10,000, which means 10,000 or more. */
export interface TenantHealth {
  readonly tenantId: string
  readonly subscriptions: number
  /** Subscriptions that the service or an operator paused, whose breaker is not closed, or that have a dead letter. */
  readonly inTrouble: number
  readonly waiting: number
  readonly oldestWaitingAt: string | null
  readonly dead: number
}

/** Sorted by the number of unhealthy subscriptions, descending. */
export interface Health {
  readonly tenants: ReadonlyArray<TenantHealth>
  /** Ids of tenants whose counts could not be read. The log of the service has the causes. */
  readonly unread: ReadonlyArray<string>
}

/** Filters of the list of subscriptions; all given ones must match. */
export interface OperatorSubscriptionQuery extends PageQuery {
  /** Only these, at most 100. Unknown ids are left out. */
  readonly subscriptionId?: ReadonlyArray<string> | undefined
  /** Only subscriptions of this client. A bare name means `key:<name>`. */
  readonly client?: string | undefined
  /** Only subscriptions in this state. */
  readonly state?: SubscriptionState | undefined
  /** A host, with its port if the address names one, or a whole address. */
  readonly endpoint?: string | undefined
  /** Outcome of the last attempt. A page looks at 1,000 subscriptions at most, so it may be short, or empty, with a `nextCursor`. */
  readonly error?: DeliveryError | undefined
  /** Only subscriptions that `inTrouble` of a tenant's health counts. */
  readonly inTrouble?: boolean | undefined
  /** Whether to count all pages, up to 10,000. Not with `error`. */
  readonly total?: boolean | undefined
}

/** Subscriptions by id, at most 100, or by at least one of the other members. */
export interface PurgeFilter extends Pick<OperatorSubscriptionQuery, "client" | "endpoint" | "state"> {
  readonly subscriptionIds?: ReadonlyArray<string> | undefined
  /** `nextCursor` of the previous step. */
  readonly cursor?: string | undefined
}

/** What one step of a bulk purge did. */
export interface PurgeResult {
  /** Subscriptions that had something to drop. */
  readonly subscriptions: number
  readonly dropped: number
  /** For the next step, with the same filter; `null` when nothing is left. */
  readonly nextCursor: string | null
}

/** Which history is sent again, by the time of its publication. */
export interface ReplayRange {
  readonly from: string | Date
  /** Default: now. */
  readonly to?: string | Date
  /** Default: all shipments of the subscription. */
  readonly shipmentIds?: ReadonlyArray<string>
}
