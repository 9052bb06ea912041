/**
 * Changes of the store's clock: a corrected system clock, or a failover to a machine with another one. Instants from before the change would stop
 * a destination until the clock reaches them again, hours later, so they keep their distance from now.
 */
import type { Destination } from "./Destination.ts"
import type { LoadedDestination, WaitingDelivery } from "../DeliveryStore.ts"
import { rateWindowMillis } from "../model/RateLimit.ts"

/** Smaller changes are left to the clock: they delay a destination by less than a retry. */
export const leastClockChangeMillis = 1_000

/** Moves the instants of a destination with the store's clock, which was set by `millis`. */
export const moveInstants = (destination: Destination, millis: number): void => {
  const { breaker, lookAt, othersUntil, rateMark, unreadableUntil, usedAt } = destination
  destination.rateMark = moved(rateMark, millis)
  destination.breaker = { ...breaker, openUntil: moved(breaker.openUntil, millis) }
  destination.unreadableUntil = moved(unreadableUntil, millis)
  destination.lookAt = moved(lookAt, millis)
  destination.usedAt = usedAt + millis
  destination.othersUntil = moved(othersUntil, millis)
  destination.waiting = destination.waiting.map((each) => movedDelivery(each, millis))
  for (const [deliveryId, each] of destination.loading) if (each !== undefined) destination.loading.set(deliveryId, movedDelivery(each, millis))
}

export const moved = (instant: number | undefined, millis: number): number | undefined => instant === undefined ? undefined : instant + millis

const movedDelivery = (delivery: WaitingDelivery, millis: number): WaitingDelivery => ({ ...delivery, dueAt: delivery.dueAt + millis })

/** The earliest of what was stored and what the policy allows at most from `now`: the rest was stored before the clock was set back. */
export const withoutStoredFuture = (loaded: LoadedDestination, now: number): LoadedDestination => {
  const latest = now + loaded.policy.maxBackoffSeconds * 1000
  const { openUntil } = loaded.breaker
  if ((openUntil ?? 0) <= latest && loaded.waiting.every(({ dueAt }) => dueAt <= latest)) return loaded
  return {
    ...loaded,
    breaker: { ...loaded.breaker, openUntil: openUntil === undefined ? undefined : Math.min(openUntil, latest) },
    waiting: loaded.waiting.map((each) => ({ ...each, dueAt: Math.min(each.dueAt, latest) }))
  }
}

/**
 * Whether the mark of its rate was stored before the clock was set back. Every load would delay it by a minute until the clock reaches the mark again,
 * so its owner keeps it in memory, and replaces the mark when it releases the partition.
 */
export const isMarkAhead = ({ settings }: Destination, now: number): boolean => (settings?.rateMark ?? 0) > now + rateWindowMillis

/** No allowance is used up for longer than the window of its limit. */
export const latestRateMark = (mark: number | undefined, now: number): number | undefined =>
  mark === undefined ? undefined : Math.min(mark, now + rateWindowMillis)
