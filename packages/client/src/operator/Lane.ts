/** Subscriptions of a tenant as an operator sees them: what waits, what died, and why nothing goes out. */
import type { OpenList } from "../shared/OpenList.ts"

/** Areas whose subscriptions are delivered to. */
export type DeliveringArea = "transit-events" | "shipment-status" | "freight-charges"

/** `active` sends; `paused` holds what comes; `inactive` holds what was there, and nothing more is queued. */
export type LaneState = "active" | "paused" | "inactive"

/** `open`: nothing goes out until `until`. `half-open`: exactly one delivery does, the probe. */
export type BreakerState = "closed" | "open" | "half-open"

export interface LaneBreaker {
  readonly state: OpenList<BreakerState>
  /** Failed attempts since the last accepted one. */
  readonly failures: number
  /** While it is open. */
  readonly until: string | null
}

/** Counts stop at 1,000, which then means so many or more. */
export interface Lane {
  readonly subscriptionId: string
  readonly area: OpenList<DeliveringArea>
  /** Whose subscription it is; `null` when nobody owns it any more. */
  readonly client: string | null
  readonly endpointUrl: string
  readonly state: OpenList<LaneState>
  /** Why the service changed the state itself. */
  readonly reason: string | null
  readonly since: string
  readonly breaker: LaneBreaker
  /** Entries in no delivery yet. */
  readonly waiting: number
  /** Deliveries that are being sent or wait for their next attempt. */
  readonly unsettled: number
  /** Dead letters. */
  readonly dead: number
  /** When a worker looks at it next, or a lease on it ends; `null` when nothing is due. */
  readonly dueAt: string | null
  /** Of the newest delivery that had one, among the lane's newest hundred. */
  readonly lastAttempt: {
    readonly at: string
    /** Such as `accepted`, `timeout` or `http_5xx`. */
    readonly outcome: string
    readonly status: number | null
  } | null
}
