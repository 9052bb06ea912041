/** The calls somebody made of late: at most so many in any sixty seconds, all of them at once if they like. */

const windowMillis = 60_000

/** Instants that left the window are cut off when they are many. */
const worthCutting = 1024

export class SlidingWindowLimiter {
  private calls: Array<number> = []
  private first = 0

  /** Takes a call made now, or answers in how many milliseconds one may be made: 0 says that it was taken. */
  admit(perMinute: number, now: number): number {
    while (this.first < this.calls.length && now - this.calls[this.first]! >= windowMillis) this.first += 1
    if (this.first > worthCutting && this.first > this.calls.length / 2) {
      this.calls = this.calls.slice(this.first)
      this.first = 0
    }
    const recent = this.calls.length - this.first
    if (recent >= perMinute) return Math.max(1, this.calls[this.calls.length - perMinute]! + windowMillis - now)
    this.calls.push(now)
    return 0
  }
}
