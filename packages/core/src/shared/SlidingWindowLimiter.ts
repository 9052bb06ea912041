/** Counts one caller's calls in a sliding window: at most `perMinute` in any 60 seconds. All of them may arrive at once. */

const windowMillis = 60_000

/** Expired instants are removed only when there are more than this, because copying the array costs time. */
const compactAbove = 1024

/** The calls of one caller in this process. Keeps the time of each call in the window. */
export class SlidingWindowLimiter {
  private calls: Array<number> = []
  private first = 0

  /** Admits a call at `now` and returns 0, or returns the milliseconds to wait. */
  admit(perMinute: number, now: number): number {
    while (this.first < this.calls.length && now - this.calls[this.first]! >= windowMillis) this.first += 1
    if (this.first > compactAbove && this.first > this.calls.length / 2) {
      this.calls = this.calls.slice(this.first)
      this.first = 0
    }
    const recent = this.calls.length - this.first
    if (recent >= perMinute) return Math.max(1, this.calls[this.calls.length - perMinute]! + windowMillis - now)
    this.calls.push(now)
    return 0
  }
}
