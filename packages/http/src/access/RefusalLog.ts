/**
 * Logs refused callers: 401, 403 and too many failures, with address and reason, never with the credentials. Each
 * address gets a few lines per minute and then a count, so that failing callers cannot fill a disk.
 */
import { Effect } from "effect"

/** Lines per address and minute. */
export const linesPerMinute = 10

const windowMillis = 60_000

/** Addresses with their own lines per minute; all others share the lines of one. */
export const mostAddresses = 1000

const others = "(others)"

interface Window {
  readonly until: number
  lines: number
  /** Refusals that were counted but not logged. */
  unlogged: number
}

export interface Refusal {
  /** As in `clientAddress`; `undefined` when unknown. */
  readonly address: string | undefined
  readonly status: number
  readonly reason: string
  /** Further fields of the log line. */
  readonly fields: Readonly<Record<string, unknown>>
}

export class RefusalLog {
  private readonly windows = new Map<string, Window>()

  /** Logs a refusal, and the counts of past minutes. */
  log({ address, fields, reason, status }: Refusal, now: number): Effect.Effect<void> {
    const summaries = this.ended(now).map(([name, { unlogged }]) =>
      Effect.annotateLogs(Effect.logWarning(`Access refused ${unlogged} more times in one minute.`), { address: name, refused: unlogged }))
    const window = this.windowOf(address ?? "unknown", now)
    if (window.lines >= linesPerMinute) {
      window.unlogged += 1
      return Effect.all(summaries, { discard: true })
    }
    window.lines += 1
    const line = Effect.annotateLogs(Effect.logWarning(`Access refused: ${reason}.`), { ...fields, status, address: address ?? "unknown" })
    return Effect.all([...summaries, line], { discard: true })
  }

  private windowOf(address: string, now: number): Window {
    const name = this.windows.has(address) || this.windows.size < mostAddresses ? address : others
    const found = this.windows.get(name)
    if (found !== undefined) return found
    const window = { until: now + windowMillis, lines: 0, unlogged: 0 }
    this.windows.set(name, window)
    return window
  }

  /** Removes past minutes, and returns those with unlogged refusals. They are in start order. */
  private ended(now: number): ReadonlyArray<readonly [string, Window]> {
    const unreported: Array<readonly [string, Window]> = []
    for (const entry of this.windows) {
      if (now < entry[1].until) break
      this.windows.delete(entry[0])
      if (entry[1].unlogged > 0) unreported.push(entry)
    }
    return unreported
  }

  /** Number of addresses in memory. */
  get size(): number {
    return this.windows.size
  }
}
