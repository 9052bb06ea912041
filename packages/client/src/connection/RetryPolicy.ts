/** When a call that may be repeated is sent again. */
import { WaybillCallFailed, WaybillProblem } from "./WaybillProblem.ts"

export interface RetryPolicy {
  /** How often a call is sent in all. */
  readonly attempts: number
  /** Upper bound of the first pause; doubles from there. */
  readonly firstPauseMillis: number
  /** No pause is longer. A server that asks for more gets no retry; the problem tells how long it asked for. */
  readonly longestPauseMillis: number
}

export const defaultRetryPolicy: RetryPolicy = { attempts: 3, firstPauseMillis: 250, longestPauseMillis: 10_000 }

/**
 * The pause in milliseconds before the next attempt, or `undefined` to give up.
 *
 * Only a lost answer, 429 and 503 are worth another attempt. `attempt` counts from 1; `draw` is a number from 0 to 1
 * that spreads the callers of a server that just came back.
 */
export const pauseBeforeRetry = (policy: RetryPolicy, attempt: number, failure: unknown, draw: number): number | undefined => {
  if (attempt >= policy.attempts) return undefined
  const spread = draw * Math.min(policy.firstPauseMillis * 2 ** (attempt - 1), policy.longestPauseMillis)
  if (failure instanceof WaybillCallFailed) {
    return failure.reason === "network" || failure.reason === "timeout" ? spread : undefined
  }
  if (!(failure instanceof WaybillProblem) || (failure.status !== 429 && failure.status !== 503)) return undefined
  const asked = (failure.retryAfterSeconds ?? 0) * 1000
  return asked > policy.longestPauseMillis ? undefined : Math.max(asked, spread)
}
