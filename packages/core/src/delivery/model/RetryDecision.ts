/** Whether and when a failed delivery is sent again. */
import type { DeliveryPolicy } from "./DeliveryPolicy.ts"

/**
 * Seconds until the next attempt after a failed one; undefined: none is left, the delivery is a dead letter. Doubles the backoff after every failed attempt, up to the maximum of the policy. SPEC-GAP-D28
 *
 * `attempt`: from 1. `jitter`: a random number from 0 to 1, which changes the pause by at most a fifth in either
 * direction, so that deliveries are not retried at the same time. SPEC-GAP-D24: `Retry-After` may lengthen the pause up to `maxBackoffSeconds`, never shorten it.
 */
export const retrySeconds = (policy: DeliveryPolicy, attempt: number, jitter: number, retryAfterSeconds?: number): number | undefined => {
  if (attempt >= policy.maxAttempts) return undefined
  const doubled = Math.min(policy.initialBackoffSeconds * 2 ** Math.min(attempt - 1, 40), policy.maxBackoffSeconds)
  const own = Math.min(doubled * (0.8 + 0.4 * jitter), policy.maxBackoffSeconds)
  const asked = retryAfterSeconds !== undefined && Number.isFinite(retryAfterSeconds) ? retryAfterSeconds : 0
  return Math.min(Math.max(own, asked), policy.maxBackoffSeconds)
}

/** Takeovers that are allowed after the last counted attempt, because the outcome of an attempt of a killed process is unknown. */
const spareTakeovers = 3

/**
 * Whether a delivery whose sender died during an attempt is sent again. It is also sent without attempts left,
 * because it is unknown whether it arrived; but a delivery that crashes every process that sends it becomes a dead letter.
 */
export const maySendAgainAfterCrash = (policy: DeliveryPolicy, tries: number): boolean =>
  tries < policy.maxAttempts + spareTakeovers
