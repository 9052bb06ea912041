/** Counts the calls of each client in a sliding window, in this process. */
import { RecentMap } from "./RecentMap.ts"
import { SlidingWindowLimiter } from "./SlidingWindowLimiter.ts"

/** Most clients whose recent calls are remembered. Beyond that the least recent client is removed. */
const maxClients = 10_000

export class ClientLimiter {
  private readonly perMinute: number
  private readonly recent = new RecentMap<SlidingWindowLimiter>(maxClients)

  constructor(perMinute: number) {
    this.perMinute = perMinute
  }

  /** Admits a call at `now`, in `monotonicMillis`, and returns 0, or returns the milliseconds to wait. */
  admit({ client, tenantId }: { readonly tenantId: string; readonly client: string }, now: number): number {
    const name = JSON.stringify([tenantId, client])
    const limiter = this.recent.get(name) ?? new SlidingWindowLimiter()
    this.recent.put(name, limiter)
    return limiter.admit(this.perMinute, now)
  }
}
