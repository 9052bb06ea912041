/** Asks again and again, one question at a time, as long as somebody looks. */

export const everyMillis = 2_000
const longestPauseMillis = 30_000

/** A slow answer is asked for less often: at most a fifth of the time is spent on asking. */
export const pauseAfter = (failures: number, tookMillis: number): number =>
  failures === 0 ? Math.min(Math.max(everyMillis, tookMillis * 4), longestPauseMillis) : Math.min(everyMillis * 2 ** failures, longestPauseMillis)

export interface Seen<A> {
  readonly data: A | undefined
  /** Of the last question, when it failed; `data` is from before. */
  readonly failure: unknown
  /** When the first failure of the row was, in milliseconds. */
  readonly failingSince: number | undefined
}

export interface PollerOptions<A> {
  readonly ask: (signal: AbortSignal) => Promise<A>
  readonly seen: (seen: Seen<A>) => void
  readonly before?: A | undefined
  readonly clock?: PollerClock
}

export interface PollerClock {
  readonly now: () => number
  /** Answers how to take it back. */
  readonly after: (millis: number, then: () => void) => () => void
}

const browserClock: PollerClock = {
  now: () => Date.now(),
  after: (millis, then) => {
    const timer = setTimeout(then, millis)
    return () => clearTimeout(timer)
  }
}

export class Poller<A> {
  readonly #ask: PollerOptions<A>["ask"]
  readonly #seen: PollerOptions<A>["seen"]
  readonly #clock: PollerClock
  #last: Seen<A>
  #failures = 0
  #running = false
  /** Of the question that is under way. */
  #asking: AbortController | undefined
  #askAgain = false
  #takeBack: (() => void) | undefined

  constructor({ ask, before, clock = browserClock, seen }: PollerOptions<A>) {
    this.#ask = ask
    this.#seen = seen
    this.#clock = clock
    this.#last = { data: before, failure: undefined, failingSince: undefined }
  }

  /** Asks at once and then regularly. */
  start(): void {
    if (this.#running) return
    this.#running = true
    if (this.#asking === undefined) void this.#go()
  }

  /** Asks no more. A question under way is let go: what it answers is not wanted. */
  stop(): void {
    this.#running = false
    this.#askAgain = false
    this.#takeBack?.()
    this.#asking?.abort()
    this.#asking = undefined
  }

  /** Asks at once, or right after the question under way: that one may have been answered before what just happened. */
  now(): void {
    if (this.#asking === undefined) void this.#go()
    else this.#askAgain = true
  }

  async #go(): Promise<void> {
    this.#takeBack?.()
    const asking = this.#asking = new AbortController()
    const started = this.#clock.now()
    const next = await this.#answer(asking.signal)
    if (asking.signal.aborted) return
    this.#asking = undefined
    this.#failures = next.failure === undefined ? 0 : this.#failures + 1
    this.#last = next
    this.#seen(next)
    if (this.#askAgain) {
      this.#askAgain = false
      if (this.#asking === undefined) void this.#go()
    } else if (this.#running && this.#asking === undefined) {
      this.#takeBack = this.#clock.after(pauseAfter(this.#failures, this.#clock.now() - started), () => void this.#go())
    }
  }

  async #answer(signal: AbortSignal): Promise<Seen<A>> {
    try {
      return { data: await this.#ask(signal), failure: undefined, failingSince: undefined }
    } catch (failure) {
      return { data: this.#last.data, failure, failingSince: this.#last.failingSince ?? this.#clock.now() }
    }
  }
}
