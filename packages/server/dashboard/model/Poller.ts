/** Polls the server with one request at a time, while the view is visible. */

export const everyMillis = 2_000
const longestPauseMillis = 30_000

/** A slow response lowers the poll rate: at most a fifth of the time is spent in requests. */
export const pauseAfter = (failures: number, tookMillis: number, pollMillis = everyMillis): number =>
  failures === 0 ? Math.min(Math.max(pollMillis, tookMillis * 4), longestPauseMillis) : Math.min(everyMillis * 2 ** failures, longestPauseMillis)

export interface Seen<A> {
  readonly data: A | undefined
  /** Error of the last request; `data` is then older. */
  readonly failure: unknown
  /** Time of the first failure in a row, in milliseconds. */
  readonly failingSince: number | undefined
}

export interface PollerOptions<A> {
  readonly ask: (signal: AbortSignal) => Promise<A>
  readonly seen: (seen: Seen<A>) => void
  readonly before?: A | undefined
  /** Pause between two requests, at least; 30 s at most. */
  readonly pollMillis?: number
  readonly clock?: PollerClock
}

export interface PollerClock {
  readonly now: () => number
  /** Schedules a function; returns how to cancel it. */
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
  readonly #pollMillis: number
  #last: Seen<A>
  #failures = 0
  #running = false
  /** Aborts the request in flight. */
  #asking: AbortController | undefined
  #askAgain = false
  #takeBack: (() => void) | undefined

  constructor({ ask, before, clock = browserClock, pollMillis = everyMillis, seen }: PollerOptions<A>) {
    this.#ask = ask
    this.#seen = seen
    this.#clock = clock
    this.#pollMillis = pollMillis
    this.#last = { data: before, failure: undefined, failingSince: undefined }
  }

  /** Sends a request at once and then polls. */
  start(): void {
    if (this.#running) return
    this.#running = true
    if (this.#asking === undefined) void this.#go()
  }

  /** Stops polling and discards the request in flight. */
  stop(): void {
    this.#running = false
    this.#askAgain = false
    this.#takeBack?.()
    this.#asking?.abort()
    this.#asking = undefined
  }

  /** Sends a request at once, or right after the one in flight, because that one may not see a change just made. */
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
      this.#takeBack = this.#clock.after(pauseAfter(this.#failures, this.#clock.now() - started, this.#pollMillis), () => void this.#go())
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
