/** The outcome of one POST: accepted, gone, failed, or interrupted by our own stop. */
import { Data } from "effect"

/**
 * Why an attempt found no usable answer. Stable codes: operators filter by them and alerts are written against them.
 *
 * `address_not_allowed` is deliberately one code for every reason an address is refused, so that a tenant cannot
 * use it to map the inside of our network.
 */
export const attemptFailures = [
  "dns", "address_not_allowed", "connect_refused", "connect_timeout", "tls", "timeout", "response_too_large", "protocol",
  "http_3xx", "http_4xx", "http_429", "http_5xx", "signing"
] as const

export type AttemptFailure = (typeof attemptFailures)[number]

/** The first bytes of the receiver's answer as printable text: control characters, NUL and broken UTF-8 replaced. */
export type AnswerExcerpt = string

/**
 * - `Accepted`: any 2xx. The receiver took the batch. SPEC-GAP-D2
 * - `Gone`: 410. The receiver wants nothing more; the subscription is paused. SPEC-GAP-D25
 * - `Failed`: no usable answer, or one that asks to come again later. Counts as an attempt.
 * - `Interrupted`: this process stopped before an answer came. The delivery goes out again at once.
 */
export type AttemptOutcome = Data.TaggedEnum<{
  Accepted: { readonly status: number; readonly excerpt: AnswerExcerpt }
  Gone: { readonly status: number; readonly excerpt: AnswerExcerpt }
  Failed: {
    readonly failure: AttemptFailure
    /** The HTTP status, when an answer arrived. */
    readonly status?: number
    /** One sentence for the subscription's owner. Never an inner address, a stack or a secret. */
    readonly detail: string
    readonly excerpt?: AnswerExcerpt
    /** What the receiver asked for in `Retry-After`, in seconds from now, not yet bounded. */
    readonly retryAfterSeconds?: number
  }
  Interrupted: {}
}>

export const AttemptOutcome = Data.taggedEnum<AttemptOutcome>()
