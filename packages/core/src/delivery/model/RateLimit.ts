/** How many POSTs a destination may make now, so that any sixty seconds have at most `rateLimitPerMinute`. */

/** The window of a rate limit in milliseconds. */
export const rateWindowMillis = 60_000

/** Share of a minute's limit that may be sent at once after an idle time. */
const burstShare = 0.1

/** Result of a rate limit. */
export interface Grant {
  /** POSTs that may be sent now, from 0 to the requested number. */
  readonly granted: number
  /** Milliseconds until the next POST after these is allowed; 0 if more are allowed now. */
  readonly waitMillis: number
}

/** Tolerance for rounding errors: a mark is a sum of many fractions. */
const markErrorMillis = 0.05

const rhythm = (rateLimitPerMinute: number) => {
  const burst = Math.max(1, Math.floor(rateLimitPerMinute * burstShare))
  return { burst, spacing: rateWindowMillis / (rateLimitPerMinute - burst + 1) }
}

/**
 * The generic cell rate algorithm. `mark`: the instant (milliseconds) up to which earlier POSTs have used the limit;
 * `undefined`: the destination never sent.
 *
 * The spacing is such that a burst and everything refilled within a window stay within the limit.
 */
export const grantOf = (rateLimitPerMinute: number, mark: number | undefined, now: number, wanted: number): Grant => {
  const { burst, spacing } = rhythm(rateLimitPerMinute)
  const used = Math.max(0, (mark ?? now) - now)
  const granted = Math.max(0, Math.min(wanted, Math.floor((burst * spacing - used + markErrorMillis) / spacing)))
  return { granted, waitMillis: Math.max(0, Math.ceil(used + (granted - burst + 1) * spacing)) }
}

/** The mark after `posts` POSTs at `now`, granted or not. */
export const markAfter = (rateLimitPerMinute: number, mark: number | undefined, now: number, posts: number): number =>
  Math.max(mark ?? now, now) + posts * rhythm(rateLimitPerMinute).spacing

/**
 * The mark of a destination to which another owner may have sent an unknown number of POSTs until `at`: as if its burst was used up at
 * that instant. The actual mark cannot be later.
 */
export const markAfterOthers = (rateLimitPerMinute: number, at: number): number => {
  const { burst, spacing } = rhythm(rateLimitPerMinute)
  return at + burst * spacing
}
