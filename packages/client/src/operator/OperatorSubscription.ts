/** Subscriptions of a tenant as an operator sees them: what waits, what died, and why nothing goes out. */
import type { OpenList } from "../shared/OpenList.ts"

/** Areas whose subscriptions are delivered to. */
export type DeliveringArea = "transit-events" | "shipment-status" | "freight-charges"

/** `active` sends; `paused` holds what comes; `inactive` holds what was there, and nothing more is queued. */
export type SubscriptionState = "active" | "paused" | "inactive"

/** Its client cannot resume what an operator paused. */
export type PausedBy = "client" | "engine" | "operator"

/** `open`: nothing goes out until `until`. `half-open`: exactly one delivery does, the probe. */
export type BreakerState = "closed" | "open" | "half-open"

export interface SubscriptionBreaker {
  readonly state: OpenList<BreakerState>
  /** Failed attempts since the last accepted one. */
  readonly failures: number
  /** While it is open. */
  readonly until: string | null
}

/** Counts stop at 1,000, which then means so many or more. */
export interface OperatorSubscription {
  readonly subscriptionId: string
  readonly area: OpenList<DeliveringArea>
  /** Whose subscription it is: `key:<name>` or `jwt:<issuer>:<sub>`. */
  readonly client: string
  readonly endpointUrl: string
  readonly hmacSecretId: string
  /** What it selects, in its area's words. */
  readonly filters: Readonly<Record<string, unknown>>
  /** Accounts it names; `null` for all that its client has. */
  readonly accounts: ReadonlyArray<string> | null
  readonly delivery: {
    readonly maxAttempts: number
    readonly initialBackoffSeconds: number
    readonly maxBackoffSeconds: number
    readonly batchMaxSize: number
    readonly rateLimitPerMinute: number
  }
  readonly state: OpenList<SubscriptionState>
  /** Why the service or an operator paused it. */
  readonly reason: string | null
  readonly pausedBy: OpenList<PausedBy> | null
  /** When the state last changed. */
  readonly since: string
  /** Whether its client or its tenant has no access at present, so that nothing is sent. */
  readonly held: boolean
  /** Entries in no delivery yet. */
  readonly waiting: number
  /** Among the first 1,000 that wait. */
  readonly oldestWaitingAt: string | null
  /** Deliveries that are being sent or wait for their next attempt. */
  readonly inFlight: number
  /** Dead letters. */
  readonly dead: number
  /** Entries that were removed without being sent, ever. */
  readonly dropped: number
  /** When a worker looks at it next, or a lease on it ends; `null` when nothing is due. */
  readonly dueAt: string | null
  readonly breaker: SubscriptionBreaker
  /** Of the newest delivery that had one, among the subscription's newest hundred. */
  readonly lastAttempt: {
    readonly at: string
    /** Such as `accepted`, `timeout` or `http_5xx`. */
    readonly outcome: string
    readonly status: number | null
  } | null
}

/** One tenant in numbers. Counts stop at 10,000, which then means so many or more. */
export interface TenantHealth {
  readonly tenantId: string
  readonly subscriptions: number
  /** Subscriptions that the service or an operator paused, whose breaker is not closed, or that have a dead letter. */
  readonly inTrouble: number
  readonly waiting: number
  readonly oldestWaitingAt: string | null
  readonly dead: number
}

/** The tenant with the most subscriptions in trouble first. */
export interface Health {
  readonly tenants: ReadonlyArray<TenantHealth>
}
