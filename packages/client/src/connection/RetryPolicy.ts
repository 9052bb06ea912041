/** Decides whether and when an idempotent call is retried. */
import { WaybillCallFailed, WaybillProblem } from "./WaybillProblem.ts"

/** When a call that failed is repeated. Only idempotent calls are: after a lost response, 429, 502, 503 or 504. */
export interface RetryPolicy {
  /** Number of attempts, the first one included. */
  readonly attempts: number
  /** Upper bound of the first pause in milliseconds. It doubles with each attempt. */
  readonly firstPauseMillis: number
  /** Longest pause in milliseconds. When `Retry-After` is longer, the call is not retried and the error carries the value. */
  readonly longestPauseMillis: number
}

/** Three attempts, with a first pause of up to 250 ms and pauses of at most 10 s. */
export const defaultRetryPolicy: RetryPolicy = { attempts: 3, firstPauseMillis: 250, longestPauseMillis: 10_000 }

/** With 502 and 504 a gateway says that it lost the response. */
const retriedStatuses = [429, 502, 503, 504]

/**
 * The pause in milliseconds before the next attempt, or `undefined` to give up.
 *
 * Only lost responses, 429, 502, 503 and 504 are retried. `attempt` counts from 1. `draw` is a random number from 0 to 1: jitter
 * that spreads callers when a server comes back.
 */
export const pauseBeforeRetry = (policy: RetryPolicy, attempt: number, failure: unknown, draw: number): number | undefined => {
  if (attempt >= policy.attempts) return undefined
  const spread = draw * Math.min(policy.firstPauseMillis * 2 ** (attempt - 1), policy.longestPauseMillis)
  if (failure instanceof WaybillCallFailed) {
    return failure.reason === "network" || failure.reason === "timeout" ? spread : undefined
  }
  if (!(failure instanceof WaybillProblem) || !retriedStatuses.includes(failure.status)) return undefined
  const asked = (failure.retryAfterSeconds ?? 0) * 1000
  return asked > policy.longestPauseMillis ? undefined : Math.max(asked, spread)
}
