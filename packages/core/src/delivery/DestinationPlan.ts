/** What of a claimed destination goes out now: retries first, then new batches, within room, rate and breaker. */
import type { ClaimedEntry, ClaimedDestination, DueDelivery, Freeze, FreshDelivery } from "./DeliveryQueue.ts"
import { cutBatches } from "./model/Batch.ts"
import { breakerState } from "./model/Breaker.ts"
import { takeFromRate } from "./model/RateLimit.ts"
import { maySendAgainAfterCrash } from "./model/RetryDecision.ts"

export interface DestinationPlan {
  /** Frozen deliveries to attempt again. */
  readonly again: ReadonlyArray<DueDelivery>
  /** New batches to freeze and send. */
  readonly batches: ReadonlyArray<ReadonlyArray<ClaimedEntry>>
  /** Deliveries whose every sender died; they end as dead letters. */
  readonly hopeless: ReadonlyArray<DueDelivery>
  readonly rateMark: number
  /** Whether something sendable was left behind. */
  readonly more: boolean
  /** Milliseconds until it may go out, when rate or breaker held it back. */
  readonly notBeforeMillis: number
  /** The last key that was cut; the next claim looks on from there. */
  readonly cursor: string | undefined
}

export interface PlanLimits {
  /** Attempts the destination may start now. */
  readonly room: number
  /** Attempts of the destination under way. */
  readonly underWay: number
  readonly maxBatchBytes: number
}

export const planDestination = (destination: ClaimedDestination, now: number, limits: PlanLimits): DestinationPlan => {
  const hopeless = destination.due.filter((each) => each.orphaned && !maySendAgainAfterCrash(destination.policy, each.tries))
  const due = hopeless.length === 0 ? destination.due : destination.due.filter((each) => !hopeless.includes(each))
  const state = breakerState(destination.breaker, now)
  const room = state === "closed" ? limits.room : state === "open" || limits.underWay > 0 ? 0 : Math.min(limits.room, 1)
  const heldByBreaker = state === "open" ? destination.breaker.openUntil! - now : 0

  const retries = Math.min(due.length, room)
  const cut = withoutRemnant(destination, cutBatches(destination.waiting, {
    maxSize: destination.policy.batchMaxSize,
    maxBytes: limits.maxBatchBytes,
    maxBatches: room - retries
  }))
  const wanted = retries + cut.length
  const grant = takeFromRate(destination.policy.rateLimitPerMinute, destination.rateMark, now, wanted)
  const again = due.slice(0, Math.min(retries, grant.granted))
  const batches = cut.slice(0, grant.granted - again.length)
  const last = batches[batches.length - 1]
  const sent = batches.reduce((sum, batch) => sum + batch.length, 0)
  return {
    again,
    batches,
    hopeless,
    rateMark: grant.mark,
    more: destination.more || again.length < due.length || sent < destination.waiting.length,
    notBeforeMillis: Math.max(heldByBreaker, grant.granted < wanted ? grant.waitMillis : 0),
    cursor: last?.[last.length - 1]?.key
  }
}

/** A batch that is short only because no more was handed out waits for its rest, when full ones go out before it. */
const withoutRemnant = (destination: ClaimedDestination, batches: ReadonlyArray<ReadonlyArray<ClaimedEntry>>) =>
  destination.more && batches.length > 1 && batches[batches.length - 1]!.length < destination.policy.batchMaxSize ? batches.slice(0, -1) : batches

/** What of a plan is to be frozen, under ids of its own. `storeNow` becomes the deliveries' `sentAt`. */
export const freezeOf = (destination: ClaimedDestination, plan: DestinationPlan, storeNow: number, idAt: (millis: number) => string): Freeze => ({
  destinationId: destination.destinationId,
  token: destination.token,
  rateMark: plan.rateMark,
  cursor: plan.cursor,
  fresh: plan.batches.map((batch): FreshDelivery => ({
    deliveryId: idAt(storeNow),
    sentAt: storeNow,
    entries: batch,
    traceparent: batch.find((entry) => entry.traceparent !== undefined)?.traceparent
  })),
  again: plan.again.map((due) => due.deliveryId),
  againTries: plan.again.map((due) => due.tries)
})
