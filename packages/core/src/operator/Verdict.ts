/** Decides the verdict on a subject for a subscription, from the state of the subscription's destination. */
import { Schema } from "effect"
import type { DestinationTrace, TracedDelivery } from "../delivery/DeliveryControl.ts"
import type { DestinationOverview, PausedBy } from "../delivery/DeliveryQueue.ts"
import { breakerState } from "../delivery/model/Breaker.ts"
import { grantOf, markAfter } from "../delivery/model/RateLimit.ts"
import { formatInstant } from "../shared/Instant.ts"

/** The result of a subject for a subscription. `dropped`: purged, beyond a quota, or too old; `before_subscription`: it happened earlier. */
export const verdicts = ["delivered", "in_flight", "waiting", "dead", "dropped", "not_matched", "not_visible", "before_subscription"] as const
/** One of `verdicts`. */
export type VerdictName = typeof verdicts[number]

/** What a `waiting` entry waits for. `turn`: a free sender; `order`: an earlier entry of its shipment; `access`: the client's access is held. */
export const waitReasons = ["turn", "order", "rate", "retry", "breaker", "paused", "access"] as const
/** One of `waitReasons`. */
export type WaitReason = typeof waitReasons[number]

const VerdictReason = Schema.Struct({
  rule: Schema.String.annotate({ description: "The deciding rule: a filter, access, the state, the circuit breaker." }),
  expected: Schema.String,
  actual: Schema.String
})
/** The rule that decided: its expectation and the value found. */
export type VerdictReason = typeof VerdictReason.Type

export const Verdict = Schema.Struct({
  verdict: Schema.Literals(verdicts),
  reasons: Schema.Array(VerdictReason),
  waitingFor: Schema.NullOr(Schema.Literals(waitReasons)).annotate({ description: "Set if verdict is waiting." })
})
export type Verdict = typeof Verdict.Type

export const reason = (rule: string, expected: string, actual: string): VerdictReason => ({ rule, expected, actual })

export const decided = (verdict: VerdictName, ...reasons: ReadonlyArray<VerdictReason>): Verdict => ({ verdict, reasons, waitingFor: null })

const waits = (waitingFor: WaitReason, ...reasons: ReadonlyArray<VerdictReason>): Verdict => ({ verdict: "waiting", reasons, waitingFor })

/** `undefined` if the destination never had the subject, or has deleted its records. */
export const verdictOf = (destination: DestinationOverview, trace: DestinationTrace): Verdict | undefined => {
  const { deliveries, dropped } = trace
  if (deliveries.some(({ state }) => state === "sending")) return decided("in_flight")
  const retried = deliveries.find(({ state }) => state === "waiting")
  if (trace.waiting || retried !== undefined) return held(destination) ?? (retried === undefined ? queued(destination, trace) : retrying(destination, retried))
  const [last] = deliveries
  // one that was replayed in the same millisecond has a delivery
  if (dropped !== undefined && (last === undefined || dropped.at > last.sentAt)) {
    return decided("dropped", reason("dropped", "sent", `${dropped.reason} at ${formatInstant(dropped.at)}`))
  }
  return last === undefined ? undefined : ended(destination, last)
}

const pausers: Readonly<Record<PausedBy, string>> = { client: "its client", service: "the service", operator: "the operator" }

/** The reason why all entries of the destination wait, if there is one. */
const held = ({ held, status }: DestinationOverview): Verdict | undefined => {
  if (status.state !== "active") {
    const by = status.pausedBy === undefined ? "" : ` by ${pausers[status.pausedBy]}`
    return waits("paused", reason("state", "active", `${status.state}${by}${status.reason === undefined ? "" : `: ${status.reason}`}`))
  }
  return held ? waits("access", reason("access", "the client and its tenant have access", "the client has no valid key or token, or its tenant is suspended")) : undefined
}

const retrying = ({ policy }: DestinationOverview, { attempt, lastAttempt }: TracedDelivery): Verdict =>
  waits("retry", reason("attempt", "accepted by the receiver", `attempt ${attempt} of ${policy.maxAttempts}: ${outcomeOf(lastAttempt)}`))

const queued = (destination: DestinationOverview, { behind, now, recent }: DestinationTrace): Verdict => {
  const { breaker, policy } = destination
  const state = breakerState(breaker, now)
  if (state !== "closed") {
    return waits("breaker", reason("breaker", "closed", `${state} after ${breaker.failures} failed attempts, next at ${formatInstant(breaker.openUntil!)}`))
  }
  if (behind) return waits("order", reason("order", "earlier entries of its shipment or bill are finished", "an earlier entry is not finished"))
  const mark = recent.reduce<number | undefined>((before, at) => markAfter(policy.rateLimitPerMinute, before, at, 1), undefined)
  const { granted, waitMillis } = grantOf(policy.rateLimitPerMinute, mark, now, 1)
  if (granted === 0) return waits("rate", reason("rateLimitPerMinute", String(policy.rateLimitPerMinute), `used up until ${formatInstant(now + waitMillis)}`))
  return waits("turn")
}

const ended = ({ policy }: DestinationOverview, { attempt, lastAttempt, state }: TracedDelivery): Verdict => {
  switch (state) {
    case "delivered":
      return decided("delivered")
    case "cancelled":
      return decided("dropped", reason("dropped", "sent", "cancelled while it waited for a retry"))
    default:
      return decided(
        "dead",
        reason("maxAttempts", `accepted within ${policy.maxAttempts} attempts`, `${outcomeOf(lastAttempt)} at attempt ${attempt}`),
        ...(state === "dismissed" ? [reason("dismissed", "retried or recovered", "an operator dismissed it")] : [])
      )
  }
}

const outcomeOf = (last: TracedDelivery["lastAttempt"]): string =>
  last === undefined ? "no outcome was written" : last.status === undefined ? last.outcome : `${last.outcome} (${last.status})`
