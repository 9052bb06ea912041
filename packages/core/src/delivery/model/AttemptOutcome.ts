/** The outcome of one POST. */
import { Data } from "effect"

/**
 * Why an attempt got no usable response. The codes are stable, because operators filter by them and alerts use them.
 *
 * `address_not_allowed` is one code for every reason that an address is refused, so that a tenant cannot
 * use it to explore the internal network.
 */
export const attemptFailures = [
  "dns", "address_not_allowed", "connect_refused", "connect_timeout", "tls", "timeout", "response_too_large", "protocol",
  "http_3xx", "http_4xx", "http_429", "http_5xx", "signing"
] as const

/** One of `attemptFailures`. */
export type AttemptFailure = (typeof attemptFailures)[number]

/** The beginning of the response body as printable text; control characters, NUL and invalid UTF-8 are replaced. */
export type AnswerExcerpt = string

/**
 * - `Accepted`: any 2xx. SPEC-GAP-D2
 * - `Gone`: 410. The subscription is paused. SPEC-GAP-D25
 * - `Failed`: no usable response, or one that does not accept the delivery. Counts as an attempt.
 * - `Interrupted`: this process stopped before a response arrived, and the delivery is sent again at once; or it could send nothing,
 *   and the delivery is sent again later. Does not count as an attempt.
 */
export type AttemptOutcome = Data.TaggedEnum<{
  Accepted: { readonly status: number; readonly excerpt: AnswerExcerpt }
  Gone: { readonly status: number; readonly excerpt: AnswerExcerpt }
  Failed: {
    readonly failure: AttemptFailure
    /** The HTTP status, if a response arrived. */
    readonly status?: number
    /** One sentence for the subscription's client. Never contains an internal address, a stack trace or a secret. */
    readonly detail: string
    readonly excerpt?: AnswerExcerpt
    /** The receiver's `Retry-After` in seconds from now, without a bound. */
    readonly retryAfterSeconds?: number
  }
  Interrupted: {
    /** One sentence, if this process could send nothing. */
    readonly unsent?: string
  }
}>

/** Constructors of outcomes. */
export const AttemptOutcome = Data.taggedEnum<AttemptOutcome>()
