/**
 * Changes of the store's clock: a corrected system clock, or a failover to a machine with another clock. Instants from before the change would stop
 * a destination until the clock reaches them again, possibly hours later, so they keep their distance from now.
 */
import type { Destination } from "./Destination.ts"
import type { LoadedDestination } from "../DeliveryStore.ts"
import { rateWindowMillis } from "../model/RateLimit.ts"

/** Smaller changes (milliseconds) are ignored: they delay a destination by less than a retry. */
export const leastClockChangeMillis = 1_000

/** Moves the instants of a destination with the store's clock, which was set by `millis`. */
export const moveInstants = (destination: Destination, millis: number): void => {
  const { breaker, lookAt, rateMark, unreadableUntil, usedAt } = destination
  destination.rateMark = moved(rateMark, millis)
  destination.breaker = { ...breaker, openUntil: moved(breaker.openUntil, millis) }
  destination.unreadableUntil = moved(unreadableUntil, millis)
  destination.lookAt = moved(lookAt, millis)
  destination.usedAt = usedAt + millis
  destination.waiting = destination.waiting.map((each) => ({ ...each, dueAt: each.dueAt + millis }))
}

/** The instant after a change of the clock by `millis`. */
export const moved = (instant: number | undefined, millis: number): number | undefined => instant === undefined ? undefined : instant + millis

/** Limits stored instants to the latest that the policy allows from `now`: later ones were stored before the clock was set back. */
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
 * Whether its rate mark was stored before the clock was set back. Every load would delay the destination by a minute until the clock reaches the mark,
 * so its owner keeps the destination in memory, and replaces the mark when it releases the partition.
 */
export const isMarkAhead = ({ settings }: Destination, now: number): boolean => (settings?.rateMark ?? 0) > now + rateWindowMillis

/** Limits a mark to one window from `now`. */
export const latestRateMark = (mark: number | undefined, now: number): number | undefined =>
  mark === undefined ? undefined : Math.min(mark, now + rateWindowMillis)
