/** Spreads calls over a minute: a short burst after idle time, then an even pace. Never more than `perMinute` calls in any 60 seconds. */

const windowMillis = 60_000

/** A rate and the burst that it allows. */
interface SpreadLimits {
  readonly perMinute: number
  /** Burst size, from 1 to `perMinute`. */
  readonly atOnce: number
}

/** Implements the generic cell rate algorithm (GCRA), which stores one number per caller. */
export class SpreadLimiter {
  /** Time of the next call at an even pace. */
  private next = 0

  /** Admits a call at `now` and returns 0, or returns the milliseconds to wait. */
  admit({ atOnce, perMinute }: SpreadLimits, now: number): number {
    const interval = windowMillis / (perMinute - atOnce + 1)
    const wait = this.next - (atOnce - 1) * interval - now
    // tolerates rounding errors of fractions
    if (wait > 0.001) return Math.max(1, Math.ceil(wait))
    this.next = Math.max(this.next, now) + interval
    return 0
  }
}
