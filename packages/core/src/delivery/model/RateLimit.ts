/** How many POSTs a destination may make now, so that no sixty seconds ever see more than `rateLimitPerMinute`. */

/** The window of a rate limit. */
export const rateWindowMillis = 60_000

/** Of a minute's allowance, this share may go out at once after a quiet time. */
const burstShare = 0.1

export interface Grant {
  /** POSTs that may go out now, from 0 to what was wanted. */
  readonly granted: number
  /** The destination's new mark, to be stored. */
  readonly mark: number
  /** Milliseconds until the next POST is allowed; 0 when more may go out now. */
  readonly waitMillis: number
}

/** Instants of today are exact to a quarter of a microsecond; a mark has been added to many times. */
const markErrorMillis = 0.05

const rhythm = (rateLimitPerMinute: number) => {
  const burst = Math.max(1, Math.floor(rateLimitPerMinute * burstShare))
  return { burst, spacing: rateWindowMillis / (rateLimitPerMinute - burst + 1) }
}

/**
 * The generic cell rate algorithm. `mark` is the instant (milliseconds) up to which earlier POSTs have used the
 * allowance, or `undefined` for a destination that never sent.
 *
 * The spacing is such that a burst plus everything refilled within a window stays within the limit.
 */
export const takeFromRate = (rateLimitPerMinute: number, mark: number | undefined, now: number, wanted: number): Grant => {
  const { burst, spacing } = rhythm(rateLimitPerMinute)
  const used = Math.max(mark ?? now, now)
  const room = Math.floor((burst * spacing - (used - now) + markErrorMillis) / spacing)
  const granted = Math.max(0, Math.min(wanted, room))
  const next = used + granted * spacing
  return { granted, mark: next, waitMillis: Math.max(0, Math.ceil(next - now - (burst - 1) * spacing)) }
}

/** The mark that so many POSTs at `now` leave, whether they were granted or not. */
export const markAfter = (rateLimitPerMinute: number, mark: number | undefined, now: number, posts: number): number =>
  Math.max(mark ?? now, now) + posts * rhythm(rateLimitPerMinute).spacing

/** The mark that POSTs at these instants leave, given in ascending order. */
export const rateMarkAfter = (rateLimitPerMinute: number, instants: ReadonlyArray<number>): number | undefined =>
  instants.reduce<number | undefined>((mark, at) => takeFromRate(rateLimitPerMinute, mark, at, 1).mark, undefined)
/**
 * The mark of a destination that somebody else may have sent to until `at`, nobody knows how often: as if its burst was used up just
 * then. Whatever was sent, that is never too early.
 */
export const markAfterOthers = (rateLimitPerMinute: number, at: number): number => {
  const { burst, spacing } = rhythm(rateLimitPerMinute)
  return at + burst * spacing
}
