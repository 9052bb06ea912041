/** When a failed delivery goes out again, or that it does not. */
import type { DeliveryPolicy } from "./DeliveryPolicy.ts"

export type RetryDecision =
  | { readonly _tag: "RetryAfter"; readonly seconds: number }
  | { readonly _tag: "GiveUp" }

/**
 * Doubles the backoff after every failed attempt, up to the maximum of the policy.
 *
 * `attempt` counts from 1. `jitter` from 0 to 1 is drawn by the caller and moves the pause by at most a fifth either
 * way, so that deliveries are not retried at the same time. SPEC-GAP-D24: `Retry-After` may lengthen the pause up to the ceiling, never shorten it.
 */
export const decideRetry = (
  policy: DeliveryPolicy,
  attempt: number,
  jitter: number,
  retryAfterSeconds?: number
): RetryDecision => {
  if (attempt >= policy.maxAttempts) return { _tag: "GiveUp" }
  const doubled = Math.min(policy.initialBackoffSeconds * 2 ** Math.min(attempt - 1, 40), policy.maxBackoffSeconds)
  const own = Math.min(doubled * (0.8 + 0.4 * jitter), policy.maxBackoffSeconds)
  const asked = retryAfterSeconds !== undefined && Number.isFinite(retryAfterSeconds) ? retryAfterSeconds : 0
  return { _tag: "RetryAfter", seconds: Math.min(Math.max(own, asked), policy.maxBackoffSeconds) }
}

/** Takeovers allowed past the last counted attempt: a process was killed while sending, so its answer is unknown. */
const spareTakeovers = 3

/**
 * Whether a delivery whose sender died mid-attempt goes out once more. It does, even when its attempts are used up,
 * because nobody knows whether it arrived; but a delivery that kills every process that sends it ends as a dead letter.
 */
export const maySendAgainAfterCrash = (policy: DeliveryPolicy, tries: number): boolean =>
  tries < policy.maxAttempts + spareTakeovers
