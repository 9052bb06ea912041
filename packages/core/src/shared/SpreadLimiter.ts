/** Calls spread over the minute: a few at once after a quiet time, then one after the other. Never more than so many in any sixty seconds. */

const windowMillis = 60_000

export interface SpreadLimits {
  readonly perMinute: number
  /** From 1 to `perMinute`. */
  readonly atOnce: number
}

/** The generic cell rate algorithm, which keeps one number for each caller. */
export class SpreadLimiter {
  /** When a caller that asks at an even pace would ask next. */
  private next = 0

  /** Takes a call made now, or answers in how many milliseconds one may be made: 0 says that it was taken. */
  admit({ atOnce, perMinute }: SpreadLimits, now: number): number {
    const interval = windowMillis / (perMinute - atOnce + 1)
    const wait = this.next - (atOnce - 1) * interval - now
    // sums of fractions are a hair off
    if (wait > 0.001) return Math.max(1, Math.ceil(wait))
    this.next = Math.max(this.next, now) + interval
    return 0
  }
}
