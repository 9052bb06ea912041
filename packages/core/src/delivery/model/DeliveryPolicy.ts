/** The delivery policy of a subscription: attempts, backoff, batch size and rate limit. */
import { Schema } from "effect"
import { Count } from "../../shared/Members.ts"

const bounded = (name: string, minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { message: `${name} is an integer from ${minimum} to ${maximum}.` }))

/** A delivery policy with all members. */
export const DeliveryPolicy = Schema.Struct({
  /** Number of attempts before a delivery becomes a dead letter. SPEC-GAP-D11 */
  maxAttempts: Count,
  /** Pause before the first retry in seconds; it doubles with each retry. */
  initialBackoffSeconds: Count,
  /** Longest pause between retries in seconds. */
  maxBackoffSeconds: Count,
  /** Maximum number of events in one POST. */
  batchMaxSize: Count,
  /** Maximum number of POSTs in any sixty seconds, retries included. SPEC-GAP-D21 */
  rateLimitPerMinute: Count
})
export type DeliveryPolicy = typeof DeliveryPolicy.Type

/** The policy of a subscription without `delivery`. */
export const defaultPolicy: DeliveryPolicy = {
  maxAttempts: 12,
  initialBackoffSeconds: 5,
  maxBackoffSeconds: 3600,
  batchMaxSize: 200,
  rateLimitPerMinute: 600
}

/**
 * The members of `delivery` with their bounds. The interfaces give only `batchMaxSize` an upper bound, 1000; the others prevent that one subscription
 * occupies memory or a destination for years.
 */
export const policyMembers = {
  maxAttempts: bounded("maxAttempts", 1, 1000),
  initialBackoffSeconds: bounded("initialBackoffSeconds", 1, 86_400),
  maxBackoffSeconds: bounded("maxBackoffSeconds", 1, 604_800),
  batchMaxSize: bounded("batchMaxSize", 1, 1000),
  rateLimitPerMinute: bounded("rateLimitPerMinute", 1, 6_000_000).annotate({
    description: "Requests in any sixty seconds, retries included. A tenth of them may be sent at once after an idle time, then one after the other at equal intervals."
  })
}

const withDefault = (name: keyof DeliveryPolicy) => Schema.optionalKey(policyMembers[name].annotate({ default: defaultPolicy[name] }))

/**
 * The `delivery` member of a subscription (area D, DeliveryMetadata). Every member may be left out.
 *
 * SPEC-GAP-D4: the interfaces show 12, 5, 3600, 200 and 600 as an example; here they are the defaults.
 */
export const DeliveryMetadata = Schema.Struct({
  maxAttempts: withDefault("maxAttempts"),
  initialBackoffSeconds: withDefault("initialBackoffSeconds"),
  maxBackoffSeconds: withDefault("maxBackoffSeconds"),
  batchMaxSize: withDefault("batchMaxSize"),
  rateLimitPerMinute: withDefault("rateLimitPerMinute")
}).annotate({ identifier: "DeliveryMetadata" })

/** The policy of a `delivery` member, with defaults. */
export const policyOf = (metadata: typeof DeliveryMetadata.Type | undefined): DeliveryPolicy => ({ ...defaultPolicy, ...metadata })

/** Why a policy contradicts itself, or `undefined`. */
export const contradictionIn = (policy: DeliveryPolicy): string | undefined =>
  policy.maxBackoffSeconds < policy.initialBackoffSeconds
    ? `maxBackoffSeconds (${policy.maxBackoffSeconds}) is shorter than initialBackoffSeconds (${policy.initialBackoffSeconds}). Raise the one or lower the other.`
    : undefined

/** Seconds from the given number of attempts to the last automatic retry, without jitter, to compare with the length of an outage. */
export const retryHorizonSeconds = (policy: DeliveryPolicy, attempts = 0): number => {
  let sum = 0
  let pause = policy.initialBackoffSeconds
  for (let n = 1; n < policy.maxAttempts; n++) {
    if (n > attempts) sum += Math.min(pause, policy.maxBackoffSeconds)
    pause = Math.min(pause * 2, policy.maxBackoffSeconds)
  }
  return sum
}

/** About when (milliseconds) the last attempt of a delivery is made if all fail, after `attempts` attempts and with the next one due at `dueAt`. */
export const lastAttemptAt = (policy: DeliveryPolicy, attempts: number, dueAt: number): number => dueAt + retryHorizonSeconds(policy, attempts) * 1000
