/** Limits log lines that callers and receivers can cause, so that none of them can fill a disk. */
import { Effect } from "effect"
import { monotonicMillis } from "./MonotonicTime.ts"

/** Lines for each name and minute. */
export const linesPerMinute = 10

/** Names with their own lines for each minute; all others share the lines of one. */
export const mostNames = 1000

const windowMillis = 60_000

const others = "(others)"

interface Window {
  readonly until: number
  lines: number
  /** Lines that were counted but not logged. */
  unlogged: number
}

/** Logs a few lines for each name and minute, and then a count. The count of a minute is logged with the next line of any name. */
export class LineLimiter {
  private readonly windows = new Map<string, Window>()
  private readonly summary: (name: string, unlogged: number) => Effect.Effect<void>

  constructor(summary = repeated) {
    this.summary = summary
  }

  /** `name`: what the line is about; `now`: in `monotonicMillis`. */
  logAt(now: number, name: string, line: Effect.Effect<void>): Effect.Effect<void> {
    const summaries = this.ended(now).map(([ended, { unlogged }]) => this.summary(ended, unlogged))
    const window = this.windowOf(name, now)
    if (window.lines >= linesPerMinute) {
      window.unlogged += 1
      return Effect.all(summaries, { discard: true })
    }
    window.lines += 1
    return Effect.all([...summaries, line], { discard: true })
  }

  log(name: string, line: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.flatMap(monotonicMillis, (now) => this.logAt(now, name, line))
  }

  private windowOf(given: string, now: number): Window {
    const name = this.windows.has(given) || this.windows.size < mostNames ? given : others
    const found = this.windows.get(name)
    if (found !== undefined) return found
    const window = { until: now + windowMillis, lines: 0, unlogged: 0 }
    this.windows.set(name, window)
    return window
  }

  /** Removes past minutes, and returns those with unlogged lines. They are in start order. */
  private ended(now: number): ReadonlyArray<readonly [string, Window]> {
    const unreported: Array<readonly [string, Window]> = []
    for (const entry of this.windows) {
      if (now < entry[1].until) break
      this.windows.delete(entry[0])
      if (entry[1].unlogged > 0) unreported.push(entry)
    }
    return unreported
  }

  /** Number of names in memory. */
  get size(): number {
    return this.windows.size
  }
}

const repeated = (line: string, unlogged: number): Effect.Effect<void> =>
  Effect.logWarning(`Log line repeated ${unlogged} more times in one minute.`).pipe(Effect.annotateLogs({ line, repeated: unlogged }))
