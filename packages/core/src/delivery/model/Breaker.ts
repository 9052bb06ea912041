/** A destination's circuit breaker: after consecutive failures nothing is sent until the next retry, which is the probe. */

/** The state of a circuit breaker. */
export interface Breaker {
  /** Failed attempts since the last accepted one. */
  readonly failures: number
  /** Until this instant (milliseconds) nothing is sent; after it one delivery at a time, the probe. `undefined`: closed. */
  readonly openUntil: number | undefined
}

/** A breaker without failures: a new one, and that after an accepted delivery. */
export const closedBreaker: Breaker = { failures: 0, openUntil: undefined }

/** Number of consecutive failures that opens the breaker. */
export const breakerThreshold = 5

/** The breaker after a failed attempt. `retryInMillis`: the pause of that delivery, so that its retry is the probe. */
export const afterFailure = (breaker: Breaker, now: number, retryInMillis: number): Breaker => {
  const failures = breaker.failures + 1
  if (failures < breakerThreshold) return { failures, openUntil: breaker.openUntil }
  return { failures, openUntil: now + retryInMillis }
}

/** `half-open`: the probe may be sent. */
export type BreakerState = "closed" | "open" | "half-open"

/** The state at `now` (milliseconds). */
export const breakerState = (breaker: Breaker, now: number): BreakerState =>
  breaker.openUntil === undefined ? "closed" : breaker.openUntil > now ? "open" : "half-open"
