/** A destination's circuit breaker: after failures in a row, only the next retry goes out, as the probe. */

export interface Breaker {
  /** Failed attempts since the last accepted one. */
  readonly failures: number
  /** While set and in the future (milliseconds), nothing goes out; afterwards exactly one delivery does, the probe. */
  readonly openUntil: number | undefined
}

export const closedBreaker: Breaker = { failures: 0, openUntil: undefined }

/** Failures in a row that open the breaker. */
export const breakerThreshold = 5

/** What an accepted delivery makes of it. */
export const afterSuccess = (): Breaker => closedBreaker

/** What a failed attempt makes of it; `retryInMillis` is that delivery's own pause, so the retry is the probe. */
export const afterFailure = (breaker: Breaker, now: number, retryInMillis: number): Breaker => {
  const failures = breaker.failures + 1
  if (failures < breakerThreshold) return { failures, openUntil: breaker.openUntil }
  return { failures, openUntil: now + retryInMillis }
}

export type BreakerState = "closed" | "open" | "half-open"

export const breakerState = (breaker: Breaker, now: number): BreakerState =>
  breaker.openUntil === undefined ? "closed" : breaker.openUntil > now ? "open" : "half-open"
